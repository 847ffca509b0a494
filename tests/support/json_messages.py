"""Messages and their JSON form, for the tests of writing, reading and errors."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from kafka_messages import CreateTopicsRequest, ProduceRequest
from kafka_messages.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_messages.messages.produce_request import PartitionProduceData, TopicProduceData

ID = UUID("c7b0f70a-4fd9-440d-b6f9-dcc8beefe99d")
ID_TEXT = "x7D3Ck_ZRA22-dzIvu_pnQ"


def topics_request() -> CreateTopicsRequest:
    topic = CreatableTopic(
        name="orders",
        num_partitions=1,
        replication_factor=3,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])],
        configs=[CreatableTopicConfig(name="cleanup.policy", value=None)],
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=5)


TOPICS_JSON: dict[str, Any] = {
    "topics": [
        {
            "name": "orders",
            "numPartitions": 1,
            "replicationFactor": 3,
            "assignments": [{"partitionIndex": 0, "brokerIds": [1, 2]}],
            "configs": [{"name": "cleanup.policy", "value": None}],
        }
    ],
    "timeoutMs": 5,
    "validateOnly": False,
}


def produce_request(records: bytes | None) -> ProduceRequest:
    partition = PartitionProduceData(index=1, records=records)
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])
