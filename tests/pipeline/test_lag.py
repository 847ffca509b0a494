"""Lag of groups in records and time."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from kafka_records.segments.batch_headers import read_batch_headers
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import packed as packed_batches
from kafka_messages_spark.analyses.groups import committed_offsets
from kafka_messages_spark.analyses.lag import with_lag_times
from kafka_messages_spark.analyses.transactions import partition_offsets, stable_offsets
from tests.pipeline.job_files import data, segment

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


def test_packed_batches_give_the_same_lag_times(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed_batches, "_MOST", 3)
    random = Random(1)
    for folder in ("a/orders-0", "a/orders-1", "b/orders-1"):  # with a copy that lacks other batches
        offset, files = 0, dict[int, bytes]()
        for base in range(3):
            for _ in range(8):
                if random.random() < 0.8:
                    files[base] = files.get(base, b"") + data(offset, offset * 37 % 99, count=2)
                offset += random.choice([2, 3])
        for base, content in files.items():
            segment(tmp_path, folder, content, base=base)
    rows, packs = [], []
    for path in tmp_path.glob("*/*/*.log"):
        with read_batch_headers(str(path), mode="PERMISSIVE") as found:
            for batch in found:
                rows.append(batch)
                packs.append(packed_batches.packed(batch))
    offsets = [("g", "orders", partition, at, 1) for partition in (0, 1) for at in range(70)]
    committed = spark.createDataFrame(
        offsets, "group string, topic string, partition int, committed_offset long, lag long"
    )
    whole, near = (spark.createDataFrame(pa.Table.from_batches(each)) for each in (rows, packs))
    near = packed_batches.batches_near(near.withColumn("corrupt", F.lit(None).cast("string")), committed)
    wanted = {tuple(row) for row in with_lag_times(committed, whole).collect()}
    assert {tuple(row) for row in with_lag_times(committed, near).collect()} == wanted
    assert len({row[-1] for row in wanted}) > 10
