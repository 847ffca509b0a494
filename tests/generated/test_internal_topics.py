"""Records of internal topics, compared with Kafka's own serdes.

The class of Kafka 4.4.0 named next to each hexadecimal text printed it.
"""

from __future__ import annotations

import pickle
from typing import assert_type
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_messages import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DecodeError,
    EncodeError,
    EndTxnMarker,
    GroupMetadataKey,
    GroupMetadataValue,
    KafkaMessageError,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    MetadataRequest,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionRecord,
    RemoteLogSegmentMetadataRecord,
    RemoteLogSegmentMetadataUpdateRecord,
    RemotePartitionDeleteMetadataRecord,
    ShareSnapshotKey,
    ShareUpdateKey,
    ShareUpdateValue,
    TopicRecord,
    TransactionLogKey,
    TransactionLogValue,
    UnsupportedVersionError,
)
from kafka_messages._base.message import Message
from kafka_messages.internal_topics import (
    LOGS,
    CoordinatorRecord,
    MetadataRecord,
    UnknownRecordTypeError,
    read_coordinator_record,
    read_metadata_record,
    read_versioned,
    write_coordinator_record,
    write_metadata_record,
    write_versioned,
)
from kafka_messages.internal_topics._tables import RECORD_TYPES
from kafka_messages.messages.consumer_protocol_assignment import TopicPartition as Assigned
from kafka_messages.messages.consumer_protocol_assignment import TopicPartitionCollection as AssignedCollection
from kafka_messages.messages.consumer_protocol_subscription import TopicPartition as Owned
from kafka_messages.messages.consumer_protocol_subscription import TopicPartitionCollection as OwnedCollection
from kafka_messages.messages.group_metadata_value import MemberMetadata
from kafka_messages.messages.remote_log_segment_metadata_record import RemoteLogSegmentIdEntry, SegmentLeaderEpochEntry
from kafka_messages.messages.remote_log_segment_metadata_record import TopicIdPartitionEntry as SegmentTopic
from kafka_messages.messages.share_update_value import StateBatch
from kafka_messages.messages.transaction_log_value import PartitionsSchema

TOPIC_ID = UUID(int=1 << 64 | 2)

OFFSET = OffsetCommitKey(group="billing", topic="orders", partition=3)
OFFSET_KEY = "0001000762696c6c696e6700066f726465727300000003"

# GroupCoordinatorRecordSerde, TransactionCoordinatorRecordSerde, ShareCoordinatorRecordSerde:
# log, record, key and value as they wrote them.
COORDINATOR_RECORDS: list[tuple[str, CoordinatorRecord, str, str | None]] = [
    (
        "group-coordinator",
        CoordinatorRecord(
            1,
            OFFSET,
            OffsetCommitValue(
                offset=42, leader_epoch=5, metadata="note", commit_timestamp=1700000000000, topic_id=TOPIC_ID
            ),
            4,
        ),
        OFFSET_KEY,
        "0004000000000000002a00000005056e6f74650000018bcfe5680001001000000000000000010000000000000002",
    ),
    (
        "group-coordinator",
        CoordinatorRecord(
            1,
            OFFSET,
            OffsetCommitValue(offset=42, metadata="", commit_timestamp=1700000000000, expire_timestamp=1700000060000),
            1,
        ),
        OFFSET_KEY,
        "0001000000000000002a00000000018bcfe568000000018bcfe65260",
    ),
    ("group-coordinator", CoordinatorRecord(1, OFFSET, None, None), OFFSET_KEY, None),
    (
        "group-coordinator",
        CoordinatorRecord(
            0,
            LegacyOffsetCommitKey(group="old", topic="t", partition=0),
            LegacyOffsetCommitValue(offset=7, metadata="m", commit_timestamp=9),
            0,
        ),
        "000000036f6c6400017400000000",
        "0000000000000000000700016d0000000000000009",
    ),
    (
        "group-coordinator",
        CoordinatorRecord(
            2,
            GroupMetadataKey(group="billing"),
            GroupMetadataValue(
                protocol_type="consumer",
                generation=2,
                protocol="range",
                leader="m-1",
                current_state_timestamp=1700000000000,
                members=[
                    MemberMetadata(
                        member_id="m-1",
                        group_instance_id=None,
                        client_id="c",
                        client_host="/10.0.0.1",
                        rebalance_timeout=60000,
                        session_timeout=10000,
                        subscription=b"\1\2",
                        assignment=b"",
                    )
                ],
            ),
            3,
        ),
        "0002000762696c6c696e67",
        "00030008636f6e73756d657200000002000572616e676500036d2d310000018bcfe568000000000100036d2d31ffff000163"
        "00092f31302e302e302e310000ea600000271000000002010200000000",
    ),
    (
        "group-coordinator",
        CoordinatorRecord(3, ConsumerGroupMetadataKey(group_id="billing"), ConsumerGroupMetadataValue(epoch=10), 0),
        "0003000762696c6c696e67",
        "00000000000a00",
    ),
    (
        "group-coordinator",
        CoordinatorRecord(
            16,
            ConsumerGroupRegularExpressionKey(group_id="g", regular_expression="a.*"),
            ConsumerGroupRegularExpressionValue(topics=["a1", "a2"], version=4, timestamp=5),
            0,
        ),
        "00100001670003612e2a",
        "0000030361310361320000000000000004000000000000000500",
    ),
    (
        "transaction-coordinator",
        CoordinatorRecord(
            0,
            TransactionLogKey(transactional_id="tx"),
            TransactionLogValue(
                producer_id=1000,
                producer_epoch=3,
                transaction_timeout_ms=60000,
                transaction_status=1,
                transaction_partitions=[PartitionsSchema(topic="orders", partition_ids=[0, 2])],
                transaction_last_update_timestamp_ms=8,
                transaction_start_timestamp_ms=7,
                client_transaction_version=2,
            ),
            1,
        ),
        "000000027478",
        "000100000000000003e800030000ea600102076f7264657273030000000000000002000000000000000008000000000000000701"
        "02020002",
    ),
    (
        "transaction-coordinator",
        CoordinatorRecord(
            0,
            TransactionLogKey(transactional_id="tx"),
            TransactionLogValue(producer_id=1000, transaction_partitions=None),
            0,
        ),
        "000000027478",
        "000000000000000003e800000000000000ffffffff00000000000000000000000000000000",
    ),
    (
        "share-coordinator",
        CoordinatorRecord(
            1,
            ShareUpdateKey(group_id="sg", topic_id=TOPIC_ID, partition=4),
            ShareUpdateValue(
                snapshot_epoch=1,
                leader_epoch=2,
                start_offset=3,
                state_batches=[StateBatch(first_offset=3, last_offset=9, delivery_state=2, delivery_count=1)],
            ),
            0,
        ),
        "0001000273670000000000000001000000000000000200000004",
        "00000000000100000002000000000000000302000000000000000300000000000000090200010000",
    ),
    (
        "share-coordinator",
        CoordinatorRecord(0, ShareSnapshotKey(group_id="sg", topic_id=TOPIC_ID, partition=4), None, None),
        "0000000273670000000000000001000000000000000200000004",
        None,
    ),
]

