"""Takes the records of many batches apart at once (format 2, KIP-82 and KIP-98).

First the place of every record is found, by the lengths of the records alone. Then all fields of all records are read side
by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ..batches.format import SMALLEST_RECORD
from .arrays import HEADERS_TYPE, binary, header_lists, timestamps
from .frames import Bools, Bytes, Ints
from .places import find_places
from .varints import VarintError, Varints, varint

FEW_HEADERS = 24
SLICE = 32768
"""Records whose fields are read at a time: what is needed meanwhile stays in the cache."""


@dataclass(slots=True)
class Headers:
    """Keys and values of the headers of all records, in order: where they are and how long; a null value is -1 long."""

    first: Ints
    """Of each record the number of its first header, and of all headers at the end."""
    key_pos: Ints
    key_size: Ints
    value_pos: Ints
    value_size: Ints


@dataclass(slots=True)
class Records:
    """Records as places in ``data``. ``batch`` is the number of the batch that each belongs to, ascending."""

    data: Bytes
    batch: Ints
    offset: Ints
    timestamp: Ints
    """Milliseconds since 1970, -1 for none."""
    key_pos: Ints
    key_size: Ints
    """-1 for null, as ``value_size``."""
    value_pos: Ints
    value_size: Ints
    headers: Headers | None
    """None if no record has any."""

    def number(self, batches: Ints) -> None:
        """Give the batches other numbers."""
        self.batch = batches[self.batch]

    @property
    def count(self) -> int:
        return len(self.batch)

    def offsets(self, some: slice) -> pa.Array:
        return pa.array(self.offset[some])

    def keys(self, some: slice) -> pa.Array:
        return binary(self.data, self.key_pos[some], self.key_size[some])

    def values(self, some: slice) -> pa.Array:
        return binary(self.data, self.value_pos[some], self.value_size[some])

    def timestamps(self, some: slice) -> tuple[pa.Array, int]:
        """And how many were beyond what microseconds can hold and are null."""
        return timestamps(self.timestamp[some])

    def header_lists(self, some: slice) -> pa.Array:
        headers = self.headers
        if headers is None:
            return pa.nulls(len(self.batch[some]), HEADERS_TYPE)
        first = headers.first[some.start : some.stop + 1]
        inner = slice(int(first[0]), int(first[-1]))
        keys = binary(self.data, headers.key_pos[inner], headers.key_size[inner])
        values = binary(self.data, headers.value_pos[inner], headers.value_size[inner])
        return header_lists(first, keys, values)


@dataclass(slots=True)
class Lanes:
    """Batches whose records are in ``data`` from ``pos`` to ``end``. Behind the last there are 64 bytes more."""

    data: Bytes
    pos: Ints
    end: Ints
    count: Ints
    base_offset: Ints
    base_timestamp: Ints
    append_time: Ints
    """The timestamp of all records of the batch, where ``appended``."""
    appended: Bools

    @property
    def are_possible(self) -> bool:
        """Could each batch have as many records as it says?"""
        return not (self.count > (self.end - self.pos) // SMALLEST_RECORD).any()

    def table(self) -> Ints:
        """All but the bytes, as the native core takes them."""
        fields = (
            self.pos,
            self.end,
            self.count,
            self.base_offset,
            self.base_timestamp,
            self.append_time,
            self.appended,
        )
        table = np.empty((len(fields), len(self.pos)), np.int64)
        for row, field in zip(table, fields, strict=True):
            row[:] = field
        return table


class Faults:
    """What is wrong with batches, by their number; the first thing that is found counts."""

    def __init__(self) -> None:
        self.reasons: dict[int, str] = {}

    def add(self, batch: int, reason: str) -> None:
        self.reasons.setdefault(batch, reason)

    def add_all(self, batches: Ints, reason: str) -> None:
        for batch in np.unique(batches).tolist():
            self.add(batch, reason)


def read_records(lanes: Lanes, faults: Faults) -> Records:
    """The records of all batches; those of faulty ones are left out."""
    room = (lanes.end - lanes.pos) // SMALLEST_RECORD
    for over in np.flatnonzero(lanes.count > room).tolist():
        faults.add(over, f"{int(lanes.count[over])} records cannot be in {int((lanes.end - lanes.pos)[over])} bytes")
    count = np.where(lanes.count > room, 0, lanes.count)
    base = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    total = int(base[-1])
    body, stop = np.zeros(total, np.int64), np.zeros(total, np.int64)
    varints = Varints(lanes.data)
    find_places(varints, lanes.pos, lanes.end, count, body, stop)
    _check_places(lanes, count, base, body, stop, faults)
    batch = np.repeat(np.arange(len(count)), count)
    fields = _Fields(total)
    for low in range(0, total, SLICE):
        some = slice(low, low + SLICE)
        fields.read(lanes, varints, batch, body, stop, some, faults)
    headers = _headers(varints, fields, stop, batch, faults)
    records = Records(
        lanes.data,
        batch,
        fields.offset,
        fields.timestamp,
        fields.key_pos,
        fields.key_size,
        fields.value_pos,
        fields.value_size,
        headers,
    )
    return without(records, faults) if faults.reasons else records


def _check_places(lanes: Lanes, count: Ints, base: Ints, body: Ints, stop: Ints, faults: Faults) -> None:
    """Find the batches whose records do not fill them."""
    some = np.flatnonzero(count)  # without any, Kafka does not look at the bytes
    suspects = some[stop[base[1:][some] - 1] != lanes.end[some]]
    small = np.flatnonzero(stop - body < SMALLEST_RECORD - 1)
    if len(small):
        suspects = np.union1d(suspects, np.searchsorted(base, small, "right") - 1)
    for batch in suspects.tolist():
        records = slice(int(base[batch]), int(base[batch + 1]))
        end = int(lanes.end[batch])
        wrong = (stop[records] - body[records] < SMALLEST_RECORD - 1) | (stop[records] > end)
        if wrong.any():
            faults.add(batch, f"record {int(np.argmax(wrong))} has a length that cannot be")
        else:
            faults.add(batch, f"{end - int(stop[records][-1])} bytes are left after its records")
        body[records] = stop[records] = end  # harmless to what reads the fields of all


def _behind(pos: Ints, size: Ints, end: Ints) -> Ints:
    """Where the next field begins; at the end where a size is too large, so that the last field goes beyond it."""
    behind = np.maximum(size, 0)
    behind += pos
    return np.minimum(behind, end, out=behind)


class _Fields:
    """The fields of all records, filled slice by slice."""

    def __init__(self, total: int) -> None:
        self.offset, self.timestamp = np.empty(total, np.int64), np.empty(total, np.int64)
        self.key_pos, self.key_size = np.empty(total, np.int64), np.empty(total, np.int64)
        self.value_pos, self.value_size = np.empty(total, np.int64), np.empty(total, np.int64)
        self.header_pos, self.header_count = np.empty(total, np.int64), np.empty(total, np.int64)

    def read(
        self, lanes: Lanes, varints: Varints, batch: Ints, body: Ints, stop: Ints, some: slice, faults: Faults
    ) -> None:
        lane, end = batch[some], stop[some]
        wrong = np.zeros(len(lane), np.bool_)
        pos = body[some] + 1  # attributes, of which none are in use
        delta, pos = varints.at(pos, wrong, 10)
        timestamp = lanes.base_timestamp[lane] + delta
        if lanes.appended.any():
            timestamp = np.where(lanes.appended[lane], lanes.append_time[lane], timestamp)
        self.timestamp[some] = timestamp
        delta, pos = varints.at(pos, wrong)
        self.offset[some] = lanes.base_offset[lane] + delta
        size, pos = varints.at(pos, wrong)
        self.key_pos[some], self.key_size[some] = pos, size
        pos = _behind(pos, size, end)
        size, pos = varints.at(pos, wrong)
        self.value_pos[some], self.value_size[some] = pos, size
        pos = _behind(pos, size, end)
        count, pos = varints.at(pos, wrong)
        if count.any():
            wrong |= (count < 0) | (pos + 2 * count > end) | ((count == 0) & (pos != end))
        else:
            wrong |= pos != end
        self.header_pos[some], self.header_count[some] = pos, count
        if wrong.any():
            bad = np.flatnonzero(wrong)
            self.header_count[some][bad] = 0
            first = {int(lane[number]): number for number in reversed(bad.tolist())}
            for number, at in sorted(first.items()):
                record = some.start + at - int(np.searchsorted(batch, number))
                faults.add(number, f"the fields of record {record} do not fill its length")


def _headers(varints: Varints, fields: _Fields, stop: Ints, batch: Ints, faults: Faults) -> Headers | None:
    """The headers of all records: header k of every record at a time, or record after record where few are left."""
    count = fields.header_count
    live = np.flatnonzero(count > 0)
    if len(live) == 0:
        return None
    first = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
    total = int(first[-1])
    headers = Headers(first, *(np.zeros(total, np.int64) for _ in range(4)))
    bad: list[Ints] = []
    pos = fields.header_pos
    number = 0
    while len(live) >= FEW_HEADERS:
        at, end = first[live] + number, stop[live]
        wrong = np.zeros(len(live), np.bool_)
        size, here = varints.at(pos[live], wrong)
        headers.key_pos[at], headers.key_size[at] = here, size
        wrong |= size < 0
        here = here + size
        wrong |= here > end
        here = np.clip(here, 0, end)
        size, here = varints.at(here, wrong)
        headers.value_pos[at], headers.value_size[at] = here, size
        here = here + np.maximum(size, 0)
        number += 1
        last = count[live] == number
        wrong |= (here > end) | (last & (here != end))
        pos[live] = here
        if wrong.any():
            bad.append(batch[live[wrong]])
        live = live[~(last | wrong)]
    for record in live.tolist():
        if not _headers_of(
            varints.data,
            headers,
            int(pos[record]),
            int(stop[record]),
            slice(int(first[record]) + number, int(first[record + 1])),
        ):
            bad.append(batch[record : record + 1])
    if bad:
        faults.add_all(np.concatenate(bad), "the headers of a record do not fill its length")
    return headers


def _headers_of(data: Bytes, headers: Headers, pos: int, end: int, some: slice) -> bool:
    """The headers of one record in a plain loop. Returns whether they end where the record does."""
    raw = data[pos:end].tobytes()
    key_pos, key_size, value_pos, value_size = [], [], [], []
    at = 0
    try:
        for _ in range(some.start, some.stop):
            size, at = varint(raw, at)
            key_pos.append(pos + at)
            key_size.append(size)
            if size < 0:
                return False
            at += size
            size, at = varint(raw, at)
            value_pos.append(pos + at)
            value_size.append(size)
            at += max(size, 0)
    except (IndexError, VarintError):
        return False
    if at != len(raw):
        return False
    headers.key_pos[some], headers.key_size[some] = key_pos, key_size
    headers.value_pos[some], headers.value_size[some] = value_pos, value_size
    return True


def without(records: Records, faults: Faults) -> Records:
    """The records of the batches that are not faulty."""
    keep = np.flatnonzero(~np.isin(records.batch, np.fromiter(faults.reasons, np.int64, len(faults.reasons))))
    headers = records.headers
    if headers is not None:
        counts = np.diff(headers.first)
        kept = np.repeat(np.isin(np.arange(len(counts)), keep), counts)
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts[keep])))
        headers = Headers(
            first, headers.key_pos[kept], headers.key_size[kept], headers.value_pos[kept], headers.value_size[kept]
        )
    return Records(
        records.data,
        records.batch[keep],
        records.offset[keep],
        records.timestamp[keep],
        records.key_pos[keep],
        records.key_size[keep],
        records.value_pos[keep],
        records.value_size[keep],
        headers,
    )
