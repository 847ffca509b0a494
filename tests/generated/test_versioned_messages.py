"""Messages after a version prefix, compared with Kafka's own classes."""

from __future__ import annotations

from typing import assert_type

import pytest
from kafka_messages import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DecodeError,
    EndTxnMarker,
    UnsupportedVersionError,
)
from kafka_messages.internal_topics import read_versioned, write_versioned
from kafka_messages.messages.consumer_protocol_assignment import TopicPartition as Assigned
from kafka_messages.messages.consumer_protocol_assignment import TopicPartitionCollection as AssignedCollection
from kafka_messages.messages.consumer_protocol_subscription import TopicPartition as Owned
from kafka_messages.messages.consumer_protocol_subscription import TopicPartitionCollection as OwnedCollection

from tests.support.topic_records import ASSIGNMENT_3, END_TXN_MARKER, SUBSCRIPTION_1, SUBSCRIPTION_3


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


def test_bytes_after_a_known_version_are_ignored_when_newer_ones_are_allowed() -> None:
    """Kafka's ConsumerProtocol and EndTransactionMarker read from a buffer, and ignore what is left in it."""
    for version, expected in ((0, "000000000001000174ffffffff"), (3, SUBSCRIPTION_3)):
        data = bytes.fromhex(expected)
        message, _ = read_versioned(ConsumerProtocolSubscription, data)
        found = read_versioned(ConsumerProtocolSubscription, data + b"\1\2", allow_newer=True)
        assert found == (message, version)
    with pytest.raises(DecodeError) as caught:
        read_versioned(EndTxnMarker, bytes.fromhex(END_TXN_MARKER + "00"))
    assert str(caught.value) == "EndTxnMarker v0: 1 byte(s) left after the message, at offset 6"


def test_allow_newer_accepts_no_other_errors() -> None:
    with pytest.raises(DecodeError) as caught:
        read_versioned(ConsumerProtocolSubscription, bytes.fromhex("0009" + SUBSCRIPTION_3[4:-2]), allow_newer=True)
    assert (caught.value.message, caught.value.version) == ("ConsumerProtocolSubscription", 3)
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
