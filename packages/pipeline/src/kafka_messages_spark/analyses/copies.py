"""Deduplication of replicated logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._expressions import LOG, folder, log_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["counts", "lost_epochs", "once", "without_lost"]

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


def lost_epochs(batches: DataFrame, epochs: DataFrame | None = None) -> DataFrame:
    """Return the leader epochs with batches that a failover lost; ``lost_from`` is the first lost offset.

    Replicas truncate the log of a leader where the log of the next one starts (KIP-101). ``epochs`` has the entries of
    the ``leader-epoch-checkpoint`` files; without it, an epoch starts at its first batch. A folder in which the
    epochs decrease is damaged and does not count.
    """
    first, replica = F.coalesce("base_offset", "last_offset").alias("start"), folder().alias("replica")
    starts = batches.where("leader_epoch >= 0").select(
        *LOG, replica, "leader_epoch", first, F.col("last_offset").alias("last")
    )
    if epochs is not None:
        known = epochs.where("problem is null").select(*LOG, replica, "leader_epoch", F.col("offset").alias("start"))
        starts = starts.unionByName(known, allowMissingColumns=True)
    is_damaged = F.max(F.expr("last >= lost_from")).over(Window.partitionBy(*LOG, "replica"))
    found = _with_later_start(starts, *LOG, "replica").withColumn("is_damaged", is_damaged)
    of_leader = _with_later_start(found.where("not coalesce(is_damaged, false)"), *LOG)
    return of_leader.where("last >= lost_from").select(*LOG, "leader_epoch", "lost_from")


def _with_later_start(rows: DataFrame, *keys: str) -> DataFrame:
    each = rows.groupBy(*keys, "leader_epoch").agg(F.min("start").alias("start"), F.max("last").alias("last"))
    later = Window.partitionBy(*keys).orderBy(F.desc("leader_epoch")).rowsBetween(Window.unboundedPreceding, -1)
    return each.withColumn("lost_from", F.min("start").over(later))


def without_lost(batches: DataFrame, lost: DataFrame) -> DataFrame:
    """Leave out the batches in ``lost``, the result of ``lost_epochs``."""
    joined = batches.join(F.broadcast(lost), [*LOG, "leader_epoch"], "left")
    return joined.where(F.coalesce(F.col("last_offset") < F.col("lost_from"), F.lit(True))).select(batches.columns)


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
