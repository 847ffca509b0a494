"""Log start, log end, gaps and last stable offset of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Window
from pyspark.sql import functions as F

from .._expressions import LOG, NAME_OFFSET, next_offset, with_names
from ..copies import without_lost

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Columns of batches that find_transactions and partition_offsets use.
_USED = (
    *("topic", "partition", "file", "position", "size", "base_offset", "last_offset", "records", "first_timestamp"),
    *("max_timestamp", "leader_epoch", "producer_id", "producer_epoch", "base_sequence", "is_transactional"),
    *("is_control", "control_type", "corrupt"),
)
_COMBINED = {"position": "max", "base_offset": "min", "last_offset": "max", "max_timestamp": "max", "batches": "sum"}


def condensed(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Combine a file's batches outside transactions, per leader epoch, into rows for the functions of this package.

    ``batches`` counts the batches of a row, whose offsets are the lowest and the highest.
    """
    table = pa.Table.from_batches([rows]).select(_USED)
    table = table.append_column("batches", pa.array([1] * len(table), pa.int64()))
    others = pc.or_(table["is_transactional"], table["is_control"])
    # The offsets of compressed messages of formats 0 and 1 are unknown.
    is_plain = pc.fill_null(pc.and_(pc.invert(others), pc.is_valid(table["base_offset"])), False)
    plain = table.filter(is_plain)
    if len(plain):
        found = plain.group_by("leader_epoch").aggregate(list(_COMBINED.items()))
        of_log = {name: pa.repeat(plain[name][0], len(found)) for name in ("topic", "partition", "file")}
        no = {name: pa.repeat(False, len(found)) for name in ("is_transactional", "is_control")}
        sums = {name: found[f"{name}_{how}"] for name, how in _COMBINED.items()}
        made = {**of_log, **no, **sums, "leader_epoch": found["leader_epoch"]}
        arrays = [made[each.name] if each.name in made else pa.nulls(len(found), each.type) for each in table.schema]
        table = pa.concat_tables([table.filter(pc.invert(is_plain)), pa.table(arrays, schema=table.schema)])
    (batch,) = table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return batch


def partition_offsets(batches: DataFrame, starts: DataFrame | None = None, lost: DataFrame | None = None) -> DataFrame:
    """Return offsets, files, batches, corrupt places and gaps of each partition; ``batches`` may be ``condensed``.

    ``log_start_offset`` comes from ``starts`` (``checkpoints.log_start_offsets``), or else from file names and offsets.
    ``starts`` also adds partitions without batches. ``lost`` (``copies.lost_epochs``) leaves out logs of former leaders.
    ``gaps`` are structs of ``start`` and exclusive ``end``.
    """
    is_sound = F.col("corrupt").isNull() if "corrupt" in batches.columns else F.lit(True)
    count = F.col("batches") if "batches" in batches.columns else F.lit(1)
    of_file = ["file", *(["leader_epoch"] if lost is not None else [])]
    files = (
        with_names(batches, "partition_offsets")
        .groupBy(*LOG, *of_file)
        .agg(
            F.coalesce(F.sum(F.when(is_sound, count)), F.lit(0)).cast("long").alias("batches"),
            F.count_if(~is_sound).alias("corrupt"),
            F.min(F.coalesce("base_offset", "last_offset")).alias("first_offset"),
            F.max("last_offset").alias("last_offset"),
            F.max("max_timestamp").alias("last_timestamp"),
        )
    )
    if lost is not None:  # replicas with the current log have what others did not lose
        files = without_lost(files, lost)
    files = files.withColumn("next_offset", next_offset(F.col("last_offset")))
    before = Window.partitionBy(*LOG).orderBy("first_offset", "next_offset").rowsBetween(Window.unboundedPreceding, -1)
    reached = F.max("next_offset").over(before)
    gap = F.when(
        F.col("first_offset") > F.col("reached"),
        F.struct(F.col("reached").alias("start"), F.col("first_offset").alias("end")),
    )
    name = F.regexp_extract("file", NAME_OFFSET, 1)
    begins = F.when(name != "", F.least(name.cast("long"), "first_offset")).otherwise(F.col("first_offset"))
    partitions = (
        files.withColumns({"reached": reached, "begins": begins})
        .groupBy(*LOG)
        .agg(
            F.count_distinct(F.when(F.col("batches") > 0, F.col("file"))).alias("files"),
            F.sum("batches").alias("batches"),
            F.min("first_offset").alias("first_offset"),
            F.max("next_offset").alias("next_offset"),
            F.max("last_timestamp").alias("last_timestamp"),
            F.sort_array(F.collect_list(gap)).alias("gaps"),
            F.sum("corrupt").alias("corrupt"),
            F.min("begins").alias("log_start_offset"),
        )
        .where("batches > 0")
    )
    return partitions if starts is None else _with_starts(partitions, starts)


def _with_starts(partitions: DataFrame, starts: DataFrame) -> DataFrame:
    both = partitions.join(starts, [*LOG], "full").where("batches > 0 or last_segment is not null")
    none = F.array().cast(partitions.schema["gaps"].dataType)
    known = {
        "files": F.coalesce("files", F.lit(0)),
        "batches": F.coalesce("batches", F.lit(0)),
        "corrupt": F.coalesce("corrupt", F.lit(0)),
        "next_offset": F.greatest("next_offset", "last_segment"),
        "gaps": F.coalesce("gaps", none),
        # With tiered storage, the checkpoint may be below the first local file.
        "log_start_offset": F.coalesce("checkpoint", "first_segment", "log_start_offset"),
    }
    return both.withColumns(known).select(*partitions.columns)


def stable_offsets(transactions: DataFrame, partitions: DataFrame, watermarks: DataFrame | None = None) -> DataFrame:
    """Add the last stable offset, at which ``read_committed`` consumers stop, to the result of ``partition_offsets``.

    New columns: ``open`` (number of open transactions), ``last_stable_offset``, ``blocked_offsets`` (number from there to
    the log end), ``oldest_open_timestamp``, and ``high_watermark`` (from ``watermarks``, or null).
    """
    if watermarks is None:
        known = partitions.withColumn("high_watermark", F.lit(None).cast("long"))
    else:
        known = partitions.join(watermarks, [*LOG], "left")
    opened = (
        transactions.where("status = 'open'")
        .groupBy(*LOG)
        .agg(
            F.count("*").alias("open"),
            F.min("first_offset").alias("first_open"),
            F.min("first_timestamp").alias("oldest_open_timestamp"),
        )
    )
    # A transaction that begins below the log start blocks consumers at the log start (Kafka's UnifiedLog).
    stable = F.when(F.col("open").isNull(), F.col("next_offset")).otherwise(
        F.greatest("first_open", "log_start_offset")
    )
    return known.join(opened, [*LOG], "left").select(
        *partitions.columns,
        F.coalesce("open", F.lit(0)).alias("open"),
        stable.alias("last_stable_offset"),
        F.try_subtract(F.col("next_offset"), stable).alias("blocked_offsets"),
        "oldest_open_timestamp",
        "high_watermark",
    )
