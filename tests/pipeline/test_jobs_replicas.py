"""Jobs count records once when several replicas and snapshots are read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kafka_messages as km
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from pyspark.sql import SparkSession

from kafka_messages_spark import cluster_metadata, consumer_offsets, register
from kafka_messages_spark.analyses import groups
from kafka_messages_spark.analyses.batches import read_batches
from kafka_messages_spark.analyses.copies import counts, once
from kafka_messages_spark.analyses.metadata import records_of
from kafka_messages_spark.analyses.transactions import find_transactions
from kafka_messages_spark.jobs import encodings, internal_topics
from kafka_messages_spark.jobs._selection import FileSummary, select_files
from tests.pipeline.job_files import at, metadata, segment

OFFSETS = "__consumer_offsets-0"
METADATA = "__cluster_metadata"


def commits(offset: int, count: int = 3, *, group: str = "g", **more: Any) -> bytes:
    key = km.OffsetCommitKey(group=group, topic="orders", partition=0)
    rows = []
    for each in range(offset, offset + count):
        name, value = write_coordinator_record(key, km.OffsetCommitValue(offset=each), 4)
        rows.append({"key": name, "value": value, "timestamp": at(each)})
    return write_batches(rows, base_offset=offset, **more)


def damaged(batch: bytes) -> bytes:
    return batch[:-1] + bytes([batch[-1] ^ 1])


def topics(offset: int, *names: str) -> bytes:
    return metadata(offset, 0, *(km.TopicRecord(name=name) for name in names))


def snapshot(folder: Path, end: int, records: Sequence[Any], *, is_cut: bool = False) -> Path:
    header = write_control_batch("SNAPSHOT_HEADER", bytes(12), offset=0)
    footer = b"" if is_cut else write_control_batch("SNAPSHOT_FOOTER", bytes(3), offset=1 + len(records))
    name = f"{end:020}-{1:010}.checkpoint"
    return segment(folder, f"{METADATA}-0", header, metadata(1, 0, *records), footer, name=name)


def rows_of(report: str) -> dict[str, int]:
    lines = [line.split() for line in report.split("\n\n")[-1].splitlines()[1:]]
    return {words[0]: int(words[1]) for words in lines}


@pytest.fixture
def replicas(tmp_path: Path) -> Path:
    log = [commits(offset) for offset in range(0, 15, 3)]
    segment(tmp_path / "b1", OFFSETS, *log[:3], log[3][:-5])
    segment(tmp_path / "b2", OFFSETS, log[0], damaged(log[1]), *log[2:])
    return tmp_path


REPLICAS = """\
Records of an internal topic
============================

selected  15 records of 1 partition, from 2 files
copies    6 in other replicas, not counted

