"""Decodes runs of batches in groups of bounded size, whatever their format and compression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..batches.compression import CompressionError
from ..batches.format import COMPRESSION, CONTROL, DELETE_HORIZON, HEADER, LOG_APPEND_TIME, TRANSACTIONAL
from .compression import decompress
from .frames import PADDING, Bools, Ints, Log
from .legacy import read_messages
from .records import Faults, Lanes, Records, read_records, without
from .run import Run

GROUP_ROWS = 131072
"""Records that are decoded together, unless one batch has more."""
GROUP_BYTES = 16 << 20
"""Decompressed bytes that are decoded together, unless one batch has more."""


class Facts:
    """Fields of the headers of batches, as far as they are asked for; those that a format lacks are -1 or False."""

    def __init__(self, log: Log, start: Ints) -> None:
        self.log = log
        self.start = start
        self.magic = log.at(start + 16, "i1")
        self.new = self.magic == 2
        self.attributes = np.where(self.new, log.at(start + 21, ">i2"), log.at(start + 17, "i1"))
        self.codec = self.attributes & COMPRESSION

    def _if_new(self, place: int, kind: str, otherwise: int = -1) -> Ints:
        return np.where(self.new, self.log.at(self.start + place, kind), otherwise)

    @property
    def base_offset(self) -> Ints:
        """In formats 0 and 1 that of the last message."""
        return self.log.at(self.start, ">i8")

    @property
    def leader_epoch(self) -> Ints:
        return self._if_new(12, ">i4")

    @property
    def last_offset_delta(self) -> Ints:
        return self._if_new(23, ">i4", 0)

    @property
    def base_timestamp(self) -> Ints:
        """Milliseconds; the delete horizon in a batch that has one."""
        return self._if_new(27, ">i8")

    @property
    def max_timestamp(self) -> Ints:
        """Milliseconds; in format 1 that of the outer message."""
        old = np.where(self.magic == 1, self.log.at(self.start + 18, ">i8"), -1)
        return np.where(self.new, self.log.at(self.start + 35, ">i8"), old)

    @property
    def producer_id(self) -> Ints:
        return self._if_new(43, ">i8")

    @property
    def producer_epoch(self) -> Ints:
        return self._if_new(51, ">i2")

    @property
    def base_sequence(self) -> Ints:
        return self._if_new(53, ">i4")

    @property
    def count(self) -> Ints:
        """Records; 1 in formats 0 and 1, where a compressed message has more."""
        return self._if_new(57, ">i4", 1)

    @property
    def timestamp_type(self) -> Ints:
        """0 create time, 1 log append time, -1 none (format 0)."""
        return np.where(self.magic == 0, -1, (self.attributes & LOG_APPEND_TIME) // LOG_APPEND_TIME)

    def has(self, bit: int) -> Bools:
        """Is a bit of the attributes set, in the format that has it?"""
        result: Bools = self.new & (self.attributes & bit != 0)
        return result

    @property
    def transactional(self) -> Bools:
        return self.has(TRANSACTIONAL)

    @property
    def control(self) -> Bools:
        return self.has(CONTROL)

    @property
    def horizon(self) -> Bools:
        return self.has(DELETE_HORIZON)


@dataclass(slots=True)
class Group:
    """The batches ``low`` to ``high`` of a run: their records, and which of them are corrupt and why."""

    low: int
    high: int
    records: Records
    corrupt: dict[int, str]


class Decoder:
    """Decodes the batches of one run.

    ``control_records``, ``data_records``: which are wanted; ``limit``: of the bytes of one batch when decompressed.
    """

    def __init__(
        self, run: Run, *, control_records: bool, check_crcs: bool, limit: int, data_records: bool = True
    ) -> None:
        self.facts = Facts(run.log, run.start)
        self._run = run
        self._check = check_crcs
        self._limit = limit
        keep = np.ones(len(run.start), np.bool_)
        keep[list(run.bad)] = False
        if not control_records:
            keep &= ~self.facts.control
        if not data_records:
            keep &= self.facts.control
        self._keep = keep

    def groups(self) -> Iterator[Group]:
        """All batches, in order."""
        new = self.facts.new
        rows = np.cumsum(np.where(self._keep, np.clip(self.facts.count, 0, 1 << 24), 0))
        borders = [*(np.flatnonzero(new[1:] != new[:-1]) + 1).tolist(), len(new)]
        low = 0
        for border in borders:
            while low < border:
                done = int(rows[low - 1]) if low else 0
                high = max(low + 1, min(border, int(np.searchsorted(rows, done + GROUP_ROWS, "right"))))
                group = self._batches(low, high) if new[low] else self._messages(low, high)
                low = group.high
                yield group

    def _corrupt(self, low: int, high: int, chosen: Ints, faults: Faults) -> dict[int, str]:
        found = {number: reason for number, reason in self._run.bad.items() if low <= number < high}
        found |= {int(chosen[number]): reason for number, reason in faults.reasons.items()}
        return found

    def _messages(self, low: int, high: int) -> Group:
        chosen = low + np.flatnonzero(self._keep[low:high])
        faults = Faults()
        run = self._run
        records, read = read_messages(
            run.log,
            run.start[chosen],
            run.size[chosen],
            faults,
            check_crcs=self._check,
            limit=self._limit,
            most_bytes=GROUP_BYTES,
        )
        if read < len(chosen):
            high = int(chosen[read])
        records.batch = chosen[records.batch]
        return Group(low, high, records, self._corrupt(low, high, chosen, faults))

    def _batches(self, low: int, high: int) -> Group:
        run, facts = self._run, self.facts
        chosen = low + np.flatnonzero(self._keep[low:high])
        faults = Faults()
        pos, end, data = run.start[chosen] + HEADER, (run.start + run.size)[chosen], run.log.bytes
        if facts.codec[chosen].any():
            parts, read = self._decompressed(chosen, faults)
            if read < len(chosen):
                high = int(chosen[read])
                chosen = chosen[:read]
            end = np.cumsum([len(part) for part in parts])
            pos = np.concatenate((np.zeros(1, np.int64), end[:-1]))
            data = np.frombuffer(b"".join((*parts, bytes(PADDING))), np.uint8)
        del_count = np.fromiter(faults.reasons, np.int64, len(faults.reasons))
        count = facts.count[chosen]
        count[del_count] = 0
        lanes = Lanes(
            data,
            pos,
            end,
            count,
            facts.base_offset[chosen],
            facts.base_timestamp[chosen],
            facts.max_timestamp[chosen],
            facts.timestamp_type[chosen] == 1,
        )
        records = read_records(lanes, faults)
        records = _checked_control(records, facts.control[chosen], faults)
        records.batch = chosen[records.batch]
        return Group(low, high, records, self._corrupt(low, high, chosen, faults))

    def _decompressed(self, chosen: Ints, faults: Faults) -> tuple[list[bytes | memoryview], int]:
        """The records' bytes of batches, of as many as come to the bytes of a group."""
        run, facts = self._run, self.facts
        view = run.log.bytes.data
        parts: list[bytes | memoryview] = []
        total = 0
        begins = (run.start[chosen] + HEADER).tolist()
        ends = (run.start + run.size)[chosen].tolist()
        columns = zip(begins, ends, facts.codec[chosen].tolist(), facts.count[chosen].tolist(), strict=True)
        for number, (begin, end, codec, count) in enumerate(columns):
            part: bytes | memoryview = view[begin:end]
            if count == 0:
                part = b""
            elif codec:
                try:
                    part = decompress(codec, view[begin:end], self._limit)
                except CompressionError as error:
                    faults.add(number, str(error))
                    part = b""
            parts.append(part)
            total += len(part)
            if total >= GROUP_BYTES:
                break
        return parts, len(parts)


def control_types(records: Records, rows: Ints) -> tuple[Ints, Ints]:
    """Version and type in the keys of control records, which are long enough."""
    log = Log(records.data, len(records.data))
    return log.at(records.key_pos[rows], ">i2"), log.at(records.key_pos[rows] + 2, ">i2")


def _checked_control(records: Records, control: Bools, faults: Faults) -> Records:
    """Leave out batches with control records that Kafka's ControlRecordType could not parse."""
    if not control.any():
        return records
    rows = np.flatnonzero(control[records.batch])
    short = records.key_size[rows] < 4
    faults.add_all(records.batch[rows[short]], "the key of a control record has fewer than 4 bytes")
    rows = rows[~short]
    negative = control_types(records, rows)[0] < 0
    faults.add_all(records.batch[rows[negative]], "the key of a control record has a negative version")
    return without(records, faults) if faults.reasons else records
