"""Size of integers under each encoding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.spec.model import ENCODED_TYPES

FORMS = ("fixed", "packed", "upacked")  # fastest to decode first


def encoded_size(form: str, bits: int, value: int) -> int:
    """Return the encoded size in bytes of an integer of ``bits`` bits, as ``fixed``, ``packed`` or ``upacked``.

    Raises ValueError if the value does not fit, or the form or width is unknown.
    """
    _check_bits(bits)
    if value.bit_length() > bits - 1 and value != -1 << bits - 1:
        raise ValueError(f"{value} does not fit into {bits} bits")
    if form == "fixed":
        return bits // 8
    if form == "packed":
        return _varint_size(value << 1 if value >= 0 else ~value << 1 | 1)
    if form == "upacked":
        return _varint_size(value & (1 << bits) - 1)
    raise ValueError(f"unknown encoding {form!r}; expected one of {', '.join(FORMS)}")


@dataclass(frozen=True)
class SizeRange:
    """A range of integers, both ends included, with the same encoded size."""

    lowest: int
    highest: int
    bytes: int


def histogram(bits: int, signed: bool) -> tuple[SizeRange, ...]:
    """Return the ranges of integers with equal varint size, ascending and without gaps.

    ``bits`` is 16, 32 or 64. ``signed`` selects ``packed`` (zig-zag), otherwise ``upacked``. Raises ValueError for
    other widths.
    """
    _check_bits(bits)
    ranges = list(_unsigned(bits))
    if not signed:
        return tuple(ranges)
    # Zig-zag: even numbers are values from 0, odd ones negative values from -1.
    positive = [SizeRange((each.lowest + 1) // 2, each.highest // 2, each.bytes) for each in ranges]
    negative = [SizeRange(-(each.highest + 1) // 2, -(each.lowest // 2) - 1, each.bytes) for each in ranges]
    middle = SizeRange(negative[0].lowest, positive[0].highest, 1)
    return (*reversed(negative[1:]), middle, *positive[1:])


def _unsigned(bits: int) -> Iterator[SizeRange]:
    for size in range(1, (bits + 6) // 7 + 1):
        lowest = 1 << 7 * (size - 1) if size > 1 else 0
        yield SizeRange(lowest, (1 << min(7 * size, bits)) - 1, size)


def _varint_size(number: int) -> int:
    return max(1, (number.bit_length() + 6) // 7)


def _check_bits(bits: int) -> None:
    if bits not in ENCODED_TYPES.values():
        raise ValueError(f"an encoding must have 16, 32 or 64 bits, not {bits}")
