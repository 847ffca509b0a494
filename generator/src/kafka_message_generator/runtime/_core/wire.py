"""Wire primitives for the cases that generated code does not inline.

Readers return a value and the offset after it. ``long_`` readers get the varint's first byte as ``first``, and the
offset after it as ``pos``. Only ``nullable`` readers accept null.

Failures raise one of ``READ_FAILURES`` or ``WRITE_FAILURES``; the schema codec then finds field and offset.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from uuid import UUID

from ..errors import DecodeError, EncodeError
from .display import in_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

    BytesLike = bytes | bytearray | memoryview

    def new(cls: type[T]) -> T:
        raise NotImplementedError

else:
    new = object.__new__


def as_view(data: BytesLike, what: str = "data") -> memoryview:
    try:
        return memoryview(data)
    except TypeError:
        raise TypeError(f"{what} must be bytes-like, not {type(data).__name__}") from None


def as_bytes(data: BytesLike, what: str = "data") -> bytes:
    return bytes(data if isinstance(data, (bytes, bytearray)) else as_view(data, what))


# Minimum length of a separate chunk.
LONG = 16384


def in_chunks(pieces: list[bytes]) -> list[bytes]:
    for piece in pieces:  # faster than max() of the lengths for small messages
        if len(piece) >= LONG:
            return _apart(pieces)
    return [b"".join(pieces)]


def _apart(pieces: list[bytes]) -> list[bytes]:
    chunks: list[bytes] = []
    start = 0
    for index, piece in enumerate(pieces):
        if len(piece) >= LONG:
            chunks += [b"".join(pieces[start:index]), b"".join((piece,))]  # join raises for anything but bytes
            start = index + 1
    return [*chunks, b"".join(pieces[start:])]


NO_UTF8 = "invalid UTF-8"  # start of error messages that do not occur with ``surrogateescape``

# Default of constructor parameters that accept None as a value.
UNSET: Any = object()

MAX_STRING_LENGTH = 32767


class Malformed(Exception):
    """Invalid bytes, without a position."""


class Refused(Exception):
    """Invalid value, without a position."""


READ_FAILURES = (struct.error, IndexError, UnicodeDecodeError, Malformed, OverflowError, MemoryError, DecodeError)
WRITE_FAILURES = (
    struct.error,
    AttributeError,
    TypeError,
    KeyError,
    ValueError,
    IndexError,
    OverflowError,
    Refused,
    EncodeError,
)


class RawTaggedField:
    """Unknown tagged field: tag and undecoded bytes."""

    __slots__ = ("data", "tag")

    def __init__(self, tag: int, data: bytes) -> None:
        self.tag = tag
        self.data = data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RawTaggedField):
            return NotImplemented
        return self.tag == other.tag and self.data == other.data

    def __hash__(self) -> int:
        return hash((self.tag, self.data))

    def __repr__(self) -> str:
        return f"RawTaggedField(tag={self.tag}, data={in_short(self.data)})"


RawTaggedFields = tuple[RawTaggedField, ...]

# Byte of a bool; other values raise KeyError.
TRUTH = {False: 0, True: 1}

ZERO_UUID = UUID(int=0)
_set_uuid_int = UUID.__dict__["int"].__set__
_set_uuid_is_safe = UUID.__dict__["is_safe"].__set__
_is_safe_unknown = ZERO_UUID.is_safe


def uuid_from(data: bytes) -> UUID:
    result = new(UUID)
    _set_uuid_int(result, int.from_bytes(data, "big"))
    _set_uuid_is_safe(result, _is_safe_unknown)
    return result


def uvarint(value: int) -> bytes:
    if value < 1 << 14:
        return bytes((value,)) if value < 128 else bytes((value & 127 | 128, value >> 7))
    if value < 1 << 21:
        return bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14))
    if value < 1 << 28:
        return bytes((value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, value >> 21))
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


class _UnsignedVarints(dict[int, bytes]):
    def __missing__(self, value: int) -> bytes:
        encoded = uvarint(value)
        if value < 1 << 14:
            self[value] = encoded
        return encoded


class _TextLengths(_UnsignedVarints):
    def __missing__(self, value: int) -> bytes:
        if value > MAX_STRING_LENGTH + 1:
            raise Refused
        return super().__missing__(value)


VARINTS = _UnsignedVarints()
TEXT_LENGTHS = _TextLengths()


def read_uvarint(data: bytes, pos: int) -> tuple[int, int]:
    first = data[pos]
    return (first, pos + 1) if first < 128 else long_uvarint(data, pos + 1, first)


def long_uvarint(data: bytes, pos: int, first: int) -> tuple[int, int]:
    """Read an unsigned varint of at most 5 bytes and 32 bits."""
    if first < 128:
        return first, pos
    value = first & 127
    for shift in (7, 14, 21, 28):
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            if value >> 32:
                raise Malformed
            return value, pos
    raise Malformed


def long_string(data: bytes, pos: int, first: int) -> tuple[str, int]:
    length, pos = long_uvarint(data, pos, first)
    end = pos + length - 1
    if not pos <= end <= len(data) or length > MAX_STRING_LENGTH + 1:
        raise Malformed
    return data[pos:end].decode(), end


def long_bytes(data: bytes, pos: int, first: int) -> tuple[bytes, int]:
    if first > 127 and (byte := data[pos]) < 128:  # two bytes, up to 16 KiB: most record batches
        pos += 1
        end = pos + (first & 127 | byte << 7) - 1
    else:
        length, pos = long_uvarint(data, pos, first)
        end = pos + length - 1
    if not pos <= end <= len(data):
        raise Malformed
    return data[pos:end], end


# Null may be encoded as an overlong varint.


def long_nullable_string(data: bytes, pos: int, first: int) -> tuple[str | None, int]:
    length, end = long_uvarint(data, pos, first)
    return (None, end) if length == 0 else long_string(data, pos, first)


def long_nullable_bytes(data: bytes, pos: int, first: int) -> tuple[bytes | None, int]:
    length, end = long_uvarint(data, pos, first)
    return (None, end) if length == 0 else long_bytes(data, pos, first)


def tag_header(data: bytes, pos: int, seen: set[int]) -> tuple[int, int, int]:
    """Return tag, start and end of a tagged field. Raises Malformed for a repeated tag or a size beyond the data."""
    tag, pos = read_uvarint(data, pos)
    size, pos = read_uvarint(data, pos)
    end = pos + size
    if end > len(data) or tag in seen:
        raise Malformed
    seen.add(tag)
    return tag, pos, end


def same_floats(left: list[float] | None, right: list[float] | None) -> bool:
    if left is None or right is None:
        return left is right
    return len(left) == len(right) and all(a == b or (a != a and b != b) for a, b in zip(left, right, strict=True))


def unknown_tags(
    data: bytes, pos: int, first: int, header: Callable[[bytes, int, set[int]], tuple[int, int, int]] = tag_header
) -> tuple[RawTaggedFields, int]:
    count, pos = long_uvarint(data, pos, first)
    out = []
    seen: set[int] = set()
    for _ in range(count):
        tag, pos, end = header(data, pos, seen)
        out.append(RawTaggedField(tag, data[pos:end]))
        pos = end
    return in_order(out), pos


def in_order(fields: list[RawTaggedField]) -> RawTaggedFields:
    if len(fields) > 1:
        fields.sort(key=_tag_of)
    return tuple(fields)


def _tag_of(field: RawTaggedField) -> int:
    return field.tag


def merged(
    known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...], bound: int
) -> dict[int, bytes]:
    """Merge tagged fields into one dict by tag. Raises Refused for repeated, reserved or out-of-range tags."""
    fields = dict(known)
    for raw in unknown:
        if not 0 <= raw.tag < bound or raw.tag in reserved or raw.tag in fields:
            raise Refused
        fields[raw.tag] = raw.data
    return fields


def tags(known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...] = ()) -> bytes:
    fields = merged(known, unknown, reserved, 1 << 32)
    out = [VARINTS[len(fields)]]
    for tag in sorted(fields):
        data = fields[tag]
        out += (VARINTS[tag], VARINTS[len(data)], data)
    return b"".join(out)
