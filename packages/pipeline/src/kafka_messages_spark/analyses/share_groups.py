"""Start offsets and lag of share groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ..columns.frames import require
from .copies import once

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["share_offsets", "topic_names"]

_KEY = ("group", "topic_id", "partition")
_PLACE = ("log_topic", "log_partition", "log_offset")


def topic_names(records: DataFrame) -> DataFrame:
    """Return ID (``topic_id``) and name (``topic``) of share groups' topics, from rows of ``consumer_offsets``."""
    require(records, "share_group_state_partition_metadata", "topic_names")
    value = F.col("share_group_state_partition_metadata.value")
    lists = (value["initializing_topics"], value["initialized_topics"], value["deleting_topics"])
    named = [F.transform(each, lambda topic: F.struct(topic["topic_id"], topic["topic_name"])) for each in lists]
    none = F.array().cast("array<struct<topic_id: string, topic_name: string>>")
    rows = records.where("record_type = 'share_group_state_partition_metadata' and problem is null")
    all_of_them = F.concat(*(F.coalesce(each, none) for each in named))
    found = rows.select(F.explode(all_of_them).alias("each"))
    return found.select(F.col("each.topic_id"), F.col("each.topic_name").alias("topic")).dropDuplicates(["topic_id"])


def share_offsets(states: DataFrame, names: DataFrame, partitions: DataFrame | None = None) -> DataFrame:
    """Return the start offset of each share group and partition, from rows of ``share_group_state``.

    ``names`` come from ``topic_names``. ``delivered`` counts completed records above ``start_offset``. ``end_offset`` and
    ``lag`` (KIP-1226) need ``partitions`` (``transactions.partition_offsets``); without it they are null.
    """
    for name in ("share_snapshot", "share_update", "is_tombstone", "topic", "partition", "offset"):
        require(states, name, "share_offsets")
    kinds = F.col("record_type").isin("share_snapshot", "share_update") & F.col("problem").isNull()
    events = once(states.where(kinds)).select(
        _of("key", "group_id").alias("group"),
        _of("key", "topic_id").alias("topic_id"),
        _of("key", "partition").alias("partition"),
        _of("value", "start_offset").alias("start_offset"),
        _of("value", "delivery_complete_count").alias("delivered"),
        "is_tombstone",
        "timestamp",
        *(F.col(name).alias(f"log_{name}") for name in ("topic", "partition", "offset")),
    )
    place = F.struct(*_PLACE)
    last = F.struct("delivered", F.col("timestamp").alias("time"), "log_partition", "is_tombstone")
    known_place = F.when((F.col("start_offset") >= 0) & ~F.col("is_tombstone"), place)  # -1: unchanged
    found = events.groupBy(*_KEY).agg(
        F.max_by("start_offset", known_place).alias("start_offset"),
        F.max(known_place).alias("known_place"),
        F.max(F.when(F.col("is_tombstone"), place)).alias("gone"),
        F.max_by(last, place).alias("last"),
    )
    is_there = F.col("known_place").isNotNull() & (F.col("gone").isNull() | (F.col("known_place") > F.col("gone")))
    delivered = F.when(F.col("last.delivered") >= 0, F.col("last.delivered"))
    now = found.where(is_there).join(names, "topic_id", "left")
    now = now.select(
        "group", "topic", *_KEY[1:], "start_offset", delivered.alias("delivered"), "last.time", "last.log_partition"
    )
    if partitions is None:
        return now.withColumns({name: F.lit(None).cast("long") for name in ("end_offset", "lag")})
    ends = partitions.select("topic", "partition", F.col("next_offset").alias("end_offset"))
    left = F.try_subtract(F.try_subtract(F.col("end_offset"), F.col("start_offset")), F.col("delivered"))
    return now.join(ends, ["topic", "partition"], "left").select(
        *now.columns, "end_offset", F.when(left < 0, F.lit(0)).otherwise(left).alias("lag")
    )


def _of(part: str, field: str) -> Column:
    return F.coalesce(*(F.col(f"share_{kind}.{part}.{field}") for kind in ("snapshot", "update")))
