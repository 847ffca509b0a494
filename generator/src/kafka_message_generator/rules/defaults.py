"""Default values of fields, parsed like Java literals."""

from __future__ import annotations

import base64
import binascii
import enum
import re
import uuid
from collections.abc import Callable

from kafka_message_generator.spec.model import INTEGERS, Field
from kafka_message_generator.spec.source import Problems


class Empty(enum.Enum):
    ARRAY = "an empty array"
    STRUCT = "a struct with every field at its default"


Value = bool | int | float | str | bytes | uuid.UUID | Empty | None  # None is null.

_DECIMAL = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_OCTAL = re.compile(r"[+-]?0[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"([+-]?)(NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)[dDfF]?")
_HEX_FLOAT = re.compile(r"([+-]?)0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[dDfF]?")
_UUID = re.compile(r"[A-Za-z0-9_-]{22}(?:==)?")
# Maximum digits of a decimal integer; CPython limits int/str conversion to 4,300.
_MAX_DIGITS = 100
_SHOWN = 60  # maximum characters of a default in an error message
ZERO_UUID = uuid.UUID(int=0)


class DefaultError(ValueError):
    """Raised for a default that is invalid for its field."""


def default_of(member: Field) -> Value:
    kind, text = member.type, member.default
    if text == "null" and (kind.is_array or kind.is_struct or kind.name in ("string", "bytes", "records")):
        _null(member)
        return None
    if kind.is_array or kind.is_struct:
        _only_empty(text, "an array" if kind.is_array else "a struct")
        return Empty.ARRAY if kind.is_array else Empty.STRUCT
    if kind.name in ("bytes", "records"):
        _only_empty(text, kind.name)
        # Kafka's classes initialize records to null; here they are empty if a version forbids null.
        return None if kind.name == "records" and member.nullable.covers(member.versions) else b""
    if kind.name in INTEGERS:
        return _integer(kind.name, text)
    parsers: dict[str, Callable[[str], Value]] = {"bool": _boolean, "float64": _float, "uuid": _uuid, "string": str}
    return parsers[kind.name](text)


def _null(member: Field) -> None:
    if not member.nullable.covers(member.versions):
        advice = f"nullableVersions are {member.nullable}, versions {member.versions}"
        raise DefaultError(f"null is not a valid default: not all versions of this field are nullable ({advice})")


def _only_empty(text: str, what: str) -> None:
    if text:
        raise DefaultError(f"the default of {what} must be empty or null")


def _boolean(text: str) -> bool:
    if text.lower() not in ("", "true", "false"):
        raise DefaultError("use true or false")
    return text.lower() == "true"


def _integer(kind: str, text: str) -> int:
    if text == "":
        return 0
    number: int | None
    if _HEX.fullmatch(text):
        number = int(text, 16)
    elif _OCTAL.fullmatch(text):
        number = int(text, 8)
    elif _DECIMAL.fullmatch(text):
        number = int(text) if len(text) <= _MAX_DIGITS else None
    else:
        raise DefaultError("use a decimal, 0x hexadecimal or 0 octal number")
    lowest, highest = INTEGERS[kind].range
    if number is None or not lowest <= number <= highest:
        raise DefaultError(f"out of range for {kind}; use {lowest} to {highest}")
    return number


def _float(text: str) -> float:
    if text == "":
        return 0.0
    if match := _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text.rstrip("dDfF"))
        except OverflowError:  # as in Java
            return float(f"{match[1]}Infinity")
    if match := _FLOAT.fullmatch(text):
        return float(match[1] + match[2])
    raise DefaultError("use a floating-point number, NaN or Infinity")


def _uuid(text: str) -> uuid.UUID:
    if text == "":
        return ZERO_UUID
    try:
        if _UUID.fullmatch(text):
            return uuid.UUID(bytes=base64.b64decode(text.rstrip("=") + "==", altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        pass
    raise DefaultError("use the 22 characters of URL-safe base64 that Kafka prints for a uuid")


def check(member: Field, problems: Problems) -> None:
    try:
        default_of(member)
    except DefaultError as error:
        text = member.default if len(member.default) <= _SHOWN else member.default[: _SHOWN - 3] + "..."
        problems.error(member.at("default"), f"invalid default {text!r} for {member.type} field {member.name}: {error}")
