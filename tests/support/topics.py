"""One message with structs in structs, to try on it what can happen to objects."""

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
    """Topics that refer to partitions, which refer to nothing that refers. As Any: tests put wrong values into it."""
    partitions = [MetadataResponsePartition(partition_index=n, replica_nodes=[1, 2, 3]) for n in range(3)]
    topics = [MetadataResponseTopic(name=name, partitions=partitions) for name in ("orders", "payments", "örders")]
    return MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="h")], topics=topics)


def read(data: bytes) -> Any:
    """The message of such bytes, as Any too."""
    return MetadataResponse.read(data, VERSION)
