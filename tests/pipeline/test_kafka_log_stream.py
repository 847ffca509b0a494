"""The stream reader of kafka_log: offsets, restarts, new files and damaged batches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.pipeline.growing_log import EMPTY, Log, batch, follow, json_round_trip, open_stream, plan, read


def test_growing_segment_is_read_by_complete_batches(log: Log) -> None:
    stream = open_stream(log.folder)
    log.append(3)
    log.append(2, part=0.5)
    at, rows = follow(stream, EMPTY)
    assert rows == [0, 1, 2]
    assert plan(stream, at) is at
    log.finish()
    log.append(1, part=0.1)
    at, rows = follow(stream, at)
    assert rows == [3, 4]
    log.roll()
    log.append(4)
    at, rows = follow(stream, at)
    assert rows == [5, 6, 7, 8, 9]


def test_stream_offset_has_the_size_of_the_last_file(log: Log) -> None:
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
    end = json_round_trip(plan(stream, EMPTY))
    assert read(stream, EMPTY, end) == [0, 1, 2]
    log.finish()
    log.append(5)
    log.roll()
    log.append(1)
    restarted = open_stream(log.folder)
    assert read(restarted, EMPTY, end) == [0, 1, 2]
    assert follow(restarted, end)[1] == [3, 4, 5, 6, 7, 8, 9, 10]


def test_starting_offsets_latest_skips_existing_records(log: Log) -> None:
    log.append(2)
    log.roll()
    log.append(2, part=0.5)
    at = json_round_trip(open_stream(log.folder, startingOffsets="latest").initialOffset())
    log.finish()
    log.append(1)
    assert follow(open_stream(log.folder), at)[1] == [2, 3, 4]
    assert open_stream(log.folder).initialOffset() == EMPTY


def test_new_partition_folders_are_read_and_deleted_ones_skipped(tmp_path: Path) -> None:
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
    assert plan(open_stream(tmp_path / "nothing-*"), EMPTY) == EMPTY


def test_files_without_segment_names_are_tracked_by_size(tmp_path: Path) -> None:
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


def test_damaged_batch_fails_the_stream_or_is_a_corrupt_row(log: Log) -> None:
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
        end = plan(stream, at)
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
        "kafka_log: the options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' cannot both be set",
    ),
    "no files": (
        {"maxFilesPerTrigger": "0"},
        "kafka_log: the option 'maxFilesPerTrigger' must be an integer above 0, not '0'",
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


@pytest.mark.parametrize(("options", "text"), REFUSED.values(), ids=REFUSED)
def test_invalid_options_are_rejected(tmp_path: Path, options: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        open_stream(tmp_path, **options)
    assert str(caught.value) == text


def test_checkpoint_of_another_version_or_path_is_rejected(log: Log) -> None:
    stream = open_stream(log.folder)
    text = "^kafka_log: unknown version 2 of offsets in the checkpoint, expected 1; use a new checkpoint$"
    with pytest.raises(ValueError, match=text):
        plan(stream, {"version": 2})
    other = {"version": 1, "folders": {"/elsewhere/*.log": {"files": {"x.log": 1}}}}
    with pytest.raises(ValueError, match="elsewhere") as caught:
        stream.partitions(EMPTY, other)
    assert str(caught.value) == (
        "kafka_log: the checkpoint lists /elsewhere/x.log, which is not below any path of this stream; "
        "add the path, or use a new checkpoint"
    )
