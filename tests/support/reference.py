"""Simple independent encoder of Kafka's wire format, without validation, for comparison with generated code."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from uuid import UUID

CODES = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
}


def uvarint(number: int) -> bytes:
    """Encode groups of seven bits, lowest first; the top bit marks a following byte."""
    head, rest = number & 127, number >> 7
    return bytes([head | 128]) + uvarint(rest) if rest else bytes([head])


def length(number: int, flexible: bool, width: str) -> bytes:
    """Encode a length (-1 for null), compact or as a number of this struct format."""
    return uvarint(number + 1) if flexible else struct.pack(f">{width}", number)


def value(kind: str, given: object, flexible: bool) -> bytes:
    """Encode a value of a type; a struct is the list of its fields' types and values."""
    if kind.startswith("[]"):
        if given is None:
            return length(-1, flexible, "i")
        assert isinstance(given, Sequence)
        return length(len(given), flexible, "i") + b"".join(value(kind[2:], each, flexible) for each in given)
    if kind in CODES:
        return struct.pack(f">{CODES[kind]}", given)
    if isinstance(given, UUID):
        return given.bytes
    if kind in ("string", "bytes", "records"):
        width = "h" if kind == "string" else "i"
        if given is None:
            return length(-1, flexible, width)
        data = given.encode() if isinstance(given, str) else given
        assert isinstance(data, bytes)
        return length(len(data), flexible, width) + data
    assert isinstance(given, Sequence)
    return b"".join(value(of, each, flexible) for of, each in given) + (tags({}) if flexible else b"")


def tags(fields: Mapping[int, bytes]) -> bytes:
    """Encode a tag section: number of fields, then tag, size and bytes of each, ascending."""
    parts = [uvarint(tag) + uvarint(len(data)) + data for tag, data in sorted(fields.items())]
    return uvarint(len(parts)) + b"".join(parts)
