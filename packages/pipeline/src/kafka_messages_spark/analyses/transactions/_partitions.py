"""Log start, log end, gaps and last stable offset of partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from .._expressions import LOG, NAME_OFFSET, next_offset, with_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def partition_offsets(batches: DataFrame, starts: DataFrame | None = None) -> DataFrame:
    """Return offsets, files, batches, corrupt places and gaps of each partition.

    ``log_start_offset`` comes from ``starts`` (``checkpoints.log_start_offsets``), or else from file names and offsets.
    ``starts`` also adds partitions without batches.
    ``gaps`` are structs of ``start`` and exclusive ``end``.
    """
    is_sound = F.col("corrupt").isNull() if "corrupt" in batches.columns else F.lit(True)
    files = (
        with_names(batches, "partition_offsets")
        .groupBy(*LOG, "file")
        .agg(
            F.count_if(is_sound).alias("batches"),
            F.count_if(~is_sound).alias("corrupt"),
            F.min(F.coalesce("base_offset", "last_offset")).alias("first_offset"),
            next_offset(F.max("last_offset")).alias("next_offset"),
            F.max("max_timestamp").alias("last_timestamp"),
        )
    )
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
            F.count_if(F.col("batches") > 0).alias("files"),
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
        "log_start_offset": F.coalesce("checkpoint", "log_start_offset", "first_segment"),
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