# MetadataRecordSerde.
METADATA_RECORDS: list[tuple[MetadataRecord, str]] = [
    (
        MetadataRecord(2, 0, TopicRecord(name="orders", topic_id=TOPIC_ID)),
        "010200076f72646572730000000000000001000000000000000200",
    ),
    (MetadataRecord(20, 0, NoOpRecord()), "01140000"),
    (
        MetadataRecord(
            3,
            2,
            PartitionRecord(
                partition_id=3,
                topic_id=TOPIC_ID,
                replicas=[1, 2],
                isr=[1],
                leader=1,
                leader_epoch=4,
                partition_epoch=5,
                directories=[UUID(int=7), UUID(int=8)],
            ),
        ),
        "010302000000030000000000000001000000000000000203000000010000000202000000010101000000010000000400000005030000"
        "00000000000000000000000000070000000000000000000000000000000800",
    ),
]

# RemoteLogMetadataSerde.
REMOTE_SEGMENT = (
    "010000076f726465727300000000000000010000000000000002000000030000000000000000030000000000000004000000"
    "00000000006400000000000000c7000000010000018bcfe568000000018bcfe5680103000000000000000000000064000000"
    "00010000000000000096000000100002090000"
)
REMOTE_UPDATE = (
    "010100076f72646572730000000000000001000000000000000200000003000000000000000003000000000000000400000000010000"
    "018bcfe56802000100"
)
REMOTE_DELETE = "010200076f7264657273000000000000000100000000000000020000000300000000010000018bcfe568030000"

# ConsumerProtocol.serializeSubscription (versions 3 and 1) and serializeAssignment (version 3).
SUBSCRIPTION_3 = "00030000000100066f726465727300000001010000000100066f726465727300000001000000030000000700047261636b"
SUBSCRIPTION_1 = "00010000000100066f7264657273ffffffff0000000100066f72646572730000000100000003"
ASSIGNMENT_3 = "00030000000100066f72646572730000000100000003ffffffff"
# EndTransactionMarker(COMMIT, 17).serializeValue.
END_TXN_MARKER = "000000000011"


# --- Coordinators


@pytest.mark.parametrize(("log", "record", "key", "value"), COORDINATOR_RECORDS)
def test_coordinator_records_are_read(log: str, record: CoordinatorRecord, key: str, value: str | None) -> None:
    assert read_coordinator_record(log, bytes.fromhex(key), None if value is None else bytes.fromhex(value)) == record


