"""Codec functions for one version of an API, for caches."""

from __future__ import annotations

from .._base.message import class_of
from ._apis import Api

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Route:

    __slots__ = ("api", "header", "header_version", "key", "may_fall_back", "message", "version")

    def __init__(self, api: Api, version: int, is_request: bool) -> None:
        header_version = api.request_header_version if is_request else api.response_header_version
        self.api = api
        self.key = int(api.key)
        self.version = version
        self.message: Any = api.request_class if is_request else api.response_class
        self.header: Any = class_of("RequestHeader" if is_request else "ResponseHeader")
        self.header_version = header_version(version)
        self.may_fall_back = False
