"""Makes Arrow columns of decoded records, with the names and types of Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ..batches.format import CODECS, CONTROL_TYPES
from .frames import Bools, Bytes, Ints
from .groups import Facts, Group, control_types
from .records import Headers
from .report import SegmentReport
from .run import CORRUPT_BYTES, Gap, Run

TIMESTAMP = pa.timestamp("us", tz="UTC")
HEADER_TYPE = pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())])
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
HEADERS_COLUMN: dict[str, Any] = {"headers": pa.list_(pa.field("element", HEADER_TYPE))}
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

_MOST_MILLISECONDS = (1 << 63) // 1000 - 1


class Rows:
    """The rows of one group, ready to be made."""

    def __init__(self, report: SegmentReport, run: Run, facts: Facts, group: Group) -> None:
        self._report = report
        self._run = run
        self._facts = facts
        self._records = group.records

    def __len__(self) -> int:
        return len(self._records.offset)

    def batch(self, schema: pa.Schema, low: int, high: int) -> pa.RecordBatch:
        """The rows ``low`` to ``high``, with the columns of a schema."""
        some = slice(low, high)
        return pa.RecordBatch.from_arrays([_MAKERS[name](self, some) for name in schema.names], schema=schema)

    def _count(self, some: slice) -> int:
        return len(self._records.offset[some])

    def _of_batch(self, values: Ints | Bools, some: slice, kind: Any) -> pa.Array:
        """A fact about batches, repeated for their records."""
        return pa.array(values[self._records.batch[some]]).cast(kind, safe=False)

    def _key(self, some: slice) -> pa.Array:
        records = self._records
        return binary(records.data, records.key_pos[some], records.key_size[some])

    def _value(self, some: slice) -> pa.Array:
        records = self._records
        return binary(records.data, records.value_pos[some], records.value_size[some])

    def _topic(self, some: slice) -> pa.Array:
        return pa.repeat(pa.scalar(self._report.topic, pa.string()), self._count(some))

    def _partition(self, some: slice) -> pa.Array:
        return pa.repeat(pa.scalar(self._report.partition, pa.int32()), self._count(some))

    def _file(self, some: slice) -> pa.Array:
        return pa.repeat(pa.scalar(self._report.file, pa.string()), self._count(some))

    def _offset(self, some: slice) -> pa.Array:
        return pa.array(self._records.offset[some])

    def _timestamp(self, some: slice) -> pa.Array:
        array, lost = timestamps(self._records.timestamp[some])
        self._report.timestamps_out_of_range += lost
        return array

    def _timestamp_type(self, some: slice) -> pa.Array:
        return self._of_batch(self._facts.timestamp_type, some, pa.int32())

    def _headers(self, some: slice) -> pa.Array:
        headers = self._records.headers
        if headers is None:
            return pa.nulls(self._count(some), HEADERS_COLUMN["headers"])
        return _header_lists(self._records.data, headers, some)

    def _position(self, some: slice) -> pa.Array:
        return self._of_batch(self._run.base + self._run.start, some, pa.int64())

    def _base_offset(self, some: slice) -> pa.Array:
        batch = self._records.batch
        first = self._records.offset[np.searchsorted(batch, batch[some])]  # in formats 0 and 1 as Kafka says it
        new = self._facts.new[batch[some]]
        return pa.array(np.where(new, self._facts.base_offset[batch[some]], first))

    def _control_type(self, some: slice) -> pa.Array:
        control = self._facts.control[self._records.batch[some]]
        rows = np.flatnonzero(control)
        if len(rows) == 0:
            return pa.nulls(len(control), pa.string())
        kinds = control_types(self._records, rows + some.start)[1]
        last = len(CONTROL_TYPES) - 1
        numbers = np.full(len(control), last)
        numbers[rows] = np.where((kinds < 0) | (kinds > last), last, kinds)
        return named(numbers, CONTROL_TYPES, ~control)

    def _delete_horizon(self, some: slice) -> pa.Array:
        facts = self._facts
        return horizons(facts.base_timestamp, facts.horizon, self._records.batch[some])

    def _compression(self, some: slice) -> pa.Array:
        return named(self._facts.codec[self._records.batch[some]], CODECS)

    def _crc_ok(self, some: slice) -> pa.Array:
        if self._run.sums is None:
            return pa.nulls(self._count(some), pa.bool_())
        return self._of_batch(self._run.sums, some, pa.bool_())

    def _corrupt(self, some: slice) -> pa.Array:
        return pa.nulls(self._count(some), CORRUPT_TYPE)


def _fact(name: str) -> Callable[[Rows, slice], pa.Array]:
    """A column that is one fact about the batch."""
    attribute = name.removeprefix("is_")

    def make(rows: Rows, some: slice) -> pa.Array:
        return rows._of_batch(getattr(rows._facts, attribute), some, BATCH_COLUMNS[name])

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
_PLAIN = ("leader_epoch", "producer_id", "producer_epoch", "base_sequence", "is_transactional", "is_control", "magic")
_MAKERS |= {name: _fact(name) for name in _PLAIN}


def corrupt_rows(schema: pa.Schema, report: SegmentReport, gaps: Sequence[Gap]) -> pa.RecordBatch:
    """Rows that stand for what is corrupt: null but for where it is, and what ``corrupt`` says."""
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
    """Rows of two kinds in the order of the batches they belong to."""
    order = np.argsort(np.concatenate((good_batch, bad_batch)), kind="stable")
    table = pa.Table.from_batches([good, bad]).take(pa.array(order)).combine_chunks()
    return table.to_batches()[0]


def binary(data: Bytes, pos: Ints, size: Ints) -> pa.Array:
    """An array of pieces of ``data``; a negative size is null."""
    count = len(pos)
    if count == 0:
        return pa.array([], pa.binary())
    bounds = np.empty(2 * count, np.int32)
    bounds[0::2] = pos
    bounds[1::2] = pos + np.maximum(size, 0)
    # What lies between two pieces is an element too; it is never looked at, so its length may be negative.
    pieces = pa.Array.from_buffers(pa.binary(), 2 * count - 1, [None, pa.py_buffer(bounds), pa.py_buffer(data)])
    null = size < 0
    numbers = np.arange(0, 2 * count, 2, dtype=np.int32)
    return pieces.take(pa.array(numbers, mask=null if null.any() else None))


def timestamps(milliseconds: Ints) -> tuple[pa.Array, int]:
    """An array of timestamps, and how many were beyond what microseconds can hold and are null."""
    lost = (milliseconds > _MOST_MILLISECONDS) | (milliseconds < -_MOST_MILLISECONDS)
    count = int(np.count_nonzero(lost))
    array = pa.array(milliseconds * 1000, mask=lost if count else None)
    return array.view(TIMESTAMP), count


def horizons(base_timestamp: Ints, horizon: Bools, batch: Ints) -> pa.Array:
    """The delete horizons of batches; null where there is none."""
    if not horizon[batch].any():
        return pa.nulls(len(batch), TIMESTAMP)
    none = ~horizon[batch] | (np.abs(base_timestamp[batch]) > _MOST_MILLISECONDS)
    return pa.array(base_timestamp[batch] * 1000, mask=none).view(TIMESTAMP)


def named(numbers: Ints, names: Sequence[str], null: Bools | None = None) -> pa.Array:
    """An array of strings by their numbers."""
    indices = pa.array(numbers.astype(np.int8), mask=null)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())).cast(pa.string())


def _header_lists(data: Bytes, headers: Headers, some: slice) -> pa.Array:
    first = headers.first[some.start : min(some.stop, len(headers.first) - 1) + 1]
    inner = slice(int(first[0]), int(first[-1]))
    keys = binary(data, headers.key_pos[inner], headers.key_size[inner])
    values = binary(data, headers.value_pos[inner], headers.value_size[inner])
    pairs = pa.StructArray.from_arrays([_strings(keys), values], fields=list(HEADER_TYPE))
    none = first[1:] == first[:-1]
    offsets = pa.array((first - first[0]).astype(np.int32))
    mask = pa.array(none) if none.any() else None
    return pa.ListArray.from_arrays(offsets, pairs, type=HEADERS_COLUMN["headers"], mask=mask)


def _strings(keys: pa.Array) -> pa.Array:
    """Header keys as text; bytes that are no UTF-8 become replacement characters, as in Java."""
    try:
        return keys.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([key.decode("utf-8", "replace") for key in keys.to_pylist()], pa.string())
