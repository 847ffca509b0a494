"""Varints of records (KIP-98): zig-zag, seven bits a byte, least significant first; many of them at a time.

``Varints`` reads at any positions within the buffer. It does not stop at what is wrong, but marks it in ``wrong`` and goes on
with something harmless.
"""

from __future__ import annotations

import numpy as np

from .frames import Bools, Bytes, Ints


class VarintError(Exception):
    """A varint that is too long; the text says so."""


class Varints:
    """The varints in some bytes, behind the last of which there are 64 more."""

    __slots__ = ("_pairs", "data")

    def __init__(self, data: Bytes) -> None:
        self.data = data
        self._pairs = np.ndarray((len(data) - 1,), "<u2", data.data, 0, (1,))

    def at(self, pos: Ints, wrong: Bools, size: int = 5) -> tuple[Ints, Ints]:
        """The values at positions, and where they end. ``size``: the bytes one may have, 5 (int32) or 10 (int64).

        Two bytes are enough for nearly all: they are looked up together.
        """
        entry = _SHORT[self._pairs[pos]]
        length = entry & 3
        entry >>= 2
        end = pos + length
        if length.max(initial=0) == _LONGER:
            some = np.flatnonzero(length == _LONGER)
            entry[some], end[some], wrong[some] = self._long(pos[some], size)
        return entry, end

    def _long(self, pos: Ints, size: int) -> tuple[Ints, Ints, Bools]:
        """Values, ends, and which are too long; the value of those is -1."""
        value = np.zeros(len(pos), np.int64)
        end = pos.copy()
        more = np.arange(len(pos))
        for shift in range(0, 7 * size, 7):
            byte = self.data[end[more]].astype(np.int64)
            end[more] += 1
            value[more] |= (byte & 127) << shift
            more = more[byte > 127]
        wrong = np.zeros(len(pos), np.bool_)
        wrong[more] = True
        if size == 5:
            wrong |= value > 0xFFFFFFFF
        half = (value.view(np.uint64) >> np.uint64(1)).view(np.int64)
        value = half ^ -(value & 1)
        value[wrong] = -1
        return value, end, wrong


def _short() -> Ints:
    """For each little-endian pair of bytes, of the varint at its beginning: the value times 4, plus its bytes, or 3."""
    pair = np.arange(1 << 16)
    low, high = pair & 255, pair >> 8
    one, two = low < 128, high < 128
    value = np.where(one, low, low & 127 | high << 7)
    signed = value >> 1 ^ -(value & 1)
    return signed << 2 | np.where(one, 1, np.where(two, 2, _LONGER))


_LONGER = 3
_SHORT = _short()


def varint(data: bytes, pos: int) -> tuple[int, int]:
    """The int32 at ``pos``, and where it ends. Raises VarintError, and IndexError where the data ends within it."""
    value = shift = 0
    while True:
        byte = data[pos]
        pos += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift == 35:
            raise VarintError("a varint has more than 5 bytes")
    if value > 0xFFFFFFFF:
        raise VarintError("a varint does not fit into 32 bits")
    return (value >> 1) ^ -(value & 1), pos
