"""Iteration over batches by their length fields, with vectorized validation of headers and checksums."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from struct import error as StructError

import numpy as np

from .. import _native
from ..format import OVERHEAD, SMALLEST
from .frames import Bools, Bytes, Ints, LogData, faults, intact

_int32 = Struct(">i").unpack_from
# Result of the core for checksums that it does not compute (formats 0 and 1).
_UNKNOWN = 2


@dataclass(slots=True)
class Chain:
    start: Ints
    # End of the last batch.
    stop: int
    # Bytes needed from `stop` to continue; 0 if the length field of the batch at `stop` is invalid.
    need: int
    # Error number of each header, see `frames.faults`.
    fault: Ints | Bytes
    # For each batch, whether its checksum matches; None if checksums were not computed.
    sums: Bools | None

    @property
    def size(self) -> Ints:
        return np.concatenate((self.start[1:], (self.stop,))) - self.start


class Follower:
    def __init__(self, largest: int, *, with_sums: bool) -> None:
        self._largest = largest
        self._with_sums = with_sums
        self._start = np.empty(0, np.int64)
        self._fault = self._sums = np.empty(0, np.uint8)

    def follow(self, log: LogData, at: int, last: int, most: int) -> Chain:
        follow = self._followed if _native.core is None else self._by_core
        return follow(log, at, last, most)

    def _by_core(self, log: LogData, at: int, last: int, most: int) -> Chain:
        if len(self._start) != most:
            self._start = np.empty(most, np.int64)
            self._fault, self._sums = np.empty(most, np.uint8), np.empty(most, np.uint8)
        shortest, longest = SMALLEST[0] - OVERHEAD, self._largest - OVERHEAD
        found = (self._start, self._fault, self._sums)
        count, stop, need = _native.core.follow_batches(
            log.bytes, at, last, log.size, shortest, longest, self._with_sums, *found
        )
        start, fault, sums = self._start[:count].copy(), self._fault[:count].copy(), self._sums[:count].copy()
        chain = Chain(start, stop, need, fault, sums == 1 if self._with_sums else None)
        old = np.flatnonzero(sums == _UNKNOWN)
        if chain.sums is not None and len(old):
            chain.sums[old] = intact(log, start[old], chain.size[old])
        return chain

    def _followed(self, log: LogData, at: int, last: int, most: int) -> Chain:
        starts, stop, need = _places(log, at, last, self._largest, most)
        chain = Chain(np.array(starts, np.int64), stop, need, np.empty(0, np.int64), None)
        if starts:
            chain.fault = faults(log, chain.start, chain.size)
            chain.sums = intact(log, chain.start, chain.size) if self._with_sums else None
        return chain


def _places(log: LogData, at: int, last: int, largest: int, most: int) -> tuple[list[int], int, int]:
    size = log.size
    view = log.bytes.data[:size]
    smallest, largest = SMALLEST[0] - OVERHEAD, largest - OVERHEAD
    starts: list[int] = []
    append = starts.append
    try:
        for _ in range(most):
            length = _int32(view, at + 8)[0]
            if not smallest <= length <= largest:
                return starts, at, 0
            stop = at + OVERHEAD + length
            if stop >= last:
                if stop > size:
                    return starts, at, stop - at
                append(at)
                return starts, stop, OVERHEAD
            append(at)
            at = stop
    except StructError:
        pass  # too short for a length field
    return starts, at, OVERHEAD
