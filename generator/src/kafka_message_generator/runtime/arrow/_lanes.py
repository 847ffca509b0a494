"""Reads the same kind of value for many rows at a time: one lane a value, all lanes of a batch in each numpy call.

A lane is a position in the buffer of a binary array, the end it may not pass, and the row it belongs to. A lane that
meets bytes it cannot accept marks its row as bad and goes on with zeros: errors cost nothing until the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ._sound import unsound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

WIDEST = 16
"""Bytes that are there in any case, to read from where a value is not: a uuid is the widest of those of fixed width."""
MOST_BYTES = 1 << 31
"""Offsets of what comes out are int32."""
FEW = 128
"""With fewer lanes than this a plain loop is faster than numpy calls, which take as long for one lane as for many."""


@dataclass(slots=True)
class Lanes:
    """Where each lane is, where it ends, and its row."""

    pos: Ints
    end: Ints
    row: Ints

    def __len__(self) -> int:
        return len(self.pos)

    def where(self, chosen: Ints | Bools) -> Lanes:
        """Some of the lanes, as a copy."""
        return Lanes(self.pos[chosen], self.end[chosen], self.row[chosen])


def _copied(data: pa.Buffer | None, first: int, last: int) -> Bytes:
    """A copy of some bytes, and zeros behind them if they are few."""
    found = np.zeros(max(last - first, WIDEST), np.uint8)
    if data is not None:
        found[: last - first] = np.frombuffer(data, np.uint8)[first:last]
    return found


class Source:
    """The bytes of a binary array, readable at any position, and which of its rows are bad."""

    def __init__(self, array: pa.Array) -> None:
        large = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
        _, offsets, data = array.buffers()
        width = np.int64 if large else np.int32
        count = len(array)
        bounds = (
            np.frombuffer(offsets, width)[array.offset : array.offset + count + 1].astype(np.int64) if count else None
        )
        self.starts: Ints = np.zeros(0, np.int64) if bounds is None else bounds[:-1]
        self.ends: Ints = np.zeros(0, np.int64) if bounds is None else bounds[1:]
        size = 0 if data is None else data.size
        if bounds is not None and (bounds[0] < 0 or bounds[-1] > size or (bounds[1:] < bounds[:-1]).any()):
            raise unsound("", "its offsets changed while they were read")
        first = int(self.starts[0]) if count else 0
        last = int(self.ends[-1]) if count else 0
        if last - first >= MOST_BYTES:
            raise ValueError(
                f"{count} rows have {last - first} bytes, {MOST_BYTES - 1} can be decoded together: decode slices of them"
            )
        if data is None or size < WIDEST or last >= MOST_BYTES:
            data = pa.py_buffer(_copied(data, first, last))
            self.starts, self.ends = self.starts - first, self.ends - first
        self.buffer = data
        self.bytes: Bytes = np.frombuffer(data, np.uint8)
        self.bad: Bools = np.zeros(count, np.bool_)
        self.stops: Ints = self.ends.copy()
        """Where the message of each row ended."""
        self._views: dict[str, npt.NDArray[Any]] = {}

    def lanes(self, rows: Ints) -> Lanes:
        return Lanes(self.starts[rows].copy(), self.ends[rows], rows)

    def fail(self, lanes: Lanes, wrong: Bools) -> None:
        self.bad[lanes.row[wrong]] = True

    def at(self, pos: Ints, code: str) -> npt.NDArray[Any]:
        """Big-endian values of a numpy type at positions that are known to be inside."""
        view = self._views.get(code)
        if view is None:
            kind = np.dtype(code)
            # Every position is a place to read from: one unaligned view over the whole buffer.
            view = np.ndarray((len(self.bytes) - kind.itemsize + 1,), kind, self.buffer, 0, (1,))
            self._views[code] = view
        return view[pos].astype(np.dtype(code).newbyteorder("="))

    def fixed(self, lanes: Lanes, code: str, width: int) -> npt.NDArray[Any]:
        """A fixed-width value of each lane; zero where it does not fit."""
        fits = lanes.pos + width <= lanes.end
        if fits.all():
            values = self.at(lanes.pos, code)
        else:
            self.fail(lanes, ~fits)
            values = self.at(np.where(fits, lanes.pos, 0), code)
            values[~fits] = np.zeros(1, values.dtype)
        lanes.pos = np.where(fits, lanes.pos + width, lanes.end)
        return values

    def uvarint(self, lanes: Lanes, bits: int = 32) -> npt.NDArray[np.uint64]:
        """An unsigned varint of each lane; zero where it does not fit or is too long."""
        inside = lanes.pos < lanes.end
        if inside.all():
            first = self.bytes[lanes.pos]
            if not first.size or int(first.max()) < 128:  # what nearly all varints of Kafka are
                lanes.pos = lanes.pos + 1
                return first.astype(np.uint64)
        value = np.zeros(len(lanes), np.uint64)
        active = np.arange(len(lanes))
        for shift in range(0, 7 * ((bits + 6) // 7), 7):
            pos = lanes.pos[active]
            fits = pos < lanes.end[active]
            if not fits.all():
                self.bad[lanes.row[active[~fits]]] = True
                active, pos = active[fits], pos[fits]
            byte = self.bytes[pos].astype(np.uint64)
            if shift == 63:  # what is beyond 64 bits would be lost
                self.bad[lanes.row[active[byte > 1]]] = True
            value[active] |= (byte & np.uint64(127)) << np.uint64(shift)
            lanes.pos[active] = pos + 1
            active = active[byte > 127]
            if not len(active):
                break
        if len(active):
            self.bad[lanes.row[active]] = True
            value[active] = 0
        if bits < 64:
            over = value >> np.uint64(bits) > 0
            if over.any():
                self.fail(lanes, over)
                value[over] = 0
        return value

    def length(self, lanes: Lanes, code: str | None) -> Ints:
        """The length in front of a value, -1 for null: fixed of a numpy type, or compact for None."""
        if code is None:
            return self.uvarint(lanes).astype(np.int64) - 1
        values = self.fixed(lanes, code, np.dtype(code).itemsize).astype(np.int64)
        return np.maximum(values, -1)

    def bounded(self, lanes: Lanes, length: Ints, width: int = 1) -> Ints:
        """Lengths of elements of at least ``width`` bytes, zero for null and where they pass the end."""
        length = np.maximum(length, 0)
        over = length * width > lanes.end - lanes.pos
        if over.any():
            self.fail(lanes, over)
            length[over] = 0
        return length

    def slices(self, start: Ints, length: Ints, null: Bools | None, kind: pa.DataType) -> pa.Array:
        """Values that stand in the buffer already: offsets over it, and one copy of what they name."""
        count = len(start)
        if not count:
            return pa.array([], kind)
        offsets = np.empty(2 * count + 1, np.int32)
        offsets[0:-1:2] = start
        offsets[1::2] = start + length
        # They may stand in any order, as tagged fields do; Arrow wants the last offset not to be below the first.
        offsets[-1] = max(offsets[0], offsets[-2])
        every = pa.Array.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(offsets), self.buffer])
        index = np.arange(0, 2 * count, 2, dtype=np.int32)
        return every.take(pa.array(index, mask=null) if null is not None and null.any() else pa.array(index))

    def trailing(self) -> pa.Array:
        """The bytes behind the message of each row; null where there are none, and in bad rows."""
        length = np.where(self.bad, 0, self.ends - self.stops)
        if not length.any():
            return pa.nulls(len(length), pa.binary())
        return self.slices(self.stops, length, length == 0, pa.binary())
