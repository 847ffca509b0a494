"""Wire primitives for the printed code: the parts that would otherwise be repeated in every function.

Printed readers handle the common case in line (one-byte lengths, short arrays) and call here for the rest.
Nothing here tracks where it is: a failure raises one of ``READ_FAILURES`` or ``WRITE_FAILURES``, and the
caller at the top has the schema codec walk the same data again to say what went wrong, and where.
"""

from __future__ import annotations

import struct
from uuid import UUID

from ..errors import DecodeError, EncodeError
from .shown import in_short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

    BytesLike = bytes | bytearray | memoryview

    def new(cls: type[T]) -> T:
        """An object of a class without running its constructor."""
        raise NotImplementedError

else:
    new = object.__new__


def as_bytes(data: BytesLike, what: str = "data") -> bytes:
    """Anything that has bytes, as a buffer has, as ``bytes``; TypeError for others, ``what`` names them."""
    if isinstance(data, (bytes, bytearray)):
        return bytes(data)
    try:
        return bytes(memoryview(data))
    except TypeError:
        raise TypeError(f"{what} must be bytes-like, not {type(data).__name__}") from None


LONG = 16384
"""So many bytes are a chunk of their own where a message is written in chunks."""


def in_chunks(pieces: list[bytes]) -> list[bytes]:
    """The same bytes, short pieces that follow each other as one."""
    for piece in pieces:  # of a small message; max of their lengths takes three times as long
        if len(piece) >= LONG:
            return _apart(pieces)
    return [b"".join(pieces)]


def _apart(pieces: list[bytes]) -> list[bytes]:
    """Long pieces as they are, what is between them as one."""
    chunks: list[bytes] = []
    start = 0
    for index, piece in enumerate(pieces):
        if len(piece) >= LONG:
            chunks += [b"".join(pieces[start:index]), b"".join((piece,))]  # a str, say, is refused
            start = index + 1
    return [*chunks, b"".join(pieces[start:])]


UNSET: Any = object()
"""Default of constructor parameters for which None is a value of its own."""

MAX_STRING_LENGTH = 32767
MAX_EMPTY_ELEMENTS = 65535
"""Bound for arrays whose elements take no bytes: the remaining bytes cannot bound those."""


class Malformed(Exception):
    """The fast path met bytes it does not accept."""


class Refused(Exception):
    """The fast path met a value it does not write."""


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
    """A tagged field that this version of the definitions does not know: its tag and its bytes, kept as they came."""

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

TRUTH = {False: 0, True: 1}
"""Byte of a bool; anything else is a KeyError, so that None is not silently false."""

ZERO_UUID = UUID(int=0)
_set_uuid_int = UUID.__dict__["int"].__set__
_set_uuid_is_safe = UUID.__dict__["is_safe"].__set__
_is_safe_unknown = ZERO_UUID.is_safe


def uuid_from(data: bytes) -> UUID:
    """A UUID of 16 bytes, without the checks of its constructor."""
    result = new(UUID)
    _set_uuid_int(result, int.from_bytes(data, "big"))
    _set_uuid_is_safe(result, _is_safe_unknown)
    return result


def uvarint(value: int) -> bytes:
    """An unsigned varint of a value below 2**32 (2**64 for varlongs)."""
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


class _Varints(dict[int, bytes]):
    """Unsigned varints by value, made on first use; only the short ones are kept."""

    def __missing__(self, value: int) -> bytes:
        encoded = uvarint(value)
        if value < 1 << 14:
            self[value] = encoded
        return encoded


class _TextLengths(_Varints):
    """The same for the length plus one of a string, which has a bound."""

    def __missing__(self, value: int) -> bytes:
        if value > MAX_STRING_LENGTH + 1:
            raise Refused
        return super().__missing__(value)


VARINTS = _Varints()
TEXT_LENGTHS = _TextLengths()


def read_uvarint(data: bytes, pos: int) -> tuple[int, int]:
    """An unsigned varint of at most 5 bytes and 32 bits, and where it ends."""
    first = data[pos]
    return (first, pos + 1) if first < 128 else long_uvarint(data, pos + 1, first)


