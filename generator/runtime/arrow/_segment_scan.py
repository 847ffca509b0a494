"""Walks a log from batch to batch, and finds its way again after what is no batch.

Batches are found by going from length to length; everything else about them is looked at for thousands at a time. Where
a batch is damaged but a plausible header stands behind it, its length is believed and the damage ends there; else the
next batch is looked for byte by byte.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from struct import Struct
from struct import error as StructError

import numpy as np

from ._segment_report import SegmentReport
from ._segment_window import Window
from .batches import (
    FINE,
    HEADER,
    OVERHEAD,
    PADDING,
    SMALLEST,
    Bools,
    CorruptSegmentError,
    Ints,
    Log,
    Search,
    actual_sums,
    fault_text,
    faults,
    intact,
    plausible,
    stored_sums,
)

LOOKBACK = 2 << 20
"""Bytes before a range at which getting in step begins. A batch within a record's value is not taken for one of the log
as long as the batch around it (by default at most 1 MiB) is smaller than this."""
CORRUPT_BYTES = 1 << 20
"""Of what is corrupt, at most so many bytes are handed out."""
_FEWEST, _MOST = 1024, 1 << 18
"""Batches that are looked at together: few at first and after damage, then more."""

_OFFSETS = 1 << 31
"""Offsets of one segment differ by less than this: its index has them as int32."""

_int32 = Struct(">i").unpack_from


@dataclass(slots=True)
class Run:
    """Batches one after the other in ``log``, valid until the next run is asked for."""

    log: Log
    base: int
    """Position in the file of the first byte of ``log``."""
    start: Ints
    size: Ints
    sums: Bools | None
    """Did the checksum agree? None: not computed."""
    bad: dict[int, str] = field(default_factory=dict)
    """Which are no sound batches, by their number in the run, and why."""


@dataclass(slots=True)
class Gap:
    """Bytes that are no batches: the reason, and the first of them."""

    position: int
    size: int
    reason: str
    data: bytes


class Scanner:
    """The batches that begin in a range of a file.

    ``check_crcs``: a checksum that does not agree makes a batch bad; ``sums``: compute it in any case. With
    ``failfast`` the first bad thing raises CorruptSegmentError, once all batches before it were handed out.
    """

    def __init__(
        self,
        window: Window,
        report: SegmentReport,
        *,
        check_crcs: bool,
        sums: bool,
        failfast: bool,
        max_batch_bytes: int,
    ) -> None:
        self._window = window
        self._report = report
        self._check = check_crcs
        self._sums = check_crcs or sums
        self._failfast = failfast
        self._max = max_batch_bytes
        self._most = _FEWEST
        self._gave_up = False

    def __iter__(self) -> Iterator[Run | Gap]:
        start, end = self._report.start, self._report.end
        pos = self._window.base
        if pos > 0:
            found = yield from self._get_in_step(pos)
            if found is None:
                self._report.next_position = start
                return
            pos = found
        while end is None or pos < end:
            starts, stop, need = self._chain(pos)
            if starts:
                pos = yield from self._checked(starts, stop)
                self._most = min(2 * self._most, _MOST)
            elif need == 0:
                next_pos = yield from self._no_length(pos)
                if next_pos is None:
                    return
                pos = next_pos
            elif not self._window.at_end:
                self._window.move(pos, need)
            else:
                next_pos = yield from self._tail(pos)
                if next_pos is None:
                    return
                pos = next_pos
            self._report.next_position = max(pos, start)

    def _chain(self, pos: int) -> tuple[list[int], int, int]:
        """Places of whole batches from ``pos`` on, by their lengths alone; where they end; and the bytes needed there.

        The latter is 0 if there is no length that could be one.
        """
        window, end = self._window, self._report.end
        size = window.log.size
        view = window.log.bytes.data[:size]
        last = size if end is None else min(size, end - window.base)
        smallest, largest = SMALLEST[0] - OVERHEAD, self._max - OVERHEAD
        at = pos - window.base
        starts: list[int] = []
        append = starts.append
        try:
            for _ in range(self._most):
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
            pass  # the rest is too short for a length
        return starts, at, OVERHEAD

    def _checked(self, starts: list[int], stop: int) -> Generator[Run | Gap, None, int]:
        """Hand out whole batches, the bad ones marked. Returns the position to go on at."""
        window = self._window
        log, base = window.log, window.base
        start = np.array(starts, np.int64)
        size = np.diff(start, append=stop)
        fault = faults(log, start, size)
        sums = intact(log, start, size) if self._sums else None
        wrong = fault != FINE
        if self._check and sums is not None:
            wrong |= ~sums
        bad: dict[int, str] = {}
        for number in np.flatnonzero(wrong).tolist():
            at, end = starts[number], starts[number] + int(size[number])
            reason = (
                fault_text(log, at, end - at, int(fault[number])) if fault[number] else _sum_text(log, at, end - at)
            )
            if end + PADDING > log.size and not window.at_end and not self._raises(base + at):
                yield from self._run(Run(log, base, start[:number], size[:number], sums, bad))
                window.move(base + at, end - at + PADDING)
                return base + at
            if self._raises(base + at) or not self._believed(end):
                yield from self._run(Run(log, base, start[:number], size[:number], sums, bad))
                return (yield from self._damage(base + at, reason))
            bad[number] = reason
        yield from self._run(Run(log, base, start, size, sums, bad))
        return base + stop

    def _run(self, run: Run) -> Iterator[Run]:
        """Hand out what of a run begins in the range."""
        early = int(np.searchsorted(run.start, self._report.start - run.base))
        if early:
            bad = {number - early: reason for number, reason in run.bad.items() if number >= early}
            sums = None if run.sums is None else run.sums[early:]
            run = Run(run.log, run.base, run.start[early:], run.size[early:], sums, bad)
        if run.sums is not None:
            run.sums = run.sums[: len(run.start)]
        if len(run.start):
            yield run

    def _raises(self, pos: int) -> bool:
        """Does damage at ``pos`` end it all? What lies before the range is the business of another reader."""
        return self._failfast and pos >= self._report.start

    def _believed(self, at: int) -> bool:
        """Is there a batch, or the end of the log, where a damaged batch says that it ends?"""
        log = self._window.log
        if self._window.at_end and at + OVERHEAD > log.size:
            return True
        return plausible(log, at, self._max) or log.zeros(at, min(at + HEADER, log.size))

    def _no_length(self, pos: int) -> Generator[Gap, None, int | None]:
        """Go on where no batch begins, by its length: None at the zeros that fill a preallocated file."""
        window = self._window
        at = pos - window.base
        if not window.log.zeros(at, at + OVERHEAD):
            length = _int32(window.log.bytes.data, at + 8)[0]
            most = self._max - OVERHEAD
            reason = f"a length of {length} bytes, where {SMALLEST[0] - OVERHEAD} to {most} are possible"
            return (yield from self._damage(pos, reason + self._foreign(pos)))
        end = pos
        while True:
            found = np.flatnonzero(window.log.bytes[end - window.base : window.log.size] != 0)[:1]
            if len(found):
                end += int(found[0])
                search_from = max(pos + 1, end - OVERHEAD)  # offset and length may begin with zeros
                reason = f"{end - pos} zero bytes, and then others"
                return (yield from self._damage(pos, reason, search_from, bytes(min(CORRUPT_BYTES, end - pos))))
            end = window.base + window.log.size
            if window.at_end:
                self._report.zero_tail = end - pos
                return None
            window.move(end - OVERHEAD, OVERHEAD + 1)

    def _foreign(self, pos: int) -> str:
        return "; this does not look like a log segment" if pos == 0 else " (or more with a larger max_batch_bytes)"

    def _tail(self, pos: int) -> Generator[Gap, None, int | None]:
        """Go on where the file ends within a batch: None if that is all."""
        window, report = self._window, self._report
        log, at = window.log, pos - window.base
        left = log.size - at
        if left == 0:
            return None
        if log.zeros(at, log.size):
            report.zero_tail = left
            return None
        here = np.array([at])
        offset = int(log.at(here, ">i8")[0])
        if left >= OVERHEAD:
            size = log.at(here + 8, ">i4") + OVERHEAD
            fault = int(faults(log, here, size)[0])
            if fault:
                return (yield from self._damage(pos, fault_text(log, at, int(size[0]), fault)))
            found, need = Search(self._max).find(log, at + 1, log.size, at_end=True)
            if need == 0 and 0 < int(log.at(np.array([found]), ">i8")[0]) - offset < _OFFSETS:
                reason = f"its {int(size[0])} bytes reach beyond the end of the file, but a batch is found within"
                return (yield from self._damage(pos, reason))
        report.incomplete_tail = left
        return None

    def _damage(
        self, pos: int, reason: str, search_from: int | None = None, data: bytes | None = None
    ) -> Generator[Gap, None, int]:
        """Raise, or hand out the gap from ``pos`` to the next batch; returns the position of that."""
        if self._raises(pos):
            raise CorruptSegmentError(self._report.file, pos, reason)
        self._most = _FEWEST
        window = self._window
        if data is None:
            window.move(pos, CORRUPT_BYTES)
            at = pos - window.base
            data = window.log.bytes[at : min(at + CORRUPT_BYTES, window.log.size)].tobytes()
        end = self._find(pos + 1 if search_from is None else search_from, None)
        if end is None:
            end = window.base + window.log.size
            reason += "; no batch is found behind it"
        if pos >= self._report.start:
            yield Gap(pos, end - pos, reason, data[: end - pos])
        return end

    def _get_in_step(self, pos: int) -> Generator[Gap, None, int | None]:
        """The first batch at ``pos`` or after it; None if none begins before the end of the range."""
        start, end = self._report.start, self._report.end
        found = self._find(pos, end)
        if found is None and self._gave_up:
            reason = "no batch is found, among too many that only look like one"
            if self._failfast:
                raise CorruptSegmentError(self._report.file, start, reason)
            if end is None:
                end = self._window.base + self._window.log.size
            yield Gap(start, end - start, reason, b"")
        return found

    def _find(self, pos: int, before: int | None) -> int | None:
        """The next whole and sound batch at ``pos`` or after it, and before a position.

        Without such a position and such a batch the window is at the end of the file afterwards.
        """
        window = self._window
        search = Search(self._max)
        window.move(min(pos, window.base + window.log.size), HEADER + PADDING)
        while True:
            low = pos - window.base
            high = window.log.size if window.at_end else window.log.size - PADDING
            if before is not None:
                high = min(high, before - window.base)
            if low < high and not search.given_up:
                found, need = search.find(window.log, low, high, at_end=window.at_end)
                pos = window.base + found
                if need == 0:
                    return pos
                if need > 0:
                    window.move(pos, need + PADDING)
                    continue
            self._gave_up = search.given_up
            if window.at_end or (before is not None and pos >= before):
                return None
            window.move(min(pos, window.base + window.log.size), HEADER + PADDING + 1)
            if search.given_up:
                pos = window.base + window.log.size


def _sum_text(log: Log, at: int, size: int) -> str:
    start, sizes = np.array([at]), np.array([size])
    magic = log.at(start + 16, "i1")
    stored, actual = stored_sums(log, start, magic)[0], actual_sums(log, start, sizes, magic)[0]
    return f"the checksum is {stored:#010x}, but that of its {size} bytes is {actual:#010x}"
