"""Requests with few arguments, to compare the responses of two brokers."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kafka_messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeTopicPartitionsRequest,
    EndTxnRequest,
    FetchRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from kafka_messages.protocol import api
from kafka_messages_testkit.handlers.table import FAMILIES
from kafka_records import Record, write_batch

from .everything import NAME, request
from .sides import Side

UNKNOWN = UUID(int=7 << 64 | 7)
ZERO = UUID(int=0)
START = 1_700_000_000_000
"""Timestamp of the first record in milliseconds; the others follow after one second each."""


def merged(fields: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    return defaults | fields


def batch(count: int = 1, **fields: Any) -> bytes:
    first = fields.pop("timestamp", START)
    return write_batch([Record(value=b"v", timestamp=first + 1000 * number) for number in range(count)], **fields)


def metadata(*names: str | None, ids: Sequence[UUID] = (), **fields: Any) -> MetadataRequest:
    kind = MetadataRequest.MetadataRequestTopic
    topics = [kind(name=name) for name in names] + [kind(name=None, topic_id=each) for each in ids]
    return MetadataRequest(topics=topics, **fields)


def produce(side: Side, name: str, *records: bytes | None, first: int = 0, **fields: Any) -> ProduceRequest:
    kind = ProduceRequest.PartitionProduceData
    parts = [kind(index=index, records=each) for index, each in enumerate(records, first)]
    topic = ProduceRequest.TopicProduceData(name=name, topic_id=side.ids.get(name, UNKNOWN), partition_data=parts)
    return ProduceRequest(**merged(fields, acks=-1, timeout_ms=5000, topic_data=[topic]))


def fetch(side: Side, name: str, *offsets: int, first: int = 0, part: Any = None, **fields: Any) -> FetchRequest:
    made = [
        FetchRequest.FetchPartition(
            **merged(part or {}, partition=index, fetch_offset=offset, partition_max_bytes=1 << 20)
        )
        for index, offset in enumerate(offsets, first)
    ]
    topic = FetchRequest.FetchTopic(topic=name, topic_id=side.ids.get(name, UNKNOWN), partitions=made)
    return FetchRequest(**merged(fields, max_bytes=1 << 20, topics=[topic]))


def list_offsets(name: str, *timestamps: int, first: int = 0, part: Any = None, **fields: Any) -> ListOffsetsRequest:
    kind = ListOffsetsRequest.ListOffsetsPartition
    parts = [kind(partition_index=index, timestamp=each, **part or {}) for index, each in enumerate(timestamps, first)]
    topics = [ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=parts)]
    return ListOffsetsRequest(**merged(fields, replica_id=-1, topics=topics, timeout_ms=1000))


def leader_epochs(name: str, *epochs: int, current: int = -1, first: int = 0) -> OffsetForLeaderEpochRequest:
    kind = OffsetForLeaderEpochRequest.OffsetForLeaderPartition
    parts = [
        kind(partition=index, leader_epoch=each, current_leader_epoch=current)
        for index, each in enumerate(epochs, first)
    ]
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=name, partitions=parts)
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[topic])


def create(*names: str, validate_only: bool = False, **fields: Any) -> CreateTopicsRequest:
    kind = CreateTopicsRequest.CreatableTopic
    topics = [kind(**merged(fields, name=name, num_partitions=1, replication_factor=1)) for name in names]
    return CreateTopicsRequest(topics=topics, validate_only=validate_only)


def assigned(name: str, replicas: dict[int, list[int]], **fields: Any) -> CreateTopicsRequest:
    kind = CreateTopicsRequest.CreatableReplicaAssignment
    made = [kind(partition_index=index, broker_ids=ids) for index, ids in replicas.items()]
    return create(name, **merged(fields, num_partitions=-1, replication_factor=-1, assignments=made))


def delete(*names: str | None, ids: Sequence[UUID] = ()) -> DeleteTopicsRequest:
    kind = DeleteTopicsRequest.DeleteTopicState
    topics = [kind(name=name) for name in names] + [kind(name=None, topic_id=each) for each in ids]
    return DeleteTopicsRequest(topics=topics, topic_names=[each for each in names if each is not None], timeout_ms=5000)


def partitions(*names: str, cursor: tuple[str, int] | None = None, limit: int = 2000) -> DescribeTopicPartitionsRequest:
    kind = DescribeTopicPartitionsRequest
    return kind(
        topics=[kind.TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else kind.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )


def join(group: str, member_id: str = "", **fields: Any) -> JoinGroupRequest:
    kind = JoinGroupRequest.JoinGroupRequestProtocol
    protocols = fields.pop("protocols", {"range": b"subscription"})
    made = [kind(name=name, metadata=data) for name, data in protocols.items()]
    values = merged(fields, session_timeout_ms=30_000, rebalance_timeout_ms=30_000, protocol_type="consumer")
    return JoinGroupRequest(group_id=group, member_id=member_id, protocols=made, **values)


def sync(group: str, member_id: str, generation: int, **fields: Any) -> SyncGroupRequest:
    kind = SyncGroupRequest.SyncGroupRequestAssignment
    assignments = fields.pop("assignments", {member_id: b"assignment"})
    made = [kind(member_id=each, assignment=data) for each, data in assignments.items()]
    values = {"protocol_type": "consumer", "protocol_name": "range"} | fields
    return SyncGroupRequest(group_id=group, member_id=member_id, generation_id=generation, assignments=made, **values)


def heartbeat(group: str, member_id: str, generation: int, **fields: Any) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=group, member_id=member_id, generation_id=generation, **fields)


def leave(group: str, *members: str, instance_id: str | None = None) -> LeaveGroupRequest:
    kind = LeaveGroupRequest.MemberIdentity
    made = [kind(member_id=each, group_instance_id=instance_id) for each in members]
    return LeaveGroupRequest(group_id=group, member_id=members[0] if members else "", members=made)


def commit(side: Side, group: str, name: str, *offsets: int, first: int = 0, **fields: Any) -> OffsetCommitRequest:
    kind, more = OffsetCommitRequest.OffsetCommitRequestPartition, fields.pop("part", {})
    parts = [kind(partition_index=index, committed_offset=each, **more) for index, each in enumerate(offsets, first)]
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(
        name=name, topic_id=side.ids.get(name, UNKNOWN), partitions=parts
    )
    return OffsetCommitRequest(**merged(fields, group_id=group, topics=[topic]))


def committed(
    side: Side, *groups: str, topics: dict[str, list[int]] | None = None, **fields: Any
) -> OffsetFetchRequest:
    kind = OffsetFetchRequest
    member = {each: fields.pop(each) for each in ("member_id", "member_epoch") if each in fields}
    old = (
        None
        if topics is None
        else [kind.OffsetFetchRequestTopic(name=name, partition_indexes=each) for name, each in topics.items()]
    )
    new = (
        None
        if topics is None
        else [
            kind.OffsetFetchRequestTopics(name=name, topic_id=side.ids.get(name, UNKNOWN), partition_indexes=each)
            for name, each in topics.items()
        ]
    )
    made = [kind.OffsetFetchRequestGroup(group_id=each, topics=new, **member) for each in groups]
    return kind(group_id=groups[0] if groups else "", topics=old, groups=made, **fields)


def beat(side: Side, group: str, member_id: str, epoch: int = 0, *names: str, **fields: Any) -> Any:
    if epoch == 0:
        joining = {"rebalance_timeout_ms": 60_000, "subscribed_topic_names": list(names), "topic_partitions": []}
        fields = joining | fields
    owned = fields.pop("owned", None)
    if owned is not None:
        kind = ConsumerGroupHeartbeatRequest.TopicPartitions
        fields["topic_partitions"] = [
            kind(topic_id=side.ids.get(name, UNKNOWN), partitions=indexes) for name, indexes in owned.items()
        ]
    return ConsumerGroupHeartbeatRequest(group_id=group, member_id=member_id, member_epoch=epoch, **fields)


def add(id: str, producer: tuple[int, int], name: str, *indexes: int, **fields: Any) -> AddPartitionsToTxnRequest:
    kind = AddPartitionsToTxnRequest
    topics = [kind.AddPartitionsToTxnTopic(name=name, partitions=list(indexes))]
    one = kind.AddPartitionsToTxnTransaction(
        transactional_id=id, producer_id=producer[0], producer_epoch=producer[1], topics=topics, **fields
    )
    return kind(
        transactions=[one],
        v3_and_below_transactional_id=id,
        v3_and_below_producer_id=producer[0],
        v3_and_below_producer_epoch=producer[1],
        v3_and_below_topics=topics,
    )


def init(id: str | None, *, timeout: int = 60_000, producer: tuple[int, int] = (-1, -1)) -> InitProducerIdRequest:
    return InitProducerIdRequest(
        transactional_id=id, transaction_timeout_ms=timeout, producer_id=producer[0], producer_epoch=producer[1]
    )


def add_offsets(id: str, producer: tuple[int, int], group: str) -> AddOffsetsToTxnRequest:
    return AddOffsetsToTxnRequest(
        transactional_id=id, producer_id=producer[0], producer_epoch=producer[1], group_id=group
    )


def end(id: str, producer: tuple[int, int], committed: bool = True) -> EndTxnRequest:
    return EndTxnRequest(transactional_id=id, producer_id=producer[0], producer_epoch=producer[1], committed=committed)


def txn_commit(
    side: Side, id: str, producer: tuple[int, int], group: str, name: str, *offsets: int, **fields: Any
) -> TxnOffsetCommitRequest:
    kind = TxnOffsetCommitRequest
    first = fields.pop("first", 0)
    parts = [
        kind.TxnOffsetCommitRequestPartition(partition_index=index, committed_offset=each)
        for index, each in enumerate(offsets, first)
    ]
    topic = kind.TxnOffsetCommitRequestTopic(name=name, topic_id=side.ids.get(name, UNKNOWN), partitions=parts)
    return kind(
        transactional_id=id,
        group_id=group,
        producer_id=producer[0],
        producer_epoch=producer[1],
        topics=[topic],
        **fields,
    )


def renamed(value: Any, old: str, new: str) -> Any:
    """Return a message with another string in all places where it has ``old``."""
    if isinstance(value, str):
        return new if value == old else value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            setattr(value, field.name, renamed(getattr(value, field.name), old, new))
    elif isinstance(value, list):
        value[:] = [renamed(each, old, new) for each in value]
    return value


async def everything(side: Side) -> None:
    """Send the filled request to each API."""
    name = await side.topic()
    apis = ["ApiVersions", *(each for names in FAMILIES.values() for each in names)]
    for each in sorted(apis, key="DeleteTopics".__eq__):  # this one last
        made = renamed(request(api(each), side.ids[name]), NAME, name)
        await side.ask("filled", made, only=side.name if each == "ListGroups" else None)
