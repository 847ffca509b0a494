"""The APIs: their messages, versions, listeners and header versions, on top of the printed table."""

from __future__ import annotations

from collections.abc import Iterator

from .._base.message import Message
from .._base.prefixed import class_of
from .._core.value import dataclass
from ..enums import ApiKey, ErrorCode
from ._errors import UnknownApiError
from ._tables import APIS, Headers


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends included; empty when ``highest`` is below ``lowest``. Iterates upwards."""

    lowest: int
    highest: int

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __len__(self) -> int:
        return max(self.highest - self.lowest + 1, 0)

    def __str__(self) -> str:
        if not self:
            return "no version"
        if self.lowest == self.highest:
            return f"version {self.lowest}"
        return f"versions {self.lowest} to {self.highest}"


@dataclass(frozen=True, slots=True)
class Api:
    """One API: a request, its response, and the facts about both that do not depend on their fields."""

    key: ApiKey
    name: str
    """Kafka's name of the API, such as ``Metadata``."""
    request_name: str
    response_name: str
    """Empty where a request has no response."""
    valid_versions: Versions
    """Versions of request and response that this package has; empty for a removed API."""
    deprecated_versions: Versions
    """Those of them that a later release removes; usually empty."""
    latest_version_unstable: bool
    """Whether the highest valid version may still change; brokers hide it unless they are told otherwise."""
    listeners: tuple[str, ...]
    """Which listeners serve it: ``broker``, ``controller``; empty for a removed API."""
    request_headers: Headers
    """Header versions of the request as (first API version, header version), ascending."""
    response_headers: Headers
    """Header versions of the response as (first API version, header version), ascending; none without a response."""

    @property
    def is_removed(self) -> bool:
        """Whether no version is left: the key stays taken, but the package has no classes for it."""
        return not self.valid_versions

    @property
    def stable_versions(self) -> Versions:
        """The valid versions without an unstable latest one."""
        valid = self.valid_versions
        return Versions(valid.lowest, valid.highest - 1) if self.latest_version_unstable else valid

    @property
    def request_class(self) -> type[Message]:
        """Class of the request, imported on first use. Raises UnknownApiError for a removed API."""
        return self._class(self.request_name)

    @property
    def response_class(self) -> type[Message]:
        """Class of the response, imported on first use. Raises UnknownApiError for a removed API, and for one without."""
        if not self.response_name:
            raise UnknownApiError(f"{self.request_name} has no response")
        return self._class(self.response_name)

    def _class(self, name: str) -> type[Message]:
        if self.is_removed:
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


def _header_version(headers: Headers, version: int) -> int:
    found = headers[0][1]
    for first, header in headers:
        if version >= first:
            found = header
    return found


_ROWS = {row[0]: row for row in APIS}
_built: dict[int, Api] = {}
_keys: dict[str, int] = {}


def api(which: ApiKey | int | type[Message] | Api) -> Api:
    """The API with this key, or with this request or response class.

    Raises UnknownApiError when no API has this key, and for classes that are neither request nor response.
    """
    if isinstance(which, int):
        return _built.get(which) or _build(which)
    if isinstance(which, Api):
        return which
    if not isinstance(which, type):
        raise TypeError(f"an API key or a message class is needed, not {which!r}")
    if not _keys:
        _keys.update({name: row[0] for row in APIS for name in row[1:3] if name})
    name: str = getattr(which, "NAME", which.__name__)
    key = _keys.get(name)
    if key is None:
        raise UnknownApiError(f"{name} is neither the request nor the response of an API")
    return api(key)


def apis() -> tuple[Api, ...]:
    """Every API by ascending key, removed ones too."""
    return tuple(map(api, _ROWS))


def _build(key: int) -> Api:
    if key not in _ROWS:
        known = f"{min(_ROWS)} to {max(_ROWS)}" if _ROWS else "none"
        raise UnknownApiError(f"no API has the key {key}; the known keys are {known}")
    _, request, response, lowest, highest, low_deprecated, high_deprecated, unstable, listeners, *headers = _ROWS[key]
    built = Api(
        ApiKey(key),
        request.removesuffix("Request"),
        request,
        response,
        Versions(lowest, highest),
        Versions(low_deprecated, high_deprecated),
        unstable,
        listeners,
        *headers,
    )
    return _built.setdefault(key, built)


def is_retriable(code: int) -> bool:
    """Whether the error with this code may go away by itself, as the definitions say; false for unknown codes."""
    return ErrorCode(code).is_retriable
