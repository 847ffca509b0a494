"""Report the history and lag of groups.

spark-submit groups.py /kafka/__consumer_offsets-* --data /kafka/orders-* --output /tables/groups
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Chart
from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses import groups
from kafka_messages_spark.analyses._expressions import log_of
from kafka_messages_spark.analyses.batches import batches_in
from kafka_messages_spark.analyses.checkpoints import LEADER_EPOCH, LOG_START_OFFSET, log_start_offsets
from kafka_messages_spark.analyses.copies import lost_epochs, of_current_logs, without_lost
from kafka_messages_spark.analyses.internal_topics import consumer_offsets, share_group_state
from kafka_messages_spark.analyses.lag import with_lag_times, with_statuses, worst_status
from kafka_messages_spark.analyses.packed import batches_near, packed, unpacked
from kafka_messages_spark.analyses.rebalances import rebalances
from kafka_messages_spark.analyses.share_groups import share_offsets, topic_names
from kafka_messages_spark.analyses.transactions import partition_offsets
from kafka_messages_spark.jobs import _cli, _options, _output
from kafka_messages_spark.jobs._charts import groups as charts
from kafka_messages_spark.jobs._gauges import lag_gauges
from kafka_messages_spark.jobs._incremental import records_of, rows_of
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input

TOPIC, SHARE_TOPIC = "__consumer_offsets", "__share_group_state"
_KEY = ("topic", "partition")
_PARTITION = ("group", *_KEY)
# Columns of ``consumer_offsets`` that no table needs; without them, rows take a quarter less memory.
_UNUSED = (
    *(
        f"{kind}_group_target_assignment_{of}"
        for kind in ("consumer", "share", "streams")
        for of in ("metadata", "member")
    ),
    *("consumer_group_partition_metadata", "share_group_partition_metadata", "streams_group_topology"),
    *("consumer_group_regular_expression", "producer_epoch", "base_sequence", "delete_horizon", "compression", "magic"),
    *("timestampType", "crc_ok", "record_type_id", "record_version"),
)
# Columns of lag in the tables of groups and offsets.
_LAG = ("lag", "time_lag_ms", "oldest_unread_ms", "status")
_FIGURES = ("groups", "commits", "resets", "storms", "removed_offsets", "rebalances", "outside_the_log", "partitions")
# Statuses of groups, as figures only with data.
_STATUSES = ("OK", "WARN", "ERR")
# Type for sums of offsets, which damaged records can make huge, and the largest offset.
_WIDE, _MOST = "decimal(38,0)", (1 << 63) - 1
# Columns that --since compares; the other tables show the end of the log.
_TIMES = dict.fromkeys(("commits", "history", "resets", "removed_offsets", "rebalances"), "time") | {"storms": "end"}
# Sort columns of the table of groups, descending.
_SORTS = {
    "findings": ("resets", "storms", "commits"),
    "lag": ("lag", "time_lag_ms"),
    "rebalances": ("rebalances",),
    "commits": ("commits",),
    "group": (),
}

TABLES = (
    "commits",
    "history",
    "offsets",
    "resets",
    "storms",
    "removed_offsets",
    "rebalances",
    "share_offsets",
    "groups",
    "unreadable",
)


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run("Groups and their offsets", _parser(), argv, work, reads=_reads, writes=lambda args: TABLES)


def _reads(args: Namespace) -> list[Input]:
    of_data = Input(args.data or (), patterns=args.topics or (), stream="batches")
    return [Input(args.paths, {TOPIC}, stream="records"), Input(args.paths, {SHARE_TOPIC}, stream="shares"), of_data]


def work(job: Job) -> None:
    """Report resets, storms, offsets outside the log and unreadable input as findings."""
    args = job.args
    for option, given in (("--sort lag", args.sort == "lag"), ("--as-of", args.as_of is not None)):
        if given and not args.data:
            raise invalid_argument(f"groups: {option} requires --data")
    records = job.keep(records_of(job, "records", job.segments_of(args.paths, TOPIC), _decoded))
    of_topics = _options.of_topics(args.topics)
    data = _data(job)
    partitions = data.partitions if data else None
    unreadable = [_output.bad_records(records), *([data.unreadable] if data else ())]
    commits = job.keep(_of_groups(groups.offset_commits(records), args.group).where(of_topics))
    history = job.keep(groups.offset_history(commits, records, jump=args.jump))
    now, as_of = None, None
    if data:
        now, as_of = job.as_of(data.partitions.select("last_timestamp").union(records.select("timestamp")))
    tables = {
        "commits": commits,
        "history": history,
        "offsets": job.keep(_offsets(job, history, data, now)),
        "resets": groups.resets(history),
        "storms": job.keep(groups.commit_storms(commits, least=args.storm)),
        "removed_offsets": groups.removed_offsets(history),
        "rebalances": job.keep(_of_groups(rebalances(records), args.group)),
    }
    if files := job.segments_if_any(args.paths, SHARE_TOPIC):
        states = job.keep(records_of(job, "shares", files, share_group_state))
        unreadable.append(_output.bad_records(states))
        of_shares = share_offsets(states, topic_names(records), partitions)
        tables["share_offsets"] = job.keep(_of_groups(of_shares, args.group).where(of_topics))
    tables["groups"] = sums = job.keep(_groups(records, tables, args.group))
    if args.since is not None:
        tables |= {name: tables[name].where(job.recent(time)) for name, time in _TIMES.items()}
        sums = _groups(records, tables, args.group)
    job.progress("detecting resets and storms")
    each = data.each if data else None
    picture = charts.picture(tables["history"], tables["offsets"], each) if job.draws else None
    _report(job, records, tables, sums, as_of, picture)
    if job.exports:
        job.report.gauges += lag_gauges(job.name, tables)
    for name, table in tables.items():
        job.write(name, table)
    job.unreadable(reduce(DataFrame.unionByName, unreadable))


def _decoded(records: DataFrame) -> DataFrame:
    return consumer_offsets(records).drop(*_UNUSED)


@dataclass(frozen=True)
class _Data:
    # Packed batches.
    batches: DataFrame
    # Batches that a failover lost.
    lost: DataFrame
    partitions: DataFrame
    unreadable: DataFrame

    @property
    def each(self) -> DataFrame:
        return without_lost(unpacked(self.batches), self.lost)


def _data(job: Job) -> _Data | None:
    if not job.args.data:
        return None
    files = job.files(job.args.data, "data segments")
    batches = rows_of(job, "batches", files, lambda found, _: batches_in(found, condense=packed))
    checkpoints, epochs = (job.checkpoint(job.args.data, name) for name in (LOG_START_OFFSET, LEADER_EPOCH))
    lost = job.collected(lost_epochs(batches, epochs))
    starts = log_start_offsets(of_current_logs(files, batches, lost), checkpoints)
    partitions = job.keep(partition_offsets(batches, starts, lost))
    return _Data(batches, lost, partitions, _output.corrupt_batches(batches))


def _of_groups(rows: DataFrame, chosen: list[str] | None) -> DataFrame:
    return rows.where(F.col("group").isin(chosen)) if chosen else rows


def _offsets(job: Job, history: DataFrame, data: _Data | None, now: int | None) -> DataFrame:
    offsets = job.keep(groups.committed_offsets(history, data.partitions if data else None))
    if data is None:
        missing = {"time_lag_ms": "long", "oldest_unread_ms": "long", "unread_since": "timestamp"}
        missing |= {"status": "string", "complete": "double", "diverges_at": "long"}
        return offsets.withColumns({name: F.lit(None).cast(kind) for name, kind in missing.items()})
    with_ages = with_lag_times(offsets, batches_near(data.batches, offsets, data.lost), now)
    found = with_statuses(with_ages, history, data.each, now or 0).join(data.lost, [*_KEY, "leader_epoch"], "left")
    has_lost = F.col("committed_offset") > F.col("lost_from")
    place = F.when(has_lost & (F.col("place") == "within"), "diverged").otherwise(F.col("place"))
    columns = {"place": place, "diverges_at": F.when(has_lost, F.col("lost_from"))}
    return found.withColumns(columns).select(*with_ages.columns, "status", "complete", "diverges_at")


def _groups(records: DataFrame, tables: dict[str, DataFrame], chosen: list[str] | None) -> DataFrame:
    states = _of_groups(groups.group_states(records), chosen)
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
    offsets = tables["offsets"].select("group", *_LAG, "place")
    if "share_offsets" in tables:
        offsets = offsets.unionByName(tables["share_offsets"].select("group", "lag"), allowMissingColumns=True)
    offsets = offsets.groupBy("group").agg(
        F.count("*").alias("partitions"),
        _total(F.col("lag")).alias("lag"),
        F.max("time_lag_ms").alias("time_lag_ms"),
        F.max("oldest_unread_ms").alias("oldest_unread_ms"),
        worst_status(F.col("status")).alias("status"),
        F.count_if(F.col("place") != "within").alias("outside_the_log"),
    )
    storms = tables["storms"].groupBy("group").agg(F.count("*").alias("storms"))
    generations = tables["rebalances"].groupBy("group").agg(F.count("*").alias("rebalances"))
    joined = commits.join(storms, "group", "left").join(states, "group", "full").join(generations, "group", "left")
    joined = joined.join(offsets, "group", "full")  # share groups have offsets without commits
    counts = ("commits", "resets", "storms", "removed_offsets", "rebalances", "partitions", "outside_the_log")
    columns = ("group", "type", "protocol_type", "generation", "members", "removed", *counts)
    return joined.fillna(0, list(counts)).select(*columns, *_LAG, "first_commit", "last_commit")


def _total(lag: Column) -> Column:
    total = F.sum(lag.cast(_WIDE))  # null if unknown; least() would skip null
    return F.when(total > _MOST, _MOST).otherwise(total).cast("long")


def _report(
    job: Job,
    records: DataFrame,
    tables: dict[str, DataFrame],
    sums: DataFrame,
    as_of: str | None,
    picture: Chart | None,
) -> None:
    report, limit, with_data = job.report, job.args.limit, as_of is not None
    keys = [key.alias(f"log_{at}") for at, key in enumerate(log_of(records))]
    offset = F.col("offset").cast(_WIDE)
    log = records.groupBy(*keys).agg(
        F.count_distinct("offset").alias("records"), (F.max(offset) - F.min(offset) + 1).alias("offsets")
    )
    span = log.agg(F.count("*"), F.sum("records"), F.sum("offsets")).collect()[0]
    counts = [F.sum(name) for name in _FIGURES[1:]] + [F.count_if(F.col("status") == name) for name in _STATUSES]
    ages = [F.max(name) for name in ("time_lag_ms", "oldest_unread_ms")]
    total = sums.agg(F.count("*"), *counts, _total(F.col("lag")), *ages).collect()[0]
    figures = {name: count or 0 for name, count in zip(_FIGURES, total, strict=False)}
    figures["share_partitions"] = tables["share_offsets"].count() if "share_offsets" in tables else 0
    figures["partitions"] -= figures["share_partitions"]
    lag = dict(zip(("ok", "warn", "err", *_LAG), total[len(_FIGURES) :], strict=False))
    missing = max(0, (span[2] or 0) - (span[1] or 0))
    report.facts(
        {
            "as of": as_of,
            "log": f"{span[0]} partitions, {span[1] or 0} records; {missing} offsets without a record",
            "groups": figures["groups"],
            "commits": figures["commits"],
            "rebalances": figures["rebalances"],
            "resets": figures["resets"],
            "commit storms": f"{figures['storms']} (at least {job.args.storm} commits of a partition within a minute)",
            "removed offsets": figures["removed_offsets"],
            "outside the log": figures["outside_the_log"] if with_data else "unknown without --data",
            "status": ", ".join(f"{lag[name.lower()]} {name}" for name in _STATUSES) if with_data else None,
        }
    )
    for kind, name in (("reset", "resets"), ("commit storm", "storms"), ("offset outside the log", "outside_the_log")):
        job.find(kind, figures[name])
    for status in _STATUSES[1:]:
        job.find(f"group with status {status}", lag[status.lower()], "info")
    report.figures |= {name: count for name, count in figures.items() if with_data or name != "outside_the_log"}
    if with_data:
        report.figures |= {name: value for name, value in lag.items() if value is not None}
    if picture is not None:
        report.picture(picture)
    for name, (title, rows) in _sections(tables, job.args.sort, with_data=with_data).items():
        if figures[name]:
            report.section(title)
            report.frame(rows, limit)


def _sections(tables: dict[str, DataFrame], sort: str, *, with_data: bool) -> dict[str, tuple[str, DataFrame]]:
    columns = ["group", "type", "members", "removed", "partitions", "commits", "resets", "storms", "last_commit"]
    lag = _LAG if with_data else ()
    newest = (F.desc("time"), *_PARTITION)
    outside = (*_PARTITION, "committed_offset", "start_offset", "end_offset", "place", "diverges_at")
    removed = tables["removed_offsets"].orderBy(*newest)
    storms = tables["storms"].orderBy(F.desc("peak"), *_PARTITION, "start")
    lags = tables["offsets"].orderBy(*map(F.desc_nulls_last, _LAG[:3]), *_PARTITION)
    found = {
        "groups": (
            "Groups",
            tables["groups"].orderBy(*map(F.desc_nulls_last, _SORTS[sort]), "group").select(*columns, *lag),
        ),
        "partitions": (
            "Lag by partition",
            lags.where(F.lit(with_data)).select(*_PARTITION, "committed_offset", "end_offset", *_LAG, "unread_since"),
        ),
        "resets": ("Resets", tables["resets"].orderBy(*newest).drop("log_partition", "log_offset")),
        "storms": ("Commit storms", storms),
        "removed_offsets": ("Removed offsets", removed.drop("log_partition", "log_offset")),
        "outside_the_log": (
            "Offsets outside the log",
            tables["offsets"].where("place <> 'within'").orderBy(*_PARTITION).select(*outside),
        ),
        "rebalances": ("Rebalances", _rebalances(tables["rebalances"])),
    }
    if "share_offsets" in tables:
        columns = [*_PARTITION, "start_offset", "delivered", *(["end_offset", "lag"] if with_data else [])]
        rows = tables["share_offsets"].orderBy(F.desc_nulls_last("lag"), "group", "topic", "topic_id", "partition")
        found["share_partitions"] = "Share groups", rows.select(*columns)
    return found


def _rebalances(rows: DataFrame) -> DataFrame:

    def names(column: str) -> Column:
        each = F.transform(column, lambda member: F.coalesce(member["instance_id"], member["client_id"], F.lit("?")))
        return F.array_join(F.sort_array(each), ", ")

    return rows.orderBy(F.desc("time"), "group", F.desc("generation")).select(
        "time",
        "group",
        "type",
        "generation",
        "members",
        names("joined").alias("joined"),
        names("left").alias("left"),
        "took_ms",
    )


def _parser() -> ArgumentParser:
    parser = _cli.parser("groups", "History of group offsets: commits, resets, storms, removals, rebalances, lag.")
    parser.add_argument("paths", nargs="+", help="segments of __consumer_offsets, or folders with them; paths or URIs")
    parser.add_argument(
        "--data", nargs="+", metavar="PATH", help="data segments, to compute lag and detect offsets outside the log"
    )
    _options.add_incremental(parser)
    parser.add_argument("--group", action="append", metavar="NAME", help="only this group; may be repeated")
    parser.add_argument(
        "--sort",
        choices=_SORTS,
        default="findings",
        help="order of the groups in the report: findings (default), lag (with --data), rebalances, commits or group",
    )
    _options.add_as_of(parser)
    parser.add_argument(
        "--jump",
        type=_cli.positive,
        default=groups.JUMP,
        metavar="N",
        help="minimum forward jump that counts as a reset (1000000)",
    )
    parser.add_argument(
        "--storm",
        type=_cli.positive,
        default=groups.STORM,
        metavar="N",
        help="minimum commits of a partition per minute for a storm (30)",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
