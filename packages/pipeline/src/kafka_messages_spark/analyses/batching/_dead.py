"""Dead records in compacted topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from .._expressions import with_outcome
from ._keys import LogBounds

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_KEY = ("topic", "partition", "key")
_BOUNDS = pa.schema({"topic": pa.string(), "partition": pa.int32(), "active": pa.int64(), "cleaned": pa.int64()})
# Key versions of offset commits (OffsetCommitKey).
_OFFSET_COMMITS = (0, 1)


def by_key(records: DataFrame, logs: Mapping[tuple[str, int], LogBounds], *, transactions: bool = True) -> DataFrame:
    """Sum ``keyed_records`` of the partitions in ``logs`` per ``topic``, ``partition`` and ``key``.

    ``superseded`` counts records that have no key, were aborted, or are followed by one with the same key; records of
    open transactions do not count. ``cleanable_bytes`` is the size of records superseded within closed segments, and
    ``dirty_bytes`` the size of records from the cleaner's checkpoint on. ``is_removed`` marks keys whose last record is
    a tombstone. Sizes are stored bytes. With ``transactions`` false, the records of all transactions count as committed.
    """
    bounds = [
        {"topic": topic, "partition": partition, "active": each.active, "cleaned": each.cleaned or 0}
        for (topic, partition), each in logs.items()
    ]
    known = records.sparkSession.createDataFrame(pa.Table.from_pylist(bounds, _BOUNDS), struct_type(_BOUNDS))
    rows = records.where("offset is not null").join(F.broadcast(known), ["topic", "partition"])
    is_closed = F.coalesce(F.col("name_offset") < F.col("active"), F.lit(False))
    rows = rows.withColumns({"is_closed": is_closed, "is_dirty": F.col("offset") >= F.col("cleaned")})
    none = F.lit(None).cast("string")
    rows = with_outcome(rows, "outcome") if transactions else rows.withColumn("outcome", none)
    data = rows.where("not is_control").repartition(*_KEY)
    names = ("bytes", "is_tombstone", "is_closed", "is_dirty", "outcome")
    each = data.groupBy(*_KEY, "offset").agg(*(F.max(name).alias(name) for name in names))
    is_ended = F.coalesce(F.col("outcome") != "open", F.lit(True))
    counts = is_ended & F.coalesce(F.col("outcome") != "aborted", F.lit(True)) & F.col("key").isNotNull()
    summed = each.groupBy(*_KEY).agg(
        F.count("*").alias("records"),
        _bytes(F.lit(True)).alias("bytes"),
        F.count_if(is_ended).alias("ended"),
        _bytes(is_ended).alias("ended_bytes"),
        _bytes(is_ended & F.col("is_closed")).alias("closed_ended_bytes"),
        F.max_by(F.struct("bytes", "is_tombstone"), F.when(counts, F.col("offset"))).alias("last"),
        F.max_by("bytes", F.when(counts & F.col("is_closed"), F.col("offset"))).alias("closed_last"),
        _bytes(F.col("is_dirty")).alias("dirty_bytes"),
        _bytes(F.col("is_closed")).alias("closed_bytes"),
    )
    nothing = F.lit(0)
    return summed.select(
        *_KEY,
        "records",
        "bytes",
        (F.col("ended") - F.col("last").isNotNull().cast("long")).alias("superseded"),
        (F.col("ended_bytes") - F.coalesce("last.bytes", nothing)).alias("superseded_bytes"),
        (F.col("closed_ended_bytes") - F.coalesce("closed_last", nothing)).alias("cleanable_bytes"),
        F.coalesce("last.is_tombstone", F.lit(False)).alias("is_removed"),
        F.when(F.col("last.is_tombstone"), F.col("last.bytes")).otherwise(nothing).alias("tombstone_bytes"),
        "dirty_bytes",
        "closed_bytes",
    )


def _bytes(condition: Column) -> Column:
    return F.coalesce(F.sum(F.when(condition, F.col("bytes"))), F.lit(0))


def dead(keys: DataFrame) -> DataFrame:
    """Sum the result of ``by_key`` per partition; ``dead_bytes`` is the size of superseded records and tombstones."""
    sums = ("records", "bytes", "superseded", "superseded_bytes", "tombstone_bytes", "cleanable_bytes")
    grouped = keys.groupBy("topic", "partition").agg(
        F.count_if(F.col("key").isNotNull() & ~F.col("is_removed")).alias("keys"),
        F.count_if("is_removed").alias("tombstones"),
        *(F.sum(name).alias(name) for name in (*sums, "closed_bytes", "dirty_bytes")),
    )
    gone = F.col("superseded_bytes") + F.col("tombstone_bytes")
    return grouped.select(
        "topic",
        "partition",
        "records",
        "keys",
        "superseded",
        "tombstones",
        "bytes",
        gone.alias("dead_bytes"),
        F.try_divide(100.0 * gone, F.col("bytes")).alias("dead_percent"),
        "superseded_bytes",
        "tombstone_bytes",
        "closed_bytes",
        "cleanable_bytes",
        "dirty_bytes",
    )


def offsets_by_group(keys: DataFrame) -> DataFrame:
    """Sum the ``by_key`` rows of ``__consumer_offsets`` per group and topic; ``topic`` is null for records of groups."""
    version, group = _number(F.col("key"), F.lit(1)), _text(F.col("key"), F.lit(3))
    behind = F.lit(5) + _number(F.col("key"), F.lit(3))
    topic = F.when(version.isin(*_OFFSET_COMMITS), _text(F.col("key"), behind))
    offsets = keys.where("topic = '__consumer_offsets'").withColumns({"group": group, "committed_topic": topic})
    sums = ("records", "bytes", "superseded", "superseded_bytes", "tombstone_bytes")
    grouped = offsets.groupBy("group", "committed_topic").agg(
        F.count_if(~F.col("is_removed")).alias("keys"), *(F.sum(name).alias(name) for name in sums)
    )
    gone = F.col("superseded_bytes") + F.col("tombstone_bytes")
    dead_bytes = gone.alias("dead_bytes")
    return grouped.select("group", F.col("committed_topic").alias("topic"), "records", "keys", "bytes", dead_bytes)


def _number(data: Column, at: Column) -> Column:
    digits = F.hex(F.substring(data, at, F.lit(2)))
    return F.when(F.length(digits) == 4, F.conv(digits, 16, 10).cast("int"))


def _text(data: Column, at: Column) -> Column:
    size = _number(data, at)
    content = F.substring(data, at + 2, size)
    return F.when((F.length(content) == size) & (size < 1 << 15), F.try_validate_utf8(content.cast("string")))
