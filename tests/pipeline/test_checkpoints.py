"""Checkpoint files of log directories."""

from __future__ import annotations

from pathlib import Path

import kafka_messages
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses import transactions
from kafka_messages_spark.analyses.batches import read_batches
from kafka_messages_spark.analyses.checkpoints import (
    HIGH_WATERMARK,
    LEADER_EPOCH,
    LOG_START_OFFSET,
    high_watermarks,
    log_start_offsets,
    read_checkpoints,
)
from kafka_messages_spark.jobs import groups
from kafka_messages_spark.jobs import segments as segments_job
from kafka_messages_spark.jobs import transactions as transactions_job
from kafka_messages_spark.sources._checkpoint_files import places_of
from kafka_messages_spark.sources._files import File
from tests.pipeline.job_files import at, data, of_epoch, segment


def commits(folder: Path, **offsets: int) -> None:
    rows = []
    for topic, offset in offsets.items():
        key = kafka_messages.OffsetCommitKey(group="app", topic=topic, partition=0)
        value = kafka_messages.OffsetCommitValue(offset=offset, leader_epoch=0, commit_timestamp=at(0))
        name, content = write_coordinator_record(key, value, 4)
        rows.append({"key": name, "value": content, "timestamp": at(0)})
    segment(folder, "__consumer_offsets-0", write_batches(rows))


def checkpoint(folder: Path, *entries: str, name: str = LOG_START_OFFSET) -> Path:
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in ("0", len(entries), *entries)))
    return file


@pytest.mark.parametrize(
    ("root", "path", "name", "want"),
    [
        ("/kafka", "/kafka/orders-0/0.log", "/kafka/orders-0/0.log", ("/kafka/x", "/kafka", "/kafka/x")),
        ("orders-0", "orders-0/0.log", "orders-0/0.log", ("x", "orders-0", "x")),
        ("0.log", "0.log", "0.log", ("../x", "0.log", "../x")),
        ("s3://b/k?e=1", "b/k/o-0/0.log", "s3://b/k/o-0/0.log", ("s3://b/k/x", "s3://b/k?e=1", "b/k/x")),
        ("s3://b", "b/o-0/0.log", "s3://b/o-0/0.log", ("s3://b/x", "s3://b", "b/x")),
        ("s3://b/0.log", "b/0.log", "s3://b/0.log", None),
        ("/0.log", "/0.log", "/0.log", None),
    ],
)
def test_checkpoint_paths_are_derived_from_input_paths(
    root: str, path: str, name: str, want: tuple[str, str, str] | None
) -> None:
    files = [File(name, path, root, 0, 0), File(name, path, root, 0, 0)]
    assert places_of(files, "x") == ([] if want is None else [want])
    (place,) = places_of(files, LEADER_EPOCH)
    assert place == (name.replace("0.log", LEADER_EPOCH), root, path.replace("0.log", LEADER_EPOCH))


