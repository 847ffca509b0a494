"""List all topics with size, settings and readers.

spark-submit inventory.py 's3://copies/*' --report inventory.html --output /tables/inventory
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import groups, metadata
from kafka_messages_spark.analyses import inventory as analysis
from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.checkpoints import LEADER_EPOCH
from kafka_messages_spark.analyses.internal_topics import cluster_metadata, consumer_offsets, share_group_state
from kafka_messages_spark.analyses.share_groups import share_offsets, topic_names
from kafka_messages_spark.jobs import _cli, _options, _output
from kafka_messages_spark.jobs._job import METADATA, Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import duration, size

OFFSETS, SHARES = "__consumer_offsets", "__share_group_state"
_DECODERS = {METADATA: cluster_metadata, OFFSETS: consumer_offsets, SHARES: share_group_state}
# Maximum topics of a report without --limit.
_LIMIT = 10_000

TABLES = ("topics", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Inventory of topics", _parser(), argv, work, reads=lambda args: [Input(args.paths)], writes=lambda args: TABLES
    )


def work(job: Job) -> None:
    """Report flagged topics as findings of severity ``info``, and unreadable input as errors."""
    args = job.args
    files = job.keep(job.files(args.paths, "segments"))
    batches = job.keep(batches_in(files, check_crcs=False))
    logs = _logs(job, files)
    settings, state = _settings(job, logs.get(METADATA))
    readers = _readers(logs, settings)
    epochs = job.checkpoint(args.paths, LEADER_EPOCH)
    now, as_of = job.as_of(batches.select("max_timestamp"))
    topics = analysis.inventory(
        files, batches, settings, readers, as_of=now or 0, stale_days=args.stale_days, epochs=epochs
    )
    topics = job.keep(topics)
    _report(job, topics, {"as of": as_of, "metadata": state, "group offsets": _words(files, readers is not None)})
    job.write("topics", topics)
    others = _output.corrupt_batches(batches).where(~F.coalesce("topic", F.lit("")).isin(list(logs)))
    job.unreadable(reduce(DataFrame.unionByName, map(_output.bad_records, logs.values()), others))


def _logs(job: Job, files: DataFrame) -> dict[str, DataFrame]:
    names = files.where(F.col("start") == 0).where(F.col("topic").isin(list(_DECODERS)))
    paths = names.groupBy("topic").agg(F.sort_array(F.collect_list("path"))).orderBy("topic").collect()
    read = {topic: job.current(job.read(files, batch_metadata=True), files) for topic, files in paths}
    return {topic: job.keep(_DECODERS[topic](records)) for topic, records in read.items()}


def _settings(job: Job, records: DataFrame | None) -> tuple[DataFrame | None, str]:
    if records is None:
        return None, f"no segments of {METADATA}: retention and replication are unknown"
    chosen = job.keep(metadata.records_of(records))
    row = metadata.missing_offsets(chosen).collect()[0]
    words = f"up to offset {row['last']}"
    if row["missing"] or row["is_cut"]:
        job.find("incomplete metadata log", 1, "error")
        words += f"; {row['missing']} offsets are missing: retention and replication may be wrong"
    image = job.keep(metadata.image(metadata.replay(chosen, keep=job.keep)))
    return job.keep(analysis.settings_of_topics(image)), words


def _readers(logs: dict[str, DataFrame], settings: DataFrame | None) -> DataFrame | None:
    records = logs.get(OFFSETS)
    if records is None:
        return None
    commits = groups.offset_commits(records).where(
        "not is_tombstone and (transaction is null or transaction = 'committed')"
    )
    readers = commits.select("group", "topic")
    if SHARES in logs:
        names = topic_names(records)
        if settings is not None:
            names = names.unionByName(settings.select("topic_id", "topic")).dropDuplicates(["topic_id"])
        readers = readers.unionByName(share_offsets(logs[SHARES], names).select("group", "topic"))
    return readers


def _words(files: DataFrame, known: bool) -> str:
    if not known:
        return f"no segments of {OFFSETS}: unread topics are unknown"
    counts = files.where(F.col("topic").isin(OFFSETS, SHARES)).groupBy("topic").agg(F.count_distinct("partition"))
    return ", ".join(f"{count} partitions of {topic}" for topic, count in counts.orderBy("topic").collect())


def _report(job: Job, topics: DataFrame, facts: dict[str, str]) -> None:
    sums = [F.coalesce(F.sum(name), F.lit(0)) for name in ("partitions", "bytes", "stored_bytes")]
    flags = [F.count_if(F.array_contains("flags", flag)) for flag in analysis.FLAGS]
    count, partitions, stored, total, *flagged = topics.agg(F.count("*"), *sums, *flags).collect()[0]
    found = dict(zip(analysis.FLAGS, flagged, strict=True))
    job.report.facts(
        facts
        | {
            "topics": f"{count}, with {partitions} partitions",
            "size": f"{size(stored)} in the largest copies, {size(total)} in all copies",
            "flags": ", ".join(f"{number} {flag}" for flag, number in found.items() if number) or "none",
        }
    )
    names = ("topics", "partitions", "bytes", "stored_bytes")
    job.report.figures |= dict(zip(names, (count, partitions, stored, total), strict=True))
    job.report.figures |= {flag.replace(" ", "_"): number for flag, number in found.items()}
    for flag, number in found.items():
        job.find(flag, number, "info")
    job.report.section("Topics")
    job.report.frame(
        topics.orderBy(F.desc("stored_bytes"), "topic").drop("first_timestamp", "topic_id"), job.args.limit, _FORMATS
    )


def _or_unlimited(show: Callable[[int | None], str]) -> Callable[[int | None], str]:
    return lambda value: "unlimited" if value == -1 else show(value)


_FORMATS = dict.fromkeys(("bytes", "stored_bytes", "median_bytes"), size) | {
    "retention_ms": _or_unlimited(duration),
    "retention_bytes": _or_unlimited(size),
}


def _parser() -> ArgumentParser:
    parser = _cli.parser("inventory", "All topics with size, retention, replication, batching and readers.")
    parser.set_defaults(limit=_LIMIT)
    parser.add_argument(
        "paths",
        nargs="+",
        help="log directories of all brokers and controllers, or folders with copies of them; paths or URIs",
    )
    parser.add_argument(
        "--stale-days",
        type=_cli.positive,
        default=analysis.STALE_DAYS,
        metavar="N",
        help="a topic is stale if its newest record is older than this, at the time --as-of (30)",
    )
    _options.add_as_of(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
