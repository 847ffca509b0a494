"""Deduplication of replicated logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._expressions import LOG, folder, log_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.window import WindowSpec

__all__ = ["counts", "is_lost", "lost_epochs", "of_current_logs", "once", "with_lost", "without_lost"]

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


def lost_epochs(batches: DataFrame, epochs: DataFrame | None = None, *, last: str = "last_offset") -> DataFrame:
    """Return the leader epochs with lost batches, and ``lost_from``, the first lost offset of each.

    The replicas with the highest leader epoch have the current log. The others truncate an epoch where the current log has
    the next one (KIP-101), and remove epochs that it does not list. ``epochs`` has the entries of the
    ``leader-epoch-checkpoint`` files. Without them, an epoch starts at its first batch, and one without batches in the
    current log does not count as lost. A folder in which the epochs decrease is damaged and does not count, nor do
    snapshots. ``last`` names the column of the last offset: ``offset`` for records.
    """
    first, replica = F.coalesce("base_offset", last).alias("start"), folder().alias("replica")
    starts = batches.where((F.col("leader_epoch") >= 0) & ~_is_snapshot()).select(
        *LOG, replica, "leader_epoch", first, F.col(last).alias("last"), F.lit(False).alias("is_listed")
    )
    if epochs is not None:
        entry = (F.col("offset").alias("start"), F.lit(True).alias("is_listed"))
        known = epochs.where("problem is null").select(*LOG, replica, "leader_epoch", *entry)
        starts = starts.unionByName(known, allowMissingColumns=True)
    ends = [F.min("start").alias("start"), F.max("last").alias("last"), F.max("is_listed").alias("is_listed")]
    each = starts.groupBy(*LOG, "replica", "leader_epoch").agg(*ends)
    each = each.withColumn("next", F.min("start").over(_later_epochs(*LOG, "replica")))
    of_replica = Window.partitionBy(*LOG, "replica")
    is_damaged = F.coalesce(F.max(F.expr("last >= next")).over(of_replica), F.lit(False))
    each = each.withColumns({"is_damaged": is_damaged, "newest": F.max("leader_epoch").over(of_replica)})
    of_log = Window.partitionBy(*LOG)
    sound = each.where("not is_damaged").withColumn("is_current", F.col("newest") == F.max("newest").over(of_log))
    current = F.when(F.col("is_current"), F.col("start"))
    listed = F.min(F.when(F.col("is_listed"), current)).alias("listed")
    found = sound.groupBy(*LOG, "leader_epoch").agg(*ends[:2], F.min(current).alias("current"), listed)
    first_listed = F.min("listed").over(of_log)
    is_missing = F.col("current").isNull() & first_listed.isNotNull()
    next_start = F.min("current").over(_later_epochs(*LOG))
    lost_from = F.when(is_missing, F.greatest("start", first_listed)).otherwise(next_start)
    return found.withColumn("lost_from", lost_from).where("last >= lost_from").select(*LOG, "leader_epoch", "lost_from")


def _later_epochs(*keys: str) -> WindowSpec:
    return Window.partitionBy(*keys).orderBy(F.desc("leader_epoch")).rowsBetween(Window.unboundedPreceding, -1)


def _is_snapshot() -> Column:
    return F.col("file").endswith(".checkpoint")


def is_lost(last: str = "last_offset") -> Column:
    """Return the condition for a lost batch, for the result of ``with_lost``."""
    return F.coalesce(F.col(last) >= F.col("lost_from"), F.lit(False))


def with_lost(batches: DataFrame, lost: DataFrame) -> DataFrame:
    """Add the column ``lost_from`` of ``lost``, the result of ``lost_epochs``."""
    joined = batches.join(F.broadcast(lost), [*LOG, "leader_epoch"], "left")
    if "file" not in batches.columns:
        return joined
    return joined.withColumn("lost_from", F.when(~_is_snapshot(), F.col("lost_from")))


def without_lost(batches: DataFrame, lost: DataFrame, *, last: str = "last_offset") -> DataFrame:
    """Leave out the batches in ``lost``, the result of ``lost_epochs``."""
    return with_lost(batches, lost).where(~is_lost(last)).select(batches.columns)


def of_current_logs(files: DataFrame, batches: DataFrame, lost: DataFrame) -> DataFrame:
    """Return the byte ranges ``files`` without those of replicas that have ``batches`` in ``lost``."""
    replicas = with_lost(batches, lost).where(is_lost()).select(*LOG, folder().alias("replica")).distinct()
    named = files.withColumn("replica", folder("path"))
    return named.join(F.broadcast(replicas), [*LOG, "replica"], "left_anti").select(files.columns)


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
