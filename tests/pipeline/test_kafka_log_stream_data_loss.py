"""The stream reader of kafka_log: deleted, truncated and late files."""

from __future__ import annotations

import os
import re

import pytest

from tests.pipeline.growing_log import EMPTY, LOST, Log, batch, follow, open_stream, plan, read


def test_deletion_of_a_planned_file_is_data_loss(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.append(1)
    log.roll()
    log.append(1)
    stream = open_stream(log.folder)
    end = plan(stream, EMPTY)
    gone, _ = log.segments()
    gone.unlink()
    with pytest.raises(ValueError, match="was deleted after") as caught:
        read(open_stream(log.folder), EMPTY, end)
    assert str(caught.value) == f"kafka_log: {gone} was deleted after this batch was planned. {LOST}"
    assert read(open_stream(log.folder, failOnDataLoss="false"), EMPTY, end) == [1]
    assert caplog.messages == [f"Some data may have been lost: {gone} was deleted after this batch was planned"]


def test_truncation_of_a_planned_file_is_data_loss(log: Log) -> None:
    log.append(1)
    log.append(1)
    end = plan(open_stream(log.folder), EMPTY)
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
    at, rows = follow(open_stream(log.folder), EMPTY, files=1)
    assert rows == [0]
    names = [file.name for file in log.segments()]
    log.retain()
    assert follow(open_stream(log.folder), at)[1] == [1, 2, 3]
    log.retain()
    with pytest.raises(ValueError, match="begins later") as caught:
        plan(open_stream(log.folder), at)
    what = (
        f"{log.folder}/{names[1]} was deleted or rewritten; expected offset 1, but {log.folder}/{names[2]} begins later"
    )
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"
    assert follow(open_stream(log.folder, failOnDataLoss="false"), at)[1] == [2, 3]


def test_retention_of_read_segments_is_not_data_loss(log: Log) -> None:
    log.append(3)
    at, _ = follow(open_stream(log.folder), EMPTY)
    log.roll()
    log.retain()
    assert plan(open_stream(log.folder), at) is at
    log.append(1)
    assert follow(open_stream(log.folder), at)[1] == [3]


def test_segment_cleaned_after_planning_is_data_loss(log: Log, caplog: pytest.LogCaptureFixture) -> None:
    log.append(2)
    log.append(2)
    stream, warned = open_stream(log.folder), open_stream(log.folder, failOnDataLoss="false")
    end, _ = plan(stream, EMPTY), plan(warned, EMPTY)
    log.append(3)
    log.roll()
    log.append(1)
    log.clean(1, 0, 1)
    name = log.segments()[0]
    what = f"{name} was rewritten since this batch was planned: it has offset 6, but all offsets were below 4"
    with pytest.raises(ValueError, match=rf"^kafka_log: {re.escape(what)}\. Some data may have been lost: "):
        read(stream, EMPTY, end)
    assert read(open_stream(log.folder), EMPTY, end) == read(warned, EMPTY, end) == [2, 3]
    assert f"Some data may have been lost: {what}" in caplog.text


def test_record_removed_below_the_read_position_is_data_loss(log: Log) -> None:
    log.append(2)
    stream = open_stream(log.folder)
    at, _ = follow(stream, EMPTY)
    log.append(2)
    end = plan(stream, at)
    log.append(9)
    log.roll()
    log.append(1)
    place = at["folders"][f"{log.folder}/*.log"]["files"][f"{0:020}.log"]
    log.clean(1, 0)
    what = f"{0:020}.log was rewritten since this batch was planned: no record batch begins at byte {place} now"
    with pytest.raises(ValueError, match=f"^kafka_log: .*{what}. {LOST}$"):
        read(stream, at, end)
    assert read(open_stream(log.folder), at, end) == [2, 3]


def test_truncation_of_a_read_file_is_data_loss(log: Log) -> None:
    log.append(1)
    log.append(1)
    at, _ = follow(open_stream(log.folder), EMPTY)
    size = len(batch(0, 1))
    os.truncate(log.active, size)
    with pytest.raises(ValueError, match="truncated") as caught:
        plan(open_stream(log.folder), at)
    what = f"{log.active} was truncated or replaced after {2 * size} bytes had been read"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"


def test_segment_appearing_late_is_data_loss(log: Log) -> None:
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
        plan(stream, at)
    what = f"{first} appeared after later segments of its folder had been read, and is skipped"
    assert str(caught.value) == f"kafka_log: {what}. {LOST}"
