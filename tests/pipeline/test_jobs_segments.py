"""The job segments: checks within and between files."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession
from pyspark.sql.functions import spark_partition_id

from kafka_messages_spark.analyses import segments
from kafka_messages_spark.analyses.batches import batches_in, read_batches
from kafka_messages_spark.analyses.segments import MAX_FINDINGS, RangeCheck
from kafka_messages_spark.analyses.segments._sequences import sequence_fault
from kafka_messages_spark.jobs import _output
from kafka_messages_spark.jobs.segments import main
from kafka_messages_spark.sources._segment_ranges import FileRange, ranges_of
from kafka_messages_spark.sources._shares import MAX_PARTITION_BYTES, Share, shares
from tests.pipeline.job_files import at, data, marker, segment

Found = tuple[str, str, int | None, int | None, int, str]


def broken(batch: bytes) -> bytes:
    return batch[:-1] + bytes((batch[-1] ^ 1,))


def sized(*batches: bytes) -> list[int]:
    ends = [0]
    for batch in batches:
        ends.append(ends[-1] + len(batch))
    return ends


def check(path: Path, *, with_records: bool = True) -> list[Found]:
    rows = RangeCheck(str(path), path.stat().st_size, 0, None, with_records).rows().to_pylist()
    names = ("check", "severity", "position", "offset", "count", "detail")
    return [tuple(row["finding"][name] for name in names) for row in rows if row["finding"]]


def test_gaps_overlaps_and_corrupt_batches_are_found(tmp_path: Path) -> None:
    batches = [data(5), data(8, count=2), data(9), broken(data(10)), data(11)]
    places = sized(*batches)
    assert check(segment(tmp_path, "t-0", *batches, base=5)) == [
        ("corrupt", "error", places[3], None, 1, f"{len(batches[3])} bytes: {reason(batches[3])}"),
        ("overlap", "error", places[2], 9, 1, "begins at offset 9, but offsets up to 9 precede it"),
        ("gap", "warning", places[1], 8, 2, "2 offsets from 6 are missing"),
        ("gap", "warning", places[4], 11, 1, "1 offsets from 10 are missing, after a corrupt range"),
    ]


def test_unreadable_file_is_a_finding(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "orders-3" / f"{0:020}.log")  # as if deleted after the listing; root can read any file
    columns = "path string, size long, start long, end long, base long, resume long, topic string, partition int"
    ranges = spark.createDataFrame([(path, 1000, 0, None, None, None, "orders", 3)], columns)
    checks = segments.checked_ranges(ranges, "records")
    found = segments.findings(checks).collect()
    assert [(row.check, row.severity, row.topic, row.partition) for row in found] == [
        ("unreadable", "error", "orders", 3)
    ]
    (file,) = segments.files(checks).collect()
    assert (file.verdict, file.topic, file.partition, file.batches) == ("error", "orders", 3, None)
    (row,) = _output.corrupt_batches(batches_in(ranges)).collect()
    assert (row.file, row.topic, row.partition, row.position) == (path, "orders", 3, 0)
    assert row.reason.startswith("the file cannot be read: ")


def reason(batch: bytes) -> str:
    from kafka_records.segments.frames import padded, sum_text

    return sum_text(padded(batch), 0, len(batch))


def test_highest_offset_does_not_overflow(tmp_path: Path) -> None:
    most = (1 << 63) - 1
    first, last, next_ = data(0), data(most), data(1)
    file = segment(tmp_path, "orders-0", first, last, next_)
    _, at_last, at_next, _ = sized(first, last, next_)
    assert sorted(check(file, with_records=False), reverse=True) == [
        ("overlap", "error", at_next, 1, 1, f"begins at offset 1, but offsets up to {most - 1} precede it"),
        ("gap", "warning", at_last, most, most - 1, f"{most - 1} offsets from 1 are missing"),
    ]
    alone = segment(tmp_path, "orders-1", last, base=most)
    row = RangeCheck(str(alone), alone.stat().st_size, 0, None, True).rows().to_pylist()[-1]
    assert row["summary"]["next_offset"] == most


def test_decreasing_epochs_and_times_are_found(tmp_path: Path) -> None:
    appended: dict[str, Any] = {"timestamp_type": 1}
    batches = [
        data(0, 9, leader_epoch=3),
        data(1, 5, leader_epoch=4),
        data(2, 9, leader_epoch=2),
        data(3, 7, leader_epoch=4, log_append_time=at(20), **appended),
        data(4, 7, leader_epoch=4, log_append_time=at(19), **appended),
    ]
    places = sized(*batches)
    file = segment(tmp_path, "t-0", *batches)
    assert check(file) == [
        ("leader_epoch", "error", places[2], 2, 1, "leader epoch 2 below 4"),
        ("timestamp", "warning", places[4], 4, 1, f"log append time {at(19)} below {at(20)}"),
    ]
    (row,) = (
        row["summary"]
        for row in RangeCheck(str(file), 1, 0, None, False).rows().to_pylist()
        if row["summary"] is not None
    )
    assert row["unordered_timestamps"] == 2
    assert (row["first_timestamp"], row["last_timestamp"], row["records"]) == (at(9), at(20), 5)


def test_sequence_gaps_and_duplicates_are_found(tmp_path: Path) -> None:
    batches = [
        data(0, producer=1, count=2, transactional=False),
        data(2, producer=2, sequence=7, transactional=False),
        data(3, producer=1, sequence=2),
        data(4, producer=1, sequence=2),
        data(5, producer=1, sequence=9),
        data(6, producer=1, sequence=4),
        marker("ABORT", 7, 0, 1, epoch=1),
        data(8, producer=1, epoch=1),
        data(9, producer=1, epoch=2, sequence=3),
        data(10, producer=1, epoch=1, sequence=1),
        data(11, producer=2, sequence=8),
    ]
    found = check(segment(tmp_path, "t-0", *batches))
    assert [(each[0], each[1], each[3], each[5]) for each in found] == [
        ("sequence_duplicate", "error", 4, "producer 1: duplicate sequence 2"),
        ("sequence_gap", "warning", 5, "producer 1: sequence 9, expected 3"),
        ("sequence_back", "error", 6, "producer 1: decreasing sequence 4, expected 10"),
        ("sequence_gap", "warning", 9, "producer 1: epoch 2 begins with sequence 3"),
        ("producer_epoch", "error", 10, "producer 1: epoch 1 below 2"),
    ]
    last = (1 << 31) - 1
    assert sequence_fault(0, 0, 0, 0, last) is None
    assert sequence_fault(0, last, 0, 0) == ("sequence_gap", "warning", f"sequence 0, expected {last}")
    assert sequence_fault(0, 1, 0, last) == ("sequence_back", "error", f"decreasing sequence {last}, expected 1")


def test_group_coordinator_sequences_must_be_0(tmp_path: Path) -> None:
    commits = [
        data(0, producer=1),
        data(1, producer=1, count=3),
        data(4, producer=1),
        marker("COMMIT", 5, 0, 1),
        data(6, producer=1),
        marker("ABORT", 7, 0, 1, epoch=1),
        data(8, producer=1, epoch=1),
        data(9, producer=1, epoch=1),
    ]
    assert check(segment(tmp_path, "__consumer_offsets-0", *commits)) == []
    odd = [data(10, producer=1, epoch=1, sequence=4), data(11, producer=1), data(12, producer=2, sequence=7)]
    found = check(segment(tmp_path, "__consumer_offsets-1", *commits, *odd))
    assert [(each[0], each[1], each[3], each[5]) for each in found] == [
        ("sequence_not_zero", "warning", 10, "producer 1: sequence 4, expected 0 from the group coordinator"),
        ("producer_epoch", "error", 11, "producer 1: epoch 0 below 1"),
        ("sequence_not_zero", "warning", 12, "producer 2: sequence 7, expected 0 from the group coordinator"),
    ]
    unsure = "; normal for the group coordinator, but the folder name has no topic"
    found = check(segment(tmp_path, "a copy of something", *commits[:2], data(4, producer=1, sequence=9)))
    assert [(each[0], each[1], each[3], each[5]) for each in found] == [
        ("sequence_duplicate", "info", 1, f"producer 1: duplicate sequence 0{unsure}"),
        ("sequence_gap", "warning", 4, "producer 1: sequence 9, expected 3"),
    ]


def test_append_time_below_that_of_an_earlier_leader_is_info(tmp_path: Path) -> None:
    appended: dict[str, Any] = {"timestamp_type": 1}
    batches = [
        data(0, 1000, leader_epoch=1),
        data(1, leader_epoch=1, log_append_time=at(20), **appended),
        data(2, leader_epoch=2, log_append_time=at(18), **appended),
        data(3, leader_epoch=2, log_append_time=at(30), **appended),
        data(4, leader_epoch=2, log_append_time=at(29), **appended),
    ]
    places = sized(*batches)
    assert check(segment(tmp_path, "t-0", *batches)) == [
        ("timestamp", "info", places[2], 2, 1, f"log append time {at(18)} below {at(20)} of an earlier leader"),
        ("timestamp", "warning", places[4], 4, 1, f"log append time {at(29)} below {at(30)}"),
    ]


def test_corrupt_records_with_valid_checksum_are_found(tmp_path: Path) -> None:
    from kafka_records.crc import plain_crc32c

    good = data(0, count=3)
    bad = bytearray(data(3, count=3))
    bad[61] = 0x7F  # the length of the first record exceeds the batch
    bad[17:21] = plain_crc32c(bytes(bad[21:])).to_bytes(4, "big")
    file = segment(tmp_path, "t-0", good, bytes(bad), data(6))
    assert check(file, with_records=False) == []
    ((kind, severity, position, _, _, detail),) = check(file)
    assert (kind, severity, position) == ("corrupt_records", "error", len(good))
    assert detail


def test_listed_findings_per_check_are_limited(tmp_path: Path) -> None:
    batches = [data(3 * number) for number in range(MAX_FINDINGS + 11)]
    found = check(segment(tmp_path, "t-0", *batches))
    assert len(found) == MAX_FINDINGS + 1
    detail = "further findings of this check are not listed; sum of their counts: 20"
    assert found[-1] == ("gap", "warning", None, None, 20, detail)
    assert sum(each[4] for each in found) == 2 * (MAX_FINDINGS + 10)


SOUND = b"".join(
    (
        data(0, count=3, producer=1, compression="lz4"),
        marker("COMMIT", 3, 1, 1),
        data(4, count=2, leader_epoch=5),
        data(6, magic=1),
    )
)


@given(st.lists(st.tuples(st.integers(0, len(SOUND) - 1), st.integers(1, 255)), max_size=6), st.integers(0, len(SOUND)))
def test_every_byte_of_a_damaged_file_is_accounted_for(changes: list[tuple[int, int]], end: int) -> None:
    damaged = bytearray(SOUND[:end])
    for place, value in changes:
        if place < end:
            damaged[place] ^= value
    with TemporaryDirectory() as folder:
        file = segment(Path(folder), "t-0", bytes(damaged))
        rows = RangeCheck(str(file), end, 0, None, True).rows().to_pylist()
    (summary,) = (row["summary"] for row in rows if row["summary"])
    corrupt = sum(int(row["finding"]["detail"].split()[0]) for row in rows if _is_corrupt(row["finding"]))
    accounted = summary["batch_bytes"] + corrupt + summary["incomplete_tail"] + summary["zero_tail"]
    assert accounted == end


def _is_corrupt(finding: dict[str, object] | None) -> bool:
    return finding is not None and finding["check"] == "corrupt"


def test_files_are_split_into_tasks() -> None:
    assert [part for name, size in (("a", 25), ("b", 1), ("c", 0)) for part in ranges_of(name, size, 10)] == [
        FileRange("a", 25, 0, 10, 10),
        FileRange("a", 25, 10, 20, 10),
        FileRange("a", 25, 20, None, 5),
        FileRange("b", 1, 0, None, 1),
        FileRange("c", 0, 0, None, 0),
    ]
    files = [part for number in range(20) for part in ranges_of(str(number), 1 << 20, MAX_PARTITION_BYTES)]
    small = shares(files, MAX_PARTITION_BYTES)
    assert [len(share.pieces) for share in small if isinstance(share, Share)] == [8, 8, 4]


REPORT_HEAD = """\
Integrity of log segments
=========================

