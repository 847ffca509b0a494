"""Transactions by producer, over all partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from .._expressions import LOG, timestamp_of
from ._grouping import READ, SCHEMA, whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def whole_transactions(transactions: DataFrame) -> DataFrame:
    """Combine the completed transactions of partitions into whole transactions.

    The result is exact with transaction version 2 (KIP-890). Otherwise two transactions in quick succession may be
    combined.
    """
    times = {name: F.unix_millis(name) for name in ("first_timestamp", "marker_timestamp")}
    done = transactions.where("status <> 'open'").withColumns(times).select(*READ)
    found = done.groupBy("producer_id").applyInArrow(whole, struct_type(SCHEMA))
    return found.select(
        *(name for name in SCHEMA.names if not name.endswith("_ms")),
        timestamp_of(F.col("first_ms")).alias("first_timestamp"),
        timestamp_of(F.col("last_marker_ms")).alias("marker_timestamp"),
    )


def producers(transactions: DataFrame, states: DataFrame | None = None) -> DataFrame:
    """Return one row per producer ID with transactions; ``transactional_id`` comes from ``states``, or is null.

    ``transactions`` counts whole transactions; ``committed``, ``aborted`` and ``open`` count once per partition.
    """
    whole = whole_transactions(transactions).groupBy("producer_id").agg(F.count("*").alias("transactions"))
    found = transactions.groupBy("producer_id").agg(
        F.min("producer_epoch").alias("first_epoch"),
        F.max("producer_epoch").alias("last_epoch"),
        F.count_distinct(*LOG).alias("partitions"),
        F.count_if(F.col("status") == "committed").alias("committed"),
        F.count_if(F.col("status") == "aborted").alias("aborted"),
        F.count_if(F.col("status") == "open").alias("open"),
        F.count_if(F.col("records") == 0).alias("without_data"),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
        F.min("first_timestamp").alias("first_timestamp"),
        F.max(F.coalesce("marker_timestamp", "last_timestamp")).alias("last_timestamp"),
        F.avg("duration_ms").cast("long").alias("mean_duration_ms"),
        F.max("duration_ms").alias("longest_duration_ms"),
        F.sum("stale_markers").alias("stale_markers"),
    )
    found = found.join(whole, "producer_id", "left").fillna(0, ["transactions"])
    if states is None:
        return found.withColumn("transactional_id", F.lit(None).cast("string"))
    owners = states.select("transactional_id", F.explode("producer_ids").alias("producer_id"))
    owners = owners.groupBy("producer_id").agg(F.max("transactional_id").alias("transactional_id"))
    return found.join(owners, "producer_id", "left")
