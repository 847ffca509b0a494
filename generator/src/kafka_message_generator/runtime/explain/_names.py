"""Names of numbers: error codes, APIs, and further enumerations, and times as Kafka prints them."""

from __future__ import annotations

from .._core.optional import optional

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from ..schema.facts import FieldFacts

    Namer = Callable[[str, str, FieldFacts, int], str | None]


def _error(message: str, path: str, facts: FieldFacts, value: int) -> str | None:
    """Of an error code."""
    return _member("ErrorCode", value) if facts.is_error_code else None


def _api(message: str, path: str, facts: FieldFacts, value: int) -> str | None:
    """Of an API key, as headers and ApiVersions have it."""
    if facts.type != "int16" or facts.name not in ("api_key", "request_api_key"):
        return None
    protocol = optional("protocol")
    if protocol is None:
        return None
    try:
        name: str = protocol.api(value).name
    except protocol.UnknownApiError:
        return None
    return name


def _member(enumeration: str, value: int) -> str | None:
    """The name that an enumeration of the part ``protocol`` has for a number."""
    protocol = optional("protocol")
    if protocol is None:
        return None
    name: str = getattr(protocol, enumeration)(value).name
    return name


def _enumeration(message: str, path: str, facts: FieldFacts, value: int) -> str | None:
    """Of a field whose definition says its enumeration, if the package has the part ``enums``."""
    name: str | None = getattr(facts, "enumeration", None)
    enums = None if name is None else optional("enums")
    if enums is None:
        return None
    member = enums.ENUMERATIONS[name]._value2member_map_.get(value)
    return None if member is None else str(member.name)


NAMERS: list[Namer] = [_error, _api, _enumeration]
"""Each says how the value of a field is called, or None: message, path without indexes, field, value. The first counts."""


def name_of(message: str, path: str, facts: FieldFacts, value: int) -> str | None:
    """What the number in a field is called, as far as somebody knows."""
    for namer in NAMERS:
        name = namer(message, path, facts, value)
        if name is not None:
            return name
    return None


_LATEST = 253402300800000
"""The year 10000 in milliseconds."""


def time_text(milliseconds: int) -> str | None:
    """UTC for milliseconds since 1970; None for what is no time, as -1."""
    if not 0 < milliseconds < _LATEST:
        return None
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03}Z"


def is_time(facts: FieldFacts) -> bool:
    """Whether a field is a point in time in milliseconds; a duration is none."""
    name = facts.name
    return facts.type == "int64" and not facts.is_array and ("timestamp" in name or name.endswith("_time"))
