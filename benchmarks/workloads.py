"""Messages that every codec encodes and decodes.

A workload has a message name, a version and a body of plain dicts and lists, without tagged fields. ``structs`` names
the array fields with structs. The driver checks the given size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from uuid import NAMESPACE_DNS, UUID, uuid5

Value: TypeAlias = "bool | int | str | bytes | UUID | list[Value] | dict[str, Value] | None"
Body: TypeAlias = "dict[str, Value]"

KIBIBYTE = 1024
NO_OPERATIONS = -(2**31)  # Kafka's default of authorized-operations bit fields: not requested


@dataclass(frozen=True)
class Workload:
    """Message to measure; ``size`` excludes header and length prefix."""

    key: str
    message: str
    version: int
    size: int
    contents: str
    structs: Mapping[str, str]
    body: Callable[[], Body]

    @property
    def title(self) -> str:
        return f"{self.key} {snake_case(self.message)} v{self.version}"


def snake_case(name: str) -> str:
    """Return ``metadata_response`` for ``MetadataResponse``; runs of capitals are unsupported."""
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def _topic_name(index: int) -> str:
    return f"benchmark-topic-{index:03}"


def _topic_id(index: int) -> UUID:
    return uuid5(NAMESPACE_DNS, _topic_name(index))


def _member_id(index: int) -> str:
    return f"m{index:04}-{uuid5(NAMESPACE_DNS, f'member-{index}')}"


def _payload(seed: int, size: int) -> bytes:
    # Bytes that differ per seed; codecs do not read records or member metadata.
    return bytes((seed + position) % 256 for position in range(size))


def _metadata_response(topics: int, partitions: int, replicas: int, brokers: int) -> Body:
    def partition(index: int) -> Body:
        nodes: list[Value] = [(index + replica) % brokers for replica in range(replicas)]
        return {
            "error_code": 0,
            "partition_index": index,
            "leader_id": nodes[0],
            "leader_epoch": 7,
            "replica_nodes": nodes,
            "isr_nodes": list(nodes),
            "offline_replicas": [],
        }

    def topic(index: int) -> Body:
        return {
            "error_code": 0,
            "name": _topic_name(index),
            "topic_id": _topic_id(index),
            "is_internal": False,
            "partitions": [partition(number) for number in range(partitions)],
            "topic_authorized_operations": NO_OPERATIONS,
        }

    def broker(index: int) -> Body:
        return {"node_id": index, "host": f"broker-{index}.kafka.example.com", "port": 9092, "rack": f"rack-{index}"}

    return {
        "throttle_time_ms": 0,
        "brokers": [broker(index) for index in range(brokers)],
        "cluster_id": "benchmark-cluster-0001",
        "controller_id": 0,
        "topics": [topic(index) for index in range(topics)],
    }


def _fetch_response(topics: int, partitions: int) -> Body:
    def partition(index: int) -> Body:
        return {
            "partition_index": index,
            "error_code": 0,
            "high_watermark": 1_000_000 + index,
            "last_stable_offset": 1_000_000 + index,
            "log_start_offset": 0,
            "aborted_transactions": None,
            "preferred_read_replica": -1,
            "records": _payload(index, KIBIBYTE),
        }

    def topic(index: int) -> Body:
        return {"topic_id": _topic_id(index), "partitions": [partition(number) for number in range(partitions)]}

    responses: list[Value] = [topic(index) for index in range(topics)]
    return {"throttle_time_ms": 0, "error_code": 0, "session_id": 0, "responses": responses}


def _produce_request(topics: int, partitions: int) -> Body:
    def topic(index: int) -> Body:
        data: list[Value] = [{"index": number, "records": _payload(number, KIBIBYTE)} for number in range(partitions)]
        return {"name": _topic_name(index), "partition_data": data}

    topic_data: list[Value] = [topic(index) for index in range(topics)]
    return {"transactional_id": None, "acks": -1, "timeout_ms": 30_000, "topic_data": topic_data}


def _offset_commit_request(topics: int, partitions: int) -> Body:
    def partition(index: int) -> Body:
        offset = 1_000_000 + index
        return {
            "partition_index": index,
            "committed_offset": offset,
            "committed_leader_epoch": -1,
            "committed_metadata": "",
        }

    def topic(index: int) -> Body:
        return {"name": _topic_name(index), "partitions": [partition(number) for number in range(partitions)]}

    return {
        "group_id": "the-benchmark-group-01",
        "generation_id_or_member_epoch": 42,
        "member_id": _member_id(1),
        "group_instance_id": None,
        "topics": [topic(index) for index in range(topics)],
    }


def _api_versions_request() -> Body:
    return {"client_software_name": "benchmark", "client_software_version": "1.0.0"}


def _join_group_response(members: int) -> Body:
    def member(index: int) -> Body:
        return {"member_id": _member_id(index), "group_instance_id": None, "metadata": _payload(index, 106)}

    return {
        "throttle_time_ms": 0,
        "error_code": 0,
        "generation_id": 42,
        "protocol_type": "consumer",
        "protocol_name": "range",
        "leader": _member_id(0),
        "member_id": _member_id(1),
        "members": [member(index) for index in range(members)],
    }


_METADATA = {
    "brokers": "MetadataResponseBroker",
    "topics": "MetadataResponseTopic",
    "partitions": "MetadataResponsePartition",
}
_FETCH = {
    "responses": "FetchableTopicResponse",
    "partitions": "PartitionData",
    "aborted_transactions": "AbortedTransaction",
}
_PRODUCE = {"topic_data": "TopicProduceData", "partition_data": "PartitionProduceData"}
_OFFSET_COMMIT = {"topics": "OffsetCommitRequestTopic", "partitions": "OffsetCommitRequestPartition"}
_JOIN_GROUP = {"members": "JoinGroupResponseMember"}

_ALL = (
    Workload(
        key="W1",
        message="MetadataResponse",
        version=12,
        size=3_608,
        contents="1 topic of 100 partitions with 2 replicas each, 3 brokers",
        structs=_METADATA,
        body=lambda: _metadata_response(topics=1, partitions=100, replicas=2, brokers=3),
    ),
    Workload(
        key="W2",
        message="MetadataResponse",
        version=12,
        size=465_293,
        contents="1000 topics of 10 partitions with 3 replicas each, 6 brokers",
        structs=_METADATA,
        body=lambda: _metadata_response(topics=1000, partitions=10, replicas=3, brokers=6),
    ),
    Workload(
        key="W3",
        message="FetchResponse",
        version=13,
        size=53_202,
        contents="5 topics of 10 partitions with 1 KiB of records each",
        structs=_FETCH,
        body=lambda: _fetch_response(topics=5, partitions=10),
    ),
    Workload(
        key="W4",
        message="ProduceRequest",
        version=9,
        size=20_717,
        contents="4 topics of 5 partitions with 1 KiB of records each",
        structs=_PRODUCE,
        body=lambda: _produce_request(topics=4, partitions=5),
    ),
    Workload(
        key="W5",
        message="OffsetCommitRequest",
        version=8,
        size=11_273,
        contents="100 topics of 5 partitions",
        structs=_OFFSET_COMMIT,
        body=lambda: _offset_commit_request(topics=100, partitions=5),
    ),
    Workload(
        key="W6",
        message="ApiVersionsRequest",
        version=3,
        size=17,
        contents="two short strings",
        structs={},
        body=_api_versions_request,
    ),
    Workload(
        key="W7",
        message="JoinGroupResponse",
        version=7,
        size=7_713,
        contents="50 members with 106 bytes of metadata each",
        structs=_JOIN_GROUP,
        body=lambda: _join_group_response(members=50),
    ),
)
WORKLOADS: Mapping[str, Workload] = {workload.key: workload for workload in _ALL}
