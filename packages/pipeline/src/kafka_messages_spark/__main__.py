"""The command ``kafka-messages-spark``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

# One-line descriptions for --help.
JOBS = {
    "transactions": "open and hanging transactions, their owners, and blocked consumers",
    "groups": "history of group offsets: commits, resets, storms, removals, members, lag",
    "metadata_diff": "changes in a cluster, from snapshots and logs of __cluster_metadata",
    "segments": "integrity of log segments: checksums, gaps, order, sequences, names",
    "replicas": "replicas of partitions compared: lost records, diverged and truncated logs",
    "encodings": "sizes of integer fields by encoding",
    "inventory": "all topics with size, retention, replication and readers",
    "batching": "batch sizes, compression ratios, and dead records in compacted topics",
    "internal_topics": "segments of an internal topic as tables, one per record type",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a job and return its exit status."""
    parser = _parser()
    given = list(sys.argv[1:] if argv is None else argv)
    job: str = parser.parse_args(given[:1]).job
    if find_spec("pyspark") is None:
        print(
            "kafka-messages-spark: error: PySpark is not installed; run pip install 'pyspark>=4.1,<5'",
            file=sys.stderr,
        )
        return 2
    status: int = import_module(f"kafka_messages_spark.jobs.{job}").main(given[1:])
    return status


def _parser() -> ArgumentParser:
    width = max(map(len, JOBS))
    parser = ArgumentParser(
        prog="kafka-messages-spark",
        usage="%(prog)s JOB ...",
        description="Analyses of Kafka's files on Spark.",
        epilog="jobs:\n"
        + "".join(f"  {name:{width}}  {what}\n" for name, what in JOBS.items())
        + "\nkafka-messages-spark JOB --help shows the arguments of a job",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("job", metavar="JOB", choices=list(JOBS), help="one of the jobs below")
    return parser


if __name__ == "__main__":
    sys.exit(main())
