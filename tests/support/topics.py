"""A message with nested structs, for tests of object behavior."""

from __future__ import annotations

from typing import Any

from kafka_messages import MetadataResponse
from kafka_messages.messages.metadata_response import (
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

VERSION = 12


def response() -> Any:
    """Return topics with partitions; typed Any for tests that assign invalid values."""
    partitions = [MetadataResponsePartition(partition_index=n, replica_nodes=[1, 2, 3]) for n in range(3)]
    topics = [MetadataResponseTopic(name=name, partitions=partitions) for name in ("orders", "payments", "örders")]
    return MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h")], topics=topics)


def read(data: bytes) -> Any:
    """Read the message from bytes, typed Any."""
    return MetadataResponse.read(data, VERSION)
