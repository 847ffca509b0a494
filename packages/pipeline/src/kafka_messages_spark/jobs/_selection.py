"""Select a topic's records without the duplicates in replicas and snapshots.

Overlaps are detected by batch headers. A snapshot is used only if the log has gaps or does not start at offset 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from kafka_messages_spark.analyses._expressions import SNAPSHOT
from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.copies import counts, once
from kafka_messages_spark.jobs._job import METADATA, Job
from kafka_messages_spark.jobs._report import format_path
from kafka_messages_spark.sources._files import base_name, display_path, folder_name

_END = ".checkpoint"
Log = tuple[str | None, int | None, str | None]


def records(job: Job, paths: Sequence[str], topic: str, *, batch_metadata: bool = False) -> DataFrame:
    """Return the records of a topic, each once, and describe the selection in the report.

    If there are copies, ``batch_metadata`` is implied. All rows of corrupt batches are kept.
    """
    files = {display_path(path): path for path in job.segments_of(paths, topic)}
    there, others = of_topic(summarize_files(batches_in(job.ranges(list(files.values())))), topic)
    found = select_files(there)
    of_log = {each.file for each in found.log}
    batch_metadata = batch_metadata or found.is_twice
    parts, count = [], None
    if log := [path for name, path in files.items() if name in of_log]:
        rows = job.read(log, batch_metadata=batch_metadata)
        if found.start:
            rows = rows.where(F.col("offset").isNull() | (F.col("offset") >= found.start))
        if topic == METADATA:
            rows = rows.withColumns({"topic": F.lit(topic), "partition": F.lit(0)})
        count = _count_records(found, rows)
        parts.append(once(rows) if found.is_twice else rows)
    if found.snapshot is not None:
        parts.append(job.read([files[found.snapshot.file]], batch_metadata=batch_metadata))
    _report_selection(job, found, count)
    if others:
        what = f"{_number(len(others), 'file')} in folders without a topic name, because other folders have the name {topic}"
        job.report.facts([("skipped", what)])
    return reduce(DataFrame.unionByName, parts)


@dataclass(frozen=True)
class Count:
    records: int
    copies: int = 0
    differing: int = 0


def _count_records(found: RecordSelection, rows: DataFrame) -> Count:
    known = [each.records for each in found.log if each.records is not None]
    if found.is_twice or found.start or len(known) < len(found.log):
        return Count(*counts(rows).collect()[0])
    return Count(sum(known))


def _report_selection(job: Job, found: RecordSelection, count: Count | None) -> None:
    items: dict[str, str] = {}
    if count is not None:
        words = (_number(count.records, "record"), _number(found.logs, "partition"), _number(len(found.log), "file"))
        items["selected"] = "{} of {}, from {}".format(*words)
        if count.copies:
            items["copies"] = f"{count.copies} in other replicas, not counted"
        if count.differing:
            job.find("differing copies", count.differing)
            items["differing"] = (
                f"{_number(count.differing, 'offset')} with differing copies; "
                "the copy with the highest leader epoch was used"
            )
        if found.unnamed:
            what = _number(found.unnamed, "folder")
            items["unnamed"] = f"{what} without topic and partition in the name, each read as one partition"
    if found.snapshot is not None:
        where = f"the state up to offset {found.start - 1}" if found.start else "a state"
        items["snapshot"] = (
            f"{_number(found.snapshot.records or 0, 'record')}, {where}: {format_path(found.snapshot.file)}"
        )
    if found.skipped:
        items["skipped"] = f"{_number(len(found.skipped), 'snapshot')}: {found.skip_reason}"
    job.report.facts(items)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


@dataclass(frozen=True)
class FileSummary:
    """Content of a file according to its batch headers."""

    # Display path.
    file: str
    topic: str | None
    partition: int | None
    # First and last offset; None if no batch can be read.
    first: int | None
    last: int | None
    # Number of data records; None if unknown without decompression (formats 0 and 1).
    records: int | None
    # Number of batches that start below the end of an earlier one.
    repeats: int = 0

    @property
    def log(self) -> Log:
        known = self.topic is not None and self.partition is not None
        return self.topic, self.partition, None if known else folder_name(self.file)

    @property
    def is_snapshot(self) -> bool:
        return self.topic == METADATA and self.file.endswith(_END)

    @property
    def end(self) -> int:
        """Exclusive end offset in a snapshot's name, or -1."""
        found = re.fullmatch(SNAPSHOT, base_name(self.file))
        return int(found[1]) if found else -1


