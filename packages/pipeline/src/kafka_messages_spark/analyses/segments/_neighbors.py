"""Check consecutive byte ranges and files of a folder against each other, and logs against their high watermarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from .._expressions import folder, text
from ._sequences import GROUP_TOPIC, UNNAMED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


def _finding(
    condition: Column,
    check: str,
    severity: str | Column,
    detail: Column,
    position: Column | None = None,
    offset: Column | None = None,
    count: Column | None = None,
) -> Column:
    finding = F.struct(
        F.lit(check).alias("check"),
        (F.lit(severity) if isinstance(severity, str) else severity).alias("severity"),
        (F.col("start") if position is None else position).cast("long").alias("position"),
        (F.lit(None) if offset is None else offset).cast("long").alias("offset"),
        (F.lit(1) if count is None else count).cast("long").alias("count"),
        detail.alias("detail"),
    )
    return F.when(condition, finding)


def _exploded(df: DataFrame, *found: Column) -> DataFrame:
    some = F.filter(F.array(*found), lambda finding: finding.isNotNull())
    return df.select("file", F.explode(some).alias("finding")).select("file", "finding.*")


# Order of ranges in the log.
_ORDER = ("name_offset", "file", "start")
_LOG = ("directory", "topic", "partition")


def between(summary: DataFrame) -> DataFrame:
    window = Window.partitionBy("folder").orderBy(*_ORDER)
    log = summary.where("first_offset is not null and name_offset is not null").withColumns(
        {
            "reached": F.max("next_offset").over(window.rowsBetween(Window.unboundedPreceding, -1)),
            "epoch_before": F.lag("last_leader_epoch").over(window),
            "same_file": F.lag("file").over(window) == F.col("file"),
        }
    )
    first, reached, epoch, before = (
        F.col(name) for name in ("first_offset", "reached", "first_leader_epoch", "epoch_before")
    )
    # RangeCheck reports a gap between the offset in a file name and the first offset in the file.
    begins = F.when(F.col("same_file"), first).otherwise(F.col("name_offset"))
    missing = text(begins - reached, " offsets from ", reached, " are missing")
    again = text("begins at offset ", first, ", but offsets up to ", reached - 1, " precede it")
    return _exploded(
        log,
        _finding(begins > reached, "gap", "warning", missing, None, first, begins - reached),
        _finding(first < reached, "overlap", "error", again, None, first),
        _finding(
            (epoch >= 0) & (epoch < before),
            "leader_epoch",
            "error",
            text("leader epoch ", epoch, " below ", before),
            None,
            first,
        ),
    )


def tails(summary: DataFrame) -> DataFrame:
    """Check the ends of files; only the last file of a log may be incomplete."""
    after = F.lead("file").over(Window.partitionBy("folder").orderBy(*_ORDER))
    log = summary.withColumns({"after": after, "sound": F.sum("batches").over(Window.partitionBy("file"))})
    is_snapshot = F.col("file").endswith(".checkpoint")
    is_last = (F.col("after").isNull() | F.col("name_offset").isNull()) & ~is_snapshot
    size, at, tail, zeros = (F.col(name) for name in ("size", "next_position", "incomplete_tail", "zero_tail"))
    has_batches, has_none = F.col("sound") > 0, (F.col("sound") == 0) & (F.col("start") == 0)
    live = "; normal in a log that is being written"
    followed = F.when(is_snapshot, "; snapshots are written completely or not at all").otherwise(
        ", followed by another file"
    )
    is_empty = (size == 0) | (zeros == size)
    words = F.when(size == 0, "no bytes").otherwise(text("only ", size, " zero bytes"))

    def of_tail(open_end: Column | str) -> Column:
        return text(tail, " bytes of a batch that ends beyond the file", open_end)

    def of_zeros(open_end: Column | str) -> Column:
        return text(zeros, " zero bytes at the end", open_end)

    return _exploded(
        log,
        _finding(has_batches & (tail > 0) & is_last, "incomplete_tail", "info", of_tail(live), at),
        _finding(has_batches & (tail > 0) & ~is_last, "incomplete_tail", "error", of_tail(followed), at),
        _finding(has_batches & (zeros > 0) & is_last, "zero_tail", "info", of_zeros(live), at),
        _finding(has_batches & (zeros > 0) & ~is_last, "zero_tail", "warning", of_zeros(followed), at),
        _finding(has_none & is_empty, "empty", "info", words),
        _finding(has_none & ~is_empty, "foreign", "error", text("no record batch in ", size, " bytes")),
    )


def producers(checks: DataFrame, summary: DataFrame) -> DataFrame:
    order = summary.select("file", "start", "folder", "name_offset", "topic").where("name_offset is not null")
    window = Window.partitionBy("folder", "producer_id").orderBy(*_ORDER)
    each = checks.where("producer is not null").select("file", "start", "producer.*").join(order, ["file", "start"])
    names = {"before": "last_epoch", "expected": "next_sequence", "sequence_before": "last_sequence"}
    each = each.withColumns({name: F.lag(column).over(window) for name, column in names.items()})
    first, expected, epoch, before, offset = (
        F.col(name) for name in ("first_sequence", "expected", "first_epoch", "before", "first_offset")
    )
    twice = (first >= 0) & (epoch == before) & (first == F.col("sequence_before")) & (first != expected)
    differs = ~twice & (first >= 0) & (expected >= 0) & (epoch == before) & (first != expected)
    ahead = F.pmod(first - expected, F.lit(1 << 31)) < (1 << 30)
    is_new = (epoch > before) & (first > 0) & (expected >= 0)
    counted = ~F.col("topic").eqNullSafe(F.lit(GROUP_TOPIC))
    unsure = F.col("topic").isNull() & (first == 0)

    def of_producer(*parts: Column | str) -> Column:
        return text("producer ", F.col("producer_id"), ": ", *parts)

    comes = of_producer("sequence ", first, ", expected ", expected)
    again = of_producer("decreasing sequence ", first, ", expected ", expected)
    begins = of_producer("epoch ", epoch, " begins with sequence ", first)
    back = of_producer("epoch ", epoch, " below ", before)
    note = F.when(unsure, UNNAMED).otherwise("")
    comes, again, double = (F.concat(each, note) for each in (comes, again, of_producer("duplicate sequence ", first)))

    def bad(severity: str) -> Column:
        return F.when(unsure, "info").otherwise(severity)

    return _exploded(
        each,
        _finding(epoch < before, "producer_epoch", "error", back, None, offset),
        _finding(counted & twice, "sequence_duplicate", bad("error"), double, None, offset),
        _finding(counted & differs & ahead, "sequence_gap", bad("warning"), comes, None, offset),
        _finding(counted & differs & ~ahead, "sequence_back", bad("error"), again, None, offset),
        _finding(counted & is_new, "sequence_gap", "warning", begins, None, offset),
    )


def below_watermark(summary: DataFrame, watermarks: DataFrame) -> DataFrame:
    is_log = F.col("name_offset").isNotNull() & F.col("topic").isNotNull() & ~F.col("file").endswith(".checkpoint")
    end = F.max(F.greatest("next_offset", "name_offset"))
    directory = folder("folder").alias("directory")
    logs = summary.where(is_log).groupBy(directory, "topic", "partition")
    ends = logs.agg(end.alias("end"), F.max_by("file", "name_offset").alias("file"))
    marks = watermarks.where("problem is null").select(
        folder().alias("directory"), "topic", "partition", F.col("offset").alias("mark")
    )
    mark, end = F.col("mark"), F.col("end")
    detail = text(
        "ends at offset ", end, ", below the high watermark ", mark, ": truncated, or copied before the checkpoint"
    )
    return (
        ends.join(F.broadcast(marks), [*_LOG])
        .where(mark > end)
        .select(
            "file",
            F.lit("high_watermark").alias("check"),
            F.lit("info").alias("severity"),
            F.lit(None).cast("long").alias("position"),
            end.alias("offset"),
            (mark - end).alias("count"),
            detail.alias("detail"),
        )
    )
