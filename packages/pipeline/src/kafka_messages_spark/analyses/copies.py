"""Deduplication of replicated logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._expressions import log_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["counts", "once"]

_RANK = "kafka_messages_copy"
# Columns that are equal in all copies, even after cleaning.
_CONTENT = ("key", "value", "timestamp")


def once(rows: DataFrame, *keys: Column | str) -> DataFrame:
    """Return each record or batch once, identified by ``keys`` (the offset last; default: topic, partition and offset).

    ``rows`` come from ``kafka_log`` or ``read_batches``. Batches, and rows that include snapshots, require ``keys``. Copies
    without a ``problem`` are preferred, then the highest leader epoch (KIP-101), then, for batches, the most ``records``.
    All rows without an offset are kept. Records that a failover lost are left out if a later leader epoch has others at
    their offsets: ``replicas.compare_replicas`` lists them.
    """
    if not keys:
        require(rows, "offset", "once")
        keys = (*log_of(rows), "offset")
    number = F.col(keys[-1]) if isinstance(keys[-1], str) else keys[-1]
    order = [F.col("problem").isNotNull()] if "problem" in rows.columns else []
    order += [F.col("leader_epoch").desc_nulls_last()] if "leader_epoch" in rows.columns else []
    order += [F.col("records").desc_nulls_last()] if "records" in rows.columns else []
    order += [F.col(name) for name in ("file", "position") if name in rows.columns]
    window = Window.partitionBy(*keys).orderBy(*(order or [number]))
    ranked = rows.withColumn(_RANK, F.row_number().over(window))
    return ranked.where((F.col(_RANK) == 1) | number.isNull()).drop(_RANK)


def counts(rows: DataFrame) -> DataFrame:
    """Return one row of counts.

    ``records`` counts distinct data records, ``copies`` all further copies of them, and ``differing`` the offsets whose
    copies differ in key, value or timestamp.
    """
    require(rows, "offset", "counts")
    some = rows.where("offset is not null")
    if "is_control" in rows.columns:
        some = some.where("is_control is null or not is_control")
    content = F.xxhash64(*(name for name in _CONTENT if name in rows.columns))
    keys = [key.alias(f"key_{at}") for at, key in enumerate([*log_of(rows), F.col("offset")])]
    each = some.groupBy(*keys).agg(F.count("*").alias("copies"), (F.min(content) != F.max(content)).alias("differs"))
    return each.agg(
        F.count("*").alias("records"),
        F.coalesce(F.sum(F.col("copies") - 1), F.lit(0)).alias("copies"),
        F.count_if("differs").alias("differing"),
    )