record type    records  tombstones  problems  first offset  last offset
offset_commit       15           0         0  0             14
unreadable           1           0         1  -             -
"""


@pytest.mark.nightly
def test_records_of_replicas_are_read_once(
    spark: SparkSession, replicas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(replicas / "out")
    arguments = ["consumer_offsets", str(replicas / "b1"), str(replicas / "b2"), "--quiet"]
    assert internal_topics.main([*arguments, "--output", out]) == 1
    assert capsys.readouterr().out == REPLICAS
    found = spark.read.parquet(f"{out}/offset_commit").select("offset", "record.value.offset").collect()
    assert sorted(map(tuple, found)) == [(each, each) for each in range(15)]


@pytest.mark.nightly
def test_latest_of_replicas_counts_each_key_once(replicas: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert internal_topics.main(["consumer_offsets", str(replicas), "--latest", "--quiet"]) == 1
    report = capsys.readouterr().out
    assert [line.split() for line in report.splitlines()[-2:]] == [
        ["offset_commit", "1", "0", "0", "14", "14"],
        ["unreadable", "1", "0", "1", "-", "-"],
    ]


@pytest.mark.nightly
def test_encodings_of_replicas_are_measured_once(
    spark: SparkSession, replicas: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert encodings.main(["consumer_offsets", str(replicas), "--quiet", "--output", str(replicas / "out")]) == 1
    measured = spark.read.parquet(str(replicas / "out" / "messages")).select("message", "messages", "malformed")
    assert sorted(map(tuple, measured.collect())) == [("OffsetCommitKey", 15, 0), ("OffsetCommitValue", 15, 0)]
    assert "copies    6 in other replicas, not counted\n" in capsys.readouterr().out


def test_duplicate_batches_are_counted_as_copies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, OFFSETS, commits(0), commits(3), commits(0))
    segment(tmp_path, OFFSETS, commits(3), name="copy.log")
    assert internal_topics.main(["consumer_offsets", str(tmp_path), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert rows_of(report) == {"offset_commit": 6}
    assert "copies    6 in other replicas" in report


def test_differing_copies_are_findings(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path / "b1", OFFSETS, commits(0, leader_epoch=1), commits(3, group="stale", leader_epoch=1))
    segment(tmp_path / "b2", OFFSETS, commits(0, leader_epoch=1), commits(3, group="right", leader_epoch=2))
    assert internal_topics.main(["consumer_offsets", str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 1
    want = "differing  3 offsets with differing copies; the copy with the highest leader epoch was used\n"
    assert want in capsys.readouterr().out
    found = spark.read.parquet(str(tmp_path / "out" / "offset_commit")).select("offset", "record.key.group")
    assert [group for _, group in sorted(map(tuple, found.collect()))] == ["g"] * 3 + ["right"] * 3


def test_folders_without_topic_name_count_as_partitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        segment(tmp_path, name, commits(0))
    assert internal_topics.main(["consumer_offsets", str(tmp_path), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert rows_of(report) == {"offset_commit": 6}
    assert "selected  6 records of 2 partitions, from 2 files\n" in report
    assert "unnamed   2 folders without topic and partition in the name, each read as one partition\n" in report


def test_snapshots_are_skipped_if_the_log_is_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("b1", "b2"):
        snapshot(tmp_path / name, 2, [km.TopicRecord(name="a"), km.TopicRecord(name="b")])
        segment(tmp_path / name, f"{METADATA}-0", topics(0, "a", "b"), topics(2, "c"))
    segment(tmp_path, "a copy of some day", topics(0, "a", "b"))
    assert internal_topics.main(["cluster_metadata", str(tmp_path), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert rows_of(report) == {"topic_record": 3}
    assert report.split("\n\n")[1] == (
        "selected  3 records of 1 partition, from 2 files\n"
        "copies    3 in other replicas, not counted\n"
        "skipped   2 snapshots: not needed, the log starts at offset 0"
    )


def test_folder_of_bootstrap_snapshot_is_not_reported_as_unnamed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, OFFSETS, commits(0))
    snapshot(tmp_path, 1, [km.TopicRecord(name="a")]).rename(tmp_path / "bootstrap.checkpoint")
    assert internal_topics.main(["consumer_offsets", str(tmp_path), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert rows_of(report) == {"offset_commit": 3}
    assert "unnamed" not in report


def test_snapshot_is_used_if_the_log_does_not_start_at_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = [km.TopicRecord(name=name) for name in ("a", "b", "c")]
    snapshot(tmp_path / "b1", 12, state, is_cut=True)
    snapshot(tmp_path / "b2", 12, state)
    broken = snapshot(tmp_path / "b3", 12, state)
    broken.write_bytes(broken.read_bytes()[:120])
    snapshot(tmp_path / "b1", 14, state)
    segment(tmp_path / "b1", f"{METADATA}-0", topics(11, "c"), topics(12, "d"), topics(13, "e"), base=11)
    assert internal_topics.main(["cluster_metadata", str(tmp_path), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert rows_of(report) == {"topic_record": 5}
    assert "selected  2 records of 1 partition, from 1 file\n" in report
    assert "snapshot  3 records, the state up to offset 11: " in report
    assert "skipped   3 snapshots: not needed with the selected snapshot\n" in report


def held(
    file: str, first: int | None = None, last: int | None = None, records: int | None = 1, **more: Any
) -> FileSummary:
    topic, partition = ("t", 0) if "-0/" in file else (None, None)
    return FileSummary(file, more.pop("topic", topic), partition, first, last, records, **more)


def state(end: int, records: int, folder: str = "a") -> FileSummary:
    name = f"{folder}/{METADATA}-0/{end:020}-{1:010}.checkpoint"
    return FileSummary(name, METADATA, 0, 0, records, records)


def meta(first: int, last: int) -> FileSummary:
    return FileSummary(f"a/{METADATA}-0/{first:020}.log", METADATA, 0, first, last, 1 + last - first)


@pytest.mark.parametrize(
    ("files", "chosen", "start", "reason"),
    [
        ([meta(0, 9), state(4, 2)], None, 0, "not needed, the log starts at offset 0"),
        ([meta(0, 9), state(4, 2), state(8, 2)], None, 0, "not needed, the log starts at offset 0"),
        ([state(4, 2), state(8, 3), state(8, 5, "b"), state(8, 4, "c")], 2, 8, "not needed with the selected snapshot"),
        ([meta(5, 9), state(4, 2), state(5, 2), state(8, 3)], 2, 5, "not needed with the selected snapshot"),
        ([meta(5, 9), state(10, 3), state(11, 3)], 1, 10, "not needed with the selected snapshot"),
        ([meta(0, 4), state(4, 2), state(21, 3), meta(20, 24)], 2, 21, "not needed with the selected snapshot"),
        (
            [meta(5, 9), state(4, 3), state(11, 3)],
            None,
            0,
            "no overlap with the log, which has no gaps from offset 5 on",
        ),
        (
            [meta(5, 9), state(4, 2)],
            None,
            0,
            "no overlap with the log, which has no gaps from offset 5 on",
        ),
    ],
    ids=[
        "whole log",
        "whole log and two",
        "no log",
        "oldest",
        "after the log",
        "a gap in the log",
        "gap",
        "gap and one",
    ],
)
def test_snapshot_that_the_log_continues_is_selected(
    files: list[FileSummary], chosen: int | None, start: int, reason: str
) -> None:
    found = select_files(files)
    assert found.snapshot == (None if chosen is None else files[chosen])
    assert (found.start, found.skip_reason) == (start, reason)
    assert len(found.skipped) == sum(each.is_snapshot and each != found.snapshot for each in files)


@pytest.mark.parametrize(
    ("files", "twice"),
    [
        ([held("a/t-0/0.log", 0, 4), held("a/t-0/5.log", 5, 9)], False),
        ([held("a/t-0/0.log", 0, 4), held("b/t-0/4.log", 4, 9)], True),
        ([held("a/t-0/0.log", 0, 9), held("a/t-0/1.log", 1, 2), held("a/t-0/5.log", 12, 13)], True),
        ([held("a/0.log", 0, 4), held("b/0.log", 0, 4)], False),
        ([held("a/0.log", 0, 4), held("a/1.log", 0, 4)], True),
        ([held("a/t-0/0.log", 0, 4, repeats=1)], True),
        ([held("a/t-0/0.log"), held("b/t-0/0.log")], False),
    ],
    ids=["pieces", "replicas", "within", "no names", "no name", "one file", "no batch"],
)
def test_overlapping_offsets_are_detected(files: list[FileSummary], twice: bool) -> None:
    assert select_files(files).is_twice is twice


def test_functions_use_the_copy_with_the_highest_leader_epoch(spark: SparkSession, tmp_path: Path) -> None:
    of_producer: dict[str, Any] = {
        "producer_id": 7,
        "producer_epoch": 0,
        "base_sequence": 0,
        "is_transactional": True,
    }
    key = km.OffsetCommitKey(group="g", topic="orders", partition=0)
    for folder, epoch in (("b1", 1), ("b2", 2), ("b3", 1)):
        name, value = write_coordinator_record(key, km.OffsetCommitValue(offset=epoch), 4)
        segment(tmp_path / folder, OFFSETS, write_batches([{"key": name, "value": value}], leader_epoch=epoch))
        segment(tmp_path / folder, f"{METADATA}-0", metadata(0, 0, km.TopicRecord(name=f"t{epoch}"), epoch=epoch))
        rows = [{"value": b"v", "timestamp": at(epoch)}] * epoch
        segment(tmp_path / folder, "orders-0", write_batches(rows, leader_epoch=epoch, **of_producer))
    register(spark)
    reader = spark.read.format("kafka_log").option("includeBatchMetadata", "true")

    (commit,) = groups.offset_commits(consumer_offsets(reader.load(f"{tmp_path}/b*/{OFFSETS}"))).collect()
    assert commit.committed_offset == 2
    (topic,) = records_of(cluster_metadata(reader.load(f"{tmp_path}/b*/{METADATA}-0"))).collect()
    assert topic.topic_record.name == "t2"
    (found,) = find_transactions(read_batches(spark, [f"{tmp_path}/b*/orders-0"])).collect()
    assert (found.records, found.batches) == (2, 1)


def test_once_removes_duplicate_records(spark: SparkSession, tmp_path: Path) -> None:
    log = [{"key": b"k%d" % each, "value": b"v", "timestamp": at(each)} for each in range(4)]
    bad = damaged(write_batches(log, base_offset=4))
    segment(tmp_path / "b1", "t-0", write_batches(log[:2]), bad)
    segment(tmp_path / "b2", "t-0", write_batches(log[1:], base_offset=1), bad)
    register(spark)
    reader = spark.read.format("kafka_log").option("mode", "PERMISSIVE").option("recursiveFileLookup", "true")
    for has_file in ("true", "false"):
        rows = reader.option("includeBatchMetadata", has_file).load(str(tmp_path))
        found = sorted((row.offset is None, row.offset, row.key) for row in once(rows).collect())
        assert [offset for _, offset, _ in found] == [0, 1, 2, 3, None, None]
        assert counts(rows).collect() == [(4, 1, 0)]
    with pytest.raises(ValueError, match=r"^once: unknown column 'offset'"):
        once(reader.load(str(tmp_path)).drop("offset"))
