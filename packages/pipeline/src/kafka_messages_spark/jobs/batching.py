"""Report batch sizes, compression, and dead records in compacted topics.

spark-submit batching.py /kafka/logs --output /tables/batching
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses import batching
from kafka_messages_spark.analyses._expressions import folder
from kafka_messages_spark.analyses.checkpoints import CLEANER_OFFSET, LEADER_EPOCH
from kafka_messages_spark.analyses.copies import lost_epochs, without_lost
from kafka_messages_spark.jobs import _cli, _options, _output
from kafka_messages_spark.jobs._charts import batching as charts
from kafka_messages_spark.jobs._incremental import rows_of
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import size

_BYTES = ("bytes", "uncompressed_bytes", "median_bytes", "p95_bytes", "dead_bytes", "cleanable_bytes", "dirty_bytes")
_FORMATS = dict.fromkeys(_BYTES, size)
_SHOWN_COLUMNS = ("batches", "records", "bytes", "gain", "median_bytes", "p95_bytes", "median_records", "p95_records")
_COMPRESSIONS = ("topic", "compression", "batches", "records", "bytes", "uncompressed_bytes", "gain", "median_bytes")
_DEAD = (
    "topic",
    "partition",
    "records",
    "keys",
    "bytes",
    "dead_bytes",
    "dead_percent",
    "cleanable_bytes",
    "dirty_bytes",
)
_GROUPS = ("group", "topic", "records", "keys", "bytes", "dead_bytes")
_FIGURES = ("batches", "records", "bytes", "uncompressed_bytes")

TABLES = (*(each for each in batching.LEVELS if each != "all"), "dead", "offsets_by_group", "findings", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Batches, compression and dead records",
        _parser(),
        argv,
        work,
        reads=lambda args: [Input(args.paths, patterns=args.topics or (), stream="sums")],
        writes=lambda args: TABLES,
    )


def work(job: Job) -> None:
    """Report the findings of ``batching.findings``, and unreadable input."""
    args = job.args
    files = job.keep(job.files(args.paths, "segments"))
    batches, unreadable, lost = _batches(job, files)
    sums = job.keep(batching.sums(batches))
    cleaned = job.checkpoint(args.paths, CLEANER_OFFSET)
    summary = _summary(sums)
    found = sums.where(job.recent("last_timestamp"))
    compacted = _compacted(job, files, summary, cleaned)
    job.progress("reading the records of compacted topics")
    logs = batching.logs_of(files, cleaned, compacted)
    of_logs = files.where(F.col("topic").isin(*compacted) & F.col("partition").isNotNull())
    records = rows_of(job, "keys", of_logs, lambda each, _: batching.keyed_records(each), keep=False)
    records = records if lost is None else without_lost(records, lost, last="offset")
    keys = job.keep(batching.by_key(records, logs, transactions=bool(compacted & summary.transactional)))
    dead = job.keep(batching.dead(keys))
    _facts(job, summary, dead)
    if job.draws and summary.topics:
        topics = batching.at_level(found, "topics")
        job.report.picture(charts.picture(topics, dead, summary.counts["topics"]))
    findings = job.keep(batching.findings(found, dead, args.busy))
    _report_findings(job, findings)
    _tables(job, found, dead, batching.offsets_by_group(keys))
    job.write("findings", findings)
    job.unreadable(unreadable)


def _batches(job: Job, files: DataFrame) -> tuple[DataFrame, DataFrame, DataFrame | None]:
    """Return combined batches, unreadable places, and the lost epochs; without copies, nothing is lost.

    Only batches of copied logs are compared one by one.
    """
    log = F.concat_ws("-", "topic", "partition")
    folders = files.groupBy(log.alias("log")).agg(F.count_distinct(folder("path")).alias("folders"))
    copied = {row[0] for row in folders.where("folders > 1 and log <> ''").collect()}
    rows = rows_of(job, "sums", files.where(~log.isin(*copied)), lambda each, _: batching.combined_batches(each))
    copied |= {row[0] for row in batching.overlapping(rows).select(log).distinct().collect()}
    unreadable = _unreadable(rows.where(~log.isin(*copied)))
    if not copied:
        return rows, unreadable, None
    each = rows_of(job, "batches", files.where(log.isin(*copied)), lambda each, _: batching.sized_batches(each))
    lost = job.collected(lost_epochs(each, job.checkpoint(job.args.paths, LEADER_EPOCH)))
    combined = rows.where(~log.isin(*copied)).unionByName(batching.without_copies(each, lost))
    return combined, unreadable.unionByName(_unreadable(each)), lost


def _unreadable(rows: DataFrame) -> DataFrame:
    faults = rows.where("fault is not null").select(
        "file", "topic", "partition", "position", F.col("last_offset").alias("offset"), F.col("fault").alias("reason")
    )
    return _output.corrupt_batches(rows).unionByName(faults)


@dataclass(frozen=True)
class _Summary:
    # Rows by level.
    counts: dict[str, int]
    # Sums over all batches.
    total: dict[str, float]
    topics: set[str]
    # Topics with traces of the cleaner.
    cleaned: set[str]
    transactional: set[str]


def _summary(found: DataFrame) -> _Summary:
    def topics(condition: Column) -> Column:
        return F.collect_set(F.when((F.col("level") == "topics") & condition, F.col("topic")))

    rows = found.groupBy("level").agg(
        F.count("*").alias("rows"),
        F.first(F.struct(*batching.COLUMNS)).alias("sums"),
        topics(F.lit(True)).alias("topics"),
        topics(F.col("traces") > 0).alias("cleaned"),
        topics(F.col("transactional_batches") > 0).alias("transactional"),
    )
    of = {row["level"]: row for row in rows.collect()}
    of_topics = [
        set(of["topics"][name]) if "topics" in of else set() for name in ("topics", "cleaned", "transactional")
    ]
    total = of["all"]["sums"].asDict() if "all" in of else {}
    return _Summary({level: row["rows"] for level, row in of.items()}, total, *of_topics)


def _compacted(job: Job, files: DataFrame, summary: _Summary, cleaned: DataFrame) -> set[str]:
    named = set(cleaned.agg(F.collect_set("topic")).collect()[0][0])
    given = set(job.args.compacted)
    if missing := given - summary.topics:
        empty = {row[0] for row in files.where(F.col("topic").isin(*missing)).select("topic").distinct().collect()}
        if missing := missing - empty:
            names = ", ".join(sorted(missing))
            raise invalid_argument(f"{job.name}: --compacted: no segments of {names} in these files")
    reasons = {
        "Kafka default": set(batching.COMPACTED),
        "named with --compacted": given,
        f"in {CLEANER_OFFSET}": named,
        "traces of the log cleaner": summary.cleaned,
    }
    found: dict[str, str] = {}
    for reason, topics in reasons.items():
        found |= dict.fromkeys((topics & summary.topics) - found.keys(), reason)
    words = [f"{topic} ({found[topic]})" for topic in sorted(found)]
    job.report.facts([("compacted", _some(words, job.args.limit) or "none detected")])
    return set(found)


def _some(words: Sequence[str], limit: int) -> str:
    more = len(words) - limit
    return ", ".join(words[:limit]) + (f" and {more} more" if more > 0 else "")


def _facts(job: Job, summary: _Summary, dead: DataFrame) -> None:
    total = {name: summary.total.get(name) or 0 for name in (*_FIGURES, "median_bytes", "p95_bytes", "control_batches")}
    gone = dead.agg(
        *(F.coalesce(F.sum(name), F.lit(0)) for name in ("bytes", "dead_bytes", "cleanable_bytes"))
    ).collect()[0]
    topics, partitions = (summary.counts.get(level, 0) for level in ("topics", "partitions"))
    gain = summary.total.get("gain")
    job.report.facts(
        {
            "data": f"{total['batches']} batches, {total['records']} records, {topics} topics, {partitions} partitions",
            "stored": size(int(total["bytes"])),
            "uncompressed": f"{size(int(total['uncompressed_bytes']))}"
            + (f", compression ratio {gain:.2f}" if gain else ""),
            "batch size": f"median {size(int(total['median_bytes']))}, 95th percentile {size(int(total['p95_bytes']))}",
            "control batches": f"{total['control_batches']}, not included above",
            "dead": f"{size(gone[1])} of {size(gone[0])} in compacted topics; the log cleaner can free {size(gone[2])}",
        }
    )
    figures = {name: int(total[name]) for name in _FIGURES}
    job.report.figures |= {"topics": topics, "partitions": partitions} | figures
    job.report.figures |= {"compacted_bytes": gone[0], "dead_bytes": gone[1], "cleanable_bytes": gone[2]}


def _report_findings(job: Job, findings: DataFrame) -> None:
    kinds = findings.groupBy("finding").count().orderBy("finding").collect()
    if kinds:
        job.report.section("Findings")
        job.report.frame(findings.orderBy("finding", F.desc("bytes")), job.args.limit, _FORMATS)
    for kind, count in kinds:
        job.find(kind, count)


def _tables(job: Job, found: DataFrame, dead: DataFrame, groups: DataFrame) -> None:
    levels = {name: batching.at_level(found, name) for name in batching.LEVELS if name != "all"}
    largest = (F.desc("bytes"), "topic")
    _section(
        job, "Topics", levels["topics"].orderBy(*largest).select("topic", *_SHOWN_COLUMNS, _rate(), "timestamp_type")
    )
    number = F.when(F.col("producer_id") >= 0, F.col("producer_id")).alias("producer_id")
    of_producers = levels["producers"].orderBy(*largest, "producer_id")
    _section(job, "Producers", of_producers.select("topic", number, *_SHOWN_COLUMNS, "single", _rate()))
    compressed = levels["compressions"].where("compression <> 'none' and batches > 0").orderBy(*largest, "compression")
    _section(job, "Compression ratios", compressed.select(*_COMPRESSIONS))
    _section(
        job,
        "Dead records in compacted topics",
        dead.orderBy(F.desc("dead_bytes"), "topic", "partition").select(*_DEAD),
    )
    _section(
        job, "Groups by size in __consumer_offsets", groups.orderBy(F.desc("bytes"), "group", "topic").select(*_GROUPS)
    )
    for name, table in (*levels.items(), ("dead", dead), ("offsets_by_group", groups)):
        job.write(name, table)


def _section(job: Job, title: str, rows: DataFrame) -> None:
    at = len(job.report.parts)
    job.report.section(title)
    if not job.report.frame(rows, job.args.limit, _FORMATS | {"gain": _gain}):
        del job.report.parts[at:]


def _rate() -> Column:
    return F.round("records_per_second", 1).alias("records_per_second")


def _gain(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _parser() -> ArgumentParser:
    parser = _cli.parser("batching", "Batch sizes, compression ratios, and dead records in compacted topics.")
    parser.add_argument("paths", nargs="+", help="segments, or folders searched for segments; paths or URIs")
    _options.add_incremental(parser)
    parser.add_argument(
        "--compacted",
        action="append",
        default=[],
        metavar="TOPIC",
        help="compacted topic that is not detected as such; may be repeated",
    )
    parser.add_argument(
        "--busy",
        type=_cli.positive,
        default=batching.BUSY,
        metavar="N",
        help="minimum batches, or records of a compacted partition, for a finding (100)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
