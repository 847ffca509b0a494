"""The APIs: their messages, versions, listeners and header versions, on top of the printed table."""

from __future__ import annotations

from .._base.message import Message, Request, Response, class_of
from .._core.generic import Generic
from .._core.shown import shown
from .._core.spelling import did_you_mean
from .._core.structs import name_of
from .._core.value import dataclass
from .._core.versions import Versions
from ..enums import ApiKey, ErrorCode
from ._errors import UnknownApiError
from ._tables import APIS, RESTRICTIONS, Headers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, overload

    from typing_extensions import TypeVar  # checkers bring it along

    R = TypeVar("R", bound=Response)
    R_co = TypeVar("R_co", bound=Response, covariant=True, default=Response)
else:
    R_co = None


@dataclass(frozen=True, slots=True)
class Restriction:
    """Versions of a request that negotiation does not choose only because both sides have them."""

    versions: Versions
    feature: str | None
    """The feature that has to be finalized, such as ``transaction.version``; None for versions for brokers only."""
    level: int
    """The lowest level of the feature; 0 without one."""
    field: str | None
    """The restriction is for requests in which this field is not null; None for all requests."""

    def __str__(self) -> str:
        is_one = self.versions.lowest == self.versions.highest
        if self.feature is None:
            return f"{self.versions} {'is' if is_one else 'are'} for brokers only"
        requests = "" if self.field is None else f" if {self.field} is set"
        return f"{self.versions} {'needs' if is_one else 'need'} {self.feature} {self.level}{requests}"


@dataclass(frozen=True, slots=True)
class Api(Generic[R_co]):
    """One API: a request, its response, and the facts about both that do not depend on their fields.

    ``Api[MetadataResponse]`` is the one with this response.
    """

    key: ApiKey
    name: str
    """Kafka's name of the API, such as ``Metadata``."""
    request_name: str
    response_name: str
    """Empty where a request has no response."""
    valid_versions: Versions
    """Versions of request and response that can be read and written; empty where the package has no classes."""
    supported_versions: Versions
    """Those of them that the release of this package has; empty for a removed API. The others are of other releases:
    they are never negotiated, nor announced unless one says so.
    """
    deprecated_versions: Versions
    """Those of them that a later release removes; usually empty."""
    latest_version_unstable: bool
    """Whether the highest valid version may still change; brokers hide it unless they are told otherwise."""
    listeners: tuple[str, ...]
    """Which listeners serve it: ``broker``, ``controller``; of a removed API those of the last release that had it."""
    request_headers: Headers
    """Header versions of the request as (first API version, header version), ascending."""
    response_headers: Headers
    """Header versions of the response as (first API version, header version), ascending; none without a response."""

    @property
    def is_removed(self) -> bool:
        """Whether the release has no version left: the key stays taken, and only older releases speak it."""
        return not self.supported_versions

    @property
    def stable_versions(self) -> Versions:
        """The offered versions without an unstable latest one."""
        offered = self.supported_versions
        return Versions(offered.lowest, offered.highest - 1) if self.latest_version_unstable else offered

    @property
    def restrictions(self) -> tuple[Restriction, ...]:
        """Versions of the request that are for brokers only, or that need a finalized feature; usually none."""
        return tuple(
            Restriction(Versions(lowest, highest), feature or None, level, field or None)
            for request, lowest, highest, feature, level, field in RESTRICTIONS
            if request == self.request_name
        )

    @property
    def request_class(self) -> type[Request[R_co]]:
        """Class of the request, imported on first use. Raises UnknownApiError where the package has none."""
        found: type[Request[R_co]] = self._class(self.request_name)
        return found

    @property
    def response_class(self) -> type[R_co]:
        """Class of the response, imported on first use. Raises UnknownApiError where the package has none."""
        if not self.response_name:
            raise UnknownApiError(f"{self.request_name} has no response")
        found: type[R_co] = self._class(self.response_name)
        return found

    def _class(self, name: str) -> Any:
        if not self.valid_versions:
            raise UnknownApiError(f"{name} has no class: the API {self.name} was removed")
        return class_of(name)

    def request_header_version(self, version: int) -> int:
        """Version of RequestHeader before a request of ``version``.

        Versions that are not valid have one too, by the rule for the nearest that are: a broker needs it to say that
        it does not support the request (KIP-482, KIP-511).
        """
        return _header_version(self.request_headers, version)

    def response_header_version(self, version: int) -> int:
        """Version of ResponseHeader before a response of ``version``; always 0 for ApiVersionsResponse (KIP-511).

        Raises UnknownApiError where there is no response.
        """
        if not self.response_headers:
            raise UnknownApiError(f"{self.request_name} has no response")
        return _header_version(self.response_headers, version)

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
    """What names an API: its key, its name or that of one of its messages, one of their classes, or itself."""

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
    """The API with this key or name, with this request or response class, or with a message of this name.

    ``api(3)``, ``api("Metadata")``, ``api("MetadataResponse")`` and ``api(MetadataRequest)`` are the same. Raises
    UnknownApiError when no API has this key or name, and for classes that are neither request nor response.
    """
    if isinstance(which, int) and not isinstance(which, bool):
        return _built.get(which) or _build(which)
    if isinstance(which, Api):
        return which
    if isinstance(which, str):
        return api(_key(which, f"no API is called {shown(which)}"))
    if not isinstance(which, type):
        raise TypeError(f"an API key, an API's name or a message class is needed, not {shown(which)}")
    cls: type = which  # of anything, where no checker has looked
    name = name_of(cls) if issubclass(cls, Message) else cls.__name__
    return api(_key(name, f"{name} is neither the request nor the response of an API", False))


def key_of(which: AnyApi) -> int:
    """The key of an API; a number may be that of one that the package does not know."""
    return int(which) if isinstance(which, int) else int(api(which).key)


def _key(name: str, otherwise: str, is_guess: bool = True) -> int:
    """The key of the API with this name, or with a message of this name."""
    if not _keys:
        _keys.update({name: row[0] for row in APIS for name in row[1:3] if name})
        _keys.update({row[1].removesuffix("Request"): row[0] for row in APIS})
    key = _keys.get(name)
    if key is None:
        raise UnknownApiError(otherwise + (did_you_mean(name, _keys) if is_guess else ""))
    return key


def apis() -> tuple[Api, ...]:
    """Every API by ascending key, removed ones too."""
    return tuple(map(api, _ROWS))


def _build(key: int) -> Api[Any]:
    if key not in _ROWS:
        known = f"{min(_ROWS)} to {max(_ROWS)}" if _ROWS else "none"
        raise UnknownApiError(f"no API has the key {shown(key)}; the known keys are {known}")
    _, request, response, *ends, unstable, listeners, request_headers, response_headers = _ROWS[key]
    valid, offered, deprecated = map(Versions, ends[::2], ends[1::2])
    built: Api[Any] = Api(
        ApiKey(key),
        request.removesuffix("Request"),
        request,
        response,
        valid,
        offered,
        deprecated,
        unstable,
        listeners,
        request_headers,
        response_headers,
    )
    return _built.setdefault(key, built)


def is_retriable(code: int) -> bool:
    """Whether the error with this code may go away by itself, as the definitions say; false for unknown codes."""
    return ErrorCode(code).is_retriable
