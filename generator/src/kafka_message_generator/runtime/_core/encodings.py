"""Wire primitives of encodings proposed for Kafka: packed integers, interleaved tag headers, optional-field buffers."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

from .wire import (
    VARINTS,
    Malformed,
    RawTaggedField,
    RawTaggedFields,
    Refused,
    merged,
    unknown_tags,
    uvarint,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    IntegerArray = Callable[[bytes, int, int], tuple[list[int], int]]


def _spread(bits: int) -> int:
    # Move bit n to bit 2n.
    bits = (bits | bits << 16) & 0x0000FFFF0000FFFF
    bits = (bits | bits << 8) & 0x00FF00FF00FF00FF
    bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | bits << 2) & 0x3333333333333333
    return (bits | bits << 1) & 0x5555555555555555


def _gather(bits: int) -> int:
    # Inverse of _spread.
    bits &= 0x5555555555555555
    bits = (bits | bits >> 1) & 0x3333333333333333
    bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F
    bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF
    bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF
    return (bits | bits >> 16) & 0x00000000FFFFFFFF


def interleave(tag: int, size: int) -> int:
    return _spread(tag) << 1 | _spread(size)


def interleaved_header(data: bytes, pos: int, seen: set[int]) -> tuple[int, int, int]:
    bits, pos = _long_bits(data, pos + 1, data[pos], 64)
    tag = _gather(bits >> 1)
    end = pos + _gather(bits)
    if end > len(data) or tag in seen:
        raise Malformed
    seen.add(tag)
    return tag, pos, end


def unknown_interleaved_tags(data: bytes, pos: int, first: int) -> tuple[RawTaggedFields, int]:
    return unknown_tags(data, pos, first, interleaved_header)


def interleaved_tags(known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...] = ()) -> bytes:
    fields = merged(known, unknown, reserved, 1 << 32)
    out = [VARINTS[len(fields)]]
    for tag in sorted(fields):
        out += (VARINTS[interleave(tag, len(fields[tag]))], fields[tag])
    return b"".join(out)


_pack_h = struct.Struct(">h").pack
_unpack_h = struct.Struct(">h").unpack_from


def optional_length(data: bytes, pos: int) -> tuple[int, int]:
    return long_packed(data, pos + 1, data[pos], 32)


def optional_header(data: bytes, pos: int, length: int, last: int) -> tuple[int, int, int]:
    (tag,) = _unpack_h(data, pos)
    pos += 2
    end = pos + length
    if length <= 0 or end > len(data) or tag <= last:
        raise Malformed
    return tag, pos, end


def unknown_optional(data: bytes, pos: int, first: int) -> tuple[RawTaggedFields, int]:
    out = []
    tag = -1
    length, pos = long_packed(data, pos, first, 32)
    while length:
        tag, pos, end = optional_header(data, pos, length, tag)
        out.append(RawTaggedField(tag, data[pos:end]))
        length, pos = optional_length(data, end)
    return tuple(out), pos


def optional(known: dict[int, bytes], unknown: RawTaggedFields, reserved: tuple[int, ...] = ()) -> bytes:
    fields = merged(known, unknown, reserved, 1 << 15)
    out: list[bytes] = []
    for tag in sorted(fields):
        if not fields[tag]:
            raise Refused  # a length of 0 would end the buffer
        out += (PACKED32[len(fields[tag])], _pack_h(tag), fields[tag])
    out.append(b"\0")
    return b"".join(out)


def _long_bits(data: bytes, pos: int, first: int, bits: int) -> tuple[int, int]:
    value, shift = first & 127, 7
    while first > 127:
        if shift >= bits:
            raise Malformed
        first = data[pos]
        pos += 1
        value |= (first & 127) << shift
        shift += 7
    if value >> bits:
        raise Malformed
    return value, pos


def long_packed(data: bytes, pos: int, first: int, bits: int) -> tuple[int, int]:
    value, pos = _long_bits(data, pos, first, bits)
    return value >> 1 ^ -(value & 1), pos


def long_upacked(data: bytes, pos: int, first: int, bits: int) -> tuple[int, int]:
    value, pos = _long_bits(data, pos, first, bits)
    return (value if value < 1 << bits - 1 else value - (1 << bits)), pos


class _PackedVarints(dict[int, bytes]):
    def __init__(self, bits: int, is_zigzag: bool) -> None:
        self.bits = bits
        self.is_zigzag = is_zigzag

    def __missing__(self, value: int) -> bytes:
        if not -(1 << self.bits - 1) <= value < 1 << self.bits - 1:
            raise Refused
        plain = value << 1 ^ value >> self.bits - 1 if self.is_zigzag else value & (1 << self.bits) - 1
        encoded = uvarint(plain)
        if len(encoded) < 3:
            self[value] = encoded
        return encoded


PACKED16, PACKED32, PACKED64 = (_PackedVarints(bits, True) for bits in (16, 32, 64))
UPACKED16, UPACKED32, UPACKED64 = (_PackedVarints(bits, False) for bits in (16, 32, 64))


def _array_of(read: Callable[[bytes, int, int, int], tuple[int, int]], bits: int) -> IntegerArray:
    def array(data: bytes, pos: int, count: int) -> tuple[list[int], int]:
        out = []
        for _ in range(count):
            value, pos = read(data, pos + 1, data[pos], bits)
            out.append(value)
        return out, pos

    return array


def _elements_of(table: _PackedVarints) -> Callable[[Iterable[int]], bytes]:
    def elements(values: Iterable[int]) -> bytes:
        return b"".join([table[value | 0] for value in values])

    return elements


packed16_array, packed32_array, packed64_array = (_array_of(long_packed, bits) for bits in (16, 32, 64))
upacked16_array, upacked32_array, upacked64_array = (_array_of(long_upacked, bits) for bits in (16, 32, 64))
packed16_elements, packed32_elements, packed64_elements = map(_elements_of, (PACKED16, PACKED32, PACKED64))
upacked16_elements, upacked32_elements, upacked64_elements = map(_elements_of, (UPACKED16, UPACKED32, UPACKED64))
