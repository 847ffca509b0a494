"""Report open and hanging transactions.

spark-submit transactions.py /kafka/orders-* --transaction-state /kafka/__transaction_state-* --output /tables/txn
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce

from kafka_records.segments.names import topic_of
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import transactions as txn
from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.checkpoints import (
    HIGH_WATERMARK,
    LEADER_EPOCH,
    LOG_START_OFFSET,
    high_watermarks,
    log_start_offsets,
)
from kafka_messages_spark.analyses.copies import lost_epochs, of_current_logs
from kafka_messages_spark.analyses.internal_topics import transaction_state
from kafka_messages_spark.jobs import _cli, _options, _output
from kafka_messages_spark.jobs._charts import transactions as charts
from kafka_messages_spark.jobs._incremental import records_of, rows_of
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import Severity, size

STATE_TOPIC = "__transaction_state"
# Verdicts, worst first.
VERDICTS = ("hanging", "late", "unknown", "ongoing")
# Severities of verdicts; the others are warnings.
SEVERITIES: Mapping[str, Severity] = {"hanging": "error", "ongoing": "info"}

TABLES = ("open_transactions", "completed_transactions", "partitions", "producers", "coordinator_states", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run("Transactions", _parser(), argv, work, reads=_reads, writes=lambda args: TABLES)


def _reads(args: Namespace) -> list[Input]:
    states = args.transaction_state or (args.paths if args.state or args.topics else ())
    return [
        Input(args.paths, patterns=args.topics or (), stream="batches"),
        Input(states, {STATE_TOPIC}, stream="states"),
    ]


def work(job: Job) -> None:
    """Report late, hanging and unknown transactions, and unreadable input, as findings."""
    args = job.args
    files = job.files(args.paths, "data segments")
    batches = rows_of(job, "batches", files, lambda found, _: batches_in(found, condense=txn.condensed))
    states, unreadable, read, unread = None, _output.corrupt_batches(batches), 0, 0
    if paths := args.transaction_state or _state_files(job, files):
        of_states = job.segments_of(paths, STATE_TOPIC)
        records = job.keep(records_of(job, "states", of_states, transaction_state))
        states = job.keep(txn.coordinator_states(records))
        read, unread = _coordinators(of_states)
        of_data = unreadable.where(F.coalesce("topic", F.lit("")) != STATE_TOPIC)
        unreadable = of_data.unionByName(_output.bad_records(records))
    checkpoints, watermarks, epochs = (
        job.checkpoint(args.paths, name) for name in (LOG_START_OFFSET, HIGH_WATERMARK, LEADER_EPOCH)
    )
    lost = job.collected(lost_epochs(batches, epochs))
    starts = log_start_offsets(of_current_logs(files, batches, lost), checkpoints)
    partitions = job.keep(txn.partition_offsets(batches, starts, lost))
    found = job.keep(txn.find_transactions(batches, lost))
    times = [partitions.select("last_timestamp"), *([states.select("timestamp")] if states is not None else [])]
    now, as_of = job.as_of(reduce(DataFrame.union, times))
    recent = job.recent("marker_timestamp")
    whole = _counts(txn.whole_transactions(found).where(recent))
    producers = txn.producers(found, states).where(job.recent("last_timestamp"))
    shown = found.where((F.col("status") == "open") | recent)
    job.progress("detecting open transactions")
    opened = job.keep(
        txn.open_transactions(
            found, partitions, states, as_of=now or 0, max_timeout_ms=args.max_timeout_ms, unread=unread
        )
    )
    stable = job.keep(txn.stable_offsets(found, partitions, high_watermarks(watermarks)))
    known = _ids(states, read, unread)
    _report(job, now, as_of, opened, shown, stable, whole, producers, known)
    job.write("open_transactions", opened)
    job.write("completed_transactions", shown.where("status <> 'open'"))
    job.write("partitions", stable)
    job.write("producers", producers)
    if states is not None:
        job.write("coordinator_states", states)
    job.unreadable(unreadable)


def _ids(states: DataFrame | None, read: int, unread: int) -> str:
    if states is None:
        return "not read"
    total, removed = states.agg(F.count("*"), F.count_if(F.col("state").isNull())).collect()[0]
    text = f"{total - removed}, of {read} partitions of {STATE_TOPIC}"
    text += f"; at least {unread} not read" if unread else ""
    return f"{text}; {removed} removed ids" if removed else text


def _report(
    job: Job,
    now: int | None,
    as_of: str,
    opened: DataFrame,
    found: DataFrame,
    stable: DataFrame,
    whole: Counter[str],
    producers: DataFrame,
    known: str,
) -> None:
    report, limit = job.report, job.args.limit
    counted = opened.groupBy("verdict", "limitation").count().orderBy("limitation").collect()
    verdicts: Counter[str] = Counter()
    for verdict, _, count in counted:
        verdicts[verdict] += count
    ends = _counts(found)
    total = stable.agg(F.count("*"), F.sum("files"), F.sum("batches")).collect()[0]
    words = [f"{verdicts[name]} {name}" for name in VERDICTS if name in verdicts]
    report.facts(
        {
            "as of": as_of,
            "data": f"{total[0]} partitions, {total[1] or 0} files, {total[2] or 0} batches",
            "transactional ids": known,
            "open": ", ".join(words) or "none",
            "completed": f"{whole['committed']} committed, {whole['aborted']} aborted transactions",
            "by partition": f"{ends['committed']} committed, {ends['aborted']} aborted, counted once per partition",
        }
    )
    for name in (name for name in VERDICTS if name in verdicts):
        job.find(name, verdicts[name], SEVERITIES.get(name, "warning"))
    report.figures |= {name: verdicts.get(name, 0) for name in VERDICTS}
    report.figures |= {"committed": whole["committed"], "aborted": whole["aborted"], "partitions": total[0]}
    if job.draws and whole:
        report.picture(charts.picture(found, opened, stable, sum(ends.values()), now))
    if verdicts:
        report.section("Open transactions")
        worst = F.array_position(F.array(*map(F.lit, VERDICTS)), F.col("verdict"))
        rows = opened.orderBy(worst, F.desc("age_ms"), "topic", "partition").select(
            "verdict",
            "topic",
            "partition",
            "producer_id",
            F.col("producer_epoch").alias("epoch"),
            "transactional_id",
            "state",
            "first_offset",
            "records",
            "age_ms",
            "reason",
            "note",
        )
        report.frame(rows, limit)
    if limits := [f"{count} {verdict}: {text}." for verdict, text, count in counted if text is not None]:
        report.section("Limitations")
        for line in limits:
            report.line(line)
    blocked = stable.where("blocked_offsets > 0").orderBy(F.desc("blocked_offsets"), "topic", "partition")
    if verdicts:
        report.section("Partitions with blocked read_committed consumers")
        columns = ("topic", "partition", "last_stable_offset", "next_offset", "blocked_offsets", "open")
        report.frame(blocked.select(*columns), limit)
    if whole:
        report.section("Producers")
        by_age = producers.orderBy(F.desc("open"), F.desc("longest_duration_ms"), "producer_id")
        names = ("producer_id", "transactional_id", "transactions", "committed", "aborted", "open", "records")
        spans = ("mean_duration_ms", "longest_duration_ms")
        report.frame(by_age.select(*names, "bytes", *spans), limit, {"bytes": size})


def _counts(found: DataFrame) -> Counter[str]:
    return Counter(dict(found.groupBy("status").count().collect()))


def _state_files(job: Job, files: DataFrame) -> list[str]:
    if job.args.topics:
        files = job.ranges(job.args.paths, job.args.glob, topics=[STATE_TOPIC]).where("left_out is null")
    found = files.where(F.col("topic") == STATE_TOPIC).select("path").distinct().orderBy("path")
    return [row[0] for row in found.collect()]


def _coordinators(files: Sequence[str]) -> tuple[int, int]:
    found = {topic_of(file)[1] for file in files}
    numbers = [number for number in found if number is not None]
    return len(found), max(numbers) + 1 - len(numbers) if numbers and None not in found else 0


def _parser() -> ArgumentParser:
    parser = _cli.parser("transactions", "Open and hanging transactions across data segments and __transaction_state.")
    parser.add_argument("paths", nargs="+", help="data segments, or folders searched for segments; paths or URIs")
    parser.add_argument(
        "--transaction-state",
        nargs="+",
        metavar="PATH",
        help="segments of __transaction_state, unless they are among PATHS; required to "
        "identify hanging transactions and their owners",
    )
    _options.add_as_of(parser)
    _options.add_incremental(parser)
    parser.add_argument(
        "--max-timeout-ms",
        type=_cli.positive,
        default=txn.MAX_TIMEOUT_MS,
        help="the brokers' transaction.max.timeout.ms (900000)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
