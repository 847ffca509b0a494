"""Check segment files, and list the files and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as F

from ..._core.errors import invalid_argument
from ..._core.spark_types import struct_type
from ...sources._segment_ranges import ranges
from ...sources._shares import MAX_PARTITION_BYTES
from .._expressions import folder, timestamp_of
from ._neighbors import below_watermark, between, producers, tails
from ._range_check import SCHEMA, check_ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


DEPTHS = ("records", "batches")
# An ``info`` is expected, a ``warning`` should be examined, an ``error`` is not possible on a healthy broker.
SEVERITIES = ("info", "warning", "error")
# Descriptions of the checks.
CHECKS = {
    "corrupt": "checksum mismatch, or bytes that are not a batch",
    "corrupt_records": "a batch with a valid checksum whose records cannot be decoded",
    "unreadable": "a file that cannot be read",
    "foreign": "a file without a batch",
    "empty": "an empty file, or only zeros",
    "incomplete_tail": "an incomplete batch at the end",
    "zero_tail": "zeros at the end of the file, left by preallocation",
    "name": "a first offset below the offset in the file name",
    "gap": "missing offsets",
    "overlap": "duplicate or unordered offsets",
    "record_offset": "offsets in a batch that do not ascend",
    "leader_epoch": "a decreasing leader epoch",
    "timestamp": "a decreasing log append time",
    "producer_epoch": "a decreasing producer epoch",
    "sequence_gap": "missing sequence numbers of a producer",
    "sequence_duplicate": "a duplicate batch of a producer",
    "sequence_back": "decreasing sequence numbers of a producer",
    "sequence_not_zero": "a sequence number other than 0 from the group coordinator",
    "high_watermark": "a log that ends below the high watermark of the broker",
    "checkpoint": "a damaged checkpoint file of a log directory",
}

# Topics that Kafka creates with cleanup.policy=compact.
_COMPACTED = ("__consumer_offsets", "__transaction_state")


def check_segments(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    depth: str = "records",
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """Check segment files; ``files`` and ``findings`` take the result.

    ``depth`` is ``batches`` (headers and checksums) or ``records`` (also decode all records).
    Raises PySparkValueError for another depth; a missing path fails the query.
    """
    if depth not in DEPTHS:
        raise invalid_argument(f"check_segments: depth must be one of {', '.join(DEPTHS)}, not {depth!r}")
    found = ranges(
        spark, paths, owner="check_segments", glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )
    return checked_ranges(found, depth)


def checked_ranges(
    found: DataFrame, depth: str, before: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
) -> DataFrame:
    """Check byte ranges; ``before`` has the rows of an earlier check, by file, of ranges that it has read in part."""
    with_records, known = depth == "records", before or {}

    def check(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return check_ranges(rows, with_records, known)

    return found.mapInArrow(check, struct_type(SCHEMA))


def files(checks: DataFrame, found: DataFrame | None = None) -> DataFrame:
    """Return one row per file with counts, and ``verdict``: the worst severity in ``found``, or ``ok``.

    ``incomplete_tail`` and ``zero_tail`` are in bytes. ``missing_in_batches`` counts offsets within batches
    for which the batch has no record. ``found`` is the result of ``findings``, by default without checkpoints.
    """
    summary = checks.where("summary is not null").select("file", "size", "start", "summary.*")
    first = [
        F.min_by(name, "start").alias(name) for name in ("topic", "partition", "name_offset", "first_leader_epoch")
    ]
    counts = ["batches", "control_batches", "empty_batches", "records", "batch_bytes", "corrupt"]
    counts += ["incomplete_tail", "zero_tail", "missing_in_batches", "delete_horizons", "unordered_timestamps"]
    by_file = summary.groupBy("file", "size").agg(
        *first,
        F.min("first_offset").alias("first_offset"),
        F.max("next_offset").alias("next_offset"),
        *(F.try_sum(name).alias(name) for name in counts),
        timestamp_of(F.min("first_timestamp")).alias("first_timestamp"),
        timestamp_of(F.max("last_timestamp")).alias("last_timestamp"),
        F.max_by("last_leader_epoch", "start").alias("last_leader_epoch"),
        F.max("magic").alias("magic"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("compressions")))).alias("compressions"),
    )
    severities = [
        F.coalesce(F.sum(F.when(F.col("severity") == name, 1)), F.lit(0)).alias(f"{name}_findings")
        for name in SEVERITIES
    ]
    found = findings(checks) if found is None else found
    worst = found.groupBy("file").agg(*severities)
    joined = by_file.join(worst, "file", "left").fillna(0, [f"{name}_findings" for name in SEVERITIES])
    verdict = F.lit("ok")
    for name in SEVERITIES:
        verdict = F.when(F.col(f"{name}_findings") > 0, name).otherwise(verdict)
    return joined.withColumn("verdict", verdict)


def findings(checks: DataFrame, cleaned: DataFrame | None = None, watermarks: DataFrame | None = None) -> DataFrame:
    """Return one row per finding, with ``check`` (one of ``CHECKS``) and ``severity``.

    Missing offsets and sequence numbers in compacted logs are ``info``. ``cleaned`` (rows of
    ``cleaner-offset-checkpoint``) adds compacted topics. ``watermarks`` (rows of ``replication-offset-checkpoint``) enables
    the check ``high_watermark``. Damaged checkpoint files are findings, too.
    """
    summary = (
        checks.where("summary is not null").select("file", "size", "start", "summary.*").withColumn("folder", folder())
    )
    inside = checks.where("finding is not null").select("file", "finding.*")
    found = inside.unionByName(between(summary)).unionByName(tails(summary)).unionByName(producers(checks, summary))
    if watermarks is not None:
        found = found.unionByName(below_watermark(summary, watermarks))
    per_file = summary.groupBy("file").agg(
        F.min_by("topic", "start").alias("topic"),
        F.min_by("partition", "start").alias("partition"),
        F.first("folder").alias("folder"),
    )
    traces = (F.sum("missing_in_batches") > 0) | (F.sum("delete_horizons") > 0)
    always = F.max(F.coalesce(F.col("topic").isin(*_COMPACTED) | F.col("cleaned"), F.lit(False)))
    with_traces = _with_cleaned(summary, cleaned)
    compacted = with_traces.groupBy("folder").agg((F.coalesce(traces, F.lit(False)) | always).alias("compacted"))
    per_file = per_file.join(compacted, "folder")
    is_gap = F.col("check").isin("gap", "sequence_gap") & F.col("compacted")
    detail = F.when(is_gap, F.concat("detail", F.lit("; the log was compacted"))).otherwise(F.col("detail"))
    table = found.join(per_file, "file").select(
        "check",
        F.when(is_gap, "info").otherwise(F.col("severity")).alias("severity"),
        "file",
        "topic",
        "partition",
        "position",
        "offset",
        "count",
        detail.alias("detail"),
    )
    for checkpoints in (cleaned, watermarks):
        table = table if checkpoints is None else table.unionByName(_damaged(checkpoints))
    return table


def _damaged(checkpoints: DataFrame) -> DataFrame:
    none = {name: F.lit(None).cast("long").alias(name) for name in ("position", "offset")}
    kind, severity, one = F.lit("checkpoint"), F.lit("warning"), F.lit(1).cast("long")
    return checkpoints.where("problem is not null").select(
        kind.alias("check"),
        severity.alias("severity"),
        "file",
        "topic",
        "partition",
        *none.values(),
        one.alias("count"),
        F.col("problem").alias("detail"),
    )


def _with_cleaned(summary: DataFrame, cleaned: DataFrame | None) -> DataFrame:
    if cleaned is None:
        return summary.withColumn("cleaned", F.lit(False))
    topics = cleaned.where("topic is not null").select("topic", F.lit(True).alias("cleaned")).distinct()
    return summary.join(F.broadcast(topics), "topic", "left")