files    11, 4 without findings
"""


def test_partition_of_200_files_has_a_task_for_each_core(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(200):
        segment(tmp_path, "orders-0", data(10 * number, number, count=10), base=10 * number)
    planned = read_batches(spark, [str(tmp_path)]).select(spark_partition_id().alias("task"), "file")
    tasks = planned.groupBy("task").count().collect()
    assert sum(row["count"] for row in tasks) == 200
    assert len(tasks) >= min(8, spark.range(1 << 20).select(spark_partition_id().alias("p")).distinct().count())


def test_segments_job_reports_every_kind_of_finding(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    segment(logs, "a-0", data(0, count=5, leader_epoch=2, producer=7))
    segment(logs, "a-0", data(5, count=5, leader_epoch=2, producer=7, sequence=5), base=5)
    segment(logs, "a-0", data(20, leader_epoch=1, producer=7, sequence=10), b"\0" * 100, base=20)
    segment(logs, "a-0", data(19, leader_epoch=2, producer=7, sequence=30), data(21)[:-3], base=21)
    segment(logs, "b-0", write_batches([{"value": b"x", "offset": 3}, {"value": b"x", "offset": 9}]), base=3)
    segment(logs, "b-0", data(50), base=40)
    segment(logs, "c-0", b"PK\x03\x04 something else entirely" * 10)
    segment(logs, "c-0", b"\0" * 4096, base=7)
    segment(logs, "c-0", base=8)
    segment(logs, "d-0", broken(data(0)), data(1))
    segment(logs, "__cluster_metadata-0", data(0), name="00000000000000000123-0000000004.checkpoint")
    out = tmp_path / "out"
    assert main([str(logs), "--output", str(out), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert report.startswith(REPORT_HEAD)
    rows = spark.read.parquet(str(out / "findings")).orderBy("file", "check").collect()
    short = {(row.file[len(str(logs)) + 1 :].replace("0" * 17, ""), row.check): row for row in rows}
    actual = {place: (row.severity, row["offset"], row["count"]) for place, row in short.items() if row.topic != "b"}
    assert actual == {
        ("a-0/020.log", "gap"): ("warning", 20, 10),
        ("a-0/020.log", "leader_epoch"): ("error", 20, 1),
        ("a-0/020.log", "zero_tail"): ("warning", None, 1),
        ("a-0/021.log", "name"): ("error", 19, 1),
        ("a-0/021.log", "overlap"): ("error", 19, 1),
        ("a-0/021.log", "sequence_gap"): ("warning", 19, 1),
        ("a-0/021.log", "incomplete_tail"): ("info", None, 1),
        ("c-0/000.log", "corrupt"): ("error", None, 1),
        ("c-0/000.log", "foreign"): ("error", None, 1),
        ("c-0/007.log", "empty"): ("info", None, 1),
        ("c-0/008.log", "empty"): ("info", None, 1),
        ("d-0/000.log", "corrupt"): ("error", None, 1),
        ("d-0/000.log", "gap"): ("warning", 1, 1),
    }
    gaps = [(row["offset"], row["count"], row.severity) for row in rows if row.check == "gap" and row.topic == "b"]
    assert sorted(gaps) == [(50, 10, "info"), (50, 30, "info")]
    assert short["a-0/020.log", "gap"].detail == "10 offsets from 10 are missing"
    assert short["a-0/021.log", "sequence_gap"].detail == "producer 7: sequence 30, expected 11"
    assert short["c-0/007.log", "empty"].detail == "only 4096 zero bytes"
    assert short["b-0/040.log", "gap"].detail.endswith("; the log was compacted")

    files = {row.file[len(str(logs)) + 1 :]: row for row in spark.read.parquet(str(out / "files")).collect()}
    assert len(files) == 11
    first = files["a-0/00000000000000000000.log"]
    assert (first.verdict, first.topic, first.partition, first.records, first.batches) == ("ok", "a", 0, 5, 1)
    assert (first.first_offset, first.next_offset, first.compressions, first.magic) == (0, 5, ["none"], 2)
    last = files["a-0/00000000000000000021.log"]
    assert (last.verdict, last.error_findings, last.warning_findings, last.info_findings) == ("error", 2, 1, 1)
    assert files["b-0/00000000000000000003.log"].missing_in_batches == 5


@pytest.mark.nightly
def test_truncated_snapshot_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, "__cluster_metadata-0", data(0), data(1)[:-3], name=f"{50:020}-{2:010}.checkpoint")
    assert main([str(tmp_path), "--quiet"]) == 1
    (line,) = (each for each in capsys.readouterr().out.splitlines() if "bytes of a batch that ends" in each)
    assert line.startswith("error     incomplete_tail")
    assert "67 bytes of a batch that ends beyond the file; snapshots are written completely" in line


@pytest.mark.nightly
def test_internal_topics_count_as_compacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for topic in ("__consumer_offsets-3", "__transaction_state-3"):
        segment(tmp_path, topic, data(4), data(9), base=0)
    assert main([str(tmp_path), "--quiet"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "are missing" in line]
    assert len(lines) == 4
    assert {line.split()[:2] == ["info", "gap"] for line in lines} == {True}
    segment(tmp_path, "orders-3", data(4), data(9), base=0)
    assert main([str(tmp_path), "--quiet"]) == 1


@pytest.mark.nightly
def test_cleaner_checkpoint_marks_topics_compacted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, "states-0", data(4), data(9), base=0)
    segment(tmp_path / "replica", "states-0", data(4), data(9), base=0)
    assert main([str(tmp_path), "--quiet"]) == 1
    checkpoint = tmp_path / "cleaner-offset-checkpoint"
    checkpoint.write_text("0\n1\nstates 1 7\n")
    capsys.readouterr()
    assert main([str(tmp_path), "--quiet"]) == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if "are missing" in line]
    assert lines == [["info", "gap"]] * 4
    checkpoint.write_text("0\n2\nstates 1 7\n")
    assert main([str(tmp_path), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "warning   checkpoint      1         1      1  a damaged checkpoint file of a log directory" in report
    expected = "damaged checkpoint, ignored: line 2 declares 2 entries, but there are 1"
    assert any(line.startswith("warning   checkpoint") and line.endswith(expected) for line in report.splitlines())
    segment(tmp_path, "orders-0", data(4), data(9), base=0)
    checkpoint.write_text("0\n1\nstates 1 7\n")
    assert main([str(tmp_path), "--quiet"]) == 1


@pytest.mark.nightly
def test_healthy_broker_has_only_info_findings(capsys: pytest.CaptureFixture[str]) -> None:
    healthy = Path(__file__).with_name("data") / "healthy"
    assert main([str(healthy), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert " 0 without findings" not in report
    assert {line.split()[0] for line in report.splitlines() if ".log " in line} == {"info"}


@pytest.mark.nightly
def test_findings_do_not_depend_on_the_range_size(spark: SparkSession, tmp_path: Path) -> None:
    batches = [data(number, producer=1, sequence=number, leader_epoch=1) for number in range(40)]
    again = [(50, 45), (51, 51), (51, 51), (52, 40)]
    batches += [data(number, producer=1, sequence=sequence, leader_epoch=0) for number, sequence in again]
    segment(tmp_path, "t-0", *batches)

    def found(most: int) -> list[tuple[object, ...]]:
        checks = segments.check_segments(spark, [str(tmp_path)], max_partition_bytes=most)
        rows = segments.findings(checks).select("check", "severity", "offset", "count").orderBy("offset", "check")
        return [tuple(row) for row in rows.collect()]

    want = [
        ("gap", "warning", 50, 10),
        ("leader_epoch", "error", 50, 1),
        ("sequence_gap", "warning", 50, 1),
        ("overlap", "error", 51, 1),
        ("sequence_duplicate", "error", 51, 1),
        ("sequence_gap", "warning", 51, 1),
        ("sequence_back", "error", 52, 1),
    ]
    assert found(1 << 20) == want
    assert found(70) == want  # each batch has 71 bytes, and thus its own range
    commits = tmp_path / "commits"
    batches = [data(number, producer=1, epoch=number // 4) for number in range(9)]
    for name in ("__consumer_offsets-0", "no name of a partition"):
        segment(commits, name, *batches)
    for most in (1 << 20, 71):
        checks = segments.check_segments(spark, [str(commits)], max_partition_bytes=most)
        rows = segments.findings(checks).groupBy("topic", "check", "severity").count().collect()
        assert [tuple(row) for row in rows] == [(None, "sequence_duplicate", "info", 6)]
    with pytest.raises(ValueError, match=r"^check_segments: depth must be one of records, batches, not 'deep'$"):
        segments.check_segments(spark, [str(tmp_path)], depth="deep")
