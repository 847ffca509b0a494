"""Records of internal topics, as Kafka's own serdes wrote them.

The class of Kafka 4.4.0 named next to each hexadecimal text printed it.
"""

from __future__ import annotations

from uuid import UUID

from kafka_messages import (
    ConsumerGroupMetadataKey,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionKey,
    ConsumerGroupRegularExpressionValue,
    GroupMetadataKey,
    GroupMetadataValue,
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    NoOpRecord,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionRecord,
    ShareSnapshotKey,
    ShareUpdateKey,
    ShareUpdateValue,
    TopicRecord,
    TransactionLogKey,
    TransactionLogValue,
)
from kafka_messages.internal_topics import CoordinatorRecord, MetadataRecord
from kafka_messages.messages.group_metadata_value import MemberMetadata
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