@pytest.mark.nightly
def test_checkpoint_sets_the_log_start_offset(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    segment(logs, "orders-0", data(0, count=30))
    segment(logs, "clicks-0", data(6, count=4), base=0)
    segment(logs, "idle-0", base=50)
    commits(logs, orders=7, clicks=5, idle=20)

    def places(name: str) -> dict[str, tuple[int, int, str]]:
        out = str(tmp_path / name)
        groups.main([str(logs), "--data", str(logs), "--output", out, "--quiet"])
        rows = spark.read.parquet(f"{out}/offsets").collect()
        return {row.topic: (row.start_offset, row.end_offset, row.place) for row in rows}

    before = places("before")
    assert before == {
        "orders": (0, 30, "within"),
        "clicks": (0, 10, "within"),  # the cleaner removed the first records: the log still begins at 0
        "idle": (50, 50, "below the log"),
    }
    file = checkpoint(logs, "orders 0 10")
    capsys.readouterr()
    assert places("after") == before | {"orders": (10, 30, "below the log")}
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["app", "orders", "0", "7", "10", "30", "below", "the", "log"] in [line[:9] for line in lines]
    for path in (f"{logs}/*-0", f"{logs}/*-0/*.log", f"{logs}/orders-0", f"{logs}/orders-0/{0:020}.log"):
        (row,) = read_checkpoints(spark, [path]).collect()
        assert tuple(row) == (str(file), "orders", 0, 10, None, None)


@pytest.mark.nightly
def test_highest_log_start_offset_of_replicas_is_used(spark: SparkSession, tmp_path: Path) -> None:
    for name, start in (("one", 10), ("two", 12), ("three", 11)):
        segment(tmp_path / name, "orders-0", data(0, count=30))
        checkpoint(tmp_path / name, f"orders 0 {start}", "other 3 4")
    segment(tmp_path / "four", "orders-0", data(0, count=30))
    segment(tmp_path / "one", "tiered-0", data(20, count=5), base=20)
    checkpoint(tmp_path / "four", "tiered 0 15")
    files = spark.createDataFrame([(str(path), path.parent.name[:-2], 0) for path in tmp_path.rglob("*.log")], PATHS)
    starts = log_start_offsets(files, read_checkpoints(spark, [str(tmp_path)]))
    found = transactions.partition_offsets(read_batches(spark, [str(tmp_path)]), starts).orderBy("topic").collect()
    assert [(row.topic, row.log_start_offset, row.first_offset, row.next_offset) for row in found] == [
        ("orders", 12, 0, 30),
        ("tiered", 15, 20, 25),
    ]


PATHS = "path string, topic string, partition int"


@pytest.mark.nightly
def test_log_of_the_last_leader_determines_start_and_end(spark: SparkSession, tmp_path: Path) -> None:
    """Topics by what the new leader wrote in place of the lost records; it has deleted some of ``old``."""
    logs = tmp_path / "logs"
    dead, alive = logs / "dead", logs / "alive"
    spans = ((0, 0, 20), (20, 1000, 10), (30, 1000, 5))
    kept, *lost = (of_epoch(0, data(first, seconds, count=count)) for first, seconds, count in spans)
    for topic, new in (
        ("few", [of_epoch(1, data(20, count=3))]),
        ("more", [of_epoch(1, data(20, count=30))]),
        ("none", []),
    ):
        segment(dead, f"{topic}-0", kept, *lost)
        segment(alive, f"{topic}-0", kept, *new)
    checkpoint(alive / "none-0", "0 0", "1 20", name=LEADER_EPOCH)
    segment(dead, "rolled-0", kept, lost[0])
    segment(dead, "rolled-0", lost[1], base=30)
    segment(alive, "rolled-0", kept, of_epoch(1, data(20, count=3)))
    segment(dead, "later-0", kept, lost[0])
    segment(alive, "later-0", kept, of_epoch(1, data(20, count=30)), of_epoch(1, data(50, 100)))
    segment(dead, "old-0", data(0, count=5))
    segment(dead, "old-0", data(5, count=5), base=5)
    segment(alive, "old-0", data(5, count=5), base=5)
    commits(alive, few=27, more=27, none=34, rolled=27, later=22, old=3)
    places = {
        "few": (0, 23, 0, "beyond the log", 20),
        "more": (0, 50, 23, "diverged", 20),
        "none": (0, 20, 0, "beyond the log", 20),
        "rolled": (0, 23, 0, "beyond the log", 20),
        "later": (0, 51, 29, "diverged", 20),
        "old": (5, 10, 7, "below the log", None),
    }
    for mode, more in (("whole", []), ("stored", ["--state", str(tmp_path / "state")])):
        out = str(tmp_path / mode)
        assert groups.main([str(logs), "--data", str(logs), "--output", out, "--quiet", *more]) == 1
        rows = spark.read.parquet(f"{out}/offsets").collect()
        columns = ("start_offset", "end_offset", "lag", "place", "diverges_at")
        assert {row.topic: tuple(row[name] for name in columns) for row in rows} == places
        assert all((row.unread_since is not None) == (row.lag > 0) for row in rows)
    out = str(tmp_path / "transactions")
    assert transactions_job.main([str(logs), "--output", out, "--quiet"]) == 0
    found = spark.read.parquet(f"{out}/partitions").where("not startswith(topic, '__')")
    assert found.selectExpr("unix_millis(max(last_timestamp))").collect()[0][0] == at(100)
    rows = found.collect()
    assert {row.topic: (row.log_start_offset, row.next_offset) for row in rows} == {
        topic: place[:2] for topic, place in places.items()
    }


@pytest.mark.nightly
def test_damaged_checkpoint_is_reported_and_ignored(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    segment(logs, "orders-0", data(0, count=30))
    commits(logs, orders=7)
    file = checkpoint(logs, "orders 0 10")
    file.write_bytes(file.read_bytes()[:-2])
    expected = "damaged checkpoint, ignored: line 3, 'orders 0 1', does not end with a newline"
    for job in (groups.main, transactions_job.main):
        out = str(tmp_path / job.__module__)
        more = ["--data", str(logs)] if job is groups.main else []
        assert job([str(logs), *more, "--output", out, "--quiet"]) == 1
        (line,) = (line for line in capsys.readouterr().out.splitlines() if "checkpoint" in line)
        assert line.endswith(expected)
        (row,) = spark.read.parquet(f"{out}/unreadable").collect()
        assert (row.file, row.topic, row.offset, row.reason) == (str(file), None, None, expected)
    (row,) = spark.read.parquet(f"{tmp_path}/{groups.main.__module__}/offsets").collect()
    assert (row.start_offset, row.place) == (0, "within")
    file.unlink()
    assert read_checkpoints(spark, [str(logs)]).collect() == []
    file.mkdir()
    (row,) = read_checkpoints(spark, [str(logs)]).collect()
    assert row.problem.startswith("the checkpoint cannot be read: ")


@pytest.mark.nightly
def test_stable_offset_below_log_start_is_raised_to_it(spark: SparkSession, tmp_path: Path) -> None:
    segment(tmp_path, "orders-0", data(0, producer=1), data(1, count=9))
    segment(tmp_path, "orders-1", data(0, count=9))
    checkpoint(tmp_path, "orders 0 5", "orders 1 5")
    batches = read_batches(spark, [str(tmp_path)])
    files = spark.createDataFrame([(str(tmp_path / "orders-0" / f"{0:020}.log"), "orders", 0)], PATHS)
    partitions = transactions.partition_offsets(
        batches, log_start_offsets(files, read_checkpoints(spark, [str(tmp_path)]))
    )
    found = transactions.stable_offsets(transactions.find_transactions(batches), partitions).orderBy("partition")
    assert [(row.last_stable_offset, row.blocked_offsets) for row in found.collect()] == [(5, 5), (9, 0)]


def test_highest_high_watermark_of_replicas_is_used(spark: SparkSession, tmp_path: Path) -> None:
    for name, mark in (("one", 8), ("two", 9)):
        segment(tmp_path / name, "orders-0", data(0, count=10))
        segment(tmp_path / name, "orders-1", data(0, count=10))
        checkpoint(tmp_path / name, f"orders 0 {mark}", "other 3 4", name=HIGH_WATERMARK)
    batches = read_batches(spark, [str(tmp_path)])
    marks = high_watermarks(read_checkpoints(spark, [str(tmp_path)], HIGH_WATERMARK))
    found, partitions = transactions.find_transactions(batches), transactions.partition_offsets(batches)
    stable = transactions.stable_offsets(found, partitions, marks).orderBy("partition")
    assert [(row.next_offset, row.high_watermark) for row in stable.collect()] == [(10, 9), (10, None)]
    assert {row.high_watermark for row in transactions.stable_offsets(found, partitions).collect()} == {None}


@pytest.mark.nightly
def test_log_ending_below_its_high_watermark_is_a_finding(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, mark in (("one", 12), ("two", 10)):
        segment(tmp_path / name, "orders-0", data(0, count=4))
        segment(tmp_path / name, "orders-0", data(4, count=6), base=4)
        segment(tmp_path / name, "orders-1", data(0, count=10))
        checkpoint(tmp_path / name, f"orders 0 {mark}", "orders 1 7", "other 3 4", name=HIGH_WATERMARK)
    out = tmp_path / "out"
    assert segments_job.main([str(tmp_path / "one"), str(tmp_path / "two"), "--output", str(out), "--quiet"]) == 0
    assert "a log that ends below the high watermark of the broker" in capsys.readouterr().out
    (row,) = spark.read.parquet(f"{out}/findings").collect()
    file = tmp_path / "one" / "orders-0" / f"{4:020}.log"
    detail = "ends at offset 10, below the high watermark 12: truncated, or copied before the checkpoint"
    assert row.asDict() == {
        "check": "high_watermark",
        "severity": "info",
        "file": str(file),
        "topic": "orders",
        "partition": 0,
        "position": None,
        "offset": 10,
        "count": 2,
        "detail": detail,
    }
    damaged = checkpoint(tmp_path / "two", "orders 0 1", name=HIGH_WATERMARK)
    damaged.write_bytes(damaged.read_bytes()[:-2])
    assert segments_job.main([str(tmp_path / "two"), "--quiet"]) == 1
    expected = "damaged checkpoint, ignored: line 3, 'orders 0 ', does not end with a newline"
    assert any(line.endswith(expected) for line in capsys.readouterr().out.splitlines())
