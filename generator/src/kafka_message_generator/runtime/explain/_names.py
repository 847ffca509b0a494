"""Names of numeric values: error codes, APIs, enumerations and timestamps."""

from __future__ import annotations

from .._core.optional import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.descriptors import FieldDescriptor

    Namer = Callable[[str, str, FieldDescriptor, int], str | None]


def _error(message: str, path: str, descriptor: FieldDescriptor, value: int) -> str | None:
    protocol = optional("protocol") if descriptor.is_error_code else None
    return None if protocol is None else str(protocol.ErrorCode(value).name)


def _api(message: str, path: str, descriptor: FieldDescriptor, value: int) -> str | None:
    if descriptor.type != "int16" or descriptor.name not in ("api_key", "request_api_key"):
        return None
    protocol = optional("protocol")
    if protocol is None:
        return None
    try:
        name: str = protocol.api(value).name
    except protocol.UnknownApiError:
        return None
    return name


def _enumeration(message: str, path: str, descriptor: FieldDescriptor, value: int) -> str | None:
    name: str | None = getattr(descriptor, "enumeration", None)
    enums = None if name is None else optional("enums")
    if enums is None:
        return None
    member = enums.ENUMERATIONS[name]._value2member_map_.get(value)
    return None if member is None else str(member.name)


# Functions of message, path without indices, field and value that return a name or None; the first name is used.
NAMERS: list[Namer] = [_error, _api, _enumeration]


def name_of(message: str, path: str, descriptor: FieldDescriptor, value: int) -> str | None:
    for namer in NAMERS:
        name = namer(message, path, descriptor, value)
        if name is not None:
            return name
    return None


# The year 10000 in milliseconds.
_LATEST = 253402300800000


def time_text(milliseconds: int) -> str | None:
    """Return milliseconds since 1970 as UTC text; None for 0, negative numbers, and years after 9999."""
    if not 0 < milliseconds < _LATEST:
        return None
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03}Z"


def is_time(descriptor: FieldDescriptor) -> bool:
    name = descriptor.name
    return descriptor.type == "int64" and not descriptor.is_array and ("timestamp" in name or name.endswith("_time"))
