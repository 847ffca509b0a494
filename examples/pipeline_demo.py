"""From the segment files of a real broker to typed tables and a report of hanging transactions, on Spark ``local[*]``.

    python examples/pipeline_demo.py [FOLDER]      # a Kafka log directory; by default examples/cluster/logs

Needs ``generated[arrow]`` and ``pipeline[spark,java]``; ``nox -s pipeline`` installs them and runs this.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from kafka_messages_spark import cluster_metadata, consumer_offsets, register
from kafka_messages_spark.java import ensure_java
from kafka_messages_spark.jobs import transactions
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

COLUMNS = ("group", "topic", "partition", "offset", "metadata")
CLUSTER = Path(__file__).resolve().parent / "cluster" / "logs"


def main(folder: str) -> int:
    """Show the tables; the exit status is that of the transactions job, but findings are what the demo is about."""
    spark = session()
    try:
        register(spark)
        records = spark.read.format("kafka_log").option("recursiveFileLookup", "true").load(folder)
        show_records(records)
        show_offsets(records.where("topic = '__consumer_offsets'").transform(consumer_offsets))
        show_configs(records.where("topic = '__cluster_metadata'").transform(cluster_metadata))
        heading("Transactions: python -m kafka_messages_spark.jobs.transactions FOLDER")
        return transactions.main([folder, "--exit-zero", "--quiet"])
    finally:
        spark.stop()


def session() -> SparkSession:
    """Spark on this machine, quiet, and with nothing that listens outside."""
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]").appName("pipeline demo").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.sql.session.timeZone", "UTC")
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def show_records(records: DataFrame) -> None:
    heading('What is there: spark.read.format("kafka_log")')
    topics = records.groupBy("topic").agg(
        F.countDistinct("partition").alias("partitions"),
        F.count("*").alias("records"),
        F.max("timestamp").alias("last_timestamp"),
    )
    topics.orderBy("topic").show(100, truncate=False)


def show_offsets(records: DataFrame) -> None:
    heading("Committed offsets: consumer_offsets(log), a typed struct for each record type")
    commits = records.where("record_type = 'offset_commit' and not is_tombstone")
    key, value = F.col("offset_commit.key"), F.col("offset_commit.value")
    fields = [key["group"], key["topic"], key["partition"], value["offset"], value["metadata"]]
    rows = commits.select("timestamp", *(each.alias(name) for each, name in zip(fields, COLUMNS, strict=True)))
    rows.orderBy(F.desc("timestamp")).show(10, truncate=False)


def show_configs(records: DataFrame) -> None:
    heading("Changes of topic configurations in the metadata log, which no consumer can read: cluster_metadata(log)")
    changes = records.where("record_type = 'config_record' and config_record.resource_type = 2")
    rows = changes.select(
        "offset", "timestamp", "config_record.resource_name", "config_record.name", "config_record.value"
    )
    rows.orderBy(F.desc("offset")).show(5, truncate=False)


def heading(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}\n", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else str(CLUSTER)))
