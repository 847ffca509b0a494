"""Aggregate batches by topic, partition, producer and compression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import folder
from ._combined import without_copies

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
_KEYS = ("topic", "partition", "producer_id", "compression")


def sums(batches: DataFrame) -> DataFrame:
    """Aggregate combined or ``sized_batches`` at each of ``LEVELS``; ``level`` is the name of the level.

    Copies of ``sized_batches`` count once. Sizes other than ``uncompressed_bytes`` are stored bytes. ``gain`` is the
    uncompressed size divided by the stored size. Values above 1,023 are rounded down by up to 0.2 % for medians and 95th
    percentiles. ``traces`` counts batches changed by the cleaner.
    """
    rows = batches if "sizes" in batches.columns else without_copies(batches)
    names = {"topic": F.coalesce("topic", folder()), "partition": F.coalesce("partition", F.lit(-1))}
    rows = rows.where("corrupt is null and fault is null").withColumns(names)
    sets = [[F.col(name) for name in names] for names in LEVELS.values()]
    added = ("control_batches", "records", "bytes", "uncompressed_bytes", "single", "transactional_batches", "traces")
    grouped = rows.groupingSets(sets, *_KEYS).agg(
        F.grouping_id(*_KEYS).alias("summed_up"),
        *(_sum(name).alias(name) for name in ("batches", *added)),
        *(F.sort_array(F.flatten(F.collect_list(name))).alias(name) for name in ("sizes", "counts")),
        F.min("first_timestamp").alias("first_timestamp"),
        F.max("last_timestamp").alias("last_timestamp"),
        F.min("lowest_type").alias("lowest_type"),
        F.max("highest_type").alias("highest_type"),
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
        _percentile("sizes", 50).cast("int").alias("median_bytes"),
        _percentile("sizes", 95).cast("int").alias("p95_bytes"),
        F.try_divide("records", "batches").alias("mean_records"),
        _percentile("counts", 50).alias("median_records"),
        _percentile("counts", 95).alias("p95_records"),
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


def _percentile(counted: str, percent: int) -> Column:
    """Return the lowest value of a sorted array that is at or above the given percentage of its values."""
    target = F.ceil(F.col("batches") * percent / 100)

    def step(found: Column, each: Column) -> Column:
        seen = F.struct((found["seen"] + each["count"]).alias("seen"), each["value"].alias("value"))
        return F.when(found["seen"] < target, seen).otherwise(found)

    nothing = F.struct(F.lit(0).cast("long").alias("seen"), F.lit(None).cast("long").alias("value"))
    return F.aggregate(counted, nothing, step)["value"]
