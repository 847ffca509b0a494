"""One run of a job: session, input, report and output."""

from __future__ import annotations

import json
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import reduce
from typing import Any

from kafka_records.segments.names import topic_of
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark._core.worker_python import use_for_next_session, use_for_session
from kafka_messages_spark.analyses.checkpoints import LEADER_EPOCH
from kafka_messages_spark.analyses.copies import lost_epochs, without_lost
from kafka_messages_spark.jobs import _local_mode
from kafka_messages_spark.jobs._options import absolute
from kafka_messages_spark.jobs._output import (
    check_tables,
    damaged_checkpoints,
    inputs,
    is_openmetrics,
    is_page,
    save,
    writers,
)
from kafka_messages_spark.jobs._report import (
    PREFIX,
    Gauge,
    JobFinding,
    JobReport,
    JobRun,
    Severity,
    made_by,
    size,
    timestamp,
)
from kafka_messages_spark.jobs._session import is_elsewhere, is_ours, start
from kafka_messages_spark.sources import register
from kafka_messages_spark.sources._checkpoint_files import CheckpointFiles
from kafka_messages_spark.sources._files import FileSelection, display_path, folder_name, is_path
from kafka_messages_spark.sources._segment_ranges import NOT_A_SEGMENT, Ranges, skip_reason
from kafka_messages_spark.sources._shares import MAX_PARTITION_BYTES
from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource
from kafka_messages_spark.state._folder import StateFolder

FINE, FINDINGS = 0, 1
# The only topic with snapshots.
METADATA = "__cluster_metadata"
# Setting of Spark's progress bars; in output that is not a terminal, bars are never erased.
_PROGRESS = "spark.ui.showConsoleProgress"
# Combine small shuffle partitions of cached tables; otherwise a few rows make 200 tasks.
_CACHED_PARTITIONS = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"


