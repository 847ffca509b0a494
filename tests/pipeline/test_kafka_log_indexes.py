"""kafka_log with Kafka's index files: equal to reading all headers, which are then not read, and damaged indexes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

from kafka_messages_spark.sources.kafka_log import _isolation, _lookup
from tests.pipeline.index_files import SUFFIXES, batches_of, write_indexes
from tests.pipeline.log_files import batch_of, offsets_of, reader_of
from tests.pipeline.test_kafka_log_committed import ACTIONS, COMMITTED, Broker, write_sample_log

HEADERS = _lookup.headers


@contextmanager
def headers_read() -> Iterator[list[tuple[str, int]]]:
    """Yield the list of files whose headers the planner reads, with the positions."""
    found: list[tuple[str, int]] = []

    def headers(file: Any, position: int = 0) -> Iterator[pa.RecordBatch]:
        found.append((file.base_name, position))
        return HEADERS(file, position)

    with mock.patch.object(_lookup, "headers", headers), mock.patch.object(_isolation, "headers_of", headers):
        yield found


def timed_log(folder: Path, times: list[int], per_file: int = 4) -> Path:
    """Write a log with one record per batch, with times in seconds."""
    log = folder / "orders-0"
    log.mkdir(parents=True)
    for base in range(0, len(times), per_file):
        some = enumerate(times[base : base + per_file], base)
        (log / f"{base:020}.log").write_bytes(b"".join(batch_of([at], [seconds]) for at, seconds in some))
    return log


@given(st.lists(ACTIONS, max_size=25), st.sampled_from([0, 100]))
@settings(max_examples=40, deadline=None)
def test_indexes_give_the_same_transactions(
    tmp_path_factory: pytest.TempPathFactory, actions: list[tuple[object, ...]], interval: int
) -> None:
    broker = Broker()
    for name, *arguments in actions:
        getattr(broker, str(name))(*arguments)
    log = broker.write(tmp_path_factory.getbasetemp() / "indexed-0")
    write_indexes(log, interval, fill=24)
    with headers_read() as read:
        assert offsets_of(reader_of(log, **COMMITTED)) == broker.committed()
    assert [name for name, _ in read] == [sorted(each.name for each in log.glob("*.log"))[-1]]


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=20, unique=True), st.integers(0, 41), st.sampled_from([0, 150])
)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_indexes_give_the_same_start(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], start: int, interval: int
) -> None:
    log = timed_log(tmp_path_factory.mktemp("timed"), times)
    options = {"startingTimestamp": str(start * 1000), "startingOffsetsByTimestampStrategy": "latest"}
    expected = offsets_of(reader_of(log, **options))
    write_indexes(log, interval, fill=24)
    assert offsets_of(reader_of(log, **options)) == expected
    shutil.rmtree(log)


def test_start_by_time_skips_the_headers_before_it(tmp_path: Path) -> None:
    log = timed_log(tmp_path, list(range(100)), 100)
    positions = [batch["position"] for batch in batches_of(log / f"{0:020}.log")]
    for interval, lowest in ((0, 89), (800, 75)):
        write_indexes(log, interval)
        with headers_read() as read:
            assert offsets_of(reader_of(log, startingTimestamp="90000")) == list(range(90, 100))
        ((_, position),) = read
        assert position in positions[lowest:90]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "half an entry": lambda data: data[:-3],
    "other bytes": lambda data: bytes(each ^ 0xA5 for each in data),
    "reversed": lambda data: data[::-1],
    "one bit": lambda data: data[:3] + bytes([data[3] ^ 2]) + data[4:],
    "the first bit": lambda data: bytes([data[0] ^ 0x80]) + data[1:],
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_index_changes_nothing(
    tmp_path: Path, suffix: str, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    log = write_sample_log(tmp_path)
    by_time = {"startingTimestamp": "13000", **COMMITTED}
    expected = [offsets_of(reader_of(log, **options)) for options in (COMMITTED, by_time)]
    caplog.clear()
    for path in write_indexes(log):
        if path.name.endswith(suffix):
            path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert [offsets_of(reader_of(log, **options)) for options in (COMMITTED, by_time)] == expected
    lines = [each for each in caplog.messages if each.endswith("; reading the headers of the segment instead")]
    assert damage not in ("half an entry", "other bytes") or any(suffix in each for each in lines)


@pytest.mark.nightly
def test_every_changed_byte_of_an_index_changes_nothing(tmp_path: Path) -> None:
    log = write_sample_log(tmp_path)
    by_time = {"startingTimestamp": "13000", **COMMITTED}
    expected = [offsets_of(reader_of(log, **options)) for options in (COMMITTED, by_time)]
    for path in write_indexes(log):
        data = path.read_bytes()
        for at in range(len(data)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
            found = [offsets_of(reader_of(log, **options)) for options in (COMMITTED, by_time)]
            assert found == expected, (path.name, at)
        path.write_bytes(data)


def test_messages_name_the_index_and_the_reason(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = timed_log(tmp_path, list(range(8)), 8)
    write_indexes(log)
    index = log / f"{0:020}.timeindex"
    data = index.read_bytes()
    for changed, problem in (
        (data[:-1], "83 bytes are not a multiple of 12"),
        (data[12:24] + data, "entry 1 at byte 12 is not in order: timestamp 1000, at least 2000 expected"),
        (data[:-2] + b"\0\6", "entry 6 is not the highest timestamp of the batch at offset 6"),
    ):
        index.write_bytes(changed)
        caplog.clear()
        assert offsets_of(reader_of(log, startingTimestamp="7500", startingOffsetsByTimestampStrategy="latest")) == []
        assert caplog.messages == [f"{index}: {problem}; reading the headers of the segment instead"]


TRANSACTIONS: list[tuple[str, Callable[[bytes], bytes], str]] = [
    (f"{4:020}.txnindex", lambda data: b"", "the file has no entries"),
    (
        f"{4:020}.txnindex",
        lambda data: b"\0\1" + data[2:],
        "the transaction at offsets 4 to 7 is not within the segment",
    ),
    (
        f"{4:020}.txnindex",
        lambda data: data[:2] + (99).to_bytes(8, "big") + data[10:],
        "the batch at offset 4 is not of a transaction of producer 99",
    ),
    (
        f"{4:020}.txnindex",
        lambda data: data[:10] + (5).to_bytes(8, "big") + data[18:],
        "no batch begins at offset 5",
    ),
]


@pytest.mark.parametrize(("name", "change", "problem"), TRANSACTIONS, ids=[each[2] for each in TRANSACTIONS])
def test_messages_name_the_index_of_transactions(
    name: str, change: Callable[[bytes], bytes], problem: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = write_sample_log(tmp_path)
    expected = offsets_of(reader_of(log, **COMMITTED))
    write_indexes(log)
    index = log / name
    index.write_bytes(change(index.read_bytes()))
    caplog.clear()
    assert offsets_of(reader_of(log, **COMMITTED)) == expected
    assert f"{index}: {problem}; reading the headers of the segment instead" in caplog.messages


def test_folder_without_all_indexes_is_read_without_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = write_sample_log(tmp_path)
    expected = offsets_of(reader_of(log, **COMMITTED))
    caplog.clear()
    for suffix in (".index", ".timeindex", ".snapshot"):
        write_indexes(log)
        for path in log.glob(f"*{suffix}"):
            path.unlink()
        with headers_read() as read:
            assert offsets_of(reader_of(log, **COMMITTED)) == expected
        assert len(read) == 4
    assert not [each for each in caplog.messages if "instead" in each]