@dataclass(frozen=True)
class RecordSelection:
    log: list[FileSummary]
    # State before the first selected record of the log.
    snapshot: FileSummary | None = None
    # First log offset that the snapshot does not contain.
    start: int = 0
    skipped: list[FileSummary] = field(default_factory=list)
    # Why snapshots are skipped; empty if the log is complete.
    reason: str = ""

    @property
    def skip_reason(self) -> str:
        return self.reason or "not needed, the log starts at offset 0"

    @property
    def is_twice(self) -> bool:
        return any(each.repeats for each in self.log) or any(map(_overlap, _by_log(self.log)))

    @property
    def logs(self) -> int:
        return len({each.log for each in self.log})

    @property
    def unnamed(self) -> int:
        return len({each.log for each in self.log if each.log[2] is not None})


def select_files(files: Sequence[FileSummary]) -> RecordSelection:
    """Select the whole log and, if the log has gaps or does not start at offset 0, a snapshot that replaces its beginning.

    The snapshot is the oldest one that the log continues without a gap, or the latest one if there is no log.
    """
    log = [each for each in files if not each.is_snapshot]
    snapshots = [each for each in files if each.is_snapshot]
    run = _last_run(log)
    if run is not None and run[0] == 0:
        return RecordSelection(log, skipped=snapshots)
    if run is None:
        end = max((each.end for each in snapshots), default=None)
    else:
        end = min((each.end for each in snapshots if run[0] <= each.end <= run[1] + 1), default=None)
    if end is None:
        what = "" if run is None else f" with the log, which has no gaps from offset {run[0]} on"
        return RecordSelection(log, skipped=snapshots, reason=f"no overlap{what}")
    chosen = max((each for each in snapshots if each.end == end), key=lambda each: (each.records or 0, each.file))
    others = [each for each in snapshots if each is not chosen]
    return RecordSelection(log, chosen, max(end, 0), others, "not needed with the selected snapshot")


def _last_run(log: Iterable[FileSummary]) -> tuple[int, int] | None:
    spans = sorted((each.first, each.last) for each in log if each.first is not None and each.last is not None)
    run = None
    for first, last in spans:
        run = (first, last) if run is None or first > run[1] + 1 else (run[0], max(run[1], last))
    return run


def _by_log(files: Iterable[FileSummary]) -> list[list[FileSummary]]:
    in_order = sorted(files, key=lambda each: tuple(map(str, each.log)))
    return [list(some) for _, some in groupby(in_order, key=lambda each: each.log)]


def _overlap(files: Iterable[FileSummary]) -> bool:
    spans = sorted((each.first, each.last) for each in files if each.first is not None and each.last is not None)
    reached = -1
    for first, last in spans:
        if first <= reached:
            return True
        reached = max(reached, last)
    return False


def of_topic(files: Sequence[FileSummary], topic: str) -> tuple[list[FileSummary], list[FileSummary]]:
    """Split files into those of a topic and others, which only ``__cluster_metadata`` can have.

    If no folder has the name ``__cluster_metadata``, all files belong to this topic.
    """
    if topic != METADATA:
        return list(files), []
    named = [each for each in files if each.topic == METADATA]
    others = [each for each in files if each.topic != METADATA]
    kept = [replace(each, topic=METADATA, partition=0) for each in named or others]
    return kept, others if named else []


def summarize_files(batches: DataFrame) -> list[FileSummary]:
    begins = F.coalesce("base_offset", "last_offset")
    before = Window.partitionBy("file").orderBy("position").rowsBetween(Window.unboundedPreceding, -1)
    placed = batches.withColumns({"begins": begins, "reached": F.max("last_offset").over(before)})
    is_record = ~F.coalesce(F.col("is_control"), F.lit(False)) & F.col("corrupt").isNull()
    by_file = placed.groupBy("file", "topic", "partition").agg(
        F.min("begins").alias("first"),
        F.max("last_offset").alias("last"),
        F.when(
            F.count_if(is_record & F.col("records").isNull()) == 0,
            F.coalesce(F.sum(F.when(is_record, F.col("records"))), F.lit(0)),
        ).alias("records"),
        F.count_if(F.col("begins") <= F.col("reached")).alias("repeats"),
    )
    return [FileSummary(**row.asDict()) for row in by_file.orderBy("file").collect()]
