"""Values of many rows on their way to bytes: how long each is, and how to put all of them in their places at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ._lanes import Bytes, Ints

LONG = 16
"""Runs of so many bytes are copied one by one: the numbers of all their bytes take longer to make."""
Put = Callable[["Output", Ints], None]


class Output:
    """The bytes of all rows, written at any position."""

    def __init__(self, size: int) -> None:
        self.bytes: Bytes = np.zeros(size + 8, np.uint8)
        self.size = size

    def set(self, pos: Ints, values: Ints, code: str) -> None:
        """Big-endian numbers of a numpy type at positions."""
        kind = np.dtype(code)
        view = np.ndarray((len(self.bytes) - kind.itemsize + 1,), kind, self.bytes.data, 0, (1,))
        view[pos] = values

    def copy(self, pos: Ints, data: Bytes, start: Ints, length: Ints) -> None:
        """Runs of ``data`` to positions."""
        is_long = length >= LONG
        if is_long.any():
            self._copy_each(pos[is_long], data, start[is_long], length[is_long])
            pos, start, length = pos[~is_long], start[~is_long], length[~is_long]
        before = np.cumsum(length) - length
        within = np.arange(int(length.sum())) - np.repeat(before, length)
        self.bytes[np.repeat(pos, length) + within] = data[np.repeat(start, length) + within]

    def _copy_each(self, pos: Ints, data: Bytes, start: Ints, length: Ints) -> None:
        to, source = self.bytes.data, data.data
        ends, stops = (pos + length).tolist(), (start + length).tolist()
        for begin, end, first, stop in zip(pos.tolist(), ends, start.tolist(), stops, strict=True):
            to[begin:end] = source[first:stop]


@dataclass(frozen=True)
class Piece:
    """One value of each lane: its size in bytes, and the function that puts it."""

    sizes: Ints
    put: Put


def joined(pieces: list[Piece], count: int) -> Piece:
    """Pieces of the same lanes, one behind the other."""
    if len(pieces) == 1:
        return pieces[0]
    sizes = sum((piece.sizes for piece in pieces), np.zeros(count, np.int64))

    def put(out: Output, pos: Ints) -> None:
        for piece in pieces:
            piece.put(out, pos)
            pos = pos + piece.sizes

    return Piece(sizes, put)


def number(values: Ints, code: str) -> Piece:
    """Fixed-width numbers; their range is checked elsewhere."""
    width = np.dtype(code).itemsize
    return Piece(np.full(len(values), width, np.int64), lambda out, pos: out.set(pos, values, code))


def constant(count: int, data: bytes) -> Piece:
    """The same bytes in every lane."""

    def put(out: Output, pos: Ints) -> None:
        for index, byte in enumerate(data):
            out.bytes[pos + index] = byte

    return Piece(np.full(count, len(data), np.int64), put)


def uvarint(values: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> Piece:
    """Unsigned varints."""
    sizes = np.ones(len(values), np.int64)
    for shift in range(7, 64, 7):
        sizes += values >> np.uint64(shift) > 0

    def put(out: Output, pos: Ints) -> None:
        for index in range(int(sizes.max(initial=0))):
            lanes = np.flatnonzero(sizes > index)
            byte = values[lanes] >> np.uint64(7 * index) & np.uint64(127)
            more = np.where(sizes[lanes] > index + 1, np.uint64(128), np.uint64(0))
            out.bytes[pos[lanes] + index] = (byte | more).astype(np.uint8)

    return Piece(sizes, put)


def runs(data: Bytes, start: Ints, length: Ints) -> Piece:
    """Runs of bytes that stand in a buffer."""
    return Piece(length, lambda out, pos: out.copy(pos, data, start, length))


def chosen(piece: Piece, lanes: Ints, count: int) -> Piece:
    """A piece that only some of ``count`` lanes have."""
    if len(lanes) == count:
        return piece
    sizes = np.zeros(count, np.int64)
    sizes[lanes] = piece.sizes
    return Piece(sizes, lambda out, pos: piece.put(out, pos[lanes]))


def grouped(piece: Piece, offsets: Ints) -> Piece:
    """The elements of each lane one behind the other; lane i has the elements ``offsets[i]`` to ``offsets[i + 1]``."""
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(piece.sizes)))
    sizes = ends[offsets[1:]] - ends[offsets[:-1]]

    def put(out: Output, pos: Ints) -> None:
        count = np.diff(offsets)
        first = np.repeat(pos - ends[offsets[:-1]], count)
        piece.put(out, first + ends[:-1])

    return Piece(sizes, put)


def finished(piece: Piece) -> pa.Array:
    """The binary array of the lanes of a piece."""
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(piece.sizes)))
    out = Output(int(offsets[-1]))
    piece.put(out, offsets[:-1])
    kind, width = (pa.binary(), np.int32) if out.size < 1 << 31 else (pa.large_binary(), np.int64)
    buffers = [None, pa.py_buffer(offsets.astype(width)), pa.py_buffer(out.bytes[: out.size])]
    return pa.Array.from_buffers(kind, len(piece.sizes), buffers)
