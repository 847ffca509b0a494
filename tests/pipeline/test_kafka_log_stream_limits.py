"""The stream reader of kafka_log: sizes of ranges and limits of batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kafka_records.segments.batch_writer import write_batches

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource
from tests.pipeline.growing_log import EMPTY, HAS_LIMITS, Log, batch, follow, json_round_trip, open_stream, plan, read


def test_large_range_is_split(log: Log) -> None:
    log.append(10)
    stream = open_stream(log.folder, maxPartitionBytes="100b", includeBatchMetadata="true")
    at, _ = follow(stream, EMPTY)
    begin = log.active.stat().st_size
    for _ in range(20):
        log.append(1)
    end = plan(stream, at)
    parts = stream.partitions(at, end)
    assert len(parts) > 5
    found = [
        row for part in parts for each in stream.read(part) for row in each.select(["offset", "position"]).to_pylist()
    ]
    assert [row["offset"] for row in found] == list(range(10, 30))
    assert found[0]["position"] == begin


def read_batch(path: Path, **options: str) -> list[int | None]:
    source = KafkaLogDataSource({"path": str(path), **options})
    reader: Any = source.reader(source.schema())
    return [
        at for part in reader.partitions() for each in reader.read(part) for at in each.column("offset").to_pylist()
    ]


def test_ranges_of_a_split_file_contain_every_record_once(log: Log) -> None:
    rows = [{"value": b"x" * 100, "timestamp": at} for at in range(150)]
    one = bytes(write_batches(rows, base_offset=0))
    count = (6 << 20) // len(one)
    log.active.write_bytes(b"".join((at * 150).to_bytes(8, "big") + one[8:] for at in range(count)))
    assert read_batch(log.folder, maxPartitionBytes="700k") == list(range(count * 150))


def test_batch_larger_than_its_range_is_read_once(log: Log) -> None:
    rows = [{"value": bytes(5 << 20), "timestamp": 1}]
    data = b"".join(bytes(write_batches(rows, base_offset=at)) for at in range(3))
    log.active.write_bytes(data)
    assert read_batch(log.folder, maxPartitionBytes="1m") == [0, 1, 2]


def test_records_after_damage_are_read_in_ranges(log: Log) -> None:
    for at in range(100):
        log.append(1)
        if at == 5:
            log._write(b"\xff" * 50)
    rows = read_batch(log.folder, maxPartitionBytes="1k", mode="PERMISSIVE")
    assert rows == [*range(6), None, *range(6, 100)]


def test_max_files_limits_a_batch(tmp_path: Path) -> None:
    logs = [Log(tmp_path / f"orders-{number}") for number in range(3)]
    for each in logs:
        for _ in range(2):
            each.append(1)
            each.roll()
        each.age()
    stream, at, found = open_stream(tmp_path / "*"), EMPTY, []
    while True:
        end = plan(stream, at, files=2)
        if end is at:
            break
        found.append(sum(len(share.pieces) for share in stream.partitions(at, end)))
        at = json_round_trip(end)
    assert found == [2, 2, 2]


def test_max_bytes_limits_a_batch(log: Log) -> None:
    for _ in range(10):
        log.append(1)
    size = len(batch(0, 1))
    stream, at = open_stream(log.folder), EMPTY
    at, rows = follow(stream, at, size=3 * size + 5)
    assert rows == [0, 1, 2]
    log.roll()
    log.append(1)
    log.age()
    at, rows = follow(stream, at, size=1)
    assert rows == [3]
    at, rows = follow(stream, at, size=6 * size)
    assert rows == [4, 5, 6, 7, 8, 9]
    at, rows = follow(stream, at, size=6 * size)
    assert rows == [10]


def test_available_now_ignores_later_records(log: Log) -> None:
    log.append(1)
    stream = open_stream(log.folder)
    stream.freeze_files()
    log.append(1)
    log.roll()
    log.append(1)
    at, rows = follow(stream, EMPTY, files=1)
    assert rows == [0]
    assert plan(stream, at, files=1) is at
    assert follow(open_stream(log.folder), at)[1] == [1, 2]


@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.1 has no limits for Python sources")
def test_spark_read_limits_are_supported(log: Log) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles

    for _ in range(3):
        log.append(1)
        log.roll()
    assert open_stream(log.folder).getDefaultReadLimit() == ReadAllAvailable()
    assert open_stream(log.folder, maxBytesPerTrigger="1k").getDefaultReadLimit() == ReadMaxBytes(1024)
    stream = open_stream(log.folder, maxFilesPerTrigger="2")
    assert stream.getDefaultReadLimit() == ReadMaxFiles(2)
    assert read(stream, EMPTY, stream.latestOffset(EMPTY, ReadMaxFiles(2))) == [0, 1]
    assert read(stream, EMPTY, stream.latestOffset(EMPTY, ReadMaxBytes(1))) == [0]
    assert read(stream, EMPTY, stream.latestOffset(EMPTY, ReadAllAvailable())) == [0, 1, 2]


@pytest.mark.skipif(HAS_LIMITS, reason="Spark 4.2 and later support limits")
@pytest.mark.parametrize("name", ["maxFilesPerTrigger", "maxBytesPerTrigger"])
def test_limits_are_rejected_before_spark_4_2(log: Log, name: str) -> None:
    text = rf"^kafka_log: the option '{name}' requires Spark 4.2 or later; earlier versions read all new data at once$"
    with pytest.raises(ValueError, match=text):
        open_stream(log.folder, **{name: "7"})


def test_method_report_latest_offset_counts_unread_files_and_bytes(log: Log) -> None:
    stream = open_stream(log.folder)
    assert stream.reportLatestOffset() is None
    log.append(2)
    log.roll()
    log.append(3)
    log.append(1)
    at = plan(stream, EMPTY, files=1)
    files = {file.name: file.stat().st_size for file in log.segments()}
    last = log.active.name
    assert stream.reportLatestOffset() == {
        "version": 1,
        "folders": {f"{log.folder}/*.log": {"last": last, "bytes": files[last]}},
        "behind": {"files": 1, "bytes": files[last]},
    }
    at = plan(stream, at, size=1)
    assert stream.reportLatestOffset()["behind"] == {"files": 1, "bytes": len(batch(5, 1))}
    plan(stream, at)
    assert stream.reportLatestOffset()["behind"] == {"files": 0, "bytes": 0}
