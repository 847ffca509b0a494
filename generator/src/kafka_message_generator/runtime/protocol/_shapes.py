"""Protocols of generated classes, for type checkers only; a package may lack these messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .._core.wire import RawTaggedFields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .._base.message import Text


class RequestHeader(Protocol):
    request_api_key: int
    request_api_version: int
    correlation_id: int
    client_id: str | None
    unknown_tagged_fields: RawTaggedFields

    def write(self, version: int, *, text: Text = "strict") -> bytes: ...


class ResponseHeader(Protocol):
    correlation_id: int
    unknown_tagged_fields: RawTaggedFields

    def write(self, version: int, *, text: Text = "strict") -> bytes: ...


class ApiVersion(Protocol):
    api_key: int
    min_version: int
    max_version: int


class SupportedFeature(Protocol):
    name: str
    min_version: int
    max_version: int


class FinalizedFeature(Protocol):
    name: str
    min_version_level: int
    max_version_level: int


class ApiVersionsResponse(Protocol):
    @property
    def api_keys(self) -> Iterable[ApiVersion]: ...
    @property
    def supported_features(self) -> Iterable[SupportedFeature]: ...
    @property
    def finalized_features(self) -> Iterable[FinalizedFeature]: ...

    finalized_features_epoch: int
