"""Tables of compared replicas, from one aggregation of batch headers and the records of lost batches."""

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
from .._expressions import LOG, NAME_OFFSET, folder, next_offset, text
from ..batches import ExtraColumns, batches_in
from ..checkpoints import CLEANER_OFFSET, HIGH_WATERMARK, LEADER_EPOCH, read_checkpoints
from ._logs import BATCHES, CLEANED, EPOCH, FILE, WATERMARK, compare_logs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Descriptions of the checks.
CHECKS = {
    "diverged": "records after the start of a later leader epoch in another replica",
    "differs": "batches at the same offset and different in leader epoch, last offset or checksum",
    "missing": "batches that another replica has within this log",
    "truncated": "a log that ends below its high watermark, or below the start of its last leader epoch",
    "incomplete_tail": "a log that ends within a batch, while another replica goes on",
    "behind": "a log that ends before another replica, after a whole batch",
}
CHECKPOINTS = {HIGH_WATERMARK: WATERMARK, LEADER_EPOCH: EPOCH, CLEANER_OFFSET: CLEANED}
# Topics that Kafka creates with cleanup.policy=compact.
_COMPACTED = ("__consumer_offsets", "__transaction_state")
_TEXT, _INT, _LONG = pa.string(), pa.int32(), pa.int64()
_OFFSETS = dict.fromkeys(("log_start_offset", "log_end_offset", "high_watermark", "diverges_at"), _LONG)
_FINDING = dict.fromkeys(("check", "severity", "detail"), _TEXT) | dict.fromkeys(
    ("offset", "end_offset", "count"), _LONG
)
_FOUND = {"compacted": pa.bool_(), "found": pa.list_(pa.struct(_FINDING.items()))}
_EPOCHS = {"leader_epoch": _INT, "replaced_by_epoch": _INT}
_REPLICAS = pa.schema({"topic": _TEXT, "partition": _INT, "replica": _TEXT, "rank": _INT} | _OFFSETS | _EPOCHS | _FOUND)
_READ = {"position": _LONG, "offset": _LONG, "timestamp": pa.timestamp("us", "UTC"), "key": pa.binary()}
_RECORDS = pa.schema({"file": _TEXT, "control_type": _TEXT} | _READ)


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
    spark: SparkSession, paths: Sequence[str], *, glob: str | None = None, recursive: bool = True
) -> ReplicaComparison:
    """Compare the replicas of each partition in ``paths``, the log directories of several brokers.

    A missing path fails the query.
    """
    given: dict[str, Any] = {"owner": "compare_replicas", "glob": glob, "recursive": recursive}
    files = ranges(spark, paths, **given).where("left_out is null")
    return compared(files, {name: read_checkpoints(spark, paths, name, **given) for name in CHECKPOINTS})


def compared(
    files: DataFrame, checkpoints: Mapping[str, DataFrame], keep: Callable[[DataFrame], DataFrame] = lambda df: df
) -> ReplicaComparison:
    batches = keep(batches_in(files, added=_EXTRA))
    is_log = F.col("topic").isNotNull() & F.col("partition").isNotNull() & ~F.col("file").endswith(".checkpoint")
    base, end = F.coalesce("base_offset", "last_offset"), next_offset(F.col("last_offset"))
    rows = batches.where(is_log).withColumns({"replica": folder(), "base_offset": base, "next_offset": end})
    sound = rows.where("last_offset is not null")
    replicas = keep(_replicas(rows, sound, checkpoints))
    findings = replicas.select(*LOG, "replica", F.inline("found")).unionByName(_differing(sound, replicas))
    return ReplicaComparison(batches, replicas.drop("found"), findings, _lost_records(files, sound, replicas))


def _of_range(path: str, report: SegmentReport) -> dict[str, Any]:
    of_file = {"file": display_path(path), "topic": report.topic, "partition": report.partition}
    return {"path": path, "incomplete_tail": report.incomplete_tail, **of_file}


_EXTRA = ExtraColumns(
    (pa.field("path", _TEXT), pa.field("incomplete_tail", _LONG)),
    lambda path, rows: (pa.repeat(pa.scalar(path), len(rows)), pa.nulls(len(rows), _LONG)),
    _of_range,
)


