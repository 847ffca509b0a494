"""The stream reader of kafka_log: offsets, limits, rewritten and deleted files."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_records.segments.reader import read_segments

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource
from kafka_messages_spark.sources.kafka_log._planner import Limit

batch_writer = pytest.importorskip(
    "kafka_records.segments.batch_writer", reason="nothing writes segments for the tests"
)

EMPTY = {"version": 1, "folders": {}}
HAS_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None
"""Since Spark 4.2."""
LONG_AGO = 1_000_000_000


def batch(first: int, count: int) -> bytes:
    return batch_of(range(first, first + count))


def batch_of(offsets: Iterable[int]) -> bytes:
    rows = [{"offset": at, "key": b"k", "value": b"v%04d" % at, "timestamp": 1} for at in offsets]
    return bytes(batch_writer.write_batches(rows))


class Log:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.next = 0
        self.pending = b""
        self.removed = set[int]()
        self.active = self._file(0)
        self.active.touch()

    def _file(self, base: int) -> Path:
        return self.folder / f"{base:020}.log"

    def segments(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def append(self, count: int = 1, part: float = 1.0) -> None:
        self.finish()
        data = batch(self.next, count)
        self.next += count
        cut = int(len(data) * part)
        self._write(data[:cut])
        self.pending = data[cut:]

    def finish(self) -> None:
        self._write(self.pending)
        self.pending = b""

    def _write(self, data: bytes) -> None:
        with self.active.open("ab") as file:
            file.write(data)

    def roll(self) -> None:
        self.finish()
        if self.active.stat().st_size:
            self.active = self._file(self.next)
            self.active.touch()

    def age(self) -> None:
        for file in self.segments():
            os.utime(file, (LONG_AGO, LONG_AGO))

    def merge(self, same_batches: bool = False) -> None:
        old = self.segments()[:-1]
        if len(old) < 2:
            return
        count = int(old[2].stem) if len(old) > 2 else int(self.active.stem)
        first = int(old[0].stem)
        swap = old[0].with_suffix(".swap")
        swap.write_bytes(b"".join(map(Path.read_bytes, old[:2])) if same_batches else batch(first, count - first))
        old[1].unlink()
        swap.rename(old[0])

    def clean(self, files: int, *removed: int) -> None:
        old = self.segments()[:-1][:files]
        batches: dict[int, list[int]] = {}
        for file in old:
            with read_segments([file], columns=["offset", "base_offset"], batch_metadata=True) as found:
                for each in found:
                    for at, base in zip(*(column.to_pylist() for column in each.columns), strict=True):
                        batches.setdefault(base, []).append(at)
        kept = [[at for at in offsets if at not in removed] for offsets in batches.values()]
        self.removed |= {at for offsets in batches.values() for at in offsets} & {*removed}
        if old:
            swap = old[0].with_suffix(".swap")
            swap.write_bytes(b"".join(batch_of(offsets) for offsets in kept if offsets))
            for file in old[1:]:
                file.unlink()
            swap.rename(old[0])

    def retain(self) -> None:
        if len(self.segments()) > 1:
            self.segments()[0].unlink()


def open_stream(path: object, **options: str) -> Any:
    source = KafkaLogDataSource({"path": str(path), **options})
    return source.streamReader(source.schema())


def read(stream: Any, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    found: list[int] = []
    for part in stream.partitions(start, end):
        for each in stream.read(part):
            found += each.column("offset").to_pylist()
    return found


def json_round_trip(offset: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(offset))
    return found


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "orders-0")


def follow(stream: Any, start: dict[str, Any], limit: Limit | None = None) -> tuple[dict[str, Any], list[int]]:
    end = stream.planned(start, limit or Limit())
    return json_round_trip(end), read(stream, start, end)


def test_growing_segment_is_read_by_complete_batches(log: Log) -> None:
    stream = open_stream(log.folder)
    log.append(3)
    log.append(2, part=0.5)
    at, rows = follow(stream, EMPTY)
    assert rows == [0, 1, 2]
    assert stream.planned(at, Limit()) is at
    log.finish()
    log.append(1, part=0.1)
    at, rows = follow(stream, at)
    assert rows == [3, 4]
    log.roll()
    log.append(4)
    at, rows = follow(stream, at)
    assert rows == [5, 6, 7, 8, 9]


def test_stream_offset_lists_read_files_and_sizes(log: Log) -> None:
    for _ in range(20):
        log.append(1)
        log.roll()
    log.age()
    at, rows = follow(open_stream(log.folder), EMPTY)
    assert rows == list(range(20))
    log.append(5)
    at, rows = follow(open_stream(log.folder), at)
    assert rows == list(range(20, 25))
    size = log.active.stat().st_size
    assert at == {
        "version": 1,
        "folders": {
            f"{log.folder}/*.log": {"through": f"{19:020}.log", "files": {f"{20:020}.log": size}, "next": 25},
        },
    }


def test_replayed_batch_has_the_same_rows(log: Log) -> None:
    log.append(3)
    log.append(2, part=0.7)
    stream = open_stream(log.folder)
    end = json_round_trip(stream.planned(EMPTY, Limit()))
    assert read(stream, EMPTY, end) == [0, 1, 2]
    log.finish()
    log.append(5)
    log.roll()
    log.append(1)
    restarted = open_stream(log.folder)
    assert read(restarted, EMPTY, end) == [0, 1, 2]
    assert follow(restarted, end)[1] == [3, 4, 5, 6, 7, 8, 9, 10]


def test_large_range_is_split(log: Log) -> None:
    log.append(10)
    stream = open_stream(log.folder, maxPartitionBytes="100b", includeBatchMetadata="true")
    at, _ = follow(stream, EMPTY)
    begin = log.active.stat().st_size
    for _ in range(20):
        log.append(1)
    end = stream.planned(at, Limit())
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


def test_ranges_start_at_batch_boundaries(log: Log) -> None:
    rows = [{"value": b"x" * 100, "timestamp": at} for at in range(150)]
    one = bytes(batch_writer.write_batches(rows, base_offset=0))
    count = (6 << 20) // len(one)
    log.active.write_bytes(b"".join((at * 150).to_bytes(8, "big") + one[8:] for at in range(count)))
    assert read_batch(log.folder, maxPartitionBytes="700k") == list(range(count * 150))


def test_batch_larger_than_its_range_is_read_once(log: Log) -> None:
    rows = [{"value": bytes(5 << 20), "timestamp": 1}]
    data = b"".join(bytes(batch_writer.write_batches(rows, base_offset=at)) for at in range(3))
    log.active.write_bytes(data)
    assert read_batch(log.folder, maxPartitionBytes="1m") == [0, 1, 2]


def test_ranges_after_damage_are_read(log: Log) -> None:
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
        end = stream.planned(at, Limit(files=2))
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
    at, rows = follow(stream, at, Limit(bytes=3 * size + 5))
    assert rows == [0, 1, 2]
    log.roll()
    log.append(1)
    log.age()
    at, rows = follow(stream, at, Limit(bytes=1))
    assert rows == [3]
    at, rows = follow(stream, at, Limit(bytes=6 * size))
    assert rows == [4, 5, 6, 7, 8, 9]
    at, rows = follow(stream, at, Limit(bytes=6 * size))
    assert rows == [10]


def test_available_now_ignores_later_records(log: Log) -> None:
    log.append(1)
    stream = open_stream(log.folder)
    stream.freeze_files()
    log.append(1)
    log.roll()
    log.append(1)
    at, rows = follow(stream, EMPTY, Limit(files=1))
    assert rows == [0]
    assert stream.planned(at, Limit(files=1)) is at
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


@pytest.mark.skipif(HAS_LIMITS, reason="since Spark 4.2 there are limits")
@pytest.mark.parametrize("name", ["maxFilesPerTrigger", "maxBytesPerTrigger"])
def test_limits_before_spark_4_2_are_rejected(log: Log, name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"^kafka_log: the option '{name}' needs Spark 4.2 or later; before, a batch "
    ):
        open_stream(log.folder, **{name: "7"})


@pytest.mark.skipif(HAS_LIMITS, reason="since Spark 4.2 a source is told where its stream is")
def test_restart_before_spark_4_2_continues(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.append(2)
    stream = open_stream(log.folder)
    at = json_round_trip(stream.initialOffset())
    end = json_round_trip(stream.latestOffset())
    assert read(stream, at, end) == [0, 1]
    log.append(2)
    log.roll()
    log.append(2)
    stream, at = open_stream(log.folder), end
    end = json_round_trip(stream.latestOffset())
    assert read(stream, at, end) == [2, 3, 4, 5]
    assert read(open_stream(log.folder), at, end) == [2, 3, 4, 5]
    log.append(2)
    log.roll()
    log.append(1)
    log.clean(2, 0, 1, 2)
    text = f"^kafka_log: {log.folder}/0{{20}}.log was rewritten while the query was stopped; before Spark 4.2 a source "
    stream, warned, at = open_stream(log.folder), open_stream(log.folder, failOnDataLoss="false"), end
    end = json_round_trip(stream.latestOffset())
    with pytest.raises(ValueError, match=text):
        read(stream, at, end)
    assert warned.latestOffset() == end
    read(warned, at, end)
    assert "was rewritten while the query was stopped" in caplog.text


def test_starting_offsets_latest_skips_existing_records(log: Log) -> None:
    log.append(2)
    log.roll()
    log.append(2, part=0.5)
    at = json_round_trip(open_stream(log.folder, startingOffsets="latest").initialOffset())
    log.finish()
    log.append(1)
    assert follow(open_stream(log.folder), at)[1] == [2, 3, 4]
    assert open_stream(log.folder).initialOffset() == EMPTY


LOST = (
    "Some data may have been lost: it may have been deleted by retention, or the topic may have been deleted, before it "
    "was read. If you do not want the streaming query to fail on this, set the option 'failOnDataLoss' to 'false'."
)


def test_deleted_planned_file_is_data_loss(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.append(1)
    log.roll()
    log.append(1)
    stream = open_stream(log.folder)
    end = stream.planned(EMPTY, Limit())
    gone, _ = log.segments()
    gone.unlink()
    with pytest.raises(ValueError, match="was deleted after") as caught:
        read(open_stream(log.folder), EMPTY, end)
    assert str(caught.value) == f"kafka_log: {gone} was deleted after this batch was planned. {LOST}"
    assert read(open_stream(log.folder, failOnDataLoss="false"), EMPTY, end) == [1]
    assert caplog.messages == [f"Some data may have been lost: {gone} was deleted after this batch was planned"]


def test_truncated_planned_file_is_data_loss(log: Log) -> None:
    log.append(1)
    log.append(1)
    end = open_stream(log.folder).planned(EMPTY, Limit())
    size = len(batch(0, 1))
    os.truncate(log.active, size)
    with pytest.raises(ValueError, match="when this batch was planned") as caught:
        read(open_stream(log.folder), EMPTY, end)
    what = f"{log.active} had {2 * size} bytes when this batch was planned, and has {size} now"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"
    assert read(open_stream(log.folder, failOnDataLoss="false"), EMPTY, end) == [0]


def test_retention_of_unread_segments_is_data_loss(log: Log) -> None:
    for _ in range(4):
        log.append(1)
        log.roll()
    log.age()
    at, rows = follow(open_stream(log.folder), EMPTY, Limit(files=1))
    assert rows == [0]
    names = [file.name for file in log.segments()]
    log.retain()
    assert follow(open_stream(log.folder), at)[1] == [1, 2, 3]
    log.retain()
    with pytest.raises(ValueError, match="begins later") as caught:
        open_stream(log.folder).planned(at, Limit())
    what = f"{log.folder}/{names[1]} is gone; expected offset 1, but {log.folder}/{names[2]} begins later"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"
    assert follow(open_stream(log.folder, failOnDataLoss="false"), at)[1] == [2, 3]


def test_retention_of_read_segments_is_not_data_loss(log: Log) -> None:
    log.append(3)
    at, _ = follow(open_stream(log.folder), EMPTY)
    log.roll()
    log.retain()
    assert open_stream(log.folder).planned(at, Limit()) is at
    log.append(1)
    assert follow(open_stream(log.folder), at)[1] == [3]


def test_segments_merged_before_reading_are_read_once(log: Log) -> None:
    log.append(2)
    log.roll()
    log.append(2)
    at, rows = follow(open_stream(log.folder), EMPTY)
    assert rows == [0, 1, 2, 3]
    log.append(2)
    log.roll()
    log.append(1)
    log.merge()
    assert [file.name for file in log.segments()] == [f"{0:020}.log", f"{6:020}.log"]
    end, rows = follow(open_stream(log.folder), at)
    assert rows == [4, 5, 6]
    assert end["folders"][f"{log.folder}/*.log"]["again"][f"{0:020}.log"]["from"] == 4
    assert read(open_stream(log.folder), at, end) == [4, 5, 6]
    log.append(1)
    assert follow(open_stream(log.folder), end)[1] == [7]


def test_segments_cleaned_twice_before_reading_are_read_once(log: Log) -> None:
    for _ in range(4):
        log.append(2)
        log.roll()
    log.append(1)
    stream = open_stream(log.folder)
    at, rows = follow(stream, EMPTY, Limit(files=1))
    assert rows == [0, 1]
    for files in (2, 3):  # the second time with what the stream is to read next
        log.clean(files)
        log.age()
        at, more = follow(stream, at, Limit(files=1))
        rows += more
    assert rows == list(range(6 + 2))
    assert follow(stream, at)[1] == [8]


def test_cleaned_segment_is_read_after_other_partitions(tmp_path: Path) -> None:
    first, second = Log(tmp_path / "orders-0"), Log(tmp_path / "orders-1")
    first.append(2)
    first.roll()
    first.append(1)
    stream = open_stream(tmp_path / "orders-*")
    at, rows = follow(stream, EMPTY)
    assert rows == [0, 1, 2]
    first.append(2)
    first.roll()
    first.append(1)
    first.clean(2)
    second.append(7)
    second.age()
    at, rows = follow(stream, at, Limit(files=1))
    assert rows == list(range(7))
    at, rows = follow(stream, at, Limit(files=1))
    assert rows == [3, 4]
    assert follow(stream, at)[1] == [5]


def test_refilled_empty_segment_is_read(log: Log) -> None:
    log.append(2)
    log.roll()
    log.append(2)
    log.clean(1, 0, 1)
    stream = open_stream(log.folder)
    at, rows = follow(stream, EMPTY)
    assert rows == [2, 3]
    log.roll()
    log.append(1)
    at, rows = follow(stream, at)
    assert rows == [4]
    log.clean(2)
    log.append(1)
    assert follow(stream, at)[1] == [5]


@pytest.mark.parametrize("kept", [3, 6])
def test_cleaned_segment_with_equal_batch_sizes_is_read_once(log: Log, kept: int) -> None:
    for _ in range(6):
        log.append(1)
    size = log.active.stat().st_size
    stream = open_stream(log.folder)
    at, rows = follow(stream, EMPTY, Limit(bytes=size // 2))
    assert rows == [0, 1, 2]
    for _ in range(3):
        log.append(1)
    log.roll()
    log.append(1)
    log.clean(1, *range(9 - kept))
    assert log.segments()[0].stat().st_size == size // 6 * kept
    log.age()
    assert follow(open_stream(log.folder), at)[1] == list(range(max(3, 9 - kept), 10))


@pytest.mark.parametrize("files", [2, 3])
def test_replay_after_cleaning_reads_the_remaining_records(log: Log, files: int) -> None:
    log.append(2)
    log.roll()
    log.append(2)
    stream = open_stream(log.folder)
    at, rows = follow(stream, EMPTY)
    assert rows == [0, 1, 2, 3]
    log.append(2)
    log.roll()
    log.append(2)
    end = json_round_trip(stream.planned(at, Limit()))
    log.append(9)
    log.roll()
    log.append(1)
    for _ in range(3):
        log.clean(files, 0, 1, 2, 5, 9)
    assert read(open_stream(log.folder), at, end) == [4, 6, 7]
    assert follow(open_stream(log.folder), end)[1] == [8, *range(10, 18)]
    assert read(open_stream(log.folder), EMPTY, at) == [3]


def test_segment_cleaned_while_reading_is_data_loss(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.append(2)
    log.append(2)
    stream, warned = open_stream(log.folder), open_stream(log.folder, failOnDataLoss="false")
    end, _ = stream.planned(EMPTY, Limit()), warned.planned(EMPTY, Limit())
    log.append(3)
    log.roll()
    log.append(1)
    log.clean(1, 0, 1)
    name = log.segments()[0]
    what = f"{name} was rewritten since this batch was planned: it has offset 6, but all were below 4"
    with pytest.raises(ValueError, match=rf"^kafka_log: {re.escape(what)}\. Some data may have been lost: "):
        read(stream, EMPTY, end)
    assert read(open_stream(log.folder), EMPTY, end) == read(warned, EMPTY, end) == [2, 3]
    assert f"Some data may have been lost: {what}" in caplog.text


def test_segment_cleaned_before_the_read_position_is_data_loss(log: Log) -> None:
    log.append(2)
    stream = open_stream(log.folder)
    at, _ = follow(stream, EMPTY)
    log.append(2)
    end = stream.planned(at, Limit())
    log.append(9)
    log.roll()
    log.append(1)
    place = at["folders"][f"{log.folder}/*.log"]["files"][f"{0:020}.log"]
    log.clean(1, 0)
    text = f"^kafka_log: .*{0:020}.log was rewritten since this batch was planned: no batch begins at byte {place} now"
    with pytest.raises(ValueError, match=text):
        read(stream, at, end)
    assert read(open_stream(log.folder), at, end) == [2, 3]


def test_truncated_read_file_is_data_loss(log: Log) -> None:
    log.append(1)
    log.append(1)
    at, _ = follow(open_stream(log.folder), EMPTY)
    size = len(batch(0, 1))
    os.truncate(log.active, size)
    with pytest.raises(ValueError, match="truncated") as caught:
        open_stream(log.folder).planned(at, Limit())
    what = f"{log.active} was truncated or replaced after {2 * size} bytes had been read"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"


def test_segment_appearing_late_is_rejected(log: Log) -> None:
    log.append(1)
    log.roll()
    log.append(1)
    log.roll()
    log.append(1)
    first = log.segments()[0]
    data = first.read_bytes()
    first.unlink()
    log.age()
    stream = open_stream(log.folder)
    at, _ = follow(stream, EMPTY)
    log.append(1)
    at, _ = follow(stream, at)
    first.write_bytes(data)
    with pytest.raises(ValueError, match="appeared after later segments") as caught:
        stream.planned(at, Limit())
    what = f"{first} appeared after later segments of its folder had been read; it is not"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"


def test_new_and_deleted_partition_folders_are_followed(tmp_path: Path) -> None:
    first = Log(tmp_path / "orders-0")
    first.append(1)
    stream = open_stream(tmp_path / "orders-*")
    at, rows = follow(stream, EMPTY)
    assert rows == [0]
    first.folder.rename(tmp_path / ("orders-0." + 32 * "a" + "-delete"))
    second = Log(tmp_path / "orders-1")
    second.append(2)
    at, rows = follow(stream, at)
    assert rows == [0, 1]
    assert open_stream(tmp_path / "nothing-*").planned(EMPTY, Limit()) == EMPTY


def test_files_with_other_names_are_tracked_by_size(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_bytes(batch(0, 2))
    stream = open_stream(tmp_path)
    at, rows = follow(stream, EMPTY)
    (tmp_path / "a.log").write_bytes(batch(5, 1))
    with (tmp_path / "b.log").open("ab") as file:
        file.write(batch(2, 1))
    at, rows = follow(stream, at)
    assert sorted(rows) == [2, 5]
    assert at["folders"] == {
        f"{tmp_path}/": {"files": {name: (tmp_path / name).stat().st_size for name in ("b.log", "a.log")}}
    }


def test_damaged_batch_fails_or_is_a_corrupt_row(log: Log) -> None:
    log.append(1)
    begin = log.active.stat().st_size
    log._write(b"\xff" * 100)
    log.append(1)
    log.append(1, part=0.5)
    at, rows = follow(open_stream(log.folder), EMPTY)
    assert rows == [0]
    with pytest.raises(ValueError, match=rf"{log.active}: batch at byte {begin}: "):
        follow(open_stream(log.folder), at)
    stream, at = open_stream(log.folder, mode="PERMISSIVE", columnNameOfCorruptRecord="bad"), EMPTY
    rows, bad = [], []
    for _ in range(3):
        end = stream.planned(at, Limit())
        for part in stream.partitions(at, end):
            for each in stream.read(part):
                rows += each.column("offset").to_pylist()
                bad += [row for row in each.column("bad").to_pylist() if row]
        at = json_round_trip(end)
    assert rows == [0, None, 1]
    assert [(row["position"], row["size"]) for row in bad] == [(begin, 100)]
    log.finish()
    assert follow(stream, at)[1] == [2]


def test_preallocated_zeros_are_not_read(log: Log) -> None:
    log.append(2)
    size = log.active.stat().st_size
    os.truncate(log.active, 10000)
    stream = open_stream(log.folder)
    at, rows = follow(stream, EMPTY)
    assert rows == [0, 1]
    with log.active.open("r+b") as file:
        file.seek(size)
        file.write(batch(2, 3))
    assert follow(stream, at)[1] == [2, 3, 4]


REFUSED = {
    "both limits": (
        {"maxFilesPerTrigger": "1", "maxBytesPerTrigger": "1g"},
        "kafka_log: the options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' cannot be both set",
    ),
    "no files": (
        {"maxFilesPerTrigger": "0"},
        "kafka_log: the option 'maxFilesPerTrigger' must be a number of at least 1, not '0'",
    ),
    "modified": (
        {"modifiedAfter": "2026-01-01"},
        "kafka_log: the options 'modifiedAfter' and 'modifiedBefore' are not supported by streams",
    ),
    "starting": (
        {"startingOffsets": "newest"},
        "kafka_log: invalid option 'startingOffsets'. Expected e.g. "
        '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got newest',
    ),
}


def test_latest_offset_reports_unread_data(log: Log) -> None:
    stream = open_stream(log.folder)
    assert stream.reportLatestOffset() is None
    log.append(2)
    log.roll()
    log.append(3)
    log.append(1)
    at = stream.planned(EMPTY, Limit(files=1))
    files = {file.name: file.stat().st_size for file in log.segments()}
    last = log.active.name
    assert stream.reportLatestOffset() == {
        "version": 1,
        "folders": {f"{log.folder}/*.log": {"last": last, "bytes": files[last]}},
        "behind": {"files": 1, "bytes": files[last]},
    }
    at = stream.planned(at, Limit(bytes=1))
    assert stream.reportLatestOffset()["behind"] == {"files": 1, "bytes": len(batch(5, 1))}
    stream.planned(at, Limit())
    assert stream.reportLatestOffset()["behind"] == {"files": 0, "bytes": 0}


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_invalid_options_are_rejected(tmp_path: Path, options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        open_stream(tmp_path, **options)
    assert str(caught.value) == text


def test_invalid_checkpoint_is_rejected(log: Log) -> None:
    stream = open_stream(log.folder)
    with pytest.raises(ValueError, match=r"^kafka_log: unknown version 2 of offsets in the checkpoint; expected 1$"):
        stream.planned({"version": 2}, Limit())
    other = {"version": 1, "folders": {"/elsewhere/*.log": {"files": {"x.log": 1}}}}
    text = r"^kafka_log: the checkpoint lists /elsewhere/x.log, which is not below any path of this stream$"
    with pytest.raises(ValueError, match=text):
        stream.partitions(EMPTY, other)


ACTIONS = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4), st.sampled_from((0.0, 0.3, 0.9, 1.0))),
    st.tuples(st.sampled_from(("roll", "finish", "age"))),
    st.tuples(st.just("merge"), st.booleans()),
    st.tuples(st.just("clean"), st.integers(1, 3), st.sampled_from((1, 2, 3, 99)), st.integers(0, 2)),
    st.tuples(st.just("plan"), st.sampled_from((None, 1, 2)), st.sampled_from((None, 1, 150, 400))),
    st.tuples(st.just("restart")),
    st.tuples(st.just("replay")),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(ACTIONS, max_size=40))
def test_every_record_is_read_once(actions: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        log = Log(Path(place) / "orders-0")
        stream, start, at = open_stream(log.folder), EMPTY, EMPTY
        found, rows = list[int](), list[int]()
        for name, *arguments in actions:
            if name == "plan":
                limit = Limit(*arguments)
                start, end = at, stream.planned(at, limit)
                found += (rows := read(stream, at, end))
                at = json_round_trip(end)
            elif name == "restart":
                stream = open_stream(log.folder)
            elif name == "replay":
                assert read(open_stream(log.folder), start, at) == [each for each in rows if each not in log.removed]
            elif name == "clean":
                files, every, first = arguments
                log.clean(files, *range(first, log.next, every))
            else:
                getattr(log, name)(*arguments)
        log.finish()
        log.age()
        for _ in range(100):
            end = open_stream(log.folder).planned(at, Limit(files=1))
            if end == at:
                break
            found += read(stream, at, end)
            at = json_round_trip(end)
        assert len(found) == len({*found})
        assert {*range(log.next)} - {*found} <= log.removed
