"""Compare two snapshots or logs of ``__cluster_metadata``, or two offsets of one log.

spark-submit metadata_diff.py old.checkpoint new.checkpoint
spark-submit metadata_diff.py /kafka/__cluster_metadata-0 --before-offset 1000 --after-offset 2000
"""

from __future__ import annotations

import secrets
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses import metadata
from kafka_messages_spark.analyses.internal_topics import cluster_metadata
from kafka_messages_spark.jobs import _cli, _output
from kafka_messages_spark.jobs._charts import metadata as charts
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import format_value
from kafka_messages_spark.sources._files import display_path

TOPIC = "__cluster_metadata"
_MAX_WIDTH = 240

TABLES = ("before", "after", "differences", "changes", "unhandled", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run("Cluster metadata differences", _parser(), argv, work, reads=_reads, writes=lambda args: TABLES)


def _reads(args: Namespace) -> list[Input]:
    return [Input(args.paths, {TOPIC})]


def work(job: Job) -> None:
    """Report differences, and problems that make them uncertain, as findings."""
    args = job.args
    if len(args.paths) > 2:
        raise invalid_argument(f"{job.name}: expected one log, or two paths to compare, got {len(args.paths)} paths")
    # With a random salt, the redacted values show whether a secret changed, and nothing else.
    options = {"showSecrets": "true"} if args.show_secrets else {"secretSalt": secrets.token_hex(16)}
    tables = _one(job, options) if len(args.paths) == 1 else _two(job, options)
    tables["differences"] = job.keep(metadata.differences(tables["before"], tables["after"]))
    job.progress("comparing")
    _report(job, tables)
    _problems(job, tables)
    for name, table in tables.items():
        if name != "unreadable":
            job.write(name, table)
    job.unreadable(tables["unreadable"])


def _two(job: Job, options: dict[str, str]) -> dict[str, DataFrame]:
    images, odd, bad = [], [], []
    for path, offset, side in zip(
        job.args.paths, (job.args.before_offset, job.args.after_offset), ("before", "after"), strict=True
    ):
        records = job.keep(cluster_metadata(job.log([path], TOPIC, batch_metadata=True), options))
        _check_offsets(job, records, path, {side: offset})
        chosen = job.keep(metadata.records_of(records, up_to=offset))
        _input(job, side, chosen)
        images.append(job.keep(metadata.image(metadata.replay(chosen, keep=job.keep))))
        odd.append(metadata.unhandled(chosen))
        bad.append(_output.bad_records(records))
    return {
        "before": images[0],
        "after": images[1],
        "unhandled": job.keep(odd[0].unionByName(odd[1])),
        "unreadable": bad[0].unionByName(bad[1]),
    }


def _one(job: Job, options: dict[str, str]) -> dict[str, DataFrame]:
    records = job.keep(cluster_metadata(job.log(job.args.paths, TOPIC, batch_metadata=True), options))
    start = job.args.before_offset
    if start is None:
        oldest = metadata.snapshots(records).agg(F.min("end_offset")).collect()[0][0]
        start = -1 if oldest is None else oldest - 1
    end = job.args.after_offset
    _check_offsets(job, records, job.args.paths[0], {"before": job.args.before_offset, "after": end})
    if end is not None and end < start:
        raise invalid_argument(f"{job.name}: --after-offset {end} is below {start}, the offset of the first state")
    chosen = job.keep(metadata.records_of(records, up_to=end, base=start))
    _input(job, "after", chosen, since=start)
    replay = job.keep(metadata.replay(chosen, start=start, keep=job.keep))
    return {
        "before": metadata.image(replay, "before"),
        "after": metadata.image(replay),
        "changes": metadata.changes(replay),
        "unhandled": job.keep(metadata.unhandled(chosen)),
        "unreadable": _output.bad_records(records),
    }


def _check_offsets(job: Job, records: DataFrame, path: str, offsets: Mapping[str, int | None]) -> None:
    given = {side: offset for side, offset in offsets.items() if offset is not None}
    last = metadata.last_offset(records) if given else None
    for side, offset in given.items():
        if last is not None and offset > last:
            where = f"the end of the log in {display_path(path)}, which is offset {last}"
            raise invalid_argument(f"{job.name}: --{side}-offset {offset} is past {where}")


def _input(job: Job, side: str, chosen: DataFrame, since: int | None = None) -> None:
    row = metadata.missing_offsets(chosen).collect()[0]
    base, last = row["base"], row["last"]
    source = "the log alone" if base is None else f"{_ARTICLES[base == 0]} {_snapshot(base)}"
    if last >= (base or 0):
        source += f" and the log up to offset {last}" if base is not None else f" up to offset {last}"
    job.report.facts({"before": None if since is None else _before(since, base), side: source})
    if row["missing"]:
        job.find(f"missing offsets in the state {side}", 1, "error")
        job.report.line(f"{row['missing']} offsets are missing before offset {last}: the state may be wrong.")
    if row["is_cut"]:
        job.find(f"truncated snapshot in the state {side}", 1, "error")
        job.report.line(f"The {_snapshot(base)} is truncated: the state may be wrong.")


_ARTICLES = ("a", "the")


def _snapshot(end: int) -> str:
    return f"snapshot up to offset {end - 1}" if end else "bootstrap snapshot"


def _before(start: int, base: int | None) -> str:
    if start >= 0:
        return f"the state at offset {start}"
    return "an empty cluster" if base is None else f"the {_snapshot(base)}"


def _report(job: Job, tables: dict[str, DataFrame]) -> None:
    report, limit, found = job.report, job.args.limit, tables["differences"]
    formats = {"what": partial(format_value, widest=_MAX_WIDTH)}
    by_entity = found.groupBy("entity").agg(
        *(F.count_if(F.col("change") == kind).alias(kind) for kind in ("added", "removed", "changed"))
    )
    rows = by_entity.orderBy("entity").collect()
    for kind in ("added", "removed", "changed"):
        report.figures[kind] = sum(row[kind] for row in rows)
        job.find(kind, sum(row[kind] for row in rows))
    report.section("Differences")
    if not rows:
        report.line("No differences.")
    else:
        report.table(by_entity.columns, rows)
        shown_rows = found.orderBy("entity", "name", "key").select("change", "entity", "name", _what().alias("what"))
        report.frame(shown_rows, limit, formats)
    if "changes" in tables:
        report.section("Changes in log order")
        if job.draws:
            report.picture(charts.picture(tables["changes"]))
        in_order = tables["changes"].orderBy("offset", "entity", "name")
        columns = ("offset", "timestamp", F.col("leader_epoch").alias("epoch"), "record_type", "change", "name")
        report.frame(in_order.select(*columns, _what().alias("what")), limit, formats)


def _what() -> Column:
    is_new = F.col("change") == "added"
    numbers = F.create_map(*(F.lit(each) for pair in metadata.ACL_WORDS.items() for each in pair))

    def word(change: Column, when: str) -> Column:
        of_acl = F.when(
            F.col("entity") == "acl", F.try_element_at(numbers, F.concat_ws(" ", change["field"], change[when]))
        )
        return F.coalesce(of_acl, change[when], F.lit("-"))

    words = F.transform(
        F.filter(
            "changes",
            lambda each: (F.col("change") == "changed")
            | (is_new & each["after"].isNotNull() & ~each["after"].isin("[]", "false")),
        ),
        lambda each: F.when(is_new, F.concat(each["field"], F.lit(" "), word(each, "after"))).otherwise(
            F.concat(each["field"], F.lit(" "), word(each, "before"), F.lit(" → "), word(each, "after"))
        ),
    )
    return F.array_join(words, "; ")


def _problems(job: Job, tables: dict[str, DataFrame]) -> None:
    report, limit = job.report, job.args.limit
    if tables["unhandled"].limit(1).count():
        report.section("Unsupported records, ignored")
        count = report.frame(tables["unhandled"].orderBy("record_type_id", "first_offset"), limit)
        job.find("unsupported records", count)
    odd = [tables[name].where("problem is not null") for name in ("after", "changes") if name in tables]
    for name, table in zip(("Entities", "Changes"), odd, strict=False):
        if table.limit(1).count():
            report.section(f"{name} with problems")
            columns = ("entity", "name", "offset", "record_type", "problem")
            count = report.frame(table.orderBy("offset", "entity", "name").select(*columns), limit)
            job.find(f"{name.lower()} with problems", count, "error")


def _parser() -> ArgumentParser:
    parser = _cli.parser("metadata_diff", "Changes in a cluster, from snapshots and logs of __cluster_metadata.")
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="two paths to compare (snapshots, logs, or folders with both), or one log or folder, "
        "compared with itself at another offset",
    )
    parser.add_argument(
        "--before-offset",
        type=int,
        metavar="N",
        help="first state: after the record with this offset; default with one path: the oldest snapshot, "
        "or an empty cluster",
    )
    parser.add_argument(
        "--after-offset", type=int, metavar="N", help="second state: after this record; default: the end of the log"
    )
    _cli.show_secrets(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
