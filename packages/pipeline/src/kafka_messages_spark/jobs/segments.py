"""Check the integrity of log segments.

spark-submit segments.py s3://tier/orders-* --output /tables/integrity
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pyspark.sql import functions as F

from kafka_messages_spark.analyses import segments
from kafka_messages_spark.analyses.checkpoints import CLEANER_OFFSET, HIGH_WATERMARK
from kafka_messages_spark.jobs import _cli, _options
from kafka_messages_spark.jobs._charts import segments as charts
from kafka_messages_spark.jobs._incremental import rows_of
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import size

TABLES = ("files", "findings")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Integrity of log segments",
        _parser(),
        argv,
        work,
        reads=lambda args: [Input(args.paths, patterns=args.topics or (), stream="checks")],
        writes=lambda args: TABLES,
    )


def work(job: Job) -> None:
    """Report the findings of the checks; those of severity ``info`` do not affect the exit status."""
    report, limit = job.report, job.args.limit
    depth = job.args.depth
    ranges = job.files(job.args.paths, "segments", all_of_them=True)
    checks = rows_of(
        job, "checks", ranges, lambda each, before: segments.checked_ranges(each, depth, before), by_range=True
    )
    checkpoints = [job.checkpoint(job.args.paths, name) for name in (CLEANER_OFFSET, HIGH_WATERMARK)]
    found = job.keep(segments.findings(checks, *checkpoints))
    files = job.keep(segments.files(checks, found))
    is_recent = job.recent("last_timestamp")
    if job.args.since is not None:  # findings in files without a timestamp are kept
        found = found.join(files.where(~is_recent).select("file"), "file", "left_anti").select(found.columns)
        found, files = job.keep(found), job.keep(files.where(is_recent))
    total = files.agg(
        F.count("*"), F.sum("size"), F.sum("batches"), F.sum("records"), F.count_if(F.col("verdict") == "ok")
    ).collect()[0]
    report.facts(
        {
            "files": f"{total[0]}, {total[4]} without findings",
            "size": size(total[1]),
            "batches": total[2],
            "records": total[3],
            "checked": "headers, checksums and all records" if job.args.depth == "records" else "headers and checksums",
        }
    )
    worst = -F.array_position(F.array(*map(F.lit, segments.SEVERITIES)), F.col("severity"))
    by_check = found.groupBy("severity", "check").agg(
        F.count_distinct("file").alias("files"), F.count("*").alias("findings"), F.try_sum("count").alias("count")
    )
    kinds = by_check.orderBy(worst, "check").collect()
    for row in kinds:
        job.find(row["check"], row["findings"], row["severity"])
    names = ("files", "bytes", "batches", "records", "files_without_a_finding")
    report.figures |= {name: count or 0 for name, count in zip(names, total, strict=True)}
    if job.draws:
        report.picture(charts.picture(files, found, total[0]))
    if kinds:
        report.section("Findings by check")
        rows = [(*row, segments.CHECKS[row["check"]]) for row in kinds]
        report.table([*by_check.columns, "description"], rows)
        report.section("Findings by severity")
        ordered = found.orderBy(worst, "file", "position", "check")
        report.frame(ordered.select("severity", "check", "file", "position", "offset", "detail"), limit)
        report.section("Files with findings")
        broken = files.where("verdict <> 'ok'").orderBy(F.desc("error_findings"), F.desc("warning_findings"), "file")
        columns = ("verdict", "file", "size", "first_offset", "next_offset", "batches", "records", "corrupt")
        report.frame(broken.select(*columns), limit, {"size": size})
    job.write("files", files)
    job.write("findings", found)


def _parser() -> ArgumentParser:
    parser = _cli.parser("segments", "Integrity of log segments: checksums, gaps, order, sequences, names.")
    parser.add_argument("paths", nargs="+", help="segments, or folders searched for segments; paths or URIs")
    parser.add_argument(
        "--depth",
        choices=segments.DEPTHS,
        default="records",
        help="records (default): also decode all records; batches: only headers and checksums, in half the time",
    )
    _options.add_incremental(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
