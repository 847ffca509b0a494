"""Write the records of an internal topic as tables.

spark-submit internal_topics.py consumer_offsets /kafka/__consumer_offsets-* --output /tables/offsets
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from kafka_messages.internal_topics import LOGS
from kafka_messages.secrets import REDACTED
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import internal_topics
from kafka_messages_spark.columns._records import CONTROL, columns_of
from kafka_messages_spark.jobs import _cli, _selection
from kafka_messages_spark.jobs._job import Job
from kafka_messages_spark.jobs._local_mode import Input

TOPICS: dict[str, Callable[..., DataFrame]] = {
    "consumer_offsets": internal_topics.consumer_offsets,
    "transaction_state": internal_topics.transaction_state,
    "share_group_state": internal_topics.share_group_state,
    "cluster_metadata": internal_topics.cluster_metadata,
    "remote_log_metadata": internal_topics.remote_log_metadata,
}
RECORD_COLUMNS = ("topic", "partition", "offset", "timestamp", "record_version", "is_tombstone", "problem")
# Columns needed from the log.
LOG = (*RECORD_COLUMNS[:4], "key", "value", "corrupt")
# Table of records without a type and of corrupt batches.
UNREADABLE = "unreadable"


def main(argv: Sequence[str] | None = None) -> int:
    return _cli.run("Records of an internal topic", _parser(), argv, work, reads=_reads, writes=_writes)


def _reads(args: Namespace) -> list[Input]:
    return [Input(args.paths, {f"__{args.topic}"})]


def _writes(args: Namespace) -> Sequence[str]:
    return [*columns_of(LOGS[f"__{args.topic}"]), UNREADABLE]


def work(job: Job) -> None:
    """Write the records of each type; unreadable records and differing copies are findings."""
    args = job.args
    log = _selection.records(job, args.paths, f"__{args.topic}", batch_metadata=args.latest)
    if args.latest:
        log = internal_topics.latest(log)
    if "is_control" in log.columns:
        log = log.where("not is_control or is_control is null")
    log = log.select(*LOG)
    records = job.keep(TOPICS[args.topic](log, {"showSecrets": str(args.show_secrets).lower()}))
    counts = records.groupBy(F.coalesce("record_type", F.lit(UNREADABLE)).alias("record_type")).agg(
        F.count("*").alias("records"),
        F.count_if("is_tombstone").alias("tombstones"),
        F.count(F.coalesce("problem", "corrupt.reason")).alias("problems"),
        F.min("offset").alias("first_offset"),
        F.max("offset").alias("last_offset"),
    )
    found = counts.orderBy("record_type").collect()  # few record types
    job.report.table([name.replace("_", " ") for name in counts.columns], found)
    job.find("unreadable records or corrupt batches", sum(row["problems"] for row in found), "error")
    job.report.figures |= {row["record_type"]: row["records"] for row in found}
    for row in found:
        table = _table(records, row["record_type"])
        job.write(
            row["record_type"],
            _without_bytes(table) if row["record_type"] == UNREADABLE and not args.show_secrets else table,
        )


def _table(records: DataFrame, record_type: str) -> DataFrame:
    if record_type == UNREADABLE:
        return records.where("record_type is null").select(*RECORD_COLUMNS[:4], "problem", "key", "value", "corrupt")
    if record_type == CONTROL:
        return records.where(F.col("record_type") == record_type).select(*RECORD_COLUMNS[:4], "key", "value")
    has_fields = records.select(f"{record_type}.*").columns
    record = [F.col(record_type).alias("record")] if has_fields else []
    return records.where(F.col("record_type") == record_type).select(*RECORD_COLUMNS, *record)


def _without_bytes(unreadable: DataFrame) -> DataFrame:
    def redacted(column: str) -> Column:
        return F.when(F.col(column).isNotNull(), F.lit(REDACTED).cast("binary"))

    corrupt = F.col("corrupt").withField("bytes", redacted("corrupt.bytes"))
    return unreadable.withColumns({"key": redacted("key"), "value": redacted("value"), "corrupt": corrupt})


def _parser() -> ArgumentParser:
    parser = _cli.parser("internal_topics", "Write segments of an internal topic as tables, one per record type.")
    parser.add_argument("topic", choices=list(TOPICS), help="internal topic of the records")
    parser.add_argument("paths", nargs="+", help="segments, or folders searched for segments; paths or URIs")
    parser.add_argument("--latest", action="store_true", help="only the last record of each key, without tombstones")
    _cli.show_secrets(parser)
    return parser


if __name__ == "__main__":
    sys.exit(main())
