"""Vectorized access to the leading bytes of binary columns."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class BinaryColumn:
    def __init__(self, array: pa.Array) -> None:
        array = array.cast(pa.binary())
        count = len(array)
        _, places, data = array.buffers()
        self._null = np.asarray(array.is_null())
        offsets = np.frombuffer(places, np.int32)[array.offset : array.offset + count + 1] if count else np.zeros(1)
        self._offsets = offsets.astype(np.int64)
        self._buffer = pa.py_buffer(b"") if data is None else data
        self._data = np.frombuffer(self._buffer, np.uint8)

    def leading(self, size: int) -> tuple[npt.NDArray[np.uint8], Bools]:
        """Return the first ``size`` bytes of each value, and a mask of long enough values; other rows are zeros."""
        starts = self._offsets[:-1]
        enough = (self._offsets[1:] - starts >= size) & ~self._null
        matrix = np.zeros((len(starts), size), np.uint8)
        matrix[enough] = self._data[starts[enough, None] + np.arange(size)]
        return matrix, enough

    def after(self, skip: Ints) -> pa.Array:
        """Remove ``skip[i]`` bytes from the start of value i; shorter values become empty, nulls stay null."""
        count = len(skip)
        if not count:
            return pa.nulls(0, pa.binary())
        # Offsets start, end, start, end, ... into the same bytes: every second value is a gap.
        offsets = np.empty(2 * count, np.int32)
        offsets[0::2] = np.minimum(self._offsets[:-1] + skip, self._offsets[1:])
        offsets[1::2] = self._offsets[1:]
        both = pa.Array.from_buffers(pa.binary(), 2 * count - 1, [None, pa.py_buffer(offsets), self._buffer])
        return both.take(pa.array(np.arange(0, 2 * count, 2), mask=self._null))


def numbers(matrix: npt.NDArray[np.uint8], kind: str) -> Ints:
    return np.ascontiguousarray(matrix).view(kind).ravel().astype(np.int64)
