"""Records of coordinators, compared with Kafka's own serdes."""

from __future__ import annotations

import pickle

import pytest
from kafka_messages import (
    DecodeError,
    EncodeError,
    GroupMetadataValue,
    KafkaMessageError,
    Message,
    MetadataRequest,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    UnsupportedVersionError,
)
from kafka_messages.internal_topics import (
    RECORD_TYPES,
    CoordinatorRecord,
    UnknownRecordTypeError,
    read_coordinator_record,
    write_coordinator_record,
)

from tests.support.topic_records import COORDINATOR_RECORDS, OFFSET
from tests.support.vectors import message_class


@pytest.mark.parametrize(("log", "record", "key", "value"), COORDINATOR_RECORDS)
def test_coordinator_records_are_read(log: str, record: CoordinatorRecord, key: str, value: str | None) -> None:
    assert read_coordinator_record(log, bytes.fromhex(key), None if value is None else bytes.fromhex(value)) == record


@pytest.mark.parametrize(("log", "record", "key", "value"), COORDINATOR_RECORDS)
def test_coordinator_records_are_written(log: str, record: CoordinatorRecord, key: str, value: str | None) -> None:
    key_bytes, value_bytes = write_coordinator_record(record.key, record.value, record.value_version)
    assert (key_bytes.hex(), None if value_bytes is None else value_bytes.hex()) == (key, value)


@pytest.mark.parametrize("row", [row for row in RECORD_TYPES if row[2]], ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_coordinator_record_type_round_trips(row: tuple[str, int, str, str]) -> None:
    log, number, key_name, value_name = row
    key, value = message_class(key_name)(), message_class(value_name)()
    for version in range(value.LOWEST_SUPPORTED_VERSION, value.HIGHEST_SUPPORTED_VERSION + 1):
        written = write_coordinator_record(key, value, version)
        assert read_coordinator_record(log, *written) == CoordinatorRecord(number, key, value, version)


@pytest.mark.parametrize("number", [18, 255, 99, -1])
def test_unknown_coordinator_record_type_raises(number: int) -> None:
    """Type 18 is unused in __consumer_offsets; Kafka's serde throws UnknownRecordTypeException."""
    with pytest.raises(UnknownRecordTypeError) as caught:
        read_coordinator_record("__consumer_offsets", number.to_bytes(2, "big", signed=True) + b"whatever", b"")
    error = caught.value
    assert str(error) == f"group-coordinator has no record type {number}"
    assert (error.log, error.type) == ("group-coordinator", number)
    assert isinstance(error, KafkaMessageError)
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.log, copied.type, str(copied)) == (error.log, error.type, str(error))


def test_coordinator_value_of_newer_version_raises() -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        read_coordinator_record("__consumer_offsets", bytes.fromhex("0002000167"), bytes.fromhex("0009"))
    assert str(caught.value) == "GroupMetadataValue has no version 9, only versions 0 to 4"


@pytest.mark.parametrize(
    ("key", "value", "text", "offset"),
    [
        ("", None, "record type: 2 bytes needed at offset 0, 0 left", 0),
        ("00", None, "record type: 2 bytes needed at offset 0, 1 left", 0),
        ("00010001", None, "OffsetCommitKey v0: group: STRING: 1 byte needed at offset 4, 0 left", 4),
        (
            "0002000167ff",
            None,
            "GroupMetadataKey v0: 1 byte(s) left after the message, at offset 5",
            5,
        ),
        ("0002000167", "", "GroupMetadataValue: version: 2 bytes needed at offset 0, 0 left", 0),
        ("0002000167", "00", "GroupMetadataValue: version: 2 bytes needed at offset 0, 1 left", 0),
        ("0003000167", "000000", "ConsumerGroupMetadataValue v0: epoch: INT32: 4 bytes needed at offset 2, 1 left", 2),
        (
            "0003000167",
            "00000000000a0000",
            "ConsumerGroupMetadataValue v0: 1 byte(s) left after the message, at offset 7",
            7,
        ),
    ],
)
def test_invalid_coordinator_records_raise_decode_error(key: str, value: str | None, text: str, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_coordinator_record(
            "__consumer_offsets", bytes.fromhex(key), None if value is None else bytes.fromhex(value)
        )
    assert (str(caught.value), caught.value.offset) == (text, offset)


@pytest.mark.parametrize(
    ("key", "value", "version", "text"),
    [
        (NoOpRecord(), None, None, "NoOpRecord: this message is not the key of a coordinator record"),
        (MetadataRequest(), None, None, "MetadataRequest: this message is not the key of a coordinator record"),
        (
            OFFSET,
            GroupMetadataValue(),
            3,
            "OffsetCommitKey: the value of this key is OffsetCommitValue, not GroupMetadataValue",
        ),
        (OFFSET, OffsetCommitValue(), None, "OffsetCommitValue: a value needs value_version"),
        (OFFSET, None, 3, "OffsetCommitKey: value_version is 3, but there is no value"),
        (
            OffsetCommitKey(partition=1 << 31),
            None,
            None,
            "OffsetCommitKey v0: partition: 2147483648 is out of range for INT32, -2147483648 to 2147483647",
        ),
    ],
)
def test_invalid_coordinator_records_raise_encode_error(
    key: Message, value: Message | None, version: int | None, text: str
) -> None:
    with pytest.raises(EncodeError) as caught:
        write_coordinator_record(key, value, version)
    assert str(caught.value) == text


def test_unsupported_value_version_raises() -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        write_coordinator_record(OFFSET, OffsetCommitValue(), 9)
    assert str(caught.value) == "OffsetCommitValue has no version 9, only versions 0 to 4"
