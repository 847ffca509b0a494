"""Arrays: their counts, and elements of primitive types.

Counts are checked against the bytes left before memory is allocated: fixed-width elements by their size, compact counts
of two or more bytes by at least one byte per element. All other elements are appended one by one until the data ends.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from .wire import (
    TEXT_LENGTHS,
    TRUTH,
    VARINTS,
    Malformed,
    Refused,
    long_bytes,
    long_string,
    long_uvarint,
    uuid_from,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

# Maximum number of elements in an array whose elements take no bytes.
MAX_EMPTY_ELEMENTS = 65535
# Shorter arrays of fixed-width elements use a precompiled struct.
SHORT = 16


def _unpackers(code: str) -> list[Callable[[bytes, int], tuple[int, ...]]]:
    # Indexed by compact count; entry 0 is null.
    return [_refuse_null, *(struct.Struct(f">{count}{code}").unpack_from for count in range(SHORT))]


def _refuse_null(data: bytes, pos: int) -> tuple[int, ...]:
    raise Malformed


def _packers(code: str) -> list[Callable[..., bytes]]:
    return [struct.Struct(f">{count}{code}").pack for count in range(SHORT)]


UNPACK_B = _unpackers("b")
UNPACK_H = _unpackers("h")
UNPACK_I = _unpackers("i")
UNPACK_Q = _unpackers("q")
PACK_B = _packers("b")
PACK_H = _packers("h")
PACK_I = _packers("i")
PACK_Q = _packers("q")


def long_count(data: bytes, pos: int, first: int) -> tuple[int, int]:
    count, pos = long_uvarint(data, pos, first)
    if not 0 < count <= len(data) - pos + 1:
        raise Malformed
    return count - 1, pos


def long_nullable_count(data: bytes, pos: int, first: int) -> tuple[int, int]:
    count, end = long_uvarint(data, pos, first)
    return (-1, end) if count == 0 else long_count(data, pos, first)


def empty_count(count: int) -> int:
    if count > MAX_EMPTY_ELEMENTS:
        raise Malformed
    return count


def fixed_array(data: bytes, pos: int, count: int, code: str, width: int) -> tuple[list[int], int]:
    end = pos + count * width
    if not pos <= end <= len(data):
        raise Malformed
    return list(struct.unpack_from(f">{count}{code}", data, pos)), end


def long_fixed_array(data: bytes, pos: int, first: int, code: str, width: int) -> tuple[list[int], int]:
    count, pos = long_count(data, pos, first)
    return fixed_array(data, pos, count, code, width)


def bool_array(data: bytes, pos: int, count: int) -> tuple[list[bool], int]:
    end = pos + count
    if not pos <= end <= len(data):
        raise Malformed
    return [byte != 0 for byte in data[pos:end]], end


def float_array(data: bytes, pos: int, count: int) -> tuple[list[float], int]:
    end = pos + count * 8
    if not pos <= end <= len(data):
        raise Malformed
    return list(struct.unpack_from(f">{count}d", data, pos)), end


def uuid_array(data: bytes, pos: int, count: int) -> tuple[list[UUID], int]:
    end = pos + count * 16
    if not pos <= end <= len(data):
        raise Malformed
    return [uuid_from(data[at : at + 16]) for at in range(pos, end, 16)], end


_unpack_h = struct.Struct(">h").unpack_from
_unpack_i = struct.Struct(">i").unpack_from


def string_array(data: bytes, pos: int, count: int) -> tuple[list[str], int]:
    out = []
    for _ in range(count):
        (length,) = _unpack_h(data, pos)
        if length < 0:
            raise Malformed
        pos += 2 + length
        out.append(data[pos - length : pos].decode())
    return out, pos


def compact_string_array(data: bytes, pos: int, count: int) -> tuple[list[str], int]:
    out = []
    for _ in range(count):
        length = data[pos]
        pos += 1
        if 0 < length < 128:
            end = pos + length - 1
            out.append(data[pos:end].decode())
            pos = end
        else:
            text, pos = long_string(data, pos, length)
            out.append(text)
    return out, pos


def bytes_array(data: bytes, pos: int, count: int) -> tuple[list[bytes], int]:
    out = []
    for _ in range(count):
        (length,) = _unpack_i(data, pos)
        pos += 4
        end = pos + length
        if not pos <= end <= len(data):
            raise Malformed
        out.append(data[pos:end])
        pos = end
    return out, pos


def compact_bytes_array(data: bytes, pos: int, count: int) -> tuple[list[bytes], int]:
    out = []
    for _ in range(count):
        value, pos = long_bytes(data, pos + 1, data[pos])
        out.append(value)
    return out, pos


def long_nullable_fixed_array(data: bytes, pos: int, first: int, code: str, width: int) -> tuple[list[int] | None, int]:
    count, end = long_nullable_count(data, pos, first)
    return (None, end) if count < 0 else fixed_array(data, end, count, code, width)


def fixed_elements(values: Sequence[int | float], code: str) -> bytes:
    return struct.pack(f">{len(values)}{code}", *values)


def bool_elements(values: Iterable[bool]) -> bytes:
    return bytes([TRUTH[value] for value in values])


def uuid_elements(values: Iterable[UUID]) -> bytes:
    return b"".join([value.bytes for value in values])


_pack_h = struct.Struct(">h").pack
_pack_i = struct.Struct(">i").pack


def elements_of(values: Iterable[T], field: str, element: str) -> Iterable[T]:
    """Return ``values``. Raises TypeError for strings, bytes, dicts and anything not iterable."""
    kind = type(values)
    if kind is not tuple and kind is not list and (isinstance(values, _NO_LISTS) or not hasattr(kind, "__iter__")):
        raise _no_list(values, field, element)
    return values


_NO_LISTS = (str, bytes, bytearray, memoryview, dict)
# Iterable types that are refused even when empty.
NO_LISTS = frozenset(_NO_LISTS)


def _no_list(value: object, field: str, element: str) -> TypeError:
    from .display import summary

    return TypeError(f"{field}: expected list of {element}, got {summary(value)}")


def string_elements(values: Iterable[str]) -> bytes:
    if isinstance(values, str):
        raise Refused
    out: list[bytes] = []
    for value in values:
        text = value.encode()
        out += (_pack_h(len(text)), text)
    return b"".join(out)


def compact_string_elements(values: Iterable[str]) -> bytes:
    if isinstance(values, str):
        raise Refused
    out: list[bytes] = []
    for value in values:
        text = value.encode()
        out += (TEXT_LENGTHS[len(text) + 1], text)
    return b"".join(out)


def bytes_elements(values: Iterable[bytes]) -> bytes:
    out: list[bytes] = []
    for value in values:
        out += (_pack_i(len(value)), value)
    return b"".join(out)


def compact_bytes_elements(values: Iterable[bytes]) -> bytes:
    out: list[bytes] = []
    for value in values:
        out += (VARINTS[len(value) + 1], value)
    return b"".join(out)