def long_uvarint(data: bytes, pos: int, first: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose first byte is already read."""
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
    """A compact string whose length takes more than one byte; null is not accepted here."""
    length, pos = long_uvarint(data, pos, first)
    end = pos + length - 1
    if not pos <= end <= len(data) or length > MAX_STRING_LENGTH + 1:
        raise Malformed
    return data[pos:end].decode(), end


def long_bytes(data: bytes, pos: int, first: int) -> tuple[bytes, int]:
    """Compact bytes whose length takes more than one byte; null is not accepted here."""
    if first > 127 and (byte := data[pos]) < 128:  # two bytes, up to 16 KiB: most record batches
        pos += 1
        end = pos + (first & 127 | byte << 7) - 1
    else:
        length, pos = long_uvarint(data, pos, first)
        end = pos + length - 1
    if not pos <= end <= len(data):
        raise Malformed
    return data[pos:end], end


def long_count(data: bytes, pos: int, first: int) -> tuple[int, int]:
    """A compact array's count of more than one byte; null is not accepted here."""
    count, pos = long_uvarint(data, pos, first)
    if not 0 < count <= len(data) - pos + 1:
        raise Malformed
    return count - 1, pos


# A null may be written with more bytes than it needs, too; where a version allows null these take the rest.


def long_nullable_string(data: bytes, pos: int, first: int) -> tuple[str | None, int]:
    """The same as ``long_string`` where null is allowed."""
    length, end = long_uvarint(data, pos, first)
    return (None, end) if length == 0 else long_string(data, pos, first)


def long_nullable_bytes(data: bytes, pos: int, first: int) -> tuple[bytes | None, int]:
    """The same as ``long_bytes`` where null is allowed."""
    length, end = long_uvarint(data, pos, first)
    return (None, end) if length == 0 else long_bytes(data, pos, first)


def long_nullable_count(data: bytes, pos: int, first: int) -> tuple[int, int]:
    """The same as ``long_count`` where null is allowed: -1 stands for it."""
    count, end = long_uvarint(data, pos, first)
    return (-1, end) if count == 0 else long_count(data, pos, first)


def empty_count(count: int) -> int:
    """The count of an array whose elements may take no bytes, if it is within its bound."""
    if count > MAX_EMPTY_ELEMENTS:
        raise Malformed
    return count


def tag_header(data: bytes, pos: int, seen: set[int]) -> tuple[int, int, int]:
    """Tag, start and end of a tagged field; a tag may come once, in any order."""
    tag, pos = read_uvarint(data, pos)
    size, pos = read_uvarint(data, pos)
    end = pos + size
    if end > len(data) or tag in seen:
        raise Malformed
    seen.add(tag)
    return tag, pos, end


def same_floats(left: list[float] | None, right: list[float] | None) -> bool:
    """Whether two arrays of floats are equal; NaN equals itself here."""
    if left is None or right is None:
        return left is right
    return len(left) == len(right) and all(a == b or (a != a and b != b) for a, b in zip(left, right, strict=True))


def unknown_tags(data: bytes, pos: int, first: int) -> tuple[RawTaggedFields, int]:
    """A tag section none of whose tags is known, from the first byte of its count."""
    count, pos = long_uvarint(data, pos, first)
    out = []
    seen: set[int] = set()
    for _ in range(count):
        tag, pos, end = tag_header(data, pos, seen)
        out.append(RawTaggedField(tag, data[pos:end]))
        pos = end
    return in_order(out), pos


def in_order(fields: list[RawTaggedField]) -> RawTaggedFields:
    """Tagged fields by ascending tag, as they will be written, whatever order they came in."""
    if len(fields) > 1:
        fields.sort(key=_tag_of)
    return tuple(fields)


def _tag_of(field: RawTaggedField) -> int:
    return field.tag


def merged(
    known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...], bound: int
) -> dict[int, bytes]:
    """Known and unknown tagged fields together; a tag comes once, is below ``bound``, and is its field's alone."""
    fields = dict(known)
    for raw in unknown:
        if not 0 <= raw.tag < bound or raw.tag in reserved or raw.tag in fields:
            raise Refused
        fields[raw.tag] = raw.data
    return fields


def tags(known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...] = ()) -> bytes:
    """A tag section: known and unknown fields merged in ascending order of their tags."""
    fields = merged(known, unknown, reserved, 1 << 32)
    out = [VARINTS[len(fields)]]
    for tag in sorted(fields):
        data = fields[tag]
        out += (VARINTS[tag], VARINTS[len(data)], data)
    return b"".join(out)
