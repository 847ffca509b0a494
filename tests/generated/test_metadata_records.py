"""KRaft metadata and remote log metadata, compared with Kafka's own serdes."""

from __future__ import annotations

from uuid import UUID

import pytest
from kafka_messages import (
    DecodeError,
    EncodeError,
    Message,
    MetadataRequest,
    OffsetCommitValue,
    RemoteLogSegmentMetadataRecord,
    RemoteLogSegmentMetadataUpdateRecord,
    RemotePartitionDeleteMetadataRecord,
    UnsupportedVersionError,
)
from kafka_messages.internal_topics import (
    RECORD_TYPES,
    MetadataRecord,
    UnknownRecordTypeError,
    read_metadata_record,
    write_metadata_record,
)
from kafka_messages.messages.remote_log_segment_metadata_record import RemoteLogSegmentIdEntry, SegmentLeaderEpochEntry
from kafka_messages.messages.remote_log_segment_metadata_record import TopicIdPartitionEntry as SegmentTopic

from tests.support.topic_records import METADATA_RECORDS, OFFSET, REMOTE_DELETE, REMOTE_SEGMENT, REMOTE_UPDATE, TOPIC_ID
from tests.support.vectors import message_class


@pytest.mark.parametrize("row", [row for row in RECORD_TYPES if not row[2]], ids=lambda row: f"{row[0]}-{row[1]}")
def test_every_metadata_record_type_round_trips(row: tuple[str, int, None, str]) -> None:
    log, number, _, name = row
    record = message_class(name)()
    for version in range(record.LOWEST_SUPPORTED_VERSION, record.HIGHEST_SUPPORTED_VERSION + 1):
        written = write_metadata_record(record, version)
        assert read_metadata_record(written, log) == MetadataRecord(number, version, record)


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
        ("011400", "NoOpRecord v0: _tagged_fields: UNSIGNED_VARINT: 1 byte needed at offset 3, 0 left", 3),
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
