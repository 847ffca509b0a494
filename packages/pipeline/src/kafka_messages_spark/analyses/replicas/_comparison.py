"""Tables of compared replicas: one aggregation of batch headers, then the records of lost batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_records.segments.reader import SegmentReport, read_segments
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from ...sources._files import display_path, reader_arguments
from ...sources._segment_ranges import ranges
from ...sources._shares import MAX_PARTITION_BYTES
from .._expressions import LOG, NAME_OFFSET, folder, next_offset, text
from ..batches import ExtraColumns, batches_in
from ..checkpoints import CLEANER_OFFSET, HIGH_WATERMARK, LEADER_EPOCH, read_checkpoints
from ._logs import BATCHES, CLEANED, EPOCH, FILE, WATERMARK, compare_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Descriptions of the checks.
CHECKS = {
    "diverged": "records that a later leader epoch replaced in another replica",
    "differs": "batches at the same offset and different in leader epoch, last offset or checksum",
    "missing": "batches that another replica has within this log",
    "truncated": "a log that ends below its high watermark, or below the start of its last leader epoch",
    "incomplete_tail": "a log that ends within a batch, while another replica goes on",
    "behind": "a log that ends before another replica, after a whole batch",
}
CHECKPOINTS = (HIGH_WATERMARK, LEADER_EPOCH, CLEANER_OFFSET)
# Topics that Kafka creates with cleanup.policy=compact.
_COMPACTED = ("__consumer_offsets", "__transaction_state")
_KINDS = dict(zip(CHECKPOINTS, (WATERMARK, EPOCH, CLEANED), strict=True))
_FINDING = pa.struct(
    [
        pa.field("check", pa.string()),
        pa.field("severity", pa.string()),
        pa.field("offset", pa.int64()),
        pa.field("end_offset", pa.int64()),
        pa.field("count", pa.int64()),
        pa.field("detail", pa.string()),
    ]
)
_REPLICAS = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("replica", pa.string()),
        # Rank by leader epoch and log end, 0 for the newest replica.
        pa.field("rank", pa.int32()),
        pa.field("log_start_offset", pa.int64()),
        pa.field("log_end_offset", pa.int64()),
        pa.field("leader_epoch", pa.int32()),
        pa.field("high_watermark", pa.int64()),
        pa.field("diverges_at", pa.int64()),
        pa.field("replaced_by_epoch", pa.int32()),
        pa.field("compacted", pa.bool_()),
        pa.field("batches", pa.int64()),
        pa.field("found", pa.list_(_FINDING)),
    ]
)
_RECORDS = pa.schema(
    [
        pa.field("file", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("offset", pa.int64()),
        pa.field("timestamp", pa.timestamp("us", tz="UTC")),
        pa.field("key", pa.binary()),
        pa.field("control_type", pa.string()),
    ]
)


@dataclass(frozen=True)
class ReplicaComparison:
    """Data frames of compared replicas."""

    # Rows of read_batches, and a row for each byte range of a file. Cache it to read the files once.
    batches: DataFrame
    # One row per replica, a folder of a partition.
    replicas: DataFrame
    findings: DataFrame
    # Each record once, whatever the number of replicas that have it.
    lost_records: DataFrame


def compare_replicas(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> ReplicaComparison:
    """Compare the replicas of each partition in ``paths``, the log directories of several brokers.

    A missing path fails the query.
    """
    given: dict[str, Any] = {"owner": "compare_replicas", "glob": glob, "recursive": recursive}
    files = ranges(spark, paths, **given, max_partition_bytes=max_partition_bytes).where("left_out is null")
    return compared(files, {name: read_checkpoints(spark, paths, name, **given) for name in CHECKPOINTS})


def compared(
    files: DataFrame, checkpoints: Mapping[str, DataFrame], keep: Callable[[DataFrame], DataFrame] = lambda df: df
) -> ReplicaComparison:
    batches = keep(batches_in(files, added=_EXTRA))
    is_log = F.col("topic").isNotNull() & F.col("partition").isNotNull() & ~F.col("file").endswith(".checkpoint")
    columns = {
        "replica": folder(),
        "base_offset": F.coalesce("base_offset", "last_offset"),
        "next_offset": next_offset(F.col("last_offset")),
    }
    rows = batches.where(is_log).withColumns(columns)
    sound = rows.where("last_offset is not null")
    replicas = keep(_replicas(rows, sound, checkpoints))
    found = replicas.select(*LOG, "replica", F.inline("found"))
    return ReplicaComparison(
        batches,
        replicas.drop("found"),
        found.unionByName(_differing(sound, replicas)),
        _lost_records(files, sound, replicas),
    )


def _of_range(path: str, report: SegmentReport) -> dict[str, Any]:
    of_file = {"file": display_path(path), "topic": report.topic, "partition": report.partition}
    return {"path": path, "incomplete_tail": report.incomplete_tail, **of_file}


_EXTRA = ExtraColumns(
    (pa.field("path", pa.string()), pa.field("incomplete_tail", pa.int64())),
    lambda path, _start, _end, rows: (pa.repeat(pa.scalar(path), len(rows)), pa.nulls(len(rows), pa.int64())),
    _of_range,
)


def _replicas(rows: DataFrame, sound: DataFrame, checkpoints: Mapping[str, DataFrame]) -> DataFrame:
    is_short = F.col("next_offset") - F.col("base_offset") > F.col("records")
    traces = (F.col("magic") == 2) & (is_short | F.col("delete_horizon").isNotNull())
    of_epochs = sound.groupBy(*LOG, "replica", "leader_epoch").agg(
        F.min("base_offset").alias("start"),
        F.max("next_offset").alias("end"),
        F.count("*").alias("count"),
        F.max(traces | F.col("topic").isin(*_COMPACTED)).alias("traces"),
    )
    name = F.regexp_extract("file", NAME_OFFSET, 1)
    start = F.when(name != "", name.cast("long")).alias("start")
    of_files = rows.where("incomplete_tail is not null").select(
        *LOG, "replica", start, F.col("incomplete_tail").alias("end")
    )
    seen = {BATCHES: of_epochs, FILE: of_files}
    for file, entries in checkpoints.items():
        offset = F.col("offset").alias("start")
        seen[_KINDS[file]] = entries.where("problem is null").select(
            *LOG, folder().alias("replica"), "leader_epoch", offset
        )
    parts = [df.withColumn("kind", F.lit(kind)) for kind, df in seen.items()]
    every = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    observation = F.struct("kind", "replica", "leader_epoch", "start", "end", "count", "traces")
    partitions = every.groupBy(*LOG).agg(F.collect_list(observation).alias("seen"))
    return partitions.mapInArrow(_compare, struct_type(_REPLICAS))


def _compare(partitions: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in partitions:
        for row in batch.to_pylist():
            log = {name: row[name] for name in LOG}
            yield pa.RecordBatch.from_pylist([log | each for each in compare_logs(row["seen"])], schema=_REPLICAS)


def _differing(sound: DataFrame, replicas: DataFrame) -> DataFrame:
    """Compare the batches at each offset, up to the offsets at which logs diverge.

    The cleaner removes batches and changes checksums, but neither the last offsets nor the leader epochs of other batches.
    """
    end = F.coalesce("diverges_at", "log_end_offset").alias("end")
    logs = replicas.select(*LOG, "compacted", "replica", "rank", F.col("log_start_offset").alias("start"), end)
    partitions = logs.groupBy(*LOG, "compacted").agg(F.collect_list(F.struct("rank", "start", "end")).alias("logs"))
    partitions = partitions.where(F.size("logs") > 1)
    content = F.xxhash64("last_offset", "leader_epoch", F.when(~F.col("compacted"), F.col("crc")))
    offsets = (
        sound.join(F.broadcast(logs), [*LOG, "replica"])
        .where("base_offset < end")
        .groupBy(*LOG, "base_offset")
        .agg(
            F.collect_set(F.struct("rank", content.alias("content"))).alias("batches"),
            F.max("next_offset").alias("end"),
        )
        .join(F.broadcast(partitions), [*LOG])
    )
    base, first, present = F.col("base_offset"), F.array_min("batches")["content"], F.col("batches.rank")
    other = F.filter("batches", lambda batch: batch["content"] != first)
    within = F.filter("logs", lambda log: (log["start"] <= base) & (base < log["end"]) & ~F.col("compacted"))
    absent = F.array_except(F.transform(within, lambda log: log["rank"]), present)
    checks = F.create_map(F.lit("differs"), F.transform(other, lambda batch: batch["rank"]), F.lit("missing"), absent)
    each = offsets.select(*LOG, base, "end", F.explode(checks).alias("check", "ranks"))
    found = each.select("*", F.explode("ranks").alias("rank")).groupBy(*LOG, "rank", "check")
    counted = found.agg(
        F.min(base).alias("offset"),
        F.max("end").alias("end_offset"),
        F.sum(F.col("end") - base).alias("count"),
        F.count("*").alias("batches"),
    )
    differs = F.col("check") == "differs"
    what = F.when(differs, " batches that differ in another replica").otherwise(" batches of another replica")
    return counted.join(replicas.select(*LOG, "rank", "replica"), [*LOG, "rank"]).select(
        *LOG,
        "replica",
        "check",
        F.when(differs, "error").otherwise("warning").alias("severity"),
        "offset",
        "end_offset",
        "count",
        text(F.col("batches"), what).alias("detail"),
    )


def _lost_records(files: DataFrame, sound: DataFrame, replicas: DataFrame) -> DataFrame:
    splits = replicas.where("diverges_at is not null")
    splits = splits.select(*LOG, "replica", "diverges_at", "replaced_by_epoch", "high_watermark")
    batches = (
        sound.join(F.broadcast(splits), [*LOG, "replica"])
        .where("next_offset > diverges_at")
        .groupBy(*LOG, "base_offset", "leader_epoch")
        .agg(
            F.max(F.struct("records", "path", "file", "position")).alias("copy"),
            F.min("diverges_at").alias("diverges_at"),
            F.max("replaced_by_epoch").alias("replaced_by_epoch"),
            F.max("high_watermark").alias("high_watermark"),
            F.sort_array(F.collect_set("replica")).alias("replicas"),
        )
        .select("*", "copy.path", "copy.file", "copy.position")
    )
    bounds = batches.groupBy("path").agg(F.min("position").alias("low"), (F.max("position") + 1).alias("high"))
    parts = files.join(F.broadcast(bounds), "path").where("start < high and (end is null or end > low)")
    parts = parts.select("path", F.greatest("start", "low").alias("start"), F.least("end", "high").alias("end"))
    records = parts.mapInArrow(_records, struct_type(_RECORDS)).join(batches, ["file", "position"])
    return records.where("offset is null or offset >= diverges_at").select(
        *LOG,
        "offset",
        "leader_epoch",
        "replaced_by_epoch",
        F.substring(F.sha2("key", 256), 1, 16).alias("key_hash"),
        "timestamp",
        "control_type",
        F.when(F.col("offset") < F.col("high_watermark"), True).alias("visible_to_consumers"),
        "replicas",
        "file",
        "position",
    )


def _records(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        for row in part.to_pylist():
            path, bounds = row["path"], {"start": row["start"], "end": row["end"]}
            columns = [name for name in _RECORDS.names if name != "file"]
            given = {**reader_arguments(path), **bounds, "mode": "PERMISSIVE", "control_records": True}
            with read_segments(**given, columns=[*columns, "corrupt"]) as reader:
                for batch in reader:
                    file = pa.repeat(pa.scalar(display_path(path)), len(batch))
                    yield pa.RecordBatch.from_arrays([file, *(batch.column(name) for name in columns)], schema=_RECORDS)
