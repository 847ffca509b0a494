"""Rows that a job derives from each file, read from the files or from the state of an earlier run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._core.spark_types import struct_type
from kafka_messages_spark.analyses.copies import once
from kafka_messages_spark.jobs._report import size
from kafka_messages_spark.sources._segment_ranges import SCHEMA
from kafka_messages_spark.sources._shares import MAX_PARTITION_BYTES
from kafka_messages_spark.sources.kafka_log._range_reader import records_in
from kafka_messages_spark.state._folder import ListedFile, ReadPlan, StateFolder
from kafka_messages_spark.state._rows import WRITTEN, Live, StoredReader, StoredRows, writer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_messages_spark.jobs._job import Job

# Rows of an earlier check by file.
Before = Mapping[str, Sequence[Mapping[str, Any]]]
_NEW, _PROBLEM = "kafka_is_new", "kafka_problem"


def rows_of(
    job: Job,
    stream: str,
    files: DataFrame,
    read: Callable[[DataFrame, Before], DataFrame],
    *,
    by_range: bool = False,
    keep: bool = True,
) -> DataFrame:
    """Return the rows that ``read`` derives from byte ranges of ``files``, cached with ``keep`` or ``--state``.

    With ``--state``, only new bytes are read; the other rows come from the state, which ``Job.finish`` then replaces.
    Rows have the columns ``file``, ``position`` and ``base_offset`` or ``last_offset`` of a batch, and ``corrupt``, null in
    sound rows. ``by_range`` means that rows describe whole ranges, with ``start`` and the ``size`` of the file; ``read``
    then gets the rows of ranges that an earlier run has read in part.
    """
    if job.args.state is None:
        rows = read(files, {})
        return job.keep(rows) if keep else rows
    folder = job.state(stream)
    if folder.problem:
        job.report.facts([("state", f"started anew: {folder.problem}")])
    columns = ("path", "size", "modified", "is_closed")
    listed = [ListedFile(*row) for row in files.where("start = 0").select(*columns).collect()]
    plan = folder.plan(listed, MAX_PARTITION_BYTES if by_range else None)
    job.progress(f"{stream}: {len(plan.reads)} of {len(listed)} files are new or changed, {size(plan.bytes)} to read")
    before = _before(folder, plan) if by_range else {}
    fresh = read(_ranges(job, plan), before)
    new = fresh.withColumn(_NEW, F.lit(True))
    live = plan.live(by_start=by_range)
    if live:
        stored = job.source(StoredRows, _options(folder, live, fresh.schema.json())).withColumn(_NEW, F.lit(False))
        new = new.unionByName(stored) if plan.reads else stored
    rows = job.keep(new)
    merged = bool(live) and folder.must_merge(plan)
    written = rows if merged else rows.where(_NEW) if plan.reads else None
    job.at_end(lambda: folder.save(plan, _written(job, folder, written), merged=merged))
    return rows.drop(_NEW)


def records_of(job: Job, stream: str, files: Sequence[str], decode: Callable[[DataFrame], DataFrame]) -> DataFrame:
    """Decode the records of files without lost ones; copies and corrupt batches as in ``copies.once``."""
    if job.args.state is None:
        return decode(once(job.current(job.read(files, batch_metadata=True), files)))

    def read(ranges: DataFrame, _: Before) -> DataFrame:
        rows = decode(records_in(ranges)).drop("key", "value")  # may contain secrets
        return rows.withColumn("corrupt", F.col("corrupt").dropFields("bytes"))

    # Without the column problem, the same copies are chosen as before decoding.
    rows = rows_of(job, stream, job.ranges(files), read).withColumnRenamed("problem", _PROBLEM)
    return once(job.current(rows, files)).withColumnRenamed(_PROBLEM, "problem")


def _ranges(job: Job, plan: ReadPlan) -> DataFrame:
    if not plan.reads:
        return job.spark.createDataFrame(SCHEMA.empty_table(), struct_type(SCHEMA))
    resume = {path: [each.base, each.position, each.is_closed] for path, each in plan.reads.items()}
    return job.ranges(list(plan.reads), resume=resume)


def _options(folder: StateFolder, live: Mapping[str, Mapping[str, Live]], schema: str) -> dict[str, str]:
    arguments = {"place": folder.place, "parts": folder.parts, "live": live}
    return {"arguments": json.dumps(arguments), "schema": schema}


def _before(folder: StateFolder, plan: ReadPlan) -> Before:
    found: dict[str, list[Mapping[str, Any]]] = {}
    reader = StoredReader(folder.place, folder.parts, folder.before(plan, MAX_PARTITION_BYTES))
    for part in reader.partitions():
        for batch in reader.read(part):
            for row in batch.to_pylist():
                found.setdefault(row["file"], []).append(row)
    return found


def _written(job: Job, folder: StateFolder, rows: DataFrame | None) -> list[dict[str, Any]]:
    if rows is None:
        return []
    write = writer(folder.place)
    rows = rows.drop(_NEW)
    if job.partitions == 1:
        return [row for batch in write(rows.toArrow().to_batches()) for row in batch.to_pylist()]
    return [row.asDict() for row in rows.mapInArrow(write, struct_type(WRITTEN)).collect()]
