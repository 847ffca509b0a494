"""Table of APIs."""

from __future__ import annotations

from .._base.message import Message, Request, Response, class_of
from .._core.display import display
from .._core.generic import Generic
from .._core.structs import name_of
from .._core.value import dataclass
from .._core.versions import Versions
from ..enums import ApiKey, ErrorCode
from ..errors import did_you_mean
from ._errors import UnknownApiError
from ._tables import APIS, RESTRICTIONS, Headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, overload

    from typing_extensions import TypeVar  # installed with type checkers

    R = TypeVar("R", bound=Response)
    R_co = TypeVar("R_co", bound=Response, covariant=True, default=Response)
else:
    R_co = None


@dataclass(frozen=True, slots=True)
class Restriction:
    """Versions of a request that are negotiated only under a condition."""

    versions: Versions
    feature: str | None
    """Feature that must be finalized, such as ``transaction.version``; None if the versions are for brokers only."""
    level: int
    """Minimum finalized level of the feature; 0 if there is no feature."""
    field: str | None
    """If not None, the restriction applies only to requests in which this field is not null."""

    def __str__(self) -> str:
        is_one = self.versions.lowest == self.versions.highest
        if self.feature is None:
            return f"{self.versions} {'is' if is_one else 'are'} for brokers only"
        requests = "" if self.field is None else f" if {self.field} is set"
        return f"{self.versions} {'needs' if is_one else 'need'} {self.feature} {self.level}{requests}"


@dataclass(frozen=True, slots=True)
class Api(Generic[R_co]):
    """Request, response and versions of an API. ``Api[MetadataResponse]`` is the type of an API with this response."""

    key: ApiKey
    name: str
    """Kafka's name, such as ``Metadata``."""
    request_name: str
    response_name: str
    """Empty if the request has no response."""
    valid_versions: Versions
    """Versions that the message classes read and write; empty if there are no classes."""
    supported_versions: Versions
    """Valid versions that the package's Kafka release supports; only these are negotiated. Empty for a removed API."""
    deprecated_versions: Versions
    """Supported versions that a later release removes."""
    latest_version_unstable: bool
    """True if the highest valid version may still change."""
    listeners: tuple[str, ...]
    """Listeners that serve the API, such as ``broker`` and ``controller``."""
    request_headers: Headers
    """Ascending pairs of first API version and request header version."""
    response_headers: Headers
    """Ascending pairs of first API version and response header version."""

    @property
    def is_removed(self) -> bool:
        """True if only older releases have the API."""
        return not self.supported_versions

    @property
    def stable_versions(self) -> Versions:
        """Supported versions except an unstable latest version."""
        supported = self.supported_versions
        return Versions(supported.lowest, supported.highest - 1) if self.latest_version_unstable else supported

    @property
    def restrictions(self) -> tuple[Restriction, ...]:
        """Versions that are negotiated only under a condition: for brokers only, or with a finalized feature."""
        return tuple(
            Restriction(Versions(lowest, highest), feature or None, level, field or None)
            for request, lowest, highest, feature, level, field in RESTRICTIONS
            if request == self.request_name
        )

    @property
    def request_class(self) -> type[Request[R_co]]:
        """Request class, imported on first use. Raises UnknownApiError."""
        found: type[Request[R_co]] = self._class(self.request_name)
        return found

    @property
    def response_class(self) -> type[R_co]:
        """Response class, imported on first use. Raises UnknownApiError."""
        if not self.response_name:
            raise UnknownApiError(f"{self.request_name} has no response")
        found: type[R_co] = self._class(self.response_name)
        return found

    def _class(self, name: str) -> Any:
        if not self.valid_versions:
            raise UnknownApiError(f"{name} has no class: the API {self.name} was removed")
        return class_of(name)

    def request_header_version(self, version: int) -> int:
        """Return the RequestHeader version for a request of ``version``.

        An invalid version has the header of the nearest valid version (KIP-482, KIP-511).
        """
        return _header_version(self.request_headers, version)

    def response_header_version(self, version: int) -> int:
        """Return the ResponseHeader version for a response of ``version``; always 0 for ApiVersionsResponse (KIP-511).

        Raises UnknownApiError if there is no response.
        """
        if not self.response_headers:
            raise UnknownApiError(f"{self.request_name} has no response")
        return _header_version(self.response_headers, version)

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Api {int(self.key)} {self.name}: {self.valid_versions}>"


def _header_version(headers: Headers, version: int) -> int:
    found = headers[0][1]
    for first, header in headers:
        if version >= first:
            found = header
    return found


_ROWS = {row[0]: row for row in APIS}
_built: dict[int, Api[Any]] = {}
_keys: dict[str, int] = {}


if TYPE_CHECKING:
    AnyApi = ApiKey | int | str | type[Message] | Api

if TYPE_CHECKING:

    @overload
    def api(which: type[Request[R]]) -> Api[R]: ...
    @overload
    def api(which: type[R]) -> Api[R]: ...
    @overload
    def api(which: Api[R]) -> Api[R]: ...
    @overload
    def api(which: AnyApi) -> Api: ...


def api(which: AnyApi) -> Api[Any]:
    """Return an API by key, name, message name or class: ``3``, ``"Metadata"``, ``"MetadataResponse"``.

    Raises UnknownApiError, and TypeError for other arguments.
    """
    if isinstance(which, int) and not isinstance(which, bool):
        return _built.get(which) or _build(which)
    if isinstance(which, Api):
        return which
    if isinstance(which, str):
        return api(_key(which, f"unknown API {display(which)}"))
    if not isinstance(which, type):
        raise TypeError(f"expected an API key, an API name or a message class, got {display(which)}")
    cls: type = which  # untyped callers may pass any class
    name = name_of(cls) if issubclass(cls, Message) else cls.__name__
    return api(_key(name, f"{name} is neither the request nor the response of an API", False))


def key_of(which: AnyApi) -> int:
    return int(which) if isinstance(which, int) else int(api(which).key)


def _key(name: str, otherwise: str, is_guess: bool = True) -> int:
    if not _keys:
        _keys.update({name: row[0] for row in APIS for name in row[1:3] if name})
        _keys.update({row[1].removesuffix("Request"): row[0] for row in APIS})
    key = _keys.get(name)
    if key is None:
        raise UnknownApiError(otherwise + (did_you_mean(name, _keys) if is_guess else ""))
    return key


def apis() -> tuple[Api, ...]:
    """Return all APIs by ascending key, including removed ones."""
    return tuple(map(api, _ROWS))


def _build(key: int) -> Api[Any]:
    if key not in _ROWS:
        known = f"{min(_ROWS)} to {max(_ROWS)}" if _ROWS else "none"
        raise UnknownApiError(f"unknown API key {display(key)}; known keys are {known}")
    _, request, response, *ends, unstable, listeners, request_headers, response_headers = _ROWS[key]
    valid, supported, deprecated = map(Versions, ends[::2], ends[1::2])
    built: Api[Any] = Api(
        ApiKey(key),
        request.removesuffix("Request"),
        request,
        response,
        valid,
        supported,
        deprecated,
        unstable,
        listeners,
        request_headers,
        response_headers,
    )
    return _built.setdefault(key, built)


def is_retriable(code: int) -> bool:
    """Return whether a request may succeed when repeated after this error; False for unknown codes."""
    return ErrorCode(code).is_retriable
