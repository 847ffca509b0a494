"""Compare the replicas of partitions: lost records, diverged and truncated logs.

spark-submit replicas.py /copies/broker-1 /copies/broker-2 --output /tables/replicas
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from pyspark.sql import functions as F

from kafka_messages_spark.analyses import replicas
from kafka_messages_spark.analyses._expressions import LOG
from kafka_messages_spark.jobs import _cli, _output
from kafka_messages_spark.jobs._local_mode import Input
from kafka_messages_spark.jobs._report import format_path

_FORMATS = {"replica": format_path}
TABLES = ("replicas", "findings", "lost_records", "unreadable")


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run(
        "Replicas compared", _parser(), argv, work, reads=lambda args: [Input(args.paths)], writes=lambda args: TABLES
    )


def work(job: _cli.Job) -> None:
    """Report the findings of the checks; those of severity ``info`` do not affect the exit status."""
    report, limit, paths = job.report, job.args.limit, job.args.paths
    files = job.keep(job.files(paths, "segments"))
    checkpoints = {name: job.checkpoint(paths, name) for name in replicas.CHECKPOINTS}
    found = replicas.compared(files, checkpoints, job.keep)
    findings, lost = job.keep(found.findings), job.keep(found.lost_records)
    logs = found.replicas.groupBy(*LOG).agg(F.count("*").alias("replicas"), F.sum("batches").alias("batches"))
    total = logs.agg(
        F.count("*"), F.count_if(F.col("replicas") > 1), F.coalesce(F.sum("replicas"), F.lit(0)), F.sum("batches")
    ).collect()[0]
    is_data = F.col("control_type").isNull() & F.col("offset").isNotNull()
    counts = lost.agg(F.count("*"), F.count_if(is_data), F.count_if(is_data & F.col("visible_to_consumers")))
    rows, records, visible = counts.collect()[0]
    report.facts(
        {
            "partitions": f"{total[0]}, {total[1]} with more than one replica",
            "replicas": total[2],
            "batches": total[3] or 0,
            "lost records": f"{records}, {visible} of them known to be visible to consumers" if records else 0,
        }
    )
    report.figures |= {
        "partitions": total[0],
        "compared_partitions": total[1],
        "replicas": total[2],
        "batches": total[3] or 0,
        "lost_records": records,
        "visible_lost_records": visible,
    }
    worst = F.array_position(F.array(*map(F.lit, ("error", "warning", "info"))), F.col("severity"))
    by_check = findings.groupBy("severity", "check").agg(
        F.count_distinct(*LOG).alias("partitions"), F.count("*").alias("findings"), F.sum("count").alias("offsets")
    )
    kinds = by_check.orderBy(worst, "check").collect()
    for row in kinds:
        job.find(row["check"], row["findings"], row["severity"])
    if kinds:
        report.section("Findings by check")
        report.table([*by_check.columns, "description"], [(*row, replicas.CHECKS[row["check"]]) for row in kinds])
        report.section("Findings by severity")
        ordered = findings.orderBy(worst, *LOG, "replica", "offset", "check")
        report.frame(
            ordered.select("severity", "check", *LOG, "replica", "offset", "end_offset", "detail"), limit, _FORMATS
        )
    if rows:
        report.section("Lost records")
        columns = ("offset", "leader_epoch", "replaced_by_epoch", "key_hash", "timestamp", "visible_to_consumers")
        report.frame(lost.orderBy(*LOG, "offset").select(*LOG, *columns, "control_type"), limit)
    for name, df in (("replicas", found.replicas), ("findings", findings), ("lost_records", lost)):
        job.write(name, df)
    unreadable = _output.corrupt_batches(found.batches)
    for each in checkpoints.values():
        unreadable = unreadable.unionByName(_output.damaged_checkpoints(each))
    job.unreadable(unreadable)


def _parser() -> ArgumentParser:
    parser = _cli.parser("replicas", "Replicas compared: lost records, diverged, truncated and lagging logs.")
    parser.add_argument(
        "paths", nargs="+", help="log directories of several brokers, with their checkpoint files; paths or URIs"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
