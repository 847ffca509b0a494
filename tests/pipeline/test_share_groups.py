"""Offsets and lag of share groups."""

from __future__ import annotations

import json
from pathlib import Path

import kafka_messages
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession

from kafka_messages_spark import register
from kafka_messages_spark.analyses.batches import read_batches
from kafka_messages_spark.analyses.internal_topics import consumer_offsets, share_group_state
from kafka_messages_spark.analyses.share_groups import share_offsets, topic_names
from kafka_messages_spark.analyses.transactions import partition_offsets
from kafka_messages_spark.jobs.groups import main
from tests.pipeline.job_files import at, segment

CLUSTER = Path(__file__).parents[2] / "examples" / "cluster"


def test_share_offsets_of_a_real_broker_equal_admin_client(spark: SparkSession) -> None:
    register(spark)
    log = spark.read.format("kafka_log").option("includeBatchMetadata", "true").load(f"{CLUSTER}/logs/__*")
    names = topic_names(consumer_offsets(log))
    partitions = partition_offsets(read_batches(spark, [str(CLUSTER / "logs")]))
    rows = share_offsets(share_group_state(log), names, partitions).collect()
    expected = json.loads((CLUSTER / "expected.json").read_text())["share_groups"]
    assert {row.group for row in rows} == expected.keys()
    found = {f"{row.topic}-{row.partition}": row.start_offset for row in rows}
    assert found == expected["workers"]["start_offsets"]
    assert {(row.partition, row.delivered, row.end_offset, row.lag) for row in rows} == {(0, 3, 4, 0), (1, 0, 4, 3)}


def state(kind: str, group: str, partition: int, start: int | None, delivered: int = -1) -> tuple[bytes, bytes | None]:
    key = getattr(kafka_messages, f"Share{kind}Key")(group_id=group, partition=partition)
    if start is None:
        return write_coordinator_record(key)
    value = getattr(kafka_messages, f"Share{kind}Value")(start_offset=start, delivery_complete_count=delivered)
    return write_coordinator_record(key, value, 0)


def test_snapshots_and_updates_give_the_share_offsets(spark: SparkSession, tmp_path: Path) -> None:
    states = [
        state("Snapshot", "g", 0, 10, 0),
        state("Update", "g", 0, -1, 4),
        state("Snapshot", "g", 1, 7, 1),
        state("Update", "g", 1, 9),
        state("Snapshot", "g", 2, 5, 0),
        state("Snapshot", "g", 2, None),
        state("Snapshot", "g", 3, -1),
        state("Snapshot", "h", 0, 3, 0),
        state("Snapshot", "h", 0, None),
        state("Snapshot", "h", 0, 1, 0),
        state("Snapshot", "g", 4, 30, 2),
    ]
    rows = [{"key": key, "value": value, "timestamp": at(0)} for key, value in states]
    segment(tmp_path, "__share_group_state-0", write_batches(rows))
    register(spark)
    log = spark.read.format("kafka_log").option("includeBatchMetadata", "true").load(f"{tmp_path}/*")
    values = ", ".join(f"('t', {partition}, 20L)" for partition in range(5))
    ends = spark.sql(f"select * from values {values} as t(topic, partition, next_offset)")
    names = spark.sql("select 'AAAAAAAAAAAAAAAAAAAAAA' as topic_id, 't' as topic")
    found = share_offsets(share_group_state(log), names, ends).collect()
    assert {(row.group, row.partition): (row.start_offset, row.delivered, row.lag) for row in found} == {
        ("g", 0): (10, 4, 6),
        ("g", 1): (9, None, None),
        ("h", 0): (1, 0, 19),
        ("g", 4): (30, 2, 0),
    }
    without = share_offsets(share_group_state(log), names).collect()
    assert {(row.end_offset, row.lag) for row in without} == {(None, None)}


@pytest.mark.nightly
def test_share_group_lag_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    logs, place = f"{CLUSTER}/logs", tmp_path / "report.json"
    argv = [f"{logs}/__*", "--data", f"{logs}/clicks-*", "--group", "workers", "--group", "chatty", "--sort", "lag"]
    assert main([*argv, "--report", str(place), "--quiet"]) == 1
    groups = next(each for each in json.loads(place.read_text())["sections"] if each["title"] == "Groups")
    rows = groups["tables"][0]["rows"]
    assert [(row["group"], row["type"], row["partitions"], row["lag"]) for row in rows] == [
        ("workers", "share", 2, 3),
        ("chatty", None, 1, 0),
    ]
