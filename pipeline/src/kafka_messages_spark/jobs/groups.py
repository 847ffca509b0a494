"""How the offsets of groups moved: commits, resets, commit storms, removed offsets, members, and lag with data segments.

spark-submit groups.py /kafka/__consumer_offsets-* --data /kafka/orders-* --output /tables/groups
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import groups
from kafka_messages_spark.analyses._logs import log_of
from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.checkpoints import LOG_START_OFFSET, log_start_offsets
from kafka_messages_spark.analyses.internal_topics import consumer_offsets
from kafka_messages_spark.analyses.transactions import partition_offsets
from kafka_messages_spark.jobs import _cli
from kafka_messages_spark.jobs._drawn import groups as drawn
from kafka_messages_spark.jobs._report import duration
from kafka_messages_spark.jobs._report._pictures import Chart

TOPIC = "__consumer_offsets"


def main(argv: Sequence[str] | None = None) -> int:
    """Read, report, and write tables if there is an output; returns the exit status."""
    return _cli.run(
        "Groups and their offsets", _parser(), argv, work, reads=lambda args: [*args.paths, *(args.data or ())]
    )


def work(job: _cli.Job) -> None:
    """Findings are resets, storms, offsets that are not in the log any more, and what cannot be read."""
    args = job.args
    records = job.keep(consumer_offsets(job.log(args.paths, TOPIC, batch_metadata=True)))
    unreadable = _cli.unreadable_records(records)
    partitions = batches = None
    if args.data:
        files = job.files(args.data, "data segments")
        batches = job.keep(batches_in(files))
        checkpoints = job.checkpoint(args.data, LOG_START_OFFSET)
        for each in (_cli.corrupt_batches(batches), _cli.damaged_checkpoints(checkpoints)):
            unreadable = unreadable.unionByName(each)
        partitions = partition_offsets(batches, log_start_offsets(files, checkpoints))
    commits = groups.offset_commits(records)
    if args.group:
        commits = commits.where(F.col("group").isin(args.group))
    commits = job.keep(commits)
    history = job.keep(groups.offset_history(commits, records, jump=args.jump))
    tables = {
        "commits": commits,
        "history": history,
        "offsets": job.keep(groups.committed_offsets(history, partitions)),
        "resets": groups.resets(history),
        "storms": groups.commit_storms(commits, least=args.storm),
        "removed_offsets": groups.removed_offsets(history),
    }
    tables["groups"] = job.keep(_groups(records, tables, args.group))
    job.say("looking for resets and storms")
    picture = drawn.picture(tables["history"], tables["offsets"], batches) if job.draws else None
    _report(job, records, tables, partitions is not None, picture)
    for name, table in tables.items():
        job.write(name, table)
    job.unreadable(unreadable)


def _groups(records: DataFrame, tables: dict[str, DataFrame], chosen: list[str] | None) -> DataFrame:
    """One row a group, with everything that is counted elsewhere."""
    states = groups.group_states(records)
    if chosen:
        states = states.where(F.col("group").isin(chosen))
    commits = (
        tables["history"]
        .groupBy("group")
        .agg(
            F.count_if(~F.col("is_tombstone")).alias("commits"),
            F.min("time").alias("first_commit"),
            F.max(F.when(~F.col("is_tombstone"), F.col("time"))).alias("last_commit"),
            F.count_if("is_reset").alias("resets"),
            F.count_if("is_tombstone").alias("removed_offsets"),
        )
    )
    offsets = (
        tables["offsets"]
        .groupBy("group")
        .agg(
            F.count("*").alias("partitions"),
            F.sum("lag").alias("lag"),
            F.count_if(F.col("place") != "within").alias("outside_the_log"),
        )
    )
    storms = tables["storms"].groupBy("group").agg(F.count("*").alias("storms"))
    joined = commits.join(offsets, "group", "left").join(storms, "group", "left").join(states, "group", "full")
    counts = ("commits", "resets", "storms", "removed_offsets", "partitions", "outside_the_log")
    columns = ("group", "type", "protocol_type", "generation", "members", "removed", *counts)
    return joined.fillna(0, list(counts)).select(*columns, "lag", "first_commit", "last_commit")


def _report(
    job: _cli.Job, records: DataFrame, tables: dict[str, DataFrame], with_data: bool, picture: Chart | None
) -> None:
    report, limit = job.report, job.args.limit
    keys = [key.alias(f"log_{at}") for at, key in enumerate(log_of(records))]
    log = records.groupBy(*keys).agg(
        F.count_distinct("offset").alias("records"), (F.max("offset") - F.min("offset") + 1).alias("offsets")
    )
    span = log.agg(F.count("*"), F.sum("records"), F.sum("offsets")).collect()[0]
    total = tables["groups"].agg(
        F.count("*"),
        F.sum("commits"),
        F.sum("resets"),
        F.sum("storms"),
        F.sum("removed_offsets"),
        F.sum("outside_the_log"),
    )
    counts = [each or 0 for each in total.collect()[0]]
    missing = max(0, (span[2] or 0) - (span[1] or 0))
    report.facts(
        {
            "log": f"{span[0]} partitions, {span[1] or 0} records; {missing} offsets were compacted away, or are no records",
            "groups": counts[0],
            "commits": counts[1],
            "resets": counts[2],
            "commit storms": f"{counts[3]} ({job.args.storm} commits of a partition within a minute, or more)",
            "removed offsets": counts[4],
            "outside the log": counts[5] if with_data else "data segments were not read",
        }
    )
    for kind, count in (("reset", counts[2]), ("commit storm", counts[3]), ("offset outside the log", counts[5])):
        job.find(kind, count)
    figures = ("groups", "commits", "resets", "storms", "removed_offsets", "outside_the_log")
    report.figures |= dict(zip(figures, counts if with_data else counts[:5], strict=False))
    if picture is not None:
        report.picture(picture)
    if counts[0]:
        report.section("Groups")
        columns = ["group", "type", "members", "removed", "partitions", "commits", "resets", "storms", "last_commit"]
        busiest = tables["groups"].orderBy(F.desc("resets"), F.desc("storms"), F.desc("commits"), "group")
        report.frame(busiest.select(*columns, *(["lag"] if with_data else [])), limit)
    if counts[2]:
        report.section("Resets")
        newest = tables["resets"].orderBy(F.desc("time"), "group", "topic", "partition")
        report.frame(newest.drop("log_partition", "log_offset"), limit)
    if counts[3]:
        report.section("Commit storms")
        report.frame(tables["storms"].orderBy(F.desc("peak"), "group", "topic", "partition", "start"), limit)
    if counts[4]:
        report.section("Removed offsets")
        newest = tables["removed_offsets"].orderBy(F.desc("time"), "group", "topic", "partition")
        newest = newest.drop("log_partition", "log_offset").withColumnRenamed("idle_ms", "idle")
        report.frame(newest, limit, {"idle": duration})
    if counts[5]:
        report.section("Offsets outside the log")
        outside = tables["offsets"].where("place <> 'within'").orderBy("group", "topic", "partition")
        names = ("group", "topic", "partition", "committed_offset", "start_offset", "end_offset", "place")
        report.frame(outside.select(*names), limit)


def _parser() -> ArgumentParser:
    parser = _cli.parser("groups", "How the offsets of groups moved: commits, resets, storms, removals, members, lag.")
    parser.add_argument("paths", nargs="+", help="segments of __consumer_offsets, or folders with them; paths or URIs")
    parser.add_argument(
        "--data", nargs="+", metavar="PATH", help="data segments, for the lag and for offsets that are gone"
    )
    parser.add_argument("--group", action="append", metavar="NAME", help="only this group; may be given more than once")
    parser.add_argument(
        "--jump",
        type=_cli.positive,
        default=groups.JUMP,
        metavar="N",
        help="records ahead that count as a reset (1000000)",
    )
    parser.add_argument(
        "--storm",
        type=_cli.positive,
        default=groups.STORM,
        metavar="N",
        help="commits of a partition within a minute that are a storm (30)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
