"""Lag of groups in records and time."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark.analyses.groups import committed_offsets
from kafka_messages_spark.analyses.lag import with_lag_times
from kafka_messages_spark.analyses.transactions import partition_offsets, stable_offsets

MAX_SHOWN = (1 << 63) - 1
HISTORY = (
    "group string, topic string, partition int, committed_offset long, leader_epoch int, metadata string, "
    "time timestamp, members long, is_tombstone boolean, log_topic string, log_partition int, log_offset long"
)
BATCHES = (
    "file string, topic string, partition int, base_offset long, last_offset long, "
    "first_timestamp timestamp, max_timestamp timestamp, producer_id long, control_type string"
)


def history(spark: SparkSession, *commits: tuple[str, int]) -> DataFrame:
    rows = [("g", topic, 0, offset, 0, "", None, 0, False, "log", 0, at) for at, (topic, offset) in enumerate(commits)]
    return spark.createDataFrame(rows, HISTORY)


def batches(spark: SparkSession, *rows: tuple[str, int, int]) -> DataFrame:
    files = [(f"/{topic}-0/{0:020}.log", topic, 0, first, last, None, None, -1, None) for topic, first, last in rows]
    return spark.createDataFrame(files, BATCHES)


def test_lag_is_unknown_without_log(spark: SparkSession) -> None:
    found = batches(spark, ("orders", 0, 9))
    offsets = committed_offsets(history(spark, ("orders", 4), ("other", 4)), partition_offsets(found))
    rows = with_lag_times(offsets, found).orderBy("topic").collect()
    assert [(row.topic, row.place, row.end_offset, row.lag, row.lag_ms) for row in rows] == [
        ("orders", "within", 10, 6, None),
        ("other", None, None, None, None),
    ]


def test_lag_of_the_largest_offsets_does_not_overflow(spark: SparkSession) -> None:
    found = batches(spark, ("orders", 0, MAX_SHOWN))
    partitions = partition_offsets(found)
    row = committed_offsets(history(spark, ("orders", 4)), partitions).collect()[0]
    assert (row.end_offset, row.lag) == (MAX_SHOWN, MAX_SHOWN - 4)
    none = spark.sql(
        "select 'orders' topic, 0 partition, 'open' status, -2L first_offset, null first_timestamp limit 0"
    )
    stable = stable_offsets(none, partitions).collect()[0]
    assert (stable.next_offset, stable.last_stable_offset, stable.blocked_offsets) == (MAX_SHOWN, MAX_SHOWN, 0)
