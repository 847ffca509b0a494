"""Log of a partition: reads, idempotent producers, transactions and leader epochs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit.state.errors import RequestError
from kafka_messages_testkit.state.log import Log, Timed
from kafka_records import Record, read_batches, with_base_offset, write_batch, write_control_batch

EVERYTHING = 1 << 31


def batch(*values: bytes, timestamp: int = 0, producer: tuple[int, int, int] | None = None, **options: Any) -> bytes:
    """Return a batch; ``producer`` is producer id, producer epoch and first sequence number."""
    if producer is not None:
        options |= dict(zip(("producer_id", "producer_epoch", "base_sequence"), producer, strict=True))
    return write_batch([Record(-1, timestamp, None, value) for value in values], **options)


def code(log: Log, data: bytes) -> ErrorCode:
    before = log.batches.copy()
    with pytest.raises(RequestError) as caught:
        log.append(data)
    assert log.batches == before
    return caught.value.code


def read(log: Log, offset: int, end: int = EVERYTHING, size: int = EVERYTHING, at_least_one: bool = True) -> bytes:
    return b"".join(each.data for each in log.read(offset, end, size, at_least_one))


@given(
    st.lists(st.lists(st.binary(max_size=40), min_size=1, max_size=4), max_size=12),
    st.integers(-1, 50),
    st.integers(0, 400),
    st.integers(0, 50),
    st.booleans(),
)
def test_a_read_returns_the_whole_batches_from_the_offset_that_fit(
    appended: list[list[bytes]], offset: int, size: int, end: int, at_least_one: bool
) -> None:
    log, kept = Log(0, 1, leader_epoch=3), list[tuple[int, int, bytes]]()
    for values in appended:
        first = sum(len(each) for each in appended[: len(kept)])
        data = batch(*values)
        assert log.append(data) == first
        kept.append((first, first + len(values) - 1, with_base_offset(data, first, leader_epoch=3)))
    assert log.end == sum(map(len, appended))
    if not 0 <= offset <= log.end:
        with pytest.raises(RequestError) as caught:
            log.read(offset, end, size, at_least_one)
        assert caught.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
        return
    expected = b""
    for first, last, data in kept:
        if last < offset:
            continue
        if first >= end or (len(expected + data) > size and (expected or not at_least_one)):
            break
        expected += data
    assert read(log, offset, end, size, at_least_one) == expected


def test_records_have_offsets_across_batches_and_no_control_records() -> None:
    log = Log(0, 1)
    log.append(batch(b"a", b"b"))
    log.append_marker(7, 0, True)
    log.append(batch(b"c"))
    assert log.records() == [Record(0, 0, None, b"a"), Record(1, 0, None, b"b"), Record(3, 0, None, b"c")]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_are_stored_unchanged(codec: Any) -> None:
    log, data = Log(0, 1), batch(*[b"paid"] * 20, compression=codec)
    log.append(data)
    assert read(log, 0) == with_base_offset(data, 0, leader_epoch=0)


INVALID = {
    "base offset": (batch(b"a", base_offset=1), ErrorCode.INVALID_RECORD),
    "checksum": (batch(b"a")[:-1] + b"\x01", ErrorCode.CORRUPT_MESSAGE),
    "size": (batch(b"a" * 1_048_588), ErrorCode.MESSAGE_TOO_LARGE),
    "control": (write_control_batch("COMMIT", producer_id=1, producer_epoch=0), ErrorCode.INVALID_RECORD),
    "offsets": (write_batch([Record(0, 0, None, b""), Record(2, 0, None, b"")]), ErrorCode.INVALID_RECORD),
    "sequence": (batch(b"a", producer=(1, 0, -1)), ErrorCode.INVALID_RECORD),
    "future": (batch(b"a", timestamp=1 << 50), ErrorCode.INVALID_TIMESTAMP),
    "nothing": (b"", ErrorCode.CORRUPT_MESSAGE),
    "two": (batch(b"a") * 2, ErrorCode.CORRUPT_MESSAGE),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_batches_are_refused(name: str) -> None:
    data, expected = INVALID[name]
    assert code(Log(0, 1), data) == expected


def test_a_batch_with_damaged_records_is_refused() -> None:
    data = bytearray(batch(b"paid", compression="none"))
    data[61] = 0xFF  # length of the record
    data[17:21] = checksum(bytes(data[21:]))
    assert code(Log(0, 1), bytes(data)) == ErrorCode.INVALID_RECORD


def checksum(data: bytes) -> bytes:
    from kafka_records.crc import checksum as crc

    return crc()(data).to_bytes(4, "big")


def test_a_batch_sent_again_is_not_appended_again() -> None:
    log = Log(0, 1)
    sent = [batch(b"a", b"b", producer=(7, 0, 2 * number)) for number in range(6)]
    assert [log.append(each) for each in sent] == [0, 2, 4, 6, 8, 10]
    assert [log.append(each) for each in sent[1:]] == [2, 4, 6, 8, 10]
    assert code(log, sent[0]) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER  # only five are remembered
    assert log.end == 12


def test_sequence_numbers_must_follow_each_other() -> None:
    log = Log(0, 1)
    assert log.append(batch(b"a", producer=(7, 0, 40))) == 0  # an unknown producer may start anywhere
    assert code(log, batch(b"b", producer=(7, 0, 42))) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert code(log, batch(b"a", b"b", producer=(7, 0, 40))) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert code(log, batch(b"b", producer=(7, 1, 41))) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append(batch(b"b", producer=(7, 0, 41))) == 1
    assert log.append(batch(b"c", producer=(7, 1, 0))) == 2
    assert code(log, batch(b"d", producer=(7, 0, 42))) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.append(batch(b"d", producer=(8, 0, 0))) == 3


def test_sequence_numbers_start_again_after_the_largest() -> None:
    log = Log(0, 1)
    log.append(batch(b"a", b"b", producer=(7, 0, (1 << 31) - 2)))
    assert log.append(batch(b"c", producer=(7, 0, 0))) == 2
    log.append(batch(b"a", b"b", producer=(8, 0, (1 << 31) - 1)))
    assert log.append(batch(b"c", producer=(8, 0, 1))) == 5


def transactional(value: bytes, id: int, sequence: int, epoch: int = 0) -> bytes:
    return batch(value, producer=(id, epoch, sequence), is_transactional=True)


def test_open_transactions_limit_the_last_stable_offset() -> None:
    log = Log(0, 1)
    assert log.last_stable_offset == 0
    log.append(batch(b"a"))
    log.append(transactional(b"b", 7, 0))
    log.append(transactional(b"c", 8, 0))
    log.append(transactional(b"d", 7, 1))
    assert (log.last_stable_offset, log.end) == (1, 4)
    assert log.append_marker(7, 0, False) == 4
    assert (log.last_stable_offset, log.end) == (2, 5)
    assert log.append_marker(8, 0, True) == 5
    assert log.last_stable_offset == log.end == 6
    assert log.aborted(0, 6) == [(7, 1)]


def test_aborted_transactions_overlap_the_range() -> None:
    log = Log(0, 1)
    for id in (7, 8):
        log.append(transactional(b"a", id, 0))
        log.append_marker(id, 0, False)
    assert [log.aborted(*each) for each in ((0, 2), (0, 3), (1, 2), (2, 4), (4, 9))] == [
        [(7, 0)],
        [(7, 0), (8, 2)],
        [(7, 0)],
        [(8, 2)],
        [],
    ]


def test_a_marker_is_a_control_batch_of_its_producer() -> None:
    log = Log(0, 1, leader_epoch=2)
    log.append(transactional(b"a", 7, 0))
    log.append_marker(7, 0, False, coordinator_epoch=5)
    [_, marker] = read_batches(read(log, 0))
    [record] = marker.control_records()
    assert (marker.base_offset, marker.producer_id, marker.producer_epoch, marker.leader_epoch) == (1, 7, 0, 2)
    assert (record.type, record.coordinator_epoch, marker.is_transactional) == ("ABORT", 5, True)
    assert record.timestamp > 1_700_000_000_000


def test_markers_of_old_epochs_are_refused() -> None:
    log = Log(0, 1)
    log.append(transactional(b"a", 7, 0, epoch=3))
    with pytest.raises(RequestError, match="INVALID_PRODUCER_EPOCH"):
        log.append_marker(7, 2, True)
    log.append_marker(7, 4, True, coordinator_epoch=1)  # with KIP-890 a marker has the next epoch
    with pytest.raises(RequestError, match="TRANSACTION_COORDINATOR_FENCED"):
        log.append_marker(7, 4, True, coordinator_epoch=0)
    assert code(log, transactional(b"b", 7, 1, epoch=3)) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert code(log, transactional(b"b", 7, 1, epoch=4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert log.append(transactional(b"b", 7, 0, epoch=4)) == 2


def test_a_marker_without_records_aborts_nothing() -> None:
    log = Log(0, 1)
    log.append_marker(7, 0, False)
    assert (log.aborted(0, 9), log.last_stable_offset) == ([], 1)


def test_other_records_of_a_producer_are_refused_during_its_transaction() -> None:
    log = Log(0, 1)
    log.append(transactional(b"a", 7, 0))
    assert code(log, batch(b"b", producer=(7, 0, 1))) == ErrorCode.INVALID_TXN_STATE


def test_records_are_found_by_timestamp() -> None:
    log = Log(0, 1)
    log.append(write_batch([Record(-1, each, None, b"") for each in (10, 30, 20)]))
    log.lead(1)
    log.append(write_batch([Record(-1, each, None, b"") for each in (25, 30)]))
    found = [log.find_timestamp(each) for each in (0, 11, 26, 31)]
    assert found == [Timed(10, 0, 0), Timed(30, 1, 0), Timed(30, 1, 0), Timed()]
    assert log.find_latest_timestamp() == Timed(30, 1, 0)
    assert Log(0, 1).find_latest_timestamp() == Timed()


def test_leader_epochs_end_where_the_next_one_with_records_starts() -> None:
    log = Log(0, 1)
    log.lead(2)
    log.append(batch(b"a", b"b"))  # epoch 1
    log.lead(3)
    log.lead(1)
    log.append(batch(b"c"))  # epoch 3
    assert (log.leader, log.leader_epoch, log.epochs) == (1, 3, [(1, 0), (3, 2)])
    assert [log.end_of_epoch(each) for each in range(-1, 5)] == [(-1, -1), (0, 0), (1, 2), (1, 2), (3, 3), (-1, -1)]
    assert log.end_of_epoch(-2) == (-2, 0)  # only -1 is unknown


def test_changes_wake_up_waiting_requests() -> None:
    async def wait(change: Any) -> bool:
        log, event = Log(0, 1), asyncio.Event()
        log.append(transactional(b"a", 7, 0))
        log.waiting.add(event)
        change(log)
        return event.is_set() and not log.waiting

    changes = (lambda log: log.append(batch(b"b")), lambda log: log.append_marker(7, 0, True), lambda log: log.lead(1))
    assert [asyncio.run(wait(each)) for each in changes] == [True] * 3
