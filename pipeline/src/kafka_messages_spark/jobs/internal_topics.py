"""Segment files of an internal topic as tables, one for each record type; ``python -m ... --help`` tells the rest.

spark-submit internal_topics.py consumer_offsets /kafka/__consumer_offsets-* --output /tables/offsets
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import internal_topics, register

TOPICS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "consumer_offsets": internal_topics.consumer_offsets,
    "transaction_state": internal_topics.transaction_state,
    "share_group_state": internal_topics.share_group_state,
    "cluster_metadata": internal_topics.cluster_metadata,
    "remote_log_metadata": internal_topics.remote_log_metadata,
}
FACTS = ("topic", "partition", "offset", "timestamp", "record_version", "is_tombstone", "problem")
UNREADABLE = "unreadable"
"""Table of the records without a type, and of corrupt batches: their bytes, and what is wrong with them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Read, report what there is, and write tables if there is an output; returns the exit status."""
    args = _parser().parse_args(argv)
    spark = SparkSession.builder.appName(f"kafka internal topics: {args.topic}").getOrCreate()
    register(spark)
    options = {"mode": "PERMISSIVE", "recursiveFileLookup": "true", "paths": json.dumps(args.paths)}
    if args.glob:
        options["pathGlobFilter"] = args.glob
    log = spark.read.format("kafka_log").options(**options).load()
    if args.latest:
        log = internal_topics.latest(log)
    records = TOPICS[args.topic](log).persist()
    try:
        kinds = F.coalesce("record_type", F.lit(UNREADABLE)).alias("record_type")
        wrong = F.count(F.coalesce("problem", "corrupt.reason")).alias("problems")
        counts = records.groupBy(kinds).agg(
            F.count("*").alias("records"),
            F.count_if("is_tombstone").alias("tombstones"),
            wrong,
            F.min("offset").alias("first_offset"),
            F.max("offset").alias("last_offset"),
        )
        found = counts.orderBy("record_type").collect()
        print(_report([counts.columns, *([str(value) for value in row] for row in found)]))
        for row in found if args.output else []:
            _table(records, row["record_type"]).write.format(args.format).mode(args.mode).save(
                f"{args.output.rstrip('/')}/{row['record_type']}"
            )
            print(f"written: {args.output.rstrip('/')}/{row['record_type']}", file=sys.stderr)
    finally:
        records.unpersist()
    return 0


def _table(records: DataFrame, record_type: str) -> DataFrame:
    """The rows of one record type, with its struct as ``record``."""
    if record_type == UNREADABLE:
        return records.where("record_type is null").select(*FACTS[:4], "problem", "key", "value", "corrupt")
    return records.where(F.col("record_type") == record_type).select(*FACTS, F.col(record_type).alias("record"))


def _report(lines: Sequence[Sequence[str]]) -> str:
    """Lines of words as a table for people."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="internal_topics", description="Segments of an internal topic as tables.")
    parser.add_argument("topic", choices=list(TOPICS), help="what the records are")
    parser.add_argument("paths", nargs="+", help="segments, or folders with segments below them; paths or URIs")
    parser.add_argument(
        "--output", help="folder or URI in which each record type gets a table; without it: only a report"
    )
    parser.add_argument("--format", default="parquet", help="format of the tables: parquet (default), delta, ...")
    parser.add_argument("--mode", default="errorifexists", choices=["errorifexists", "overwrite", "append", "ignore"])
    parser.add_argument("--glob", help="pattern for the names of files")
    parser.add_argument(
        "--latest", action="store_true", help="only the last record of each key, as compaction leaves it"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
