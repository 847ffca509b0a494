"""Read the keys and sizes of records in the workers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.names import topic_of
from kafka_records.segments.reader import read_segments
from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from ...columns._bytes import Ints
from ...sources._files import display_path
from ...sources._segment_ranges import reading_of
from .._expressions import NAME_OFFSET
from ._uncompressed import lengths

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Topics that Kafka creates with cleanup.policy=compact.
COMPACTED = ("__consumer_offsets", "__transaction_state")
_READ = (
    "offset",
    "position",
    "base_offset",
    "leader_epoch",
    "key",
    "value",
    "producer_id",
    "is_transactional",
    "is_control",
)
# Approximate bytes of a record besides key and value.
_BESIDES = 8
# More records than any batch has, so that batches are not split.
_MAX_ROWS = 1 << 24
# name_offset is that in the name of the segment. A file with a corrupt batch has a row with only the place and corrupt.
SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("file", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("base_offset", pa.int64()),
        pa.field("leader_epoch", pa.int32()),
        pa.field("offset", pa.int64()),
        pa.field("key", pa.binary()),
        pa.field("bytes", pa.int64()),
        pa.field("is_tombstone", pa.bool_()),
        pa.field("name_offset", pa.int64()),
        pa.field("producer_id", pa.int64()),
        pa.field("is_transactional", pa.bool_()),
        pa.field("is_control", pa.bool_()),
        pa.field("control_type", pa.string()),
        pa.field("corrupt", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class LogBounds:
    """Active segment and cleaner position of a partition."""

    # Base offset of the active segment, which the cleaner does not touch.
    active: int
    # Offset in the cleaner's checkpoint.
    cleaned: int | None = None


def logs_of(files: DataFrame, cleaned: DataFrame, topics: Iterable[str]) -> dict[tuple[str, int], LogBounds]:
    """Return the bounds of each partition of ``topics``; the cleaner position is the lowest among its replicas."""
    name = F.regexp_extract("path", NAME_OFFSET, 1)
    wanted = F.col("topic").isin(*topics) & F.col("partition").isNotNull()
    named = files.where(wanted).select("topic", "partition", F.when(name != "", name.cast("long")).alias("active"))
    begun = cleaned.where(wanted).select("topic", "partition", F.col("offset").alias("cleaned"))
    both = named.unionByName(begun, allowMissingColumns=True)
    rows = both.groupBy("topic", "partition").agg(F.max("active").alias("active"), F.min("cleaned").alias("cleaned"))
    return {
        (row.topic, row.partition): LogBounds(row.active, row.cleaned)
        for row in rows.collect()
        if row.active is not None
    }


def keyed_records(files: DataFrame) -> DataFrame:
    """Return the keys and sizes of the records in byte ranges, with control records."""

    def read(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in (row for batch in rows for row in batch.to_pylist()):
            try:
                yield from _records(row)
            except OSError:  # the reader of batch headers reports the error
                yield _corrupt(row["path"])

    return files.mapInArrow(read, struct_type(SCHEMA))


def _corrupt(path: str) -> pa.RecordBatch:
    topic, partition = topic_of(path)
    row = {"topic": topic, "partition": partition, "file": display_path(path), "corrupt": True}
    return pa.RecordBatch.from_pylist([row], schema=SCHEMA)


def _records(row: Mapping[str, Any]) -> Iterator[pa.RecordBatch]:
    reading, path = reading_of(row), row["path"]
    position, size = _batches(reading)
    topic, partition = topic_of(path)
    found = re.search(NAME_OFFSET, path)
    columns = [*_READ, "control_type", "corrupt"]
    with read_segments(**reading, columns=columns, control_records=True, max_rows=_MAX_ROWS) as reader:
        for batch in reader:
            sound = batch.filter(pc.is_null(batch.column("corrupt")))
            count = len(sound)
            if count < len(batch):
                yield _corrupt(path)
            if not count:
                continue
            places = np.asarray(sound.column("position"))
            values = {"topic": topic, "partition": partition, "file": display_path(path), "corrupt": None}
            values["name_offset"] = int(found[1]) if found else None
            made = {name: pa.repeat(pa.scalar(value, SCHEMA.field(name).type), count) for name, value in values.items()}
            made["bytes"] = pa.array(_shares(sound, places, size[np.searchsorted(position, places)]))
            made["is_tombstone"] = pc.is_null(sound.column("value"))
            arrays = [made[name] if name in made else sound.column(name) for name in SCHEMA.names]
            yield pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _batches(reading: Mapping[str, Any]) -> tuple[Ints, Ints]:
    with read_batch_headers(**reading) as reader:
        rows = [batch.filter(pc.is_null(batch.column("corrupt"))) for batch in reader]
    position, size = (
        np.concatenate([np.zeros(0, np.int64), *(np.asarray(batch.column(name)) for batch in rows)])
        for name in ("position", "size")
    )
    return position.astype(np.int64), size.astype(np.int64)


def _shares(records: pa.RecordBatch, position: Ints, size: Ints) -> Ints:
    weight = lengths(records.column("key")) + lengths(records.column("value")) + _BESIDES
    is_new = np.diff(position, prepend=-1) != 0
    first, number = np.flatnonzero(is_new), np.cumsum(is_new) - 1
    up_to = np.cumsum(weight)
    before = (up_to - weight)[first][number]
    total = np.add.reduceat(weight, first)[number]
    end = (up_to - before) * size // total
    begin = (up_to - weight - before) * size // total
    shares: Ints = end - begin
    return shares
