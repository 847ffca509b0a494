"""Decodes runs of batches in groups of bounded size, whatever their format and compression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..batches.compression import CompressionError
from ..batches.format import (
    COMPRESSION,
    CONTROL,
    CONTROL_KEY,
    DELETE_HORIZON,
    HEADER,
    LOG_APPEND_TIME,
    MAGIC_AT,
    TIMESTAMP_AT,
    TRANSACTIONAL,
)
from .compression import decompress
from .frames import PADDING, Bools, Ints, Log
from .legacy import read_messages
from .native import PLACES, native_batches
from .record_columns import ColumnMaker, RecordColumns
from .records import Faults, Lanes, Records, read_records, without
from .run import Run

GROUP_ROWS = 131072
"""Records that are decoded together, unless one batch has more."""
GROUP_BYTES = 16 << 20
"""Decompressed bytes that are decoded together, unless one batch has more."""


def _native_fields(log: Log, start: Ints) -> dict[str, Ints] | None:
    """All fields of the headers of batches, by the names in ``format.BATCH``; None without the core."""
    core = native_batches()
    if core is None:
        return None
    fields = np.empty((len(core.HEADER_FIELDS), len(start)), np.int64)
    core.read_headers(log.bytes, np.ascontiguousarray(start, np.int64), fields)
    return dict(zip(core.HEADER_FIELDS, fields, strict=True))


class Facts:
    """Fields of the headers of batches, as far as they are asked for; those that a format lacks are -1 or False."""

    def __init__(self, log: Log, start: Ints) -> None:
        self.log = log
        self.start = start
        self._native = _native_fields(log, start)
        self.magic = log.at(start + MAGIC_AT, "i1") if self._native is None else self._native["MAGIC"]
        self.new = self.magic == 2
        if self._native is None:
            self.attributes = np.where(self.new, log.at(start + PLACES["ATTRIBUTES"], ">i2"), log.at(start + 17, "i1"))
        else:
            self.attributes = self._native["ATTRIBUTES"]
        self.codec = self.attributes & COMPRESSION

    def _field(self, name: str, kind: str, otherwise: int = -1) -> Ints:
        if self._native is not None:
            return self._native[name]
        return np.where(self.new, self.log.at(self.start + PLACES[name], kind), otherwise)

    @property
    def base_offset(self) -> Ints:
        """In formats 0 and 1 that of the last message."""
        return self.log.at(self.start, ">i8") if self._native is None else self._native["BASE_OFFSET"]

    @property
    def leader_epoch(self) -> Ints:
        return self._field("LEADER_EPOCH", ">i4")

    @property
    def last_offset_delta(self) -> Ints:
        return self._field("LAST_OFFSET_DELTA", ">i4", 0)

    @property
    def base_timestamp(self) -> Ints:
        """Milliseconds; the delete horizon in a batch that has one."""
        return self._field("BASE_TIMESTAMP", ">i8")

    @property
    def max_timestamp(self) -> Ints:
        """Milliseconds; in format 1 that of the outer message."""
        if self._native is not None:
            return self._native["MAX_TIMESTAMP"]
        old = np.where(self.magic == 1, self.log.at(self.start + TIMESTAMP_AT, ">i8"), -1)
        return np.where(self.new, self.log.at(self.start + PLACES["MAX_TIMESTAMP"], ">i8"), old)

    @property
    def producer_id(self) -> Ints:
        return self._field("PRODUCER_ID", ">i8")

    @property
    def producer_epoch(self) -> Ints:
        return self._field("PRODUCER_EPOCH", ">i2")

    @property
    def base_sequence(self) -> Ints:
        return self._field("BASE_SEQUENCE", ">i4")

    @property
    def count(self) -> Ints:
        """Records; 1 in formats 0 and 1, where a compressed message has more."""
        return self._field("COUNT", ">i4", 1)

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


Wanted = Callable[[Facts], Bools]
"""Says of each batch, by the facts of its header, whether its records are wanted."""


@dataclass(slots=True)
class Group:
    """The batches ``low`` to ``high`` of a run: their records, and which of them are corrupt and why."""

    low: int
    high: int
    records: Records | RecordColumns
    corrupt: dict[int, str]


class Decoder:
    """Decodes the batches of one run.

    ``control_records``, ``data_records``: which are wanted; ``limit``: of the bytes of one batch when decompressed;
    ``maker``: makes the columns that are wanted of them; ``wanted``: which batches to decode, by their headers.
    """

    def __init__(
        self,
        run: Run,
        maker: ColumnMaker,
        *,
        control_records: bool,
        check_crcs: bool,
        limit: int,
        data_records: bool = True,
        wanted: Wanted | None = None,
    ) -> None:
        self.facts = Facts(run.log, run.start)
        self._run = run
        self._maker = maker
        self._check = check_crcs
        self._limit = limit
        keep = np.ones(len(run.start), np.bool_)
        keep[list(run.bad)] = False
        if not control_records:
            keep &= ~self.facts.control
        if not data_records:
            keep &= self.facts.control
        if wanted is not None:
            keep &= wanted(self.facts)
        self._keep = keep

    @property
    def decoded(self) -> int:
        """How many batches are decoded."""
        return int(np.count_nonzero(self._keep))

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
        records.number(chosen)
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
        records = self._records(lanes, facts.control[chosen], faults)
        records.number(chosen)
        return Group(low, high, records, self._corrupt(low, high, chosen, faults))

    def _records(self, lanes: Lanes, control: Bools, faults: Faults) -> Records | RecordColumns:
        """The records of sound batches. Where one is not sound, ``read_records`` takes them all: it says what is wrong."""
        with_control = bool(control.any())
        columns, odd = self._maker.make(lanes, with_key=with_control), Faults()
        if columns is not None and with_control:
            check_control(columns, control, odd)
        if columns is not None and not odd.reasons:
            return columns
        records = read_records(lanes, faults)
        if with_control:
            check_control(records, control, faults)
        return without(records, faults) if faults.reasons else records

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


def control_types(records: Records | RecordColumns, rows: Ints) -> tuple[Ints, Ints]:
    """Version and type in the keys of control records, which are long enough."""
    log = Log(records.data, len(records.data))
    return log.at(records.key_pos[rows], ">i2"), log.at(records.key_pos[rows] + 2, ">i2")


def check_control(records: Records | RecordColumns, control: Bools, faults: Faults) -> None:
    """Find the batches with control records that Kafka's ControlRecordType could not parse."""
    batch = records.batch
    rows = np.flatnonzero(control[batch])
    short = records.key_size[rows] < CONTROL_KEY.size
    faults.add_all(batch[rows[short]], "the key of a control record has fewer than 4 bytes")
    rows = rows[~short]
    if len(rows) == 0:
        return  # the bytes may be fewer than any key needs
    negative = control_types(records, rows)[0] < 0
    faults.add_all(batch[rows[negative]], "the key of a control record has a negative version")
