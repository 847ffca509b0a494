"""Record batches as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.names import topic_of
from kafka_records.segments.report import SegmentReport
from pyspark.sql import functions as F

from .._core.spark_types import struct_type
from ..columns.frames import require
from ..sources._files import display_path
from ..sources._segment_ranges import ranges, reading_of
from ..sources._shares import MAX_PARTITION_BYTES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["batches_of", "read_batches"]

MAX_ROWS = 10000
_BATCH_COLUMNS = (
    "topic",
    "partition",
    "file",
    "position",
    "base_offset",
    "timestampType",
    "leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "is_transactional",
    "is_control",
    "control_type",
    "delete_horizon",
    "compression",
    "magic",
    "crc_ok",
)


def read_batches(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    glob: str | None = None,
    recursive: bool = True,
    check_crcs: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """Return one row per record batch in ``paths``, with the columns of ``read_batch_headers``.

    Corrupt places and unreadable files are rows with the struct ``corrupt`` (position, size, reason). A missing path
    fails the query.
    """
    files = ranges(
        spark, paths, owner="read_batches", glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )
    return batches_in(files, check_crcs=check_crcs)


@dataclass(frozen=True)
class ExtraColumns:
    fields: Sequence[pa.Field]
    compute: Callable[[str, pa.RecordBatch], Sequence[pa.Array]]
    # Values of one more row for each byte range, if given.
    of_range: Callable[[str, SegmentReport], Mapping[str, Any]] | None = None


def batches_in(
    files: DataFrame,
    *,
    check_crcs: bool = True,
    added: ExtraColumns | None = None,
    condense: Callable[[pa.RecordBatch], pa.RecordBatch] | None = None,
) -> DataFrame:
    """Return the batches in byte ranges, with ``added`` columns; ``condense`` is applied to their Arrow data."""
    schema = _schema()
    whole = pa.schema([*schema, *(added.fields if added else ())])
    condense = condense or _unchanged

    def read(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in (row for each in rows for row in each.to_pylist()):
            path = row["path"]
            try:
                with read_batch_headers(**reading_of(row), check_crcs=check_crcs, max_rows=MAX_ROWS) as batches:
                    for batch in batches:
                        more = added.compute(path, batch) if added else ()
                        columns = _without_bytes(batch, path, schema)
                        yield condense(pa.RecordBatch.from_arrays([*columns, *more], schema=whole))
                    if added and added.of_range:
                        yield pa.RecordBatch.from_pylist([added.of_range(path, *batches.reports)], schema=whole)
            except OSError as error:
                yield condense(_unreadable(whole, path, row["start"], error))

    return files.mapInArrow(read, struct_type(condense(pa.RecordBatch.from_pylist([], whole)).schema))


def _unchanged(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def batches_of(records: DataFrame) -> DataFrame:
    """Group rows of ``kafka_log``, read with ``includeBatchMetadata``, into record batches.

    The columns are those of ``read_batches``; ``size`` and ``crc`` are null, and empty batches are missing.
    """
    for name in ("topic", "partition", "file", "position", "offset", "timestamp"):
        require(records, name, "batches_of")
    keys = [name for name in _BATCH_COLUMNS if name in records.columns]
    some: list[Column] = [
        F.max("offset").alias("last_offset"),
        F.count("offset").cast("int").alias("records"),
        F.min_by("timestamp", "offset").alias("first_timestamp"),
        F.max("timestamp").alias("max_timestamp"),
        F.lit(None).cast("int").alias("size"),
        F.lit(None).cast("long").alias("crc"),
    ]
    if "corrupt" in records.columns:
        fields = ("position", "size", "reason")
        without_bytes = F.struct(*(f"corrupt.{name}" for name in fields))
        some.append(F.first(F.when(F.col("corrupt").isNotNull(), without_bytes), ignorenulls=True).alias("corrupt"))
    return records.groupBy(*keys).agg(*some)


def _schema() -> pa.Schema:
    with read_batch_headers([], mode="PERMISSIVE") as reader:
        schema: pa.Schema = reader.schema
    at = schema.get_field_index("corrupt")
    return schema.set(at, pa.field("corrupt", pa.struct([f for f in schema.field(at).type if f.name != "bytes"])))


def _without_bytes(batch: pa.RecordBatch, path: str, schema: pa.Schema) -> list[Any]:
    columns: list[Any] = []
    for field in schema:
        column = batch.column(field.name)
        if field.name == "file":
            column = pa.repeat(pa.scalar(display_path(path)), len(batch))
        elif field.name == "corrupt":
            children = [column.field(each.name) for each in field.type]
            column = pa.StructArray.from_arrays(children, fields=list(field.type), mask=column.is_null())
        columns.append(column)
    return columns


def _unreadable(schema: pa.Schema, path: str, start: int, error: OSError) -> pa.RecordBatch:
    reason = f"the file cannot be read: {error}"
    topic, partition = topic_of(path)
    corrupt = {"position": start, "size": 0, "reason": reason}
    row = {"file": display_path(path), "topic": topic, "partition": partition, "position": start, "corrupt": corrupt}
    return pa.RecordBatch.from_pylist([row], schema=schema)
