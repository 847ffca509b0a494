"""The integrity of log segments over many files: checksums, gaps, order, producers' sequences, names, and foreign files.

``check_segments`` reads every file once in the workers, which hand back only what is found and what the checks between
files need; ``files`` and ``findings`` make tables of that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from ._errors import wrong
from ._ranges import MAX_PARTITION_BYTES, ranges
from ._segment_checks import SCHEMA, checked
from ._sequences import GROUP_TOPIC, UNNAMED
from ._times import timestamp_of
from ._types import struct_type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["CHECKS", "SEVERITIES", "check_segments", "files", "findings"]

DEPTHS = ("records", "batches")
SEVERITIES = ("info", "warning", "error")
"""How bad a finding is: to be expected, to be looked at, or against what a broker writes."""
CHECKS = {
    "corrupt": "a checksum that does not agree, or bytes that are no batch",
    "corrupt_records": "a batch whose checksum agrees, but whose records cannot be decoded",
    "unreadable": "a file that cannot be read",
    "foreign": "a file without any batch in it",
    "empty": "a file without a byte, or with nothing but zeros",
    "incomplete_tail": "a batch that was not written to its end",
    "zero_tail": "zeros to the end of the file, as preallocation leaves them",
    "name": "a first offset below the one in the name of the file",
    "gap": "offsets that are not there",
    "overlap": "offsets that are there twice, or out of order",
    "record_offset": "offsets within a batch that do not ascend",
    "leader_epoch": "a leader epoch that goes back",
    "timestamp": "a log append time that goes back",
    "producer_epoch": "an epoch of a producer that goes back",
    "sequence_gap": "sequence numbers of a producer that are not there",
    "sequence_duplicate": "a batch of a producer that is there twice",
    "sequence_back": "sequence numbers of a producer that go back",
    "sequence_not_zero": "a sequence number where the group coordinator writes 0",
    "checkpoint": "a checkpoint file of a log directory that is damaged",
}
"""What is checked."""

_COMPACTED = ("__consumer_offsets", "__transaction_state")
"""Topics that Kafka itself makes with ``cleanup.policy=compact``."""
_FOLDER = r"^(.*?)[/\\]?[^/\\]*$"


def check_segments(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    depth: str = "records",
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """Check segment files; the rows are for ``files`` and ``findings``. Persist them if you want both.

    ``depth`` is ``records`` (also decompresses and decodes all records, which reads each file twice) or ``batches``
    (headers and checksums alone). Nothing but a path that is not there ends the query.
    """
    if depth not in DEPTHS:
        raise wrong(f"check_segments: depth is one of {', '.join(DEPTHS)}, not {depth!r}")
    found = ranges(
        spark, paths, owner="check_segments", glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )
    return checked_ranges(found, depth)


def checked_ranges(found: DataFrame, depth: str) -> DataFrame:
    """The checks of ranges, as ``_ranges.ranges`` gives them."""
    with_records = depth == "records"

    def check(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return checked(rows, with_records)

    return found.mapInArrow(check, struct_type(SCHEMA))


def files(checks: DataFrame, cleaned: DataFrame | None = None) -> DataFrame:
    """One row a file: what it holds, and the ``verdict``, the worst severity of its findings, or ``ok``.

    Columns: ``file``, ``size``, ``topic``, ``partition``, ``name_offset`` (of its name), ``first_offset``,
    ``next_offset``, ``batches``, ``control_batches``, ``empty_batches``, ``records``, ``batch_bytes``, ``corrupt`` places,
    ``incomplete_tail`` and ``zero_tail`` (bytes), ``missing_in_batches`` (records that compaction removed from batches),
    ``delete_horizons``, ``unordered_timestamps`` (batches whose highest time is below an earlier one),
    ``first_timestamp``, ``last_timestamp``, leader epochs, ``magic``, ``compressions``, and findings by severity.
    """
    summary = checks.where("summary is not null").select("file", "size", "start", "summary.*")
    first = [
        F.min_by(name, "start").alias(name) for name in ("topic", "partition", "name_offset", "first_leader_epoch")
    ]
    counts = ["batches", "control_batches", "empty_batches", "records", "batch_bytes", "corrupt"]
    counts += ["incomplete_tail", "zero_tail", "missing_in_batches", "delete_horizons", "unordered_timestamps"]
    by_file = summary.groupBy("file", "size").agg(
        *first,
        F.min("first_offset").alias("first_offset"),
        F.max("next_offset").alias("next_offset"),
        *(F.try_sum(name).alias(name) for name in counts),
        timestamp_of(F.min("first_timestamp")).alias("first_timestamp"),
        timestamp_of(F.max("last_timestamp")).alias("last_timestamp"),
        F.max_by("last_leader_epoch", "start").alias("last_leader_epoch"),
        F.max("magic").alias("magic"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("compressions")))).alias("compressions"),
    )
    severities = [
        F.coalesce(F.sum(F.when(F.col("severity") == name, 1)), F.lit(0)).alias(f"{name}_findings")
        for name in SEVERITIES
    ]
    worst = findings(checks, cleaned).groupBy("file").agg(*severities)
    joined = by_file.join(worst, "file", "left").fillna(0, [f"{name}_findings" for name in SEVERITIES])
    verdict = F.lit("ok")
    for name in SEVERITIES:
        verdict = F.when(F.col(f"{name}_findings") > 0, name).otherwise(verdict)
    return joined.withColumn("verdict", verdict)


def findings(checks: DataFrame, cleaned: DataFrame | None = None) -> DataFrame:
    """One row a finding: ``check`` (see ``CHECKS``), ``severity``, ``file``, ``topic``, ``partition``, ``position``,
    ``offset``, ``count`` (missing offsets of a gap; else findings) and ``detail``.

    Besides those of single files there are findings between neighbours: files of one folder in the order of the offsets
    in their names. A gap is ``info`` where the log shows traces of compaction (batches with fewer records than offsets,
    delete horizons) or is a topic that is compacted: that leaves gaps too, and nobody can tell loss from cleaning. Those
    are the topics that Kafka itself makes so, and any in ``cleaned``, which is ``checkpoints.read_checkpoints`` of
    ``cleaner-offset-checkpoint``.
    """
    summary = (
        checks.where("summary is not null")
        .select("file", "size", "start", "summary.*")
        .withColumn("folder", F.regexp_extract("file", _FOLDER, 1))
    )
    inside = checks.where("finding is not null").select("file", "finding.*")
    found = inside.unionByName(_between(summary)).unionByName(_tails(summary)).unionByName(_producers(checks, summary))
    facts = summary.groupBy("file").agg(
        F.min_by("topic", "start").alias("topic"),
        F.min_by("partition", "start").alias("partition"),
        F.first("folder").alias("folder"),
    )
    traces = (F.sum("missing_in_batches") > 0) | (F.sum("delete_horizons") > 0)
    always = F.max(F.coalesce(F.col("topic").isin(*_COMPACTED) | F.col("cleaned"), F.lit(False)))
    told = _with_cleaned(summary, cleaned)
    compacted = told.groupBy("folder").agg((F.coalesce(traces, F.lit(False)) | always).alias("compacted"))
    facts = facts.join(compacted, "folder")
    is_gap = F.col("check").isin("gap", "sequence_gap") & F.col("compacted")
    detail = F.when(is_gap, F.concat("detail", F.lit("; the log was compacted"))).otherwise(F.col("detail"))
    table = found.join(facts, "file").select(
        "check",
        F.when(is_gap, "info").otherwise(F.col("severity")).alias("severity"),
        "file",
        "topic",
        "partition",
        "position",
        "offset",
        "count",
        detail.alias("detail"),
    )
    return table if cleaned is None else table.unionByName(_damaged(cleaned))


def _damaged(cleaned: DataFrame) -> DataFrame:
    """Checkpoint files that say nothing, as findings."""
    none = {name: F.lit(None).cast("long").alias(name) for name in ("position", "offset")}
    kind, severity, one = F.lit("checkpoint"), F.lit("warning"), F.lit(1).cast("long")
    return cleaned.where("problem is not null").select(
        kind.alias("check"),
        severity.alias("severity"),
        "file",
        "topic",
        "partition",
        *none.values(),
        one.alias("count"),
        F.col("problem").alias("detail"),
    )


def _with_cleaned(summary: DataFrame, cleaned: DataFrame | None) -> DataFrame:
    """The column ``cleaned``: whether a cleaner has been at the topic, in any folder; replicas copy what it left."""
    if cleaned is None:
        return summary.withColumn("cleaned", F.lit(False))
    topics = cleaned.where("topic is not null").select("topic", F.lit(True).alias("cleaned")).distinct()
    return summary.join(F.broadcast(topics), "topic", "left")


def _finding(
    condition: Column,
    check: str,
    severity: str | Column,
    detail: Column,
    position: Column | None = None,
    offset: Column | None = None,
    count: Column | None = None,
) -> Column:
    """The struct of a finding where a condition holds, else null."""
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
    """A row for each finding that is not null."""
    some = F.filter(F.array(*found), lambda finding: finding.isNotNull())
    return df.select("file", F.explode(some).alias("finding")).select("file", "finding.*")


def _text(*parts: Column | str) -> Column:
    return F.concat(*(F.lit(part) if isinstance(part, str) else part.cast("string") for part in parts))


_ORDER = ("name_offset", "file", "start")
"""Ranges of a folder in the order of the log."""


def _between(summary: DataFrame) -> DataFrame:
    """What is wrong between a range and the one before it."""
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
    # What is missing between the offset in the name and the first one was told of the file itself.
    begins = F.when(F.col("same_file"), first).otherwise(F.col("name_offset"))
    missing = _text(begins - reached, " offsets from ", reached, " are missing before it")
    again = _text("begins at offset ", first, ", but offsets up to ", reached - 1, " were there before")
    return _exploded(
        log,
        _finding(begins > reached, "gap", "warning", missing, None, first, begins - reached),
        _finding(first < reached, "overlap", "error", again, None, first),
        _finding(
            (epoch >= 0) & (epoch < before),
            "leader_epoch",
            "error",
            _text("leader epoch ", epoch, " behind ", before),
            None,
            first,
        ),
    )


def _tails(summary: DataFrame) -> DataFrame:
    """Ends of files, which only the last file of a log may leave open, and no snapshot; files with nothing in them."""
    after = F.lead("file").over(Window.partitionBy("folder").orderBy(*_ORDER))
    log = summary.withColumns({"after": after, "sound": F.sum("batches").over(Window.partitionBy("file"))})
    is_snapshot = F.col("file").endswith(".checkpoint")
    is_last = (F.col("after").isNull() | F.col("name_offset").isNull()) & ~is_snapshot
    size, at, tail, zeros = (F.col(name) for name in ("size", "next_position", "incomplete_tail", "zero_tail"))
    has_batches, has_none = F.col("sound") > 0, (F.col("sound") == 0) & (F.col("start") == 0)
    live = "; a log that is being written may end so"
    followed = F.when(is_snapshot, "; a snapshot is there as a whole, or not at all").otherwise(
        ", with a file after it"
    )
    is_empty = (size == 0) | (zeros == size)
    words = F.when(size == 0, "no bytes").otherwise(_text("nothing but ", size, " zero bytes"))

    def of_tail(open_end: Column | str) -> Column:
        return _text(tail, " bytes of a batch that ends beyond the file", open_end)

    def of_zeros(open_end: Column | str) -> Column:
        return _text(zeros, " zero bytes at the end", open_end)

    return _exploded(
        log,
        _finding(has_batches & (tail > 0) & is_last, "incomplete_tail", "info", of_tail(live), at),
        _finding(has_batches & (tail > 0) & ~is_last, "incomplete_tail", "error", of_tail(followed), at),
        _finding(has_batches & (zeros > 0) & is_last, "zero_tail", "info", of_zeros(live), at),
        _finding(has_batches & (zeros > 0) & ~is_last, "zero_tail", "warning", of_zeros(followed), at),
        _finding(has_none & is_empty, "empty", "info", words),
        _finding(has_none & ~is_empty, "foreign", "error", _text("no record batch in ", size, " bytes")),
    )


def _producers(checks: DataFrame, summary: DataFrame) -> DataFrame:
    """Sequences of producers that do not go on from one range to the next."""
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

    def text(*parts: Column | str) -> Column:
        return _text("producer ", F.col("producer_id"), ": ", *parts)

    comes = text("sequence ", first, ", where ", expected, " comes next")
    again = text("sequence ", first, " again, where ", expected, " comes next")
    begins = text("epoch ", epoch, " begins with sequence ", first)
    back = text("epoch ", epoch, " behind ", before)
    note = F.when(unsure, UNNAMED).otherwise("")
    comes, again, double = (F.concat(each, note) for each in (comes, again, text("sequence ", first, " comes twice")))

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
