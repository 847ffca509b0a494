"""Aggregate batches by topic, partition, producer and compression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import with_names
from ..batches import batches_in
from ..copies import once
from ._uncompressed import UNCOMPRESSED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Grouping columns by level.
LEVELS: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "topics": ("topic",),
    "partitions": ("topic", "partition"),
    "producers": ("topic", "producer_id"),
    "compressions": ("topic", "compression"),
}
_USED = (
    *("topic", "partition", "file", "position", "size", "base_offset", "last_offset", "records", "timestampType"),
    *("first_timestamp", "max_timestamp", "leader_epoch", "producer_id", "is_transactional", "is_control"),
    *("control_type", "delete_horizon", "compression", "magic", "corrupt", "uncompressed", "data_records", "fault"),
)
_KEYS = ("topic", "partition", "producer_id", "compression")
_SHARES = (0.5, 0.95)


def sized_batches(files: DataFrame) -> DataFrame:
    """Return the batches of segments (not snapshots) with uncompressed size, record count and decompression error.

    The columns are some of ``read_batches``, plus ``uncompressed``, ``data_records`` and ``fault``.
    """
    segments = files.where(~F.col("path").endswith(".checkpoint"))
    return batches_in(segments, added=UNCOMPRESSED, condense=lambda batches: batches.select(_USED))


def sums(batches: DataFrame) -> DataFrame:
    """Aggregate ``sized_batches`` at each of ``LEVELS``; the column ``level`` is the name of the level. Copies count once.

    Sizes other than ``uncompressed_bytes`` are stored bytes. ``gain`` is the uncompressed size divided by the
    stored size. Medians and 95th percentiles are approximate. ``traces`` counts batches changed by the cleaner.
    """
    sound = with_names(batches.where("corrupt is null and fault is null"), "sums")
    number = F.coalesce("base_offset", "last_offset")
    rows = once(sound, "topic", "partition", number).withColumns(
        {"stored": F.when(F.col("uncompressed").isNotNull(), F.col("size")), "data_type": _of_data("timestampType")}
    )
    sets = [[F.col(name) for name in names] for names in LEVELS.values()]
    grouped = rows.groupingSets(sets, *_KEYS).agg(
        F.grouping_id(*_KEYS).alias("summed_up"),
        F.count("uncompressed").alias("batches"),
        F.count_if("is_control").alias("control_batches"),
        _sum("data_records").alias("records"),
        _sum("stored").alias("bytes"),
        _sum("uncompressed").alias("uncompressed_bytes"),
        F.percentile_approx("stored", list(_SHARES)).alias("sizes"),
        F.percentile_approx("data_records", list(_SHARES)).alias("counts"),
        F.count_if(F.col("data_records") == 1).alias("single"),
        F.min(_time(F.coalesce("first_timestamp", "max_timestamp"))).alias("first_timestamp"),
        F.max(_time(F.col("max_timestamp"))).alias("last_timestamp"),
        F.min("data_type").alias("lowest_type"),
        F.max("data_type").alias("highest_type"),
        F.count_if(F.col("is_transactional") & F.col("uncompressed").isNotNull()).alias("transactional_batches"),
        F.count_if(_is_cleaned()).alias("traces"),
    )
    return grouped.select("*", *_derived()).select(_level().alias("level"), *_KEYS, *COLUMNS)


def at_level(found: DataFrame, level: str) -> DataFrame:
    """Return the rows of one level of ``found``, the result of ``sums``."""
    return found.where(F.col("level") == level).select(*LEVELS[level], *COLUMNS)


COLUMNS = (
    "batches",
    "records",
    "bytes",
    "uncompressed_bytes",
    "gain",
    "mean_bytes",
    "median_bytes",
    "p95_bytes",
    "mean_records",
    "median_records",
    "p95_records",
    "single",
    "records_per_second",
    "timestamp_type",
    "first_timestamp",
    "last_timestamp",
    "transactional_batches",
    "control_batches",
    "traces",
)


def _derived() -> list[Column]:
    micros = F.unix_micros("last_timestamp") - F.unix_micros("first_timestamp")
    kinds = F.when(F.col("lowest_type") != F.col("highest_type"), "both")
    for number, name in enumerate(("CreateTime", "LogAppendTime")):
        kinds = kinds.when(F.col("highest_type") == number, name)
    return [
        F.try_divide("uncompressed_bytes", "bytes").alias("gain"),
        F.try_divide("bytes", "batches").alias("mean_bytes"),
        F.col("sizes")[0].alias("median_bytes"),
        F.col("sizes")[1].alias("p95_bytes"),
        F.try_divide("records", "batches").alias("mean_records"),
        F.col("counts")[0].alias("median_records"),
        F.col("counts")[1].alias("p95_records"),
        F.try_divide(F.col("records") * 1e6, micros).alias("records_per_second"),
        kinds.alias("timestamp_type"),
    ]


def _level() -> Column:
    found = F.lit(None).cast("string")
    for level, names in LEVELS.items():
        bits = sum(1 << len(_KEYS) - 1 - at for at, key in enumerate(_KEYS) if key not in names)
        found = F.when(F.col("summed_up") == bits, level).otherwise(found)
    return found


def _sum(name: str) -> Column:
    return F.coalesce(F.sum(name), F.lit(0))


def _of_data(name: str) -> Column:
    return F.when(F.col("uncompressed").isNotNull(), F.col(name))


def _time(column: Column) -> Column:
    return F.when(F.col("uncompressed").isNotNull() & (F.unix_micros(column) >= 0), column)


def _is_cleaned() -> Column:
    missing = F.col("last_offset") - F.col("base_offset") + 1 > F.col("records")
    return (missing | F.col("delete_horizon").isNotNull()) & (F.col("magic") == 2)