@pytest.mark.parametrize(("log", "record", "key", "value"), COORDINATOR_RECORDS)
def test_coordinator_records_are_written(log: str, record: CoordinatorRecord, key: str, value: str | None) -> None:
    key_bytes, value_bytes = write_coordinator_record(record.key, record.value, record.value_version)
    assert (key_bytes.hex(), None if value_bytes is None else value_bytes.hex()) == (key, value)


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


@pytest.mark.parametrize("row", [row for row in RECORD_TYPES if row[2]], ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_coordinator_record_type_round_trips(row: tuple[str, int, str, str]) -> None:
    log, number, key_name, value_name = row
    key, value = default_message(key_name), default_message(value_name)
    for version in range(value.LOWEST_SUPPORTED_VERSION, value.HIGHEST_SUPPORTED_VERSION + 1):
        written = write_coordinator_record(key, value, version)
        assert read_coordinator_record(log, *written) == CoordinatorRecord(number, key, value, version)


@pytest.mark.parametrize("row", [row for row in RECORD_TYPES if not row[2]], ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_metadata_record_type_round_trips(row: tuple[str, int, None, str]) -> None:
    log, number, _, name = row
    record = default_message(name)
    for version in range(record.LOWEST_SUPPORTED_VERSION, record.HIGHEST_SUPPORTED_VERSION + 1):
        written = write_metadata_record(record, version)
        assert read_metadata_record(written, log) == MetadataRecord(number, version, record)


def default_message(name: str) -> Message:
    import kafka_messages

    made: Message = getattr(kafka_messages, name)()
    return made


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


COORDINATOR_LOGS = (
    "known are 'group-coordinator' (__consumer_offsets), 'share-coordinator' (__share_group_state), "
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
        "known are 'metadata' (__cluster_metadata), 'storage' (__remote_log_metadata)"
    )
    assert (str(caught.value), isinstance(caught.value, KafkaMessageError)) == (text, False)


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
        (OFFSET, OffsetCommitValue(), None, "OffsetCommitValue: value_version is required"),
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


# --- KRaft metadata and remote log metadata


@pytest.mark.parametrize(("record", "data"), METADATA_RECORDS)
def test_metadata_records_round_trip(record: MetadataRecord, data: str) -> None:
    assert read_metadata_record(bytes.fromhex(data)) == record
    assert write_metadata_record(record.message, record.version).hex() == data


def test_remote_log_metadata_uses_the_same_frame() -> None:
    segment = read_metadata_record(bytes.fromhex(REMOTE_SEGMENT), "storage")
    topic = SegmentTopic(name="orders", id=TOPIC_ID, partition=3)
    assert (segment.type, segment.version) == (0, 0)
    assert segment.message == RemoteLogSegmentMetadataRecord(
        remote_log_segment_id=RemoteLogSegmentIdEntry(topic_id_partition=topic, id=UUID(int=3 << 64 | 4)),
        start_offset=100,
        end_offset=199,
        broker_id=1,
        max_timestamp_ms=1700000000000,
        event_timestamp_ms=1700000000001,
        segment_leader_epochs=[
            SegmentLeaderEpochEntry(leader_epoch=0, offset=100),
            SegmentLeaderEpochEntry(leader_epoch=1, offset=150),
        ],
        segment_size_in_bytes=4096,
        custom_metadata=b"\t",
        remote_log_segment_state=0,
    )
    update = read_metadata_record(bytes.fromhex(REMOTE_UPDATE), "storage")
    assert isinstance(update.message, RemoteLogSegmentMetadataUpdateRecord)
    assert (update.type, update.message.remote_log_segment_state, update.message.custom_metadata) == (1, 1, None)
    delete = read_metadata_record(bytes.fromhex(REMOTE_DELETE), "storage")
    assert isinstance(delete.message, RemotePartitionDeleteMetadataRecord)
    assert (delete.type, delete.message.broker_id, delete.message.event_timestamp_ms) == (2, 1, 1700000000003)
    for record, data in ((segment, REMOTE_SEGMENT), (update, REMOTE_UPDATE), (delete, REMOTE_DELETE)):
        assert write_metadata_record(record.message, record.version).hex() == data


@pytest.mark.parametrize(("data", "number"), [("010d00", 13), ("01ff7f00", 16383), ("01ffffffff0f00", 4294967295)])
def test_unknown_metadata_record_type_raises(data: str, number: int) -> None:
    """Type 13 is unused in the metadata log."""
    with pytest.raises(UnknownRecordTypeError) as caught:
        read_metadata_record(bytes.fromhex(data))
    assert (str(caught.value), caught.value.type) == (f"metadata has no record type {number}", number)


def test_metadata_record_of_newer_version_raises() -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        read_metadata_record(bytes.fromhex("010209"))
    assert str(caught.value) == "TopicRecord has no version 9, only version 0"


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("", "frame version: truncated unsigned varint at offset 0", 0),
        ("01", "record type: truncated unsigned varint at offset 1", 1),
        ("0180", "record type: truncated unsigned varint at offset 1", 1),
        ("0114", "version: truncated unsigned varint at offset 2", 2),
        ("8080808080808000", "frame version: the unsigned varint at offset 0 does not fit into 32 bits", 0),
        ("01ffffffff7f00", "record type: the unsigned varint at offset 1 does not fit into 32 bits", 1),
        ("00020006", "unknown frame version 0 at offset 0; expected 1", 0),
        ("02020006", "unknown frame version 2 at offset 0; expected 1", 0),
        ("011400", "NoOpRecord v0: UNSIGNED_VARINT: 1 byte needed at offset 3, 0 left", 3),
        ("0114000000", "NoOpRecord v0: 1 byte(s) left after the message, at offset 4", 4),
    ],
)
def test_invalid_metadata_records_raise_decode_error(data: str, text: str, offset: int) -> None:
    with pytest.raises(DecodeError) as caught:
        read_metadata_record(bytes.fromhex(data))
    assert (str(caught.value), caught.value.offset) == (text, offset)


