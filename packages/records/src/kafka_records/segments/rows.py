"""Arrow rows of decoded records, with the names and types of Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from ..format import CODECS, CONTROL_TYPES
from .arrays import HEADERS_TYPE, MOST_MILLISECONDS, TIMESTAMP, RepeatedArrays
from .frames import Bools, Ints
from .groups import BatchGroup, control_types
from .headers import HeaderColumns
from .report import SegmentReport
from .run import CORRUPT_BYTES, BatchRun, CorruptRange

CORRUPT_TYPE = pa.struct(
    [
        pa.field("position", pa.int64()),
        pa.field("size", pa.int64()),
        pa.field("reason", pa.string()),
        pa.field("bytes", pa.binary()),
    ]
)

KAFKA_COLUMNS: dict[str, Any] = {
    "key": pa.binary(),
    "value": pa.binary(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "timestamp": TIMESTAMP,
    "timestampType": pa.int32(),
}
HEADERS_COLUMN: dict[str, Any] = {"headers": HEADERS_TYPE}
BATCH_COLUMNS: dict[str, Any] = {
    "file": pa.string(),
    "position": pa.int64(),
    "base_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "producer_id": pa.int64(),
    "producer_epoch": pa.int16(),
    "base_sequence": pa.int32(),
    "is_transactional": pa.bool_(),
    "is_control": pa.bool_(),
    "control_type": pa.string(),
    "delete_horizon": TIMESTAMP,
    "compression": pa.string(),
    "magic": pa.int8(),
    "crc_ok": pa.bool_(),
}
CORRUPT_COLUMN: dict[str, Any] = {"corrupt": CORRUPT_TYPE}
COLUMNS = KAFKA_COLUMNS | HEADERS_COLUMN | BATCH_COLUMNS | CORRUPT_COLUMN


class Rows:
    def __init__(
        self, report: SegmentReport, run: BatchRun, headers: HeaderColumns, group: BatchGroup, repeated: RepeatedArrays
    ) -> None:
        self._report = report
        self._repeated = repeated.of
        self._run = run
        self._batch_headers = headers
        self._records = group.records
        self._low, self._high = group.low, group.high

    @cached_property
    def _batch(self) -> Ints:
        return self._records.batch

    def __len__(self) -> int:
        return self._records.count

    def batch(self, schema: pa.Schema, low: int, high: int) -> pa.RecordBatch:
        some = slice(low, high)
        return pa.RecordBatch.from_arrays([_MAKERS[name](self, some) for name in schema.names], schema=schema)

    def _count(self, some: slice) -> int:
        return len(range(*some.indices(self._records.count)))

    def _of_batch(self, column: str, values: Ints | Bools, some: slice, kind: Any) -> pa.Array:
        of_group = values[self._low : self._high]
        if (of_group == of_group[0]).all():
            return self._repeated(column, of_group[0].item(), kind, self._count(some))
        return pa.array(values[self._batch[some]]).cast(kind, safe=False)

    def _key(self, some: slice) -> pa.Array:
        return self._records.keys(some)

    def _value(self, some: slice) -> pa.Array:
        return self._records.values(some)

    def _topic(self, some: slice) -> pa.Array:
        return self._repeated("topic", self._report.topic, pa.string(), self._count(some))

    def _partition(self, some: slice) -> pa.Array:
        return self._repeated("partition", self._report.partition, pa.int32(), self._count(some))

    def _file(self, some: slice) -> pa.Array:
        return self._repeated("file", self._report.file, pa.string(), self._count(some))

    def _offset(self, some: slice) -> pa.Array:
        return self._records.offsets(some)

    def _timestamp(self, some: slice) -> pa.Array:
        array, lost = self._records.timestamps(some)
        self._report.timestamps_out_of_range += lost
        return array

    def _timestamp_type(self, some: slice) -> pa.Array:
        return self._of_batch("timestamp_type", self._batch_headers.timestamp_type, some, pa.int32())

    def _headers(self, some: slice) -> pa.Array:
        return self._records.header_lists(some)

    def _position(self, some: slice) -> pa.Array:
        return self._of_batch("position", self._run.base + self._run.start, some, pa.int64())

    def _base_offset(self, some: slice) -> pa.Array:
        batch = self._batch
        first = self._records.offset[np.searchsorted(batch, batch[some])]  # for formats 0 and 1, as in Kafka
        new = self._batch_headers.new[batch[some]]
        return pa.array(np.where(new, self._batch_headers.base_offset[batch[some]], first))

    def _control_type(self, some: slice) -> pa.Array:
        control = self._batch_headers.control[self._batch[some]]
        rows = np.flatnonzero(control)
        if len(rows) == 0:
            return pa.nulls(len(control), pa.string())
        kinds = control_types(self._records, rows + some.start)[1]
        last = len(CONTROL_TYPES) - 1
        numbers = np.full(len(control), last)
        numbers[rows] = np.where((kinds < 0) | (kinds > last), last, kinds)
        return named(numbers, CONTROL_TYPES, ~control)

    def _delete_horizon(self, some: slice) -> pa.Array:
        headers = self._batch_headers
        return horizons(headers.base_timestamp, headers.horizon, self._batch[some])

    def _compression(self, some: slice) -> pa.Array:
        return named(self._batch_headers.codec[self._batch[some]], CODECS)

    def _crc_ok(self, some: slice) -> pa.Array:
        if self._run.sums is None:
            return pa.nulls(self._count(some), pa.bool_())
        return self._of_batch("crc_ok", self._run.sums, some, pa.bool_())

    def _corrupt(self, some: slice) -> pa.Array:
        return pa.nulls(self._count(some), CORRUPT_TYPE)


def _header_column(name: str) -> Callable[[Rows, slice], pa.Array]:
    attribute = name.removeprefix("is_")

    def make(rows: Rows, some: slice) -> pa.Array:
        return rows._of_batch(name, getattr(rows._batch_headers, attribute), some, BATCH_COLUMNS[name])

    return make


_MAKERS: dict[str, Callable[[Rows, slice], pa.Array]] = {
    "key": Rows._key,
    "value": Rows._value,
    "topic": Rows._topic,
    "partition": Rows._partition,
    "offset": Rows._offset,
    "timestamp": Rows._timestamp,
    "timestampType": Rows._timestamp_type,
    "headers": Rows._headers,
    "file": Rows._file,
    "position": Rows._position,
    "base_offset": Rows._base_offset,
    "control_type": Rows._control_type,
    "delete_horizon": Rows._delete_horizon,
    "compression": Rows._compression,
    "crc_ok": Rows._crc_ok,
    "corrupt": Rows._corrupt,
}
PLAIN = ("leader_epoch", "producer_id", "producer_epoch", "base_sequence", "is_transactional", "is_control", "magic")
_MAKERS |= {name: _header_column(name) for name in PLAIN}


def corrupt_rows(schema: pa.Schema, report: SegmentReport, gaps: Sequence[CorruptRange]) -> pa.RecordBatch:
    count = len(gaps)
    known: dict[str, pa.Array] = {
        "topic": pa.repeat(pa.scalar(report.topic, pa.string()), count),
        "partition": pa.repeat(pa.scalar(report.partition, pa.int32()), count),
        "file": pa.repeat(pa.scalar(report.file, pa.string()), count),
        "position": pa.array([gap.position for gap in gaps], pa.int64()),
        "corrupt": pa.array(
            [
                {"position": gap.position, "size": gap.size, "reason": gap.reason, "bytes": gap.data[:CORRUPT_BYTES]}
                for gap in gaps
            ],
            CORRUPT_TYPE,
        ),
    }
    arrays = [known[field.name] if field.name in known else pa.nulls(count, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def merged(good: pa.RecordBatch, good_batch: Ints, bad: pa.RecordBatch, bad_batch: Ints) -> pa.RecordBatch:
    order = np.argsort(np.concatenate((good_batch, bad_batch)), kind="stable")
    table = pa.Table.from_batches([good, bad]).take(pa.array(order)).combine_chunks()
    return table.to_batches()[0]


def horizons(base_timestamp: Ints, horizon: Bools, batch: Ints) -> pa.Array:
    if not horizon[batch].any():
        return pa.nulls(len(batch), TIMESTAMP)
    none = ~horizon[batch] | (np.abs(base_timestamp[batch]) > MOST_MILLISECONDS)
    return pa.array(base_timestamp[batch] * 1000, mask=none).view(TIMESTAMP)


def named(numbers: Ints, names: Sequence[str], null: Bools | None = None) -> pa.Array:
    indices = pa.array(numbers.astype(np.int8), mask=null)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())).cast(pa.string())
