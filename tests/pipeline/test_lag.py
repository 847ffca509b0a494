"""Lag of groups in records and time."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
from kafka_records.segments.batch_headers import read_batch_headers
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark.analyses import packed as packed_batches
from kafka_messages_spark.analyses.copies import lost_epochs
from kafka_messages_spark.analyses.groups import committed_offsets
from kafka_messages_spark.analyses.lag import STATUSES, with_lag_times, with_statuses, worst_status
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
    rows = with_lag_times(offsets, found, as_of=10**6).orderBy("topic").collect()
    assert [(row.topic, row.place, row.end_offset, row.lag, row.time_lag_ms, row.oldest_unread_ms) for row in rows] == [
        ("orders", "within", 10, 6, None, None),
        ("other", None, None, None, None, None),
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


def test_packed_batches_give_the_same_lag_times(spark: SparkSession, tmp_path: Path) -> None:
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
                packs.append(packed_batches.packed(batch, most=3))
    offsets = [("g", "orders", partition, at, 5, 1) for partition in (0, 1) for at in range(70)]
    committed = spark.createDataFrame(
        offsets, "group string, topic string, partition int, committed_offset long, start_offset long, lag long"
    )
    whole, near = (spark.createDataFrame(pa.Table.from_batches(each)) for each in (rows, packs))
    near = near.withColumn("corrupt", F.lit(None).cast("string"))
    near = packed_batches.batches_near(near, committed, lost_epochs(near))
    wanted = {tuple(row) for row in with_lag_times(committed, whole, 100_000).collect()}
    assert {tuple(row) for row in with_lag_times(committed, near, 100_000).collect()} == wanted
    assert len({row[-2:] for row in wanted}) > 10


NOW = 10_000
"""Time of the evaluation in seconds; the log ends grow by one record per second from 0 to this time."""
REMOVED = None
# Commits of a partition as pairs of time and offset, and the expected status and share of the window.
CASES: dict[str, tuple[list[tuple[int, int | None]], str, float]] = {
    "no lag now": ([(9000, 5000), (9999, NOW)], "OK", 0.2),
    "no lag at one commit": ([(9700, 9700), (9800, 9750), (9900, 9750)], "OK", 0.3),
    "lag that decreases": ([(9700, 9000), (9800, 9200), (9900, 9350)], "OK", 0.3),
    "lag that grows": ([(9700, 9000), (9800, 9050), (9900, 9060)], "WARN", 0.3),
    "constant lag": ([(9700, 9000), (9800, 9100), (9900, 9200)], "WARN", 0.3),
    "offsets that stay": ([(9700, 9000), (9800, 9000), (9900, 9000)], "STALL", 0.3),
    "last commit long ago": ([(9000, 8000), (9100, 8050), (9200, 8060)], "STOP", 0.3),
    "last commit long ago, without lag": ([(9000, 9000), (9100, 9100)], "STOP", 0.2),
    "last commit long ago, without lag until recently": ([(9800, 9850), (9850, 9901)], "OK", 0.2),
    "offset that went back": ([(9700, 9650), (9800, 9000), (9900, 9100)], "REWIND", 0.3),
    "offset that went back and recovered": ([(9700, 9600), (9800, 9500), (9900, 9600)], "WARN", 0.3),
    "offset that went back twice": ([(9600, 9500), (9700, 9400), (9800, 9600), (9900, 9500)], "REWIND", 0.4),
    "one commit": ([(9950, 9901)], "OK", 0.1),
    "one commit long ago": ([(100, 50)], "STOP", 0.1),
    "went back before the last ten commits": (
        [(9000, 9000), *((9100 + 80 * each, 8000 + each) for each in range(10))],
        "WARN",
        1.0,
    ),
    "went back after a removal": ([(9700, 9650), (9750, REMOVED), (9800, 9000), (9900, 9150)], "OK", 0.2),
}


def test_statuses_follow_burrows_rules(spark: SparkSession) -> None:
    rows: list[tuple[Any, ...]] = []
    ends: list[tuple[Any, ...]] = []
    for number, (commits, _, _) in enumerate(CASES.values()):
        rows += [
            ("g", "t", number, offset, 0, "", moment(at), 0, offset is None, "log", 0, place)
            for place, (at, offset) in enumerate(commits)
        ]
        ends += [
            (f"/t-{number}/{0:020}.log", "t", number, at, at, moment(at), moment(at), -1, None)
            for at in (0, *range(49, NOW, 50), *range(9901, 9904))
        ]
    ends.append((f"/t-0/{0:020}.log", "t", 0, NOW - 1, NOW - 1, None, None, -1, None))
    history, found = spark.createDataFrame(rows, HISTORY), spark.createDataFrame(ends, BATCHES)
    offsets = with_lag_times(committed_offsets(history, partition_offsets(found)), found, NOW * 1000)
    rated = with_statuses(offsets, history, found, NOW * 1000)
    actual = {row.partition: (row.status, row.complete) for row in rated.collect()}
    assert dict(zip(CASES, (actual[number] for number in range(len(CASES))), strict=True)) == {
        name: (status, complete) for name, (_, status, complete) in CASES.items()
    }


def moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def test_status_of_a_group_is_the_worst_of_its_partitions(spark: SparkSession) -> None:
    groups: dict[str, list[str | None]] = {
        "fine": ["OK", "OK", None],
        "slow": ["OK", "WARN"],
        "unknown": [None],
        **{name: [name, "WARN"] for name in STATUSES[4:]},
    }
    rows = [(group, status) for group, some in groups.items() for status in some]
    found = spark.createDataFrame(rows, "group string, status string").groupBy("group")
    assert dict(found.agg(worst_status(F.col("status"))).collect()) == {
        "fine": "OK",
        "slow": "WARN",
        "unknown": None,
        "STOP": "ERR",
        "STALL": "ERR",
        "REWIND": "ERR",
    }