def _replicas(rows: DataFrame, sound: DataFrame, checkpoints: Mapping[str, DataFrame]) -> DataFrame:
    is_short = F.col("next_offset") - F.col("base_offset") > F.col("records")
    traces = (F.col("magic") == 2) & (is_short | F.col("delete_horizon").isNotNull())
    of_epochs = sound.groupBy(*LOG, "replica", "leader_epoch").agg(
        F.min("base_offset").alias("start"),
        F.max("next_offset").alias("end"),
        F.max(traces | F.col("topic").isin(*_COMPACTED)).alias("traces"),
    )
    name, tail = F.regexp_extract("file", NAME_OFFSET, 1), F.col("incomplete_tail").alias("end")
    start = F.when(name != "", name.cast("long")).alias("start")
    of_files = rows.where("incomplete_tail is not null").select(*LOG, "replica", start, tail)
    seen = [of_epochs.withColumn("kind", F.lit(BATCHES)), of_files.withColumn("kind", F.lit(FILE))]
    for file, entries in checkpoints.items():
        columns = (folder().alias("replica"), "leader_epoch", F.col("offset").alias("start"))
        known = entries.where("problem is null").select(*LOG, *columns)
        seen.append(known.withColumn("kind", F.lit(CHECKPOINTS[file])))
    every = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), seen)
    observation = F.struct("kind", "replica", "leader_epoch", "start", "end", "traces")
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
    begin, end = F.col("log_start_offset").alias("start"), F.coalesce("diverges_at", "log_end_offset").alias("end")
    logs = replicas.select(*LOG, "compacted", "replica", "rank", begin, end)
    partitions = logs.groupBy(*LOG, "compacted").agg(F.collect_list(F.struct("rank", "start", "end")).alias("logs"))
    content = F.xxhash64("last_offset", "leader_epoch", F.when(~F.col("compacted"), F.col("crc"))).alias("content")
    below = sound.join(F.broadcast(logs), [*LOG, "replica"]).where("base_offset < end")
    offsets = below.groupBy(*LOG, "base_offset").agg(
        F.collect_set(F.struct("rank", content)).alias("batches"), F.max("next_offset").alias("end")
    )
    offsets = offsets.join(F.broadcast(partitions.where("size(logs) > 1")), [*LOG])
    base, first, rank = F.col("base_offset"), F.array_min("batches")["content"], F.col("batches.rank")
    other = F.filter("batches", lambda batch: batch["content"] != first)
    within = F.filter("logs", lambda log: (log["start"] <= base) & (base < log["end"]) & ~F.col("compacted"))
    absent = F.array_except(F.transform(within, lambda log: log["rank"]), rank)
    checks = F.create_map(F.lit("differs"), F.transform(other, lambda batch: batch["rank"]), F.lit("missing"), absent)
    each = offsets.select(*LOG, base, "end", F.explode(checks).alias("check", "ranks"))
    found = each.select("*", F.explode("ranks").alias("rank")).groupBy(*LOG, "rank", "check")
    counted = found.agg(
        F.min(base).alias("offset"),
        F.max("end").alias("end_offset"),
        F.sum(F.col("end") - base).alias("count"),
        text(F.count("*"), " batches").alias("detail"),
        F.when(F.col("check") == "differs", "error").otherwise("warning").alias("severity"),
    )
    return counted.join(replicas.select(*LOG, "rank", "replica"), [*LOG, "rank"]).drop("rank")


def _lost_records(files: DataFrame, sound: DataFrame, replicas: DataFrame) -> DataFrame:
    names = ("diverges_at", "replaced_by_epoch", "high_watermark")
    splits = replicas.where("diverges_at is not null").select(*LOG, "replica", *names)
    lost = sound.join(F.broadcast(splits), [*LOG, "replica"]).where("next_offset > diverges_at")
    batches = lost.groupBy(*LOG, "base_offset", "leader_epoch").agg(
        F.max(F.struct("records", "path", "file", "position")).alias("copy"),
        F.min("diverges_at").alias("diverges_at"),
        F.max("replaced_by_epoch").alias("replaced_by_epoch"),
        F.max("high_watermark").alias("high_watermark"),
        F.sort_array(F.collect_set("replica")).alias("replicas"),
    )
    batches = batches.select("*", "copy.path", "copy.file", "copy.position")
    bounds = batches.groupBy("path").agg(F.min("position").alias("low"), (F.max("position") + 1).alias("high"))
    parts = files.join(F.broadcast(bounds), "path").where("start < high and (end is null or end > low)")
    parts = parts.select("path", F.greatest("start", "low").alias("start"), F.least("end", "high").alias("end"))
    records = parts.mapInArrow(_records, struct_type(_RECORDS)).join(batches, ["file", "position"])
    key_hash = F.substring(F.sha2("key", 256), 1, 16).alias("key_hash")
    visible = F.when(F.col("offset") < F.col("high_watermark"), True).alias("visible_to_consumers")
    columns = ("offset", "leader_epoch", "replaced_by_epoch", key_hash, "timestamp", "control_type", visible)
    return records.where("offset is null or offset >= diverges_at").select(*LOG, *columns, "replicas", "file")


def _records(parts: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    columns = _RECORDS.names[1:]
    for row in (row for part in parts for row in part.to_pylist()):
        given = {**reader_arguments(row["path"]), "start": row["start"], "end": row["end"], "mode": "PERMISSIVE"}
        with read_segments(**given, control_records=True, columns=[*columns, "corrupt"]) as reader:
            for batch in reader:
                file = pa.repeat(pa.scalar(display_path(row["path"])), len(batch))
                yield pa.RecordBatch.from_arrays([file, *(batch.column(name) for name in columns)], schema=_RECORDS)
