"""Spark's Kafka connector on a running broker, compared with this project on the broker's files."""

from __future__ import annotations

import json
import time
from functools import reduce
from itertools import pairwise
from operator import or_
from pathlib import Path
from typing import Any

import pytest
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import consumer_offsets, register, share_group_state, transaction_state
from kafka_messages_spark.analyses.batches import read_batches
from kafka_messages_spark.analyses.transactions import find_transactions, partition_offsets, stable_offsets
from tests.interop.make import Live
from tests.interop.spark import OFFSETS_BY_CONSUMER
from tests.interop.wire import Connection
from tests.support.cluster import COORDINATORS, METADATA, Cluster

SECONDS = 300
TABLES = dict(zip(COORDINATORS, (consumer_offsets, share_group_state, transaction_state), strict=True))
DATA = ("clicks", "orders", "payments", "readings", "returns", "settings")


def connector(spark: SparkSession, broker: Live, *topics: str, **more: str) -> DataFrame:
    reader = spark.read.format("kafka").option("kafka.bootstrap.servers", broker.broker.bootstrap)
    return reader.options(subscribe=",".join(topics), includeHeaders="true", **more).load()


def files(spark: SparkSession, cluster: Cluster, *topics: str) -> DataFrame:
    register(spark)
    paths = json.dumps([f"{cluster.logs}/{topic}-[0-9]" for topic in topics])
    return spark.read.format("kafka_log").options(includeHeaders="true", paths=paths).load()


def rows(df: DataFrame) -> list[Any]:
    found: list[Any] = df.orderBy("topic", "partition", "offset").collect()
    return found


def captured(cluster: Cluster) -> Column:
    """Return the condition for rows that the copied files contain; Spark's consumer groups write later rows."""
    ends = [
        (F.col("topic") == topic) & (F.col("partition") == each["partition"]) & (F.col("offset") < each["end"])
        for topic, described in cluster.expected["topics"].items()
        for each in described["partitions"]
    ]
    captured: Column = reduce(or_, ends)
    return captured


def test_kafka_log_has_the_rows_and_types_of_the_connector(spark: SparkSession, broker: Live, cluster: Cluster) -> None:
    theirs = connector(spark, broker, *DATA, *COORDINATORS)
    ours = files(spark, cluster, *DATA, *COORDINATORS)
    assert [(each.name, each.dataType.simpleString()) for each in ours.schema] == [
        (each.name, each.dataType.simpleString()) for each in theirs.schema
    ]
    want = rows(theirs.where(captured(cluster)))
    assert len(want) == len(cluster.records) > 300
    assert rows(ours) == want


def test_read_committed_rows_equal_the_connector(spark: SparkSession, broker: Live, cluster: Cluster) -> None:
    want = rows(connector(spark, broker, "payments", **{"kafka.isolation.level": "read_committed"}))
    register(spark)
    batches = read_batches(spark, [f"{cluster.logs}/payments-*"])
    found = find_transactions(batches)
    stable = stable_offsets(found, partition_offsets(batches)).select("topic", "partition", "last_stable_offset")
    log = spark.read.format("kafka_log").options(includeBatchMetadata="true", includeHeaders="true")
    df = log.load(f"{cluster.logs}/payments-*").where("NOT is_control")
    before = df.join(stable, ["topic", "partition"]).where("offset < last_stable_offset")
    aborted = found.where("status = 'aborted'").select(
        "topic", "partition", "producer_id", "first_offset", "last_offset"
    )
    within = (
        (F.col("d.topic") == F.col("a.topic"))
        & (F.col("d.partition") == F.col("a.partition"))
        & (F.col("d.producer_id") == F.col("a.producer_id"))
        & F.col("d.offset").between(F.col("a.first_offset"), F.col("a.last_offset"))
    )
    kept = before.alias("d").join(aborted.alias("a"), within, "left_anti")
    assert rows(kept.select(*want[0].__fields__)) == want
    assert 0 < len(want) < len([place for place in cluster.records if place[0] == "payments"])
    option = spark.read.format("kafka_log").options(includeHeaders="true", isolationLevel="read_committed")
    assert rows(option.load(f"{cluster.logs}/payments-*")) == want


