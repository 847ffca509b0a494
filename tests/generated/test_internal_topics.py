"""Names of internal topics and their logs, random bytes, and types of buffers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages import (
    DecodeError,
    EndTxnMarker,
    KafkaMessageError,
    LegacyOffsetCommitKey,
    NoOpRecord,
    TransactionLogKey,
)
from kafka_messages.internal_topics import (
    LOGS,
    RECORD_TYPES,
    read_coordinator_record,
    read_metadata_record,
    read_versioned,
    write_coordinator_record,
    write_metadata_record,
)

from tests.support.topic_records import END_TXN_MARKER, OFFSET, OFFSET_KEY, REMOTE_DELETE


def test_log_can_be_given_by_topic_name() -> None:
    assert read_coordinator_record("__transaction_state", bytes.fromhex("000000027478"), None).key == TransactionLogKey(
        transactional_id="tx"
    )
    assert read_metadata_record(bytes.fromhex(REMOTE_DELETE), "__remote_log_metadata") == read_metadata_record(
        bytes.fromhex(REMOTE_DELETE), "storage"
    )


def test_record_type_number_depends_on_the_log() -> None:
    key = bytes.fromhex("000000036f6c6400017400000000")
    assert isinstance(read_coordinator_record("__consumer_offsets", key, None).key, LegacyOffsetCommitKey)
    with pytest.raises(DecodeError) as caught:
        read_coordinator_record("__transaction_state", key, None)
    assert str(caught.value) == "TransactionLogKey v0: 7 byte(s) left after the message, at offset 7"


def test_logs_equal_the_definitions() -> None:
    assert set(LOGS.values()) == {log for log, *_ in RECORD_TYPES}


COORDINATOR_LOGS = (
    "supported: 'group-coordinator' (__consumer_offsets), 'share-coordinator' (__share_group_state), "
    "'transaction-coordinator' (__transaction_state)"
)


@pytest.mark.parametrize(
    ("log", "text"),
    [
        (
            "consumer_offsets",
            f"expected a log of coordinator records, got 'consumer_offsets'; {COORDINATOR_LOGS}",
        ),
        (
            "__cluster_metadata",
            f"expected a log of coordinator records, got '__cluster_metadata'; {COORDINATOR_LOGS}",
        ),
    ],
)
def test_log_without_coordinator_records_is_rejected(log: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_coordinator_record(log, bytes(4), None)
    assert (str(caught.value), isinstance(caught.value, KafkaMessageError)) == (text, False)


def test_log_without_metadata_records_is_rejected() -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read_metadata_record(bytes(4), "__consumer_offsets")
    text = (
        "expected a log of metadata records, got '__consumer_offsets'; "
        "supported: 'metadata' (__cluster_metadata), 'storage' (__remote_log_metadata)"
    )
    assert (str(caught.value), isinstance(caught.value, KafkaMessageError)) == (text, False)


@given(st.binary(max_size=48), st.none() | st.binary(max_size=48))
def test_random_bytes_give_a_record_or_kafka_message_error(key: bytes, value: bytes | None) -> None:
    for log in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        try:
            record = read_coordinator_record(log, key, value)
        except KafkaMessageError:
            continue
        written = write_coordinator_record(record.key, record.value, record.value_version)
        again = read_coordinator_record(log, *written)
        assert write_coordinator_record(again.key, again.value, again.value_version) == written
    for log in ("__cluster_metadata", "__remote_log_metadata"):
        try:
            metadata = read_metadata_record(b"\1" + key, log)
        except KafkaMessageError:
            continue
        frame = write_metadata_record(metadata.message, metadata.version)
        assert write_metadata_record(read_metadata_record(frame, log).message, metadata.version) == frame


def test_other_buffer_types_are_accepted() -> None:
    key = bytes.fromhex(OFFSET_KEY)
    assert read_coordinator_record("__consumer_offsets", memoryview(key), None).key == OFFSET
    assert read_metadata_record(bytearray.fromhex("01140000")).message == NoOpRecord()
    assert read_versioned(EndTxnMarker, memoryview(bytes.fromhex(END_TXN_MARKER)))[1] == 0
