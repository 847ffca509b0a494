"""What there is of each partition: where its log begins and ends, what is missing, and where readers wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from .._logs import NAME_OFFSET, next_offset
from ._batches import LOG, with_names

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def partition_offsets(batches: DataFrame, starts: DataFrame | None = None) -> DataFrame:
    """What there is of each partition: ``files``, ``batches``, ``first_offset``, ``next_offset``, ``last_timestamp``, and
    ``corrupt`` places, of which nobody knows what was there.

    ``log_start_offset`` is where the log begins for its readers: at the offset in the name of the first file, or where
    ``starts`` (``checkpoints.log_start_offsets``) says that it does, as DeleteRecords leaves it. With ``starts`` there are
    also partitions that have only empty files, which is what retention leaves of an idle one, and the log ends no earlier
    than at the offset in the name of its last file.

    ``gaps`` are the offsets that are missing between files (structs ``start`` and ``end``, ``end`` excluded): files that
    were not copied, or what compaction left nothing of.
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
    """``partition_offsets`` with what names of files and checkpoints say."""
    both = partitions.join(starts, [*LOG], "full").where("batches > 0 or last_segment is not null")
    none = F.array().cast(partitions.schema["gaps"].dataType)
    known = {
        "files": F.coalesce("files", F.lit(0)),
        "batches": F.coalesce("batches", F.lit(0)),
        "corrupt": F.coalesce("corrupt", F.lit(0)),
        "next_offset": F.greatest("next_offset", "last_segment"),
        "gaps": F.coalesce("gaps", none),
        # Where old segments are in tiered storage, the log begins before the first file, and the checkpoint says so.
        "log_start_offset": F.coalesce("checkpoint", "log_start_offset", "first_segment"),
    }
    return both.withColumns(known).select(*partitions.columns)


def stable_offsets(transactions: DataFrame, partitions: DataFrame, watermarks: DataFrame | None = None) -> DataFrame:
    """``partition_offsets`` with what open transactions do to readers of committed data (``read_committed``).

    Added: ``open`` transactions, ``last_stable_offset`` (the first offset of the oldest one; readers stop there),
    ``blocked_offsets`` behind it, ``oldest_open_timestamp``, and ``high_watermark`` (``checkpoints.high_watermarks``;
    null where it is not known). Readers do not get beyond that either, but the file that tells it is a few seconds old:
    for the others the end of the log stands in its place.
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
    # A transaction that begins below the log's beginning holds readers back from there on (Kafka's UnifiedLog).
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