@pytest.mark.parametrize("topic", TABLES)
def test_internal_topics_equal_the_connector(spark: SparkSession, broker: Live, cluster: Cluster, topic: str) -> None:
    want = rows(files(spark, cluster, topic).transform(TABLES[topic]))
    found = rows(connector(spark, broker, topic).where(captured(cluster)).transform(TABLES[topic]))
    assert len(found) > 20
    assert found == want


def test_internal_topic_is_decoded_in_a_stream(
    spark: SparkSession, broker: Live, cluster: Cluster, tmp_path: Path
) -> None:
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker.broker.bootstrap)
    stream = source.options(
        subscribe="__consumer_offsets", startingOffsets="earliest", includeHeaders="true", maxOffsetsPerTrigger="25"
    ).load()
    sink = stream.transform(consumer_offsets).writeStream.format("parquet")
    options = {"path": str(tmp_path / "table"), "checkpointLocation": str(tmp_path / "checkpoint")}
    query = sink.options(**options).trigger(availableNow=True).start()
    try:
        assert query.awaitTermination(SECONDS)
        assert query.lastProgress is not None
        assert query.lastProgress.batchId > 1
    finally:
        query.stop()
    want = rows(files(spark, cluster, "__consumer_offsets").transform(consumer_offsets))
    assert rows(spark.read.parquet(str(tmp_path / "table")).where(captured(cluster))) == want


def test_stream_reads_files_that_a_broker_appends_to(spark: SparkSession, broker: Live, tmp_path: Path) -> None:
    register(spark)
    paths = json.dumps([f"{broker.broker.logs}/{topic}-*" for topic in ("orders", "readings")])
    options = {"path": str(tmp_path / "table"), "checkpointLocation": str(tmp_path / "checkpoint")}

    def drain() -> list[Any]:
        stream = spark.readStream.format("kafka_log").options(includeHeaders="true", paths=paths).load()
        query = stream.writeStream.format("parquet").options(**options).trigger(availableNow=True).start()
        try:
            assert query.awaitTermination(SECONDS)
        finally:
            query.stop()
        return rows(spark.read.parquet(options["path"]))

    counts = [len(drain())]
    with Connection(broker.broker.port) as connection:
        for compression in (None, "zstd", "lz4"):
            for topic, partition in (("orders", 0), ("orders", 2), ("readings", 0)):
                now = int(time.time() * 1000)
                records = [
                    {"key": b"k", "value": b"%d" % i, "timestamp": now, "headers": [("h", None)]} for i in range(4)
                ]
                connection.produce(topic, partition, write_batches(records, compression=compression))
            time.sleep(0.3)
            counts.append(len(drain()))
    found = drain()
    assert [after - before for before, after in pairwise(counts)] == [12, 12, 12]
    assert len(found) == counts[-1]
    assert found == rows(connector(spark, broker, "orders", "readings"))
    assert len(list(broker.broker.logs.glob("readings-0/*.log"))) > 3


def test_spark_connector_skips_internal_topics_by_default(spark: SparkSession, broker: Live) -> None:
    spark.conf.set(OFFSETS_BY_CONSUMER, "false")
    try:
        assert connector(spark, broker, "__consumer_offsets").count() == 0
        assert connector(spark, broker, "orders").count() > 0
    finally:
        spark.conf.set(OFFSETS_BY_CONSUMER, "true")


def test_admin_client_does_not_list_the_metadata_topic(cluster: Cluster) -> None:
    assert METADATA not in cluster.expected["topics"]
    assert any(METADATA in batch["file"] for batch in cluster.batches)


def test_kafka_transactions_tool_finds_the_hanging_transaction(broker: Live, cluster: Cluster) -> None:
    lines = [line.split() for line in broker.find_hanging().splitlines() if line.strip()]
    table = [dict(zip(lines[0], line, strict=False)) for line in lines[1:]]
    late = cluster.expected["late"]
    found = [(each["Topic"], each["Partition"], each["ProducerId"], each["StartOffset"]) for each in table]
    assert found == [(late["topic"], str(late["partition"]), str(late["producer_id"]), str(late["offset"]))], lines
