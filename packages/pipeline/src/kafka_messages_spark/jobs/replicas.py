"""Compare the replicas of partitions: lost records, diverged and truncated logs.

spark-submit replicas.py /copies/broker-1 /copies/broker-2 --output /tables/replicas
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pyspark.sql import functions as F

from kafka_messages_spark.analyses import replicas
from kafka_messages_spark.analyses.segments import SEVERITIES
from kafka_messages_spark.jobs import _cli, _output
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import format_path

TABLES = ("replicas", "findings", "lost_records", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Replicas compared", _parser(), argv, work, reads=lambda args: [Input(args.paths)], writes=lambda args: TABLES
    )


def work(job: Job) -> None:
    """Report the findings of the checks; those of severity ``info`` do not affect the exit status."""
    report, limit, paths = job.report, job.args.limit, job.args.paths
    files = job.keep(job.files(paths, "segments"))
    checkpoints = {name: job.checkpoint(paths, name) for name in replicas.CHECKPOINTS}
    found = replicas.compared(files, checkpoints, job.keep)
    findings, lost = job.keep(found.findings), job.keep(found.lost_records)
    is_data = F.col("control_type").isNull() & F.col("offset").isNotNull()
    counts = {
        "records": F.count_if(is_data),
        "markers": F.count("control_type"),
        "visible": F.count_if(is_data & F.col("visible_to_consumers")),
    }
    rows, records, markers, visible = lost.agg(F.count("*"), *counts.values()).collect()[0]
    ranks = found.replicas.agg(F.count_if(F.col("rank") == 0), F.count_if(F.col("rank") == 1), F.count("*"))
    partitions, several, total = ranks.collect()[0]
    report.facts(
        {
            "partitions": f"{partitions}, {several} with more than one replica",
            "replicas": total,
            "lost records": f"{records}, {visible} of them known to be visible to consumers" if records else 0,
            "lost transaction markers": markers or None,
        }
    )
    names = ("partitions", "compared_partitions", "replicas", "lost_records", "visible_lost_records")
    report.figures |= dict(zip(names, (partitions, several, total, records, visible), strict=True))
    worst = -F.array_position(F.array(*map(F.lit, SEVERITIES)), F.col("severity"))
    by_check = findings.groupBy("severity", "check").agg(
        F.count("*").alias("findings"), F.sum("count").alias("offsets")
    )
    kinds = by_check.orderBy(worst, "check").collect()
    for row in kinds:
        job.find(row["check"], row["findings"], row["severity"])
    if kinds:
        report.section("Findings by check")
        report.table([*by_check.columns, "description"], [(*row, replicas.CHECKS[row["check"]]) for row in kinds])
        report.section("Findings by severity")
        columns = ("severity", "check", "topic", "partition", "replica", "offset", "end_offset", "detail")
        ordered = findings.orderBy(worst, "topic", "partition", "replica", "offset", "check")
        report.frame(ordered.select(*columns), limit, {"replica": format_path})
    if rows:
        report.section("Lost records by partition")
        epochs = [F.max(name).alias(name) for name in ("leader_epoch", "replaced_by_epoch")]
        ends = [F.min("offset").alias("first_offset"), F.max("offset").alias("last_offset")]
        sums = [count.alias(name) for name, count in counts.items()]
        report.frame(lost.groupBy("topic", "partition").agg(*ends, *epochs, *sums).orderBy("topic", "partition"), limit)
        report.section("Lost records")
        ordered = lost.orderBy("topic", "partition", "offset", "leader_epoch")
        report.frame(ordered.drop("replicas", "file"), limit)
    for name, df in (("replicas", found.replicas), ("findings", findings), ("lost_records", lost)):
        job.write(name, df)
    job.unreadable(_output.corrupt_batches(found.batches))


def _parser() -> ArgumentParser:
    parser = _cli.parser("replicas", "Replicas compared: lost records, diverged, truncated and lagging logs.")
    parser.add_argument("paths", nargs="+", help="log directories of several brokers; paths or URIs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
