"""Log scanner that follows batch lengths and resynchronizes after damage.

The scanner trusts the length field of a damaged batch if a valid batch or the end of the log follows, unless batches
inside the damaged one form a chain to its end. Otherwise the scanner searches byte by byte for the next batch.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from struct import Struct

import numpy as np

from ..errors import CorruptSegmentError
from ..format import FINE, HEADER, OVERHEAD, SMALLEST
from .chain import Chain, Follower
from .frames import MAX_BATCH_BYTES_LIMIT, PADDING, Search, fault_text, faults, intact, plausible, sum_text
from .report import SegmentReport
from .run import CORRUPT_BYTES, BatchRun, CorruptRange
from .window import Window

# The search for the first batch starts this many bytes before a range. More than the usual size of a batch, so that a
# batch inside a record value is not mistaken for a batch of the log.
LOOKBACK = 2 << 20
# Minimum and maximum number of batches validated at once: the number doubles with each step; damage resets it.
_FEWEST, _MOST = 1024, 1 << 18

# Minimum checksum budget of `_swallows`, in bytes.
_LEAST = 1 << 20

# Upper bound of the offset range of a segment: its index stores offsets as int32, relative to the base offset.
_OFFSETS = 1 << 31

_FOREIGN = "; this does not look like a log segment"

_TOO_MANY = "; the search for the next batch ended after too many false candidates"

_int32 = Struct(">i").unpack_from


class Scanner:
    """Iterator over the batches and corrupt ranges that begin in a range of a file.

    ``is_synchronized`` states that a batch starts at the first byte of the window. ``sums`` requests checksum results even
    if ``check_crcs`` is False.
    """

    def __init__(
        self,
        window: Window,
        report: SegmentReport,
        *,
        is_synchronized: bool,
        check_crcs: bool,
        sums: bool,
        failfast: bool,
        max_batch_bytes: int,
    ) -> None:
        self._window = window
        self._report = report
        self._is_synchronized = is_synchronized or window.base == 0
        self._check = check_crcs
        self._follower = Follower(max_batch_bytes, with_sums=check_crcs or sums)
        self._failfast = failfast
        self._max = max_batch_bytes
        self._most = _FEWEST
        self._gave_up = False
        # Offset after the last valid batch.
        self._next_offset: int | None = None

    def __iter__(self) -> Iterator[BatchRun | CorruptRange]:
        start, end = self._report.start, self._report.end
        pos = self._window.base
        if not self._is_synchronized:
            found = yield from self._synchronize(pos)
            if found is None:
                self._report.next_position = start
                return
            pos = found
        while end is None or pos < end:
            chain = self._chain(pos)
            if len(chain.start):
                pos = yield from self._checked(chain)
                self._most = min(2 * self._most, _MOST)
            elif chain.need == 0:
                next_pos = yield from self._no_length(pos)
                if next_pos is None:
                    return
                pos = next_pos
            elif not self._window.at_end:
                self._window.move(pos, chain.need)
            else:
                next_pos = yield from self._tail(pos)
                if next_pos is None:
                    return
                pos = next_pos
            self._report.next_position = max(pos, start)

    def _chain(self, pos: int) -> Chain:
        window, end = self._window, self._report.end
        log = window.log
        last = log.size if end is None else min(log.size, end - window.base)
        return self._follower.follow(log, pos - window.base, last, self._most)

    def _checked(self, chain: Chain) -> Generator[BatchRun | CorruptRange, None, int]:
        window = self._window
        log, base = window.log, window.base
        start, size, fault, sums = chain.start, chain.size, chain.fault, chain.sums
        wrong = fault != FINE
        if self._check and sums is not None:
            wrong |= ~sums
        bad: dict[int, str] = {}
        for number in np.flatnonzero(wrong).tolist():
            at, length = int(start[number]), int(size[number])
            reason = fault_text(log, at, length, int(fault[number])) if fault[number] else sum_text(log, at, length)
            behind = slice(number + 1, number + 2)
            if (
                not self._raises(base + at)
                and (fault[behind] == FINE).any()
                and intact(log, start[behind], size[behind]).all()
                and not self._swallows(base + at, length)
            ):
                bad[number] = reason
                continue
            yield from self._run(BatchRun(log, base, start[:number], size[:number], sums, bad))
            return (yield from self._bad(base + at, length, reason))
        yield from self._run(BatchRun(log, base, start, size, sums, bad))
        return base + chain.stop

    def _swallows(self, pos: int, size: int) -> bool:
        """Return whether batches inside a corrupt batch form a chain to or past its end, so its length is wrong."""
        log, at = self._window.log, pos - self._window.base
        stop = at + size
        search = Search(self._max, _LEAST)  # limited, since every batch may be bad
        here, need = search.find(log, at + 1, stop, at_end=True)
        while need == 0:
            last = here
            while here + OVERHEAD <= stop:
                length = _int32(log.bytes.data, here + 8)[0]
                if length < SMALLEST[0] - OVERHEAD:
                    break
                last, here = here, here + OVERHEAD + length
            if here == stop or (stop < here <= log.size and search.sound(log, last, here - last)):
                return True
            search.reject()
            here, need = search.find(log, min(last + 1, stop), stop, at_end=True)
        return False

    def _bad(self, pos: int, size: int, reason: str) -> Generator[BatchRun | CorruptRange, None, int]:
        window = self._window
        if self._raises(pos) or not self._is_confirmed(pos, size):
            return (yield from self._damage(pos, reason))
        window.move(pos, size + CORRUPT_BYTES)
        if self._swallows(pos, size):
            return (yield from self._damage(pos, reason))
        at = np.array([pos - window.base])
        yield from self._run(BatchRun(window.log, window.base, at, np.array([size]), None, {0: reason}))
        return pos + size

    def _is_confirmed(self, pos: int, size: int, search: Search | None = None) -> bool:
        """Return whether a valid or incomplete batch, zeros, or the end of the file follow at ``pos + size``."""
        window = self._window
        window.move(pos, size + HEADER + PADDING)
        at = pos + size - window.base
        if at == window.log.size or window.log.zeros(at, min(at + HEADER, window.log.size)):
            return True
        length = _int32(window.log.bytes.data, at + 8)[0] + OVERHEAD
        if not SMALLEST[0] <= length <= self._max:
            return False
        window.move(pos, size + length + PADDING)
        at = pos + size - window.base
        if at + length > window.log.size:
            incomplete = bool(window.log.bytes[at + 16] == 2) and plausible(window.log, at, self._max)
            return incomplete and (search is not None or not self._later_batch(at))
        is_fine = bool(faults(window.log, np.array([at]), np.array([length]))[0] == FINE)
        return is_fine and (search or Search(self._max)).sound(window.log, at, length)

    def _run(self, run: BatchRun) -> Iterator[BatchRun]:
        last = next((number for number in range(len(run.start) - 1, -1, -1) if number not in run.bad), None)
        if last is not None:
            at = run.start[last : last + 1]
            delta = run.log.at(at + 23, ">i4") if run.log.bytes[at[0] + 16] == 2 else 0
            self._next_offset = int((run.log.at(at, ">i8") + delta)[0]) + 1
        early = int(np.searchsorted(run.start, self._report.start - run.base))
        if early:
            bad = {number - early: reason for number, reason in run.bad.items() if number >= early}
            sums = None if run.sums is None else run.sums[early:]
            run = BatchRun(run.log, run.base, run.start[early:], run.size[early:], sums, bad)
        if run.sums is not None:
            run.sums = run.sums[: len(run.start)]
        if len(run.start):
            yield run

    def _raises(self, pos: int) -> bool:
        return self._failfast and pos >= self._report.start

    def _no_length(self, pos: int) -> Generator[CorruptRange, None, int | None]:
        window = self._window
        at = pos - window.base
        if not window.log.zeros(at, at + OVERHEAD):
            length = _int32(window.log.bytes.data, at + 8)[0]
            most = self._max - OVERHEAD
            reason = f"invalid length of {length} bytes; {SMALLEST[0] - OVERHEAD} to {most} are possible"
            if most < length <= MAX_BATCH_BYTES_LIMIT:
                reason += " (or more with a larger max_batch_bytes)"
            return (yield from self._damage(pos, reason))
        end = pos
        while True:
            found = np.flatnonzero(window.log.bytes[end - window.base : window.log.size] != 0)[:1]
            if len(found):
                end += int(found[0])
                search_from = max(pos + 1, end - OVERHEAD)  # offset and length may start with zeros
                zeros = end - pos
                others = self._bytes(search_from, CORRUPT_BYTES)[end - search_from :] if zeros < CORRUPT_BYTES else b""
                data = bytes(min(CORRUPT_BYTES, zeros)) + others
                return (yield from self._damage(pos, f"{zeros} zero bytes followed by other bytes", search_from, data))
            end = window.base + window.log.size
            if window.at_end:
                self._is_tail(pos, zeros=end - pos)
                return None
            if pos < self._report.start and self._report.end is not None and end >= self._report.end:
                return None
            window.move(end - OVERHEAD, OVERHEAD + 1)

    def _tail(self, pos: int) -> Generator[CorruptRange, None, int | None]:
        window = self._window
        log, at = window.log, pos - window.base
        left = log.size - at
        if left == 0:
            return None
        if log.zeros(at, log.size):
            self._is_tail(pos, zeros=left)
            return None
        if left >= OVERHEAD:
            here = np.array([at])
            size = log.at(here + 8, ">i4") + OVERHEAD
            fault = int(faults(log, here, size)[0])
            if fault:
                return (yield from self._damage(pos, fault_text(log, at, int(size[0]), fault)))
            reason = f"a size of {int(size[0])} bytes extends past the end of the file"
            if self._later_batch(at):
                return (yield from self._damage(pos, f"{reason}, but another batch follows"))
            if self._gave_up and not self._in_order(pos):
                return (yield from self._damage(pos, f"{reason}, and the offset is out of order"))
        self._is_tail(pos, incomplete=left)
        return None

    def _is_tail(self, pos: int, *, incomplete: int = 0, zeros: int = 0) -> None:
        if pos >= self._report.start:
            self._report.incomplete_tail, self._report.zero_tail = incomplete, zeros

    def _later_batch(self, at: int) -> bool:
        window = self._window
        search = Search(self._max)
        tail, scanned = at, at
        while True:
            at, need = search.find(window.log, at + 1, window.log.size, at_end=True)
            self._gave_up = search.given_up
            if need:
                return False
            pos = window.base + at
            if self._in_order(pos) and self._followed(pos, search):
                return True
            if at >= scanned:
                count, scanned, is_end = self._consecutive(at, search)
                if count > 1 and (is_end or (scanned == window.log.size and not self._in_order(window.base + tail))):
                    return True
            search.reject()

    def _consecutive(self, at: int, search: Search) -> tuple[int, int, bool]:
        log, count = self._window.log, 0
        while at + OVERHEAD <= log.size:
            size = _int32(log.bytes.data, at + 8)[0] + OVERHEAD
            if not SMALLEST[0] <= size <= self._max:
                break
            if at + size > log.size:
                is_incomplete = bool(log.bytes[at + 16] == 2) and plausible(log, at, self._max)
                return count, log.size if is_incomplete else at, False
            if faults(log, np.array([at]), np.array([size]))[0] != FINE or not search.sound(log, at, size):
                return count, at, False
            count, at = count + 1, at + size
        if log.zeros(at, log.size):
            return count, log.size, True
        return count, log.size if log.size - at < OVERHEAD else at, False

    def _in_order(self, pos: int) -> bool:
        if self._next_offset is None:
            return True
        offset = int(self._window.log.at(np.array([pos - self._window.base]), ">i8")[0])
        return 0 <= offset - self._next_offset < _OFFSETS

    def _followed(self, pos: int, search: Search) -> bool:
        length = _int32(self._window.log.bytes.data, pos - self._window.base + 8)[0]
        return self._is_confirmed(pos, length + OVERHEAD, search)

    def _damage(
        self, pos: int, reason: str, search_from: int | None = None, data: bytes | None = None
    ) -> Generator[CorruptRange, None, int]:
        window = self._window
        if self._raises(pos):
            log = window.log
            if pos == 0 and Search(self._max).find(log, 1, log.size, at_end=True)[1] != 0:
                reason += _FOREIGN
            raise CorruptSegmentError(self._report.file, pos, reason)
        self._most = _FEWEST
        if data is None:
            data = self._bytes(pos, CORRUPT_BYTES)
        search = Search(self._max)
        before = self._report.end if pos < self._report.start else None
        end = self._find(search, pos + 1 if search_from is None else search_from, before)
        while end is not None and not self._in_order(end) and not self._followed(end, search):
            search.reject()
            end = self._find(search, end + 1, before)
        if end is None:
            end = window.base + window.log.size
            if self._gave_up:
                reason += _TOO_MANY
            else:
                reason += "; no valid batch follows" if pos else _FOREIGN
        if pos >= self._report.start:
            yield CorruptRange(pos, end - pos, reason, data[: min(end - pos, CORRUPT_BYTES)])
        return end

    def _bytes(self, pos: int, size: int) -> bytes:
        window = self._window
        window.move(pos, size)
        at = pos - window.base
        return window.log.bytes[at : min(at + size, window.log.size)].tobytes()

    def _synchronize(self, pos: int) -> Generator[CorruptRange, None, int | None]:
        start, end = self._report.start, self._report.end
        found = self._find(Search(self._max), pos, end)
        if found is None and self._gave_up:
            reason = "the search for a batch ended after too many false candidates"
            if self._failfast:
                raise CorruptSegmentError(self._report.file, start, reason)
            if end is None:
                end = self._window.base + self._window.log.size
            yield CorruptRange(start, end - start, reason, b"")
        return found

    def _find(self, search: Search, pos: int, before: int | None) -> int | None:
        """Return the position of the next valid batch from ``pos`` on, below ``before``; None if not found or given up."""
        window = self._window
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
