"""The stream reader of kafka_log: segments that Kafka merges and cleans."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.pipeline.growing_log import EMPTY, HAS_LIMITS, Log, follow, json_round_trip, open_stream, plan, read


@pytest.mark.skipif(HAS_LIMITS, reason="Spark 4.2 and later pass the current offset to sources")
def test_restart_on_spark_4_1_continues_or_reports_rewritten_files(log: Log, caplog: pytest.LogCaptureFixture) -> None:
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
    at, rows = follow(stream, EMPTY, files=1)
    assert rows == [0, 1]
    for files in (2, 3):  # the second time including the segment to read next
        log.clean(files)
        log.age()
        at, more = follow(stream, at, files=1)
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
    at, rows = follow(stream, at, files=1)
    assert rows == list(range(7))
    at, rows = follow(stream, at, files=1)
    assert rows == [3, 4]
    assert follow(stream, at)[1] == [5]


def test_records_merged_into_an_empty_segment_are_read_once(log: Log) -> None:
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
    at, rows = follow(stream, EMPTY, size=size // 2)
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
    end = json_round_trip(plan(stream, at))
    log.append(9)
    log.roll()
    log.append(1)
    for _ in range(3):
        log.clean(files, 0, 1, 2, 5, 9)
    assert read(open_stream(log.folder), at, end) == [4, 6, 7]
    assert follow(open_stream(log.folder), end)[1] == [8, *range(10, 18)]
    assert read(open_stream(log.folder), EMPTY, at) == [3]


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
                start, end = at, plan(stream, at, *arguments)
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
            end = plan(open_stream(log.folder), at, files=1)
            if end == at:
                break
            found += read(stream, at, end)
            at = json_round_trip(end)
        assert len(found) == len({*found})
        assert {*range(log.next)} - {*found} <= log.removed