@dataclass
class Job:
    """One run of a job: session, arguments and report."""

    name: str
    args: Namespace
    report: JobReport
    # Settings for a new session.
    settings: Mapping[str, str] = field(default_factory=dict)
    # Number of partitions if all input is local and small; 0 for any.
    partitions: int = 0
    # Names of the tables that the job may write.
    writes: Sequence[str] = ()
    # Number of findings, without those of severity info.
    findings: int = 0
    _found: list[JobFinding] = field(default_factory=list)
    _spark: SparkSession | None = None
    _shows_progress: bool = True
    _cached_partitions: str | None = None
    _left_out: set[str] = field(default_factory=set)
    _kept: list[DataFrame] = field(default_factory=list)
    _tables: list[tuple[str, DataFrame]] = field(default_factory=list)
    _checkpoints: list[DataFrame] = field(default_factory=list)
    _states: dict[str, StateFolder] = field(default_factory=dict)
    _at_end: list[Callable[[], None]] = field(default_factory=list)

    @property
    def spark(self) -> SparkSession:
        if self._spark is None:
            use_for_next_session()
            small = _local_mode.settings(self.partitions)
            no_bars = {_PROGRESS: "false"} if self.args.quiet or not sys.stderr.isatty() else {}
            no_bars = no_bars if is_ours() and _PROGRESS not in self.settings else {}
            self._spark = start(
                self.name, {**small, **no_bars, **self.settings}, _local_mode.JAVA if self.partitions else ""
            )
            self._shows_progress = bool(no_bars) or str(self._spark.conf.get(_PROGRESS, "true")).lower() != "false"
            use_for_session(self._spark)
            if not self.partitions:
                self._register(self._spark)
            self._cached_partitions = self._spark.conf.get(_CACHED_PARTITIONS, None)
            self._spark.conf.set(_CACHED_PARTITIONS, "true")
            check_tables(self.name, self._spark, self.args, self.writes)
        return self._spark

    @property
    def exit_status(self) -> int:
        return FINDINGS if self.findings and not self.args.exit_zero else FINE

    @property
    def draws(self) -> bool:
        """True if a report is written as HTML, the format with charts."""
        return any(map(is_page, self.args.report))

    @property
    def exports(self) -> bool:
        """True if a report is written as OpenMetrics, the format with gauges."""
        return any(map(is_openmetrics, self.args.report))

    def as_of(self, times: DataFrame) -> tuple[int | None, str]:
        """Return ``--as-of``, or else the newest time in the only column of ``times``, in ms and as text."""
        now: int | None = self.args.as_of
        if now is None:
            now = times.agg(F.unix_millis(F.max(times.columns[0]))).collect()[0][0]
        if now is None:
            return None, "unknown, no timestamps found"
        of_job = [({"job": self.name}, now / 1000)]
        self.report.gauges.append(Gauge(f"{PREFIX}_as_of_timestamp_seconds", "Time that ages refer to.", of_job))
        return now, timestamp(now) if self.args.as_of is not None else f"{timestamp(now)}, the newest record read"

    def find(self, kind: str, count: int, severity: Severity = "warning") -> None:
        """Add ``count`` findings; those of severity ``info`` do not affect the exit status."""
        if count:
            self._found.append(JobFinding(kind, severity, count))
            self.findings += 0 if severity == "info" else count

    def progress(self, text: str) -> None:
        """Print progress on stderr, unless disabled."""
        _ = self.spark
        if self._shows_progress and not self.args.quiet:
            print(f"{self.name}: {text}", file=sys.stderr, flush=True)

    def files(self, paths: Sequence[str], what: str, *, all_of_them: bool = False) -> DataFrame:
        """Return the byte ranges of the segments; raise PySparkValueError if there are none.

        Other files, deleted partitions and stray replicas are skipped and listed in the report, unless ``all_of_them``.
        """
        found, listing = self._ranges(paths, all_of_them=all_of_them)
        self._reading(what, listing["files"], listing["bytes"])
        return found

    def checkpoint(self, paths: Sequence[str], name: str, topics: Sequence[str] | None = None) -> DataFrame:
        """Return the entries of the checkpoint files ``name`` of segments in ``paths``; ``unreadable`` reports damaged ones.

        ``topics`` are patterns, by default those of ``--topic``; only files beside segments of these topics are read.
        """
        of = getattr(self.args, "topics", None) if topics is None else topics
        options = CheckpointFiles.options_of(paths, owner=self.name, glob=self.args.glob, name=name, topics=of or [])
        self._checkpoints.append(self.keep(self.source(CheckpointFiles, options)))
        return self._checkpoints[-1]

    def current(self, records: DataFrame, files: Sequence[str]) -> DataFrame:
        """Leave out records that a failover lost; ``records`` are those of the segments ``files``, with batch metadata."""
        folders = {folder_name(file): topic_of(file) for file in files}
        logs = [log for log in folders.values() if None not in log]
        if len(set(logs)) == len(logs):  # without copies, nothing is lost
            return records
        epochs = self.checkpoint(files, LEADER_EPOCH, topics=())
        return without_lost(records, self.collected(lost_epochs(records, epochs, last="offset")), last="offset")

    def log(self, paths: Sequence[str], topic: str, *, batch_metadata: bool = False) -> DataFrame:
        """Return the records of a topic, with corrupt batches as rows."""
        return self.read(self.segments_of(paths, topic), batch_metadata=batch_metadata)

    def segments_of(self, paths: Sequence[str], topic: str | None = None) -> list[str]:
        """Return the paths of the segments of ``topic`` (default: all); raise PySparkValueError if there are none.

        Segments in folders without a topic name are included.
        """

        def of_topic() -> Column:
            unnamed = F.col("topic").isNull() & (F.lit(topic == METADATA) | ~F.col("path").endswith(".checkpoint"))
            return unnamed | (F.col("topic") == topic) if topic else F.lit(True)

        found, listing = self._ranges(paths, topic, chosen=of_topic)
        files = listing["chosen"]
        if not files:
            others = found.where("topic is not null").select("topic").distinct().orderBy("topic").limit(3).collect()
            names = f"; found segments of {', '.join(row['topic'] for row in others)}" if others else ""
            raise invalid_argument(
                f"{self.name}: no segments of {topic} in {', '.join(map(display_path, paths))}{names}"
            )
        self._reading(topic or "segments", len(files), sum(row["size"] for row in files))
        return [row["path"] for row in files]

    def segments_if_any(self, paths: Sequence[str], topic: str) -> list[str]:
        """Return the paths of the segments in folders of ``topic``.

        Raises PySparkValueError if ``paths`` have no segments of any topic.
        """
        _, listing = self._ranges(paths, topic, chosen=lambda: F.col("topic") == topic)
        return [row["path"] for row in listing["chosen"]]

    def _ranges(
        self,
        paths: Sequence[str],
        topic: str | None = None,
        *,
        all_of_them: bool = False,
        chosen: Callable[[], Column] | None = None,
    ) -> tuple[DataFrame, Row]:
        """Return the byte ranges, and a row with the number and size of files, and with the ``chosen`` files."""
        self._look(paths, all_of_them)
        topics = getattr(self.args, "topics", None) if topic is None else None
        found = self.ranges(paths, self.args.glob, topics=topics or [])
        kept = F.lit(True) if all_of_them else F.col("left_out").isNull()
        is_file = F.col("start") == 0
        other = F.when(~kept & is_file, F.struct("path", "left_out", "topic"))
        wanted = F.when(kept & is_file & (F.lit(False) if chosen is None else chosen()), F.struct("path", "size"))
        listing = found.agg(
            F.count_if(kept & is_file).alias("files"),
            F.coalesce(F.sum(F.when(kept & is_file, F.col("size"))), F.lit(0)).alias("bytes"),
            F.sort_array(F.collect_list(wanted)).alias("chosen"),
            F.sort_array(F.collect_set(other)).alias("others"),
        ).collect()[0]
        others = listing["others"]
        if not listing["files"]:
            raise invalid_argument(
                no_segments_message(self.name, paths, _skipped_files((path, why) for path, why, _ in others), topics)
            )
        self._leave_out(
            _skipped_files((path, why) for path, why, of in others if why == NOT_A_SEGMENT or topic in (None, of))
        )
        return found.where(kept), listing

    def _look(self, paths: Sequence[str], all_of_them: bool) -> None:
        if self._spark is not None or is_elsewhere() or not all(map(is_path, paths)):
            return
        files = FileSelection(tuple(paths), self.args.glob, recursive=True).find(self.name)
        reasons = {} if all_of_them else {file.path: skip_reason(file.path, file.ending) for file in files}
        if not files or (reasons and all(reasons.values())):
            raise invalid_argument(
                no_segments_message(
                    self.name, paths, _skipped_files((path, why or "") for path, why in reasons.items())
                )
            )

    def _leave_out(self, files: Mapping[str, str]) -> None:
        new = sorted(files.keys() - self._left_out)
        self._left_out.update(new)
        lines = [("skipped", f"{file}: {files[file]}") for file in new[: self.args.limit]]
        if more := len(new) - len(lines):
            lines.append(("skipped", f"and {more} more"))
        self.report.facts(lines)

    def read(self, files: Sequence[str], *, batch_metadata: bool = False) -> DataFrame:
        """Return the records of files, with corrupt batches as rows."""
        options = {"mode": "PERMISSIVE", "paths": json.dumps(list(files))}
        options["includeBatchMetadata"] = str(batch_metadata).lower()
        return self.source(KafkaLogDataSource, options)

    def ranges(self, paths: Sequence[str], glob: str | None = None, **arguments: Any) -> DataFrame:
        """Return the byte ranges of files; further arguments are those of the reader of ``Ranges``."""
        arguments["max_partition_bytes"] = MAX_PARTITION_BYTES
        return self.source(Ranges, Ranges.options_of(paths, owner=self.name, glob=glob, **arguments))

    def state(self, stream: str) -> StateFolder:
        """Return the state of a stream of rows in the folder of ``--state``."""
        if stream not in self._states:
            place = f"{absolute(self.args.state)}/{self.name}/{stream}"
            options = {"version": made_by(), "depth": getattr(self.args, "depth", None)}
            self._states[stream] = StateFolder.open(place, options)
        return self._states[stream]

    def at_end(self, action: Callable[[], None]) -> None:
        """Call ``action`` when the report and all tables have been written."""
        self._at_end.append(action)

    def recent(self, time: str) -> Column:
        """Return whether the column ``time`` is at or after ``--since``, or true without ``--since``."""
        since = self.args.since
        return F.lit(True) if since is None else F.col(time) >= F.timestamp_millis(F.lit(since).cast("long"))

    def _register(self, spark: SparkSession) -> None:
        if not _is_discovered(spark):
            register(spark)

    def source(self, source: type[DataSource], options: dict[str, str]) -> DataFrame:
        """Return the rows of a data source, which local mode reads in this process."""
        # Decoded records of more than one partition are left to Spark's workers.
        if self.partitions == 1 or (self.partitions and source is not KafkaLogDataSource):
            rows = _local_mode.rows(self.spark, source(options), self.partitions)
            if rows is not None:
                return rows
        if source is not KafkaLogDataSource:
            self.spark.dataSource.register(source)
        elif self.partitions:
            self._register(self.spark)
        return self.spark.read.format(source.name()).options(**options).load()

    def _reading(self, what: str, files: int, total: int) -> None:
        self.progress(f"reading {what}: {files} file{'s' if files != 1 else ''}, {size(total)}")

    def unreadable(self, df: DataFrame) -> None:
        """Report the rows of unreadable places and damaged checkpoints as findings, and write the table ``unreadable``."""
        damaged = reduce(DataFrame.unionByName, map(damaged_checkpoints, self._checkpoints), df.limit(0))
        df = self.keep(df.unionByName(damaged.distinct()) if self._checkpoints else df)
        if df.limit(1).count():
            self.report.section("Unreadable")
            order = ("topic", "partition", F.coalesce("offset", "position"), "file")
            self.find("unreadable", self.report.frame(df.orderBy(*order), self.args.limit), "error")
        self.write("unreadable", df)

    def keep(self, df: DataFrame) -> DataFrame:
        """Cache a data frame that is used more than once."""
        if self.partitions == 1:  # Spark would compile code to read a cached table
            return df.localCheckpoint()
        self._kept.append(df.persist())
        return self._kept[-1]

    def collected(self, df: DataFrame) -> DataFrame:
        """Return the few rows of a data frame as a local table, so that plans with it stay small."""
        return self.spark.createDataFrame(df.toArrow(), df.schema)

    def write(self, name: str, df: DataFrame) -> None:
        """Register an output table, which ``finish`` writes."""
        self._tables.append((name, df))

    def finish(self) -> None:
        """Print and save the report, and write the tables."""
        print(self.report.text(self.args.width or _terminal()), end="", flush=True)
        for place in self.args.report:
            save(self.report, self._run(), place)
        for name, df in self._tables:
            for place, write in writers(name, df, self.args):
                self.progress(f"writing {place}")
                write()
                print(f"written: {place}", file=sys.stderr, flush=True)
        for action in self._at_end:
            action()

    def _run(self) -> JobRun:
        unnamed = self.findings - sum(each.count for each in self._found if each.severity != "info")
        found = [*self._found, *([JobFinding("other", "warning", unnamed)] if unnamed else [])]
        return JobRun(self.name, inputs(self.args), found, self.exit_status, datetime.now(UTC))

    def close(self) -> None:
        """Release cached data and restore the session's settings."""
        for df in self._kept:
            df.unpersist()
        if self._spark is None:
            return
        if self._cached_partitions is None:
            self._spark.conf.unset(_CACHED_PARTITIONS)
        else:
            self._spark.conf.set(_CACHED_PARTITIONS, self._cached_partitions)


def _skipped_files(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    names = ((display_path(path), why) for path, why in files)
    return {name if why == NOT_A_SEGMENT else folder_name(name): why for name, why in names}


def no_segments_message(
    owner: str, paths: Sequence[str], others: Mapping[str, str], topics: Sequence[str] | None = None
) -> str:
    of, are = f" of {', '.join(topics)}" if topics else "", ""
    for why in sorted(set(others.values())):
        names = sorted(name for name in others if others[name] == why)
        are += f"; {why}: {', '.join(names[:3])}" + (f" and {len(names) - 3} more" if names[3:] else "")
    return f"{owner}: no segments{of} in {', '.join(map(display_path, paths))}{are}"


def _is_discovered(spark: SparkSession) -> bool:
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return False
    try:
        _ = spark.read.format("kafka_log").load().schema
    except PySparkException as error:
        return "DATA_SOURCE_NOT_FOUND" not in str(error)
    return True


def _terminal() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