@pytest.mark.parametrize("wrong", [OFFSET, OffsetCommitValue(), MetadataRequest()], ids=lambda wrong: wrong.NAME)
def test_other_messages_are_rejected_as_metadata_records(wrong: Message) -> None:
    with pytest.raises(EncodeError) as caught:
        write_metadata_record(wrong, 0)
    assert str(caught.value) == f"{wrong.NAME}: this message is not a metadata record"


# --- Messages behind their version


def test_consumer_protocol_subscription_round_trips() -> None:
    owned = OwnedCollection([Owned(topic="orders", partitions=[3])])
    read = read_versioned(ConsumerProtocolSubscription, bytes.fromhex(SUBSCRIPTION_3))
    assert_type(read, tuple[ConsumerProtocolSubscription, int])
    expected = ConsumerProtocolSubscription(
        topics=["orders"], user_data=b"\1", owned_partitions=owned, generation_id=7, rack_id="rack"
    )
    assert read == (expected, 3)
    assert write_versioned(expected, 3).hex() == SUBSCRIPTION_3
    old = ConsumerProtocolSubscription(topics=["orders"], user_data=None, owned_partitions=owned)
    assert read_versioned(ConsumerProtocolSubscription, bytes.fromhex(SUBSCRIPTION_1)) == (old, 1)
    assert write_versioned(old, 1).hex() == SUBSCRIPTION_1


def test_assignment_and_end_transaction_marker_round_trip() -> None:
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=AssignedCollection([Assigned(topic="orders", partitions=[3])]), user_data=None
    )
    assert read_versioned(ConsumerProtocolAssignment, bytes.fromhex(ASSIGNMENT_3)) == (assignment, 3)
    assert write_versioned(assignment, 3).hex() == ASSIGNMENT_3
    marker = EndTxnMarker(coordinator_epoch=17)
    assert read_versioned(EndTxnMarker, bytes.fromhex(END_TXN_MARKER)) == (marker, 0)
    assert write_versioned(marker, 0).hex() == END_TXN_MARKER


def test_newer_versions_are_read_as_the_highest_known_when_allowed() -> None:
    data = bytes.fromhex("0009" + SUBSCRIPTION_3[4:] + "aabb")
    expected, _ = read_versioned(ConsumerProtocolSubscription, bytes.fromhex(SUBSCRIPTION_3))
    assert read_versioned(ConsumerProtocolSubscription, data, allow_newer=True) == (expected, 9)
    with pytest.raises(UnsupportedVersionError) as caught:
        read_versioned(ConsumerProtocolSubscription, data)
    assert str(caught.value) == "ConsumerProtocolSubscription has no version 9, only versions 0 to 3"


def test_allow_newer_accepts_no_other_errors() -> None:
    with pytest.raises(DecodeError) as caught:
        read_versioned(EndTxnMarker, bytes.fromhex(END_TXN_MARKER + "00"), allow_newer=True)
    assert str(caught.value) == "EndTxnMarker v0: 1 byte(s) left after the message, at offset 6"
    with pytest.raises(UnsupportedVersionError) as unsupported:
        read_versioned(EndTxnMarker, bytes.fromhex("ffff00000011"), allow_newer=True)
    assert str(unsupported.value) == "EndTxnMarker has no version -1, only version 0"


def test_truncated_version_raises_decode_error() -> None:
    with pytest.raises(DecodeError) as caught:
        read_versioned(EndTxnMarker, b"\0")
    assert (str(caught.value), caught.value.offset) == (
        "EndTxnMarker: version: 2 bytes needed at offset 0, 1 left",
        0,
    )


# --- All of them


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
