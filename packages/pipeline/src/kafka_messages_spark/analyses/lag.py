"""Lag of groups as times, and Burrow's status of their partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._expressions import next_offset

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["STATUSES", "with_lag_times", "with_statuses", "worst_status"]

# Burrow's statuses by number. ERR is a status of groups, the later ones are statuses of partitions.
STATUSES = ("NOTFOUND", "OK", "WARN", "ERR", "STOP", "STALL", "REWIND")
# Last commits of a partition that Burrow evaluates (its default of ``intervals``).
COMMITS = 10
# Time without lag that delays STOP: ``intervals`` log ends, one per ``offset-refresh``, by default 10 s.
_RECENT_MS = 100_000

_LOG = ("topic", "partition")
_KEY = ("group", *_LOG)
_PLACE = ("log_topic", "log_partition", "log_offset")


def with_lag_times(offsets: DataFrame, batches: DataFrame, as_of: int | None = None) -> DataFrame:
    """Add the time and two ages (milliseconds) of the next record to read to the result of ``groups.committed_offsets``.

    ``unread_since`` is the timestamp of that record, null without lag. ``time_lag_ms`` is relative to the newest record
    of the partition, ``oldest_unread_ms`` to ``as_of`` (milliseconds since the epoch; null without it). Both ages are 0
    without lag, null if unknown, and may be too large by the time that the record's batch spans. ``batches`` are those
    of the data segments.
    """
    for name in (*_LOG, "first_timestamp", "max_timestamp", "last_offset"):
        require(batches, name, "with_lag_times")
    first, newest = F.unix_millis("first_timestamp"), F.unix_millis("max_timestamp")
    ends = batches.where("last_offset is not null").select(
        *_LOG, F.col("last_offset").alias("at"), first.alias("first"), newest.alias("newest")
    )
    wanted = offsets.select(*_LOG, next_to_read().alias("at"), F.struct(*offsets.columns).alias("row"))
    # In descending order, the last batch seen up to an offset is the first one that contains or follows the offset.
    of_log = Window.partitionBy(*_LOG)
    backwards = of_log.orderBy(F.desc("at"), F.col("row").isNotNull()).rowsBetween(Window.unboundedPreceding, 0)
    found = wanted.unionByName(ends, allowMissingColumns=True).withColumns(
        {"next": F.last("first", ignorenulls=True).over(backwards), "newest": F.max("newest").over(of_log)}
    )

    def age(at: Column) -> Column:  # null without batch timestamps
        behind = F.when(at < F.col("next"), F.lit(0)).otherwise(at - F.col("next"))
        return F.when(F.col("row.lag") == 0, F.lit(0)).when(F.col("row.lag") > 0, behind).cast("long")

    ages = [age(F.col("newest")).alias("time_lag_ms"), age(F.lit(as_of).cast("long")).alias("oldest_unread_ms")]
    since = F.when(F.col("row.lag") > 0, F.timestamp_millis("next")).alias("unread_since")
    return found.where("row is not null").select("row.*", *ages, since)


def next_to_read() -> Column:
    """Return the offset of the next record to read: records below ``start_offset`` no longer exist."""
    return F.when(F.col("committed_offset").isNotNull(), F.greatest("committed_offset", "start_offset"))


def with_statuses(offsets: DataFrame, history: DataFrame, batches: DataFrame, as_of: int) -> DataFrame:
    """Add Burrow's ``status`` of each partition to the result of ``with_lag_times``; it is null without a known lag.

    The status follows the last ``COMMITS`` commits in ``history`` (``groups.offset_history``); ``complete`` is the
    fraction of them that exists. The lag at a commit is the distance to the log end by the timestamps in ``batches``.
    ``as_of`` is in milliseconds since the epoch. Source: Burrow's ``calculatePartitionStatus``.
    """
    newest_first = Window.partitionBy(*_KEY).orderBy(*map(F.desc, _PLACE))
    since_removal = F.max("is_tombstone").over(newest_first.rowsBetween(Window.unboundedPreceding, 0))
    ranked = history.withColumns({"rank": F.row_number().over(newest_first), "removed": since_removal})
    recent = ranked.where(F.col("removed").eqNullSafe(F.lit(False)) & (F.col("rank") <= COMMITS))
    commits = recent.select(
        *_LOG, F.unix_millis("time").alias("at"), F.struct("group", *_PLACE, "committed_offset").alias("commit")
    )
    ends = batches.where("last_offset is not null and max_timestamp is not null").select(
        *_LOG, F.unix_millis("max_timestamp").alias("at"), next_offset(F.col("last_offset")).alias("end")
    )
    until = Window.partitionBy(*_LOG).orderBy("at", F.col("commit").isNotNull())
    end = F.max("end").over(until.rowsBetween(Window.unboundedPreceding, 0))
    placed = commits.unionByName(ends, allowMissingColumns=True).withColumn("end", end).where("commit is not null")
    behind = F.try_subtract("end", "commit.committed_offset")
    lag = F.when(behind < 0, F.lit(0)).otherwise(behind).cast("long").alias("lag")
    each = F.struct(*(F.col(f"commit.{name}") for name in (*_PLACE, "committed_offset")), "at", lag)
    windows = placed.groupBy(F.col("commit.group").alias("group"), *_LOG).agg(
        F.sort_array(F.collect_list(each)).alias("recent")
    )
    complete = F.size("recent") / COMMITS
    return offsets.join(windows, [*_KEY], "left").select(
        *offsets.columns, _status(as_of).alias("status"), complete.alias("complete")
    )


def _status(as_of: int) -> Column:
    recent, lag = F.col("recent"), F.col("lag")
    offsets, lags = recent["committed_offset"], F.filter(recent["lag"], lambda each: each.isNotNull())
    first, last = recent["at"][0], F.element_at(recent["at"], -1)
    is_overdue = F.lit(as_of) - last > last - first
    rules = (
        (lag == 0, "OK"),
        (is_overdue & (F.coalesce("oldest_unread_ms", F.lit(_RECENT_MS)) >= _RECENT_MS), "STOP"),
        (F.element_at(offsets, -1) < F.array_max(offsets), "REWIND"),
        (F.array_contains(lags, F.lit(0).cast("long")), "OK"),
        # A single commit shows no course of offsets or lag; Burrow reports STALL.
        ((F.size(recent) > 1) & (F.array_min(offsets) == F.array_max(offsets)), "STALL"),
        ((F.size(lags) > 1) & (lags == F.sort_array(lags)), "WARN"),
        (lag > 0, "OK"),
    )
    return F.coalesce(*(F.when(lag.isNotNull() & condition, status) for condition, status in rules))


def worst_status(status: Column) -> Column:
    """Return the status of a group, an aggregate of its partitions: OK, WARN, ERR, or null without a known status."""
    all_of_them = F.array(*map(F.lit, STATUSES))
    worst = F.max(F.array_position(all_of_them, status))
    err = STATUSES.index("ERR") + 1
    # Not otherwise(): with a null index, element_at returns the last element of an array of literals.
    return F.when(worst > err, "ERR").when(worst > 0, F.element_at(all_of_them, worst.cast("int")))
