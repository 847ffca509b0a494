"""Transactions of each partition in record batches (KIP-98)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from .._expressions import LOG, with_names
from ..copies import lost_epochs, once, without_lost

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def find_transactions(batches: DataFrame, lost: DataFrame | None = None) -> DataFrame:
    """Return one row per transaction and partition; copies of a batch count once, batches that a failover lost do not.

    ``lost`` is the result of ``copies.lost_epochs``, by default that of ``batches``.

    ``status`` is committed, aborted or open. Offsets and times of data are null for a marker without data. ``bytes`` is the
    stored size, ``duration_ms`` the time from the first record to the marker. ``may_begin_earlier`` is true if retention
    may have removed the beginning. ``stale_markers`` counts ineffective markers of older epochs.
    """
    named = _sound(batches, "find_transactions")
    is_marker = F.col("is_control") & F.col("control_type").isin("COMMIT", "ABORT")
    is_relevant = is_marker | (F.col("is_transactional") & ~F.col("is_control"))
    relevant = named.where((F.col("producer_id") >= 0) & is_relevant)
    if "leader_epoch" in named.columns:
        relevant = without_lost(relevant, lost_epochs(named) if lost is None else lost)
    some = once(relevant, *LOG, "producer_id", "base_offset")
    some = some.withColumn("marker", is_marker)
    in_order = Window.partitionBy(*LOG, "producer_id").orderBy("base_offset")
    before = in_order.rowsBetween(Window.unboundedPreceding, -1)
    highest_epoch = F.max("producer_epoch").over(in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    some = some.withColumn("ends", F.col("marker") & (F.col("producer_epoch") >= highest_epoch))
    some = some.withColumn("number", F.coalesce(F.sum(F.col("ends").cast("long")).over(before), F.lit(0)))
    found = some.groupBy(*LOG, "producer_id", "number").agg(*_of_transaction())
    found = found.where("batches > 0 or marker_offset is not null")
    start = named.groupBy(*LOG).agg(F.min("base_offset").alias("log_start"))
    cut = (F.col("number") == 0) & (F.col("log_start") > 0)
    cut = cut & ((F.col("batches") == 0) | (F.col("first_sequence") > 0))
    status = F.when(F.col("outcome") == "COMMIT", "committed").when(F.col("outcome") == "ABORT", "aborted")
    return found.join(start, [*LOG]).select(
        *LOG,
        "producer_id",
        "producer_epoch",
        status.otherwise("open").alias("status"),
        "first_offset",
        "last_offset",
        "batches",
        "records",
        "bytes",
        "first_timestamp",
        "last_timestamp",
        "marker_offset",
        "marker_timestamp",
        "marker_epoch",
        (F.unix_millis("marker_timestamp") - F.unix_millis("first_timestamp")).alias("duration_ms"),
        cut.alias("may_begin_earlier"),
        "stale_markers",
    )


def _sound(batches: DataFrame, owner: str) -> DataFrame:
    named = with_names(batches, owner)
    return named.where("corrupt is null") if "corrupt" in batches.columns else named


def _of_transaction() -> list[Column]:
    data, ends = ~F.col("marker"), F.col("ends")
    data_offset = F.when(data, F.col("base_offset"))
    first_timestamp = F.coalesce("first_timestamp", "max_timestamp")

    def of_data(name: str) -> Column:
        return F.when(data, F.col(name))

    def of_marker(name: str) -> Column:
        return F.max(F.when(ends, F.col(name)))

    return [
        F.coalesce(F.max(of_data("producer_epoch")), of_marker("producer_epoch")).alias("producer_epoch"),
        of_marker("control_type").alias("outcome"),
        F.min(data_offset).alias("first_offset"),
        F.max(of_data("last_offset")).alias("last_offset"),
        F.count(data_offset).alias("batches"),
        F.coalesce(F.sum(of_data("records")), F.lit(0)).alias("records"),
        F.sum(of_data("size")).alias("bytes"),
        F.min_by(first_timestamp, data_offset).alias("first_timestamp"),
        F.max(of_data("max_timestamp")).alias("last_timestamp"),
        F.min_by("base_sequence", data_offset).alias("first_sequence"),
        of_marker("base_offset").alias("marker_offset"),
        of_marker("max_timestamp").alias("marker_timestamp"),
        of_marker("producer_epoch").alias("marker_epoch"),
        F.count_if(F.col("marker") & ~ends).alias("stale_markers"),
    ]
