"""Print typed tables and hanging transactions from a broker's segment files, on Spark ``local[*]``.

    python examples/pipeline_demo.py [FOLDER]      # a Kafka log directory; default examples/cluster/logs

Needs ``generated[arrow]`` and ``pipeline[spark,java]``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from kafka_records.segments.names import topic_of
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import cluster_metadata, consumer_offsets
from kafka_messages_spark.jobs import Job, parser, run, transactions
from kafka_messages_spark.jobs import records as records_of

CLUSTER = Path(__file__).resolve().parent / "cluster" / "logs"
PARTITION = "topic string, partition int"
# Line width without a terminal.
WIDTH = 100
# Local Spark without external ports.
SETTINGS = {
    "spark.master": "local[*]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables; return 2 for invalid input, otherwise 0."""
    arguments = parser("pipeline_demo", "A Kafka log directory as typed tables, and its transactions.")
    arguments.add_argument("folder", nargs="?", default=str(CLUSTER), help="default: examples/cluster/logs")
    arguments.set_defaults(limit=10, width=None if sys.stdout.isatty() else WIDTH)
    given = arguments.parse_args(argv)
    try:
        status = run("From segment files to tables", arguments, argv, work, SETTINGS)
        if status:
            return status
        print("\npython -m kafka_messages_spark.jobs.transactions FOLDER\n", flush=True)
        width = ["--width", str(given.width)] if given.width else []
        return transactions.main([given.folder, "--exit-zero", *width])
    finally:
        if (session := SparkSession.getActiveSession()) is not None:
            session.stop()


def work(job: Job) -> None:
    """Report all topics from ``kafka_log``, and two decoded internal topics."""
    paths = [job.args.folder]
    files = job.segments_of(paths)
    topics = job.keep(topics_of(job.read(files), job.spark.createDataFrame([*map(topic_of, files)], PARTITION)))
    job.report.section('Topics: spark.read.format("kafka_log")')
    job.report.frame(topics.orderBy("topic"), job.args.limit)
    there = {row["topic"] for row in topics.where("topic like '\\\\_\\\\_%'").select("topic").collect()}
    job.report.section("Committed offsets: consumer_offsets(log), one typed struct per record type")
    if "__consumer_offsets" in there:
        log = records_of(job, paths, "__consumer_offsets")
        job.report.frame(offsets_of(consumer_offsets(log)), job.args.limit)
    else:
        job.report.line("No __consumer_offsets in this folder.")
    job.report.section("Topic configuration changes in the metadata log: cluster_metadata(log)")
    if "__cluster_metadata" in there:
        log = records_of(job, paths, "__cluster_metadata")
        job.report.frame(configs_of(cluster_metadata(log)), job.args.limit)
    else:
        job.report.line("No __cluster_metadata in this folder.")


def topics_of(records: DataFrame, partitions: DataFrame) -> DataFrame:
    """Count records by topic, including empty partitions; replicas count once."""
    by_topic = partitions.groupBy("topic").agg(F.count_distinct("partition").alias("partitions"))
    found = records.groupBy(F.col("topic").alias("of")).agg(
        F.count_distinct("partition", "offset").alias("records"),
        F.max("timestamp").alias("last_timestamp"),
    )
    joined = by_topic.join(found, F.col("topic").eqNullSafe(F.col("of")), "left").drop("of")
    return joined.fillna(0, ["records"])


def offsets_of(records: DataFrame) -> DataFrame:
    commits = records.where("record_type = 'offset_commit' and not is_tombstone").select(
        "timestamp", "offset_commit.key.*", F.col("offset_commit.value").alias("commit")
    )
    columns = ("timestamp", "group", "topic", "partition", "commit.offset", "commit.metadata")
    return commits.select(*columns).orderBy(F.desc("timestamp"))


def configs_of(records: DataFrame) -> DataFrame:
    changes = records.where("record_type = 'config_record' and config_record.resource_type = 2")
    record = F.col("config_record")
    columns = (record["resource_name"].alias("topic"), record["name"].alias("name"), record["value"].alias("value"))
    return changes.select("offset", "timestamp", *columns).orderBy(F.desc("offset"))


if __name__ == "__main__":
    sys.exit(main())
