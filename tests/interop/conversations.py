"""Conversations that tell a lot about a broker: requests to every API of the test kit's cluster."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from kafka_messages import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    DescribeTopicPartitionsRequest,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    Request,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
)
from kafka_messages.protocol import ErrorCode
from kafka_records import Record, write_batch

from tests.support.invalid_batches import INVALID_BATCHES, TRAILING

from .everything import request
from .sides import Side

UNKNOWN = UUID(int=7 << 64 | 7)
ZERO = UUID(int=0)
START = 1_700_000_000_000
"""Timestamp of the first record in milliseconds; the others follow after one second each."""


def batch(count: int = 1, **fields: Any) -> bytes:
    first = fields.pop("timestamp", START)
    return write_batch([Record(value=b"v", timestamp=first + 1000 * number) for number in range(count)], **fields)


# Requests


def metadata(*names: str | None, ids: Sequence[UUID] = (), **fields: Any) -> MetadataRequest:
    kind = MetadataRequest.MetadataRequestTopic
    topics = [kind(name=name) for name in names] + [kind(name=None, topic_id=each) for each in ids]
    return MetadataRequest(topics=topics, **fields)


def produce(side: Side, name: str, *records: bytes | None, first: int = 0, **fields: Any) -> ProduceRequest:
    kind = ProduceRequest.PartitionProduceData
    parts = [kind(index=index, records=each) for index, each in enumerate(records, first)]
    topic = ProduceRequest.TopicProduceData(name=name, topic_id=side.ids.get(name, UNKNOWN), partition_data=parts)
    return ProduceRequest(**{"acks": -1, "timeout_ms": 5000, "topic_data": [topic]} | fields)


def fetch(side: Side, name: str, *offsets: int, first: int = 0, part: Any = None, **fields: Any) -> FetchRequest:
    made = [
        FetchRequest.FetchPartition(
            **{"partition": index, "fetch_offset": offset, "partition_max_bytes": 1 << 20} | (part or {})
        )
        for index, offset in enumerate(offsets, first)
    ]
    topic = FetchRequest.FetchTopic(topic=name, topic_id=side.ids.get(name, UNKNOWN), partitions=made)
    return FetchRequest(**{"max_bytes": 1 << 20, "topics": [topic]} | fields)


def list_offsets(name: str, *timestamps: int, first: int = 0, part: Any = None, **fields: Any) -> ListOffsetsRequest:
    kind = ListOffsetsRequest.ListOffsetsPartition
    parts = [kind(partition_index=index, timestamp=each, **part or {}) for index, each in enumerate(timestamps, first)]
    topics = [ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=parts)]
    return ListOffsetsRequest(**{"replica_id": -1, "topics": topics, "timeout_ms": 1000} | fields)


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
    topics = [kind(**{"name": name, "num_partitions": 1, "replication_factor": 1} | fields) for name in names]
    return CreateTopicsRequest(topics=topics, validate_only=validate_only)


def assigned(name: str, replicas: dict[int, list[int]], **fields: Any) -> CreateTopicsRequest:
    kind = CreateTopicsRequest.CreatableReplicaAssignment
    made = [kind(partition_index=index, broker_ids=ids) for index, ids in replicas.items()]
    return create(name, **{"num_partitions": -1, "replication_factor": -1, "assignments": made} | fields)


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
    values = {"session_timeout_ms": 30_000, "rebalance_timeout_ms": 30_000, "protocol_type": "consumer"} | fields
    return JoinGroupRequest(group_id=group, member_id=member_id, protocols=made, **values)


def sync(group: str, member_id: str, generation: int, **fields: Any) -> SyncGroupRequest:
    kind = SyncGroupRequest.SyncGroupRequestAssignment
    assignments = fields.pop("assignments", {member_id: b"assignment"})
    made = [kind(member_id=each, assignment=data) for each, data in assignments.items()]
    values = {"protocol_type": "consumer", "protocol_name": "range"} | fields
    return SyncGroupRequest(
        group_id=group, member_id=member_id, generation_id=generation, assignments=made, **values
    )


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
    return OffsetCommitRequest(**{"group_id": group, "topics": [topic]} | fields)


def committed(side: Side, *groups: str, topics: dict[str, list[int]] | None = None, **fields: Any) -> OffsetFetchRequest:
    kind = OffsetFetchRequest
    member = {each: fields.pop(each) for each in ("member_id", "member_epoch") if each in fields}
    old = None if topics is None else [kind.OffsetFetchRequestTopic(name=name, partition_indexes=each) for name, each in topics.items()]
    new = None if topics is None else [
        kind.OffsetFetchRequestTopics(name=name, topic_id=side.ids.get(name, UNKNOWN), partition_indexes=each)
        for name, each in topics.items()
    ]
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
    return EndTxnRequest(
        transactional_id=id, producer_id=producer[0], producer_epoch=producer[1], committed=committed
    )


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
        transactional_id=id, group_id=group, producer_id=producer[0], producer_epoch=producer[1], topics=[topic], **fields
    )


# Conversations


async def api_versions(side: Side) -> None:
    await side.ask("valid", ApiVersionsRequest(client_software_name="kit", client_software_version="1"))
    await side.ask("without a name", ApiVersionsRequest())


async def topics(side: Side) -> None:
    name, other = await side.topic(), await side.topic("another", partitions=1)
    await side.ask("of all", MetadataRequest(topics=None), only=side.name)
    await side.ask("of none", metadata(), only=side.name)
    await side.ask("of two", metadata(other, name))
    await side.ask("of an unknown topic", metadata(f"{side.name}-unknown", allow_auto_topic_creation=False))
    for number, wrong in enumerate(("", "a b", ".", "a" * 250)):
        await side.ask(f"of an invalid name {number}", metadata(wrong))
    await side.ask("of a known and an unknown topic", metadata(name, f"{side.name}-unknown"))
    await side.ask("of a topic twice", metadata(name, name))
    await side.ask("of a null name", metadata(None))
    await side.ask("of ids", metadata(ids=[side.ids[name]]))
    await side.ask("of an unknown id", metadata(ids=[UNKNOWN]))
    await side.ask("of an id and a name", metadata(name, ids=[side.ids[other]]))
    operations = {"include_topic_authorized_operations": True, "include_cluster_authorized_operations": True}
    await side.ask("with operations", metadata(name, f"{side.name}-unknown", **operations))


async def described_topics(side: Side) -> None:
    name, other = await side.topic(partitions=3), await side.topic("another", partitions=2)
    unknown = f"{side.name}-unknown"
    await side.ask("one", partitions(name))
    await side.ask("two", partitions(name, other))
    await side.ask("unknown", partitions(unknown))
    await side.ask("invalid", partitions("a b"))
    await side.ask("empty name", partitions(""))
    await side.ask("twice", partitions(name, name))
    for limit in (-1, 0, 1, 2, 3, 5):
        await side.ask(f"limit {limit}", partitions(name, other, limit=limit))
    await side.ask("limit before an unknown one", partitions(other, unknown, limit=2))
    for place in ((name, 0), (name, 1), (name, 3), (name, 9), (other, 1), (unknown, 0), ("zzz", 0), (name, -1)):
        await side.ask(f"cursor {place}", partitions(name, other, cursor=place))
        await side.ask(f"cursor and unknown {place}", partitions(name, unknown, cursor=place))
    await side.ask("cursor and limit", partitions(name, other, cursor=(name, 1), limit=1))
    await side.ask("all from a cursor", partitions(cursor=(other, 0)), only=side.name)


async def cluster(side: Side) -> None:
    for kind in (0, 1, 2, 3):
        await side.ask(f"type {kind}", DescribeClusterRequest(endpoint_type=kind))
    await side.ask("fenced", DescribeClusterRequest(include_fenced_brokers=True))
    await side.ask("operations", DescribeClusterRequest(include_cluster_authorized_operations=True))


async def created_topics(side: Side) -> None:
    name, config = side.name, CreateTopicsRequest.CreatableTopicConfig
    await side.ask("new", create(f"{name}-new"))
    await side.visible(f"{name}-new")
    await side.ask("existing", create(f"{name}-new"))
    await side.ask("none", CreateTopicsRequest())
    await side.ask("validated", create(f"{name}-validated", validate_only=True))
    await side.ask("validated existing", create(f"{name}-new", validate_only=True))
    for number, wrong in enumerate(("", ".", "..", "a b", "ä", "a" * 250, "__consumer_offsets")):
        await side.ask(f"named {number}", create(wrong))
    await side.ask("dot", create(f"{name}.dot"))
    await side.ask("underscore", create(f"{name}_dot"))
    for count in (0, -1, -2):
        await side.ask(f"{count} partitions", create(f"{name}-partitions{count}", num_partitions=count))
    for count in (0, -1, -2, 2):
        await side.ask(f"{count} replicas", create(f"{name}-replicas{count}", replication_factor=count))
    await side.ask("two", create(f"{name}-one", f"{name}-two"))
    await side.ask("two of one name", create(f"{name}-same", f"{name}-same"))
    await side.ask("assigned", assigned(f"{name}-assigned", {0: [1], 1: [1]}))
    await side.ask("assigned in any order", assigned(f"{name}-order", {1: [1], 0: [1]}))
    wrong_replicas: tuple[dict[int, list[int]], ...] = (
        {0: [9]}, {0: [1, 1]}, {0: []}, {1: [1]}, {0: [1], 2: [1]}, {0: [-1]}, {-1: [1]}
    )  # fmt: skip
    for number, replicas in enumerate(wrong_replicas):
        await side.ask(f"wrongly assigned {number}", assigned(f"{name}-assigned{number}", replicas))
    await side.ask("assigned and counted", assigned(f"{name}-counted", {0: [1]}, num_partitions=1))
    await side.ask("assigned and replicated", assigned(f"{name}-replicated", {0: [1]}, replication_factor=1))
    for number, (key, value) in enumerate(
        (("retention.ms", "1000"), ("retention.ms", None), ("retention.ms", "long"), ("nonsense", "1"), ("", "1"))
    ):
        configs = [config(name=key, value=value)]
        await side.ask(f"config {number}", create(f"{name}-config{number}", configs=configs))


async def deleted_topics(side: Side) -> None:
    names = [await side.topic(f"{number}", partitions=1) for number in range(4)]
    unknown = f"{side.name}-unknown"
    await side.ask("none", delete())
    await side.ask("by name", delete(names[0]))
    await side.ask("again", delete(names[0]))
    await side.ask("unknown", delete(unknown))
    await side.ask("invalid", delete("a b"))
    await side.ask("empty", delete(""))
    await side.ask("twice", delete(names[1], names[1]))
    await side.ask("one known", delete(unknown, names[1]))
    by_id = delete(ids=[side.ids[names[2]]])
    await side.ask("by id", by_id)
    if await side.version(by_id) >= 6:
        await side.ask("again by id", by_id)
        await side.ask("unknown id", delete(ids=[UNKNOWN]))
        await side.ask("zero id", delete(ids=[ZERO]))
        kind = DeleteTopicsRequest.DeleteTopicState
        both = [kind(name=names[3], topic_id=side.ids[names[3]])]
        await side.ask("by both", DeleteTopicsRequest(topics=both, timeout_ms=5000))
        await side.ask("name and id", delete(names[3], ids=[side.ids[names[3]]]))
    await side.ask("of a deleted one", delete(names[0], names[2]))


async def produced(side: Side) -> None:
    name = await side.topic()
    await side.ask("valid", produce(side, name, batch()))
    await side.ask("to two", produce(side, name, batch(2), batch(3)))
    await side.ask("acks 1", produce(side, name, batch(), acks=1))
    await side.ask("acks 2", produce(side, name, batch(), acks=2))
    await side.ask("no topics", produce(side, name, topic_data=[]))
    await side.ask("no partitions", produce(side, name))
    await side.ask("to a negative partition", produce(side, name, batch(), first=-1))
    await side.ask("to an unknown partition", produce(side, name, batch(), batch(), first=1))
    await side.ask("to an unknown topic", produce(side, f"{side.name}-unknown", batch()))
    await side.ask("to an empty name", produce(side, "", batch()))
    await side.ask("to an internal topic", produce(side, "__consumer_offsets", batch()))
    await side.ask("end", list_offsets(name, -1, -1))
    for label, (data, _) in {**INVALID_BATCHES, "trailing byte": (TRAILING, None)}.items():
        await side.ask(label, produce(side, name, data))
    for codec in ("gzip", "snappy", "lz4", "zstd"):
        await side.ask(f"in {codec}", produce(side, name, batch(3, compression=codec)))
    await side.ask("too large", produce(side, name, write_batch([Record(value=b"v" * 1_048_600, timestamp=START)])))
    await side.ask("from the future", produce(side, name, batch(2, timestamp=1 << 45)))
    await side.ask("without timestamp", produce(side, name, write_batch([Record(value=b"v", timestamp=-1)])))
    await side.ask("with append time", produce(side, name, batch(log_append_time=START)))
    await side.ask("with a base offset", produce(side, name, batch(base_offset=5)))
    await side.ask("with a leader epoch", produce(side, name, batch(leader_epoch=5)))
    await side.ask("transactional without id", produce(side, name, batch(producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True)))
    await side.ask("an id without transaction", produce(side, name, batch(), transactional_id="nobody"))
    unknown_producer = batch(producer_id=123_456, producer_epoch=0, base_sequence=0, is_transactional=True)
    await side.ask("of an unknown transaction", produce(side, name, unknown_producer, transactional_id="nobody"))
    await side.ask("mixed", produce(side, name, batch(), b"nonsense"))
    await side.ask("end after all", list_offsets(name, -1, -1))
    await side.ask("all", fetch(side, name, 0, 0))


async def produced_twice(side: Side) -> None:
    name = await side.topic()
    twice = produce(side, name, batch(), batch())
    twice.topic_data[0].partition_data[1].index = 0
    await side.ask("to a partition twice", twice)
    await side.ask("end", list_offsets(name, -1))


async def unacknowledged(side: Side) -> None:
    name = await side.topic()
    connection = await side.connection()
    version = await side.version(produce(side, name))
    await connection.send(produce(side, name, batch(2), acks=0).downgraded(version), version)
    await side.ask("after acks 0", list_offsets(name, -1))
    await connection.send(produce(side, name, b"nonsense", acks=0).downgraded(version), version)
    await side.ask("after an error", list_offsets(name, -1))
    await side.ask("afterwards", list_offsets(name, -1))


async def idempotent(side: Side) -> None:
    name = await side.topic()
    made = await side.ask("new", init(None))
    producer = made.producer_id

    async def send(label: str, sequence: int, count: int = 1, epoch: int = 0, index: int = 0, id: int = producer) -> None:
        data = batch(count, producer_id=id, producer_epoch=epoch, base_sequence=sequence)
        await side.ask(label, produce(side, name, data, first=index))

    await send("first", 0)
    await send("second", 1, 2)
    await send("duplicate", 1, 2)
    await send("older duplicate", 0)
    await send("other count", 1, 1)
    await send("gap", 5)
    await send("third", 3)
    for number in range(4, 9):
        await send(f"sequence {number}", number)
    await send("forgotten duplicate", 1, 2)
    await send("duplicate of the last five", 4)
    await send("next epoch in the middle", 9, epoch=1)
    await send("next epoch", 0, epoch=1)
    await send("old epoch", 9)
    await send("start in the middle", 7, index=1)
    await send("unknown producer", 3, id=987_654_321)
    await send("negative sequence", -1)
    await send("negative epoch", 0, epoch=-1, index=1)
    await send("negative epoch of a new producer", 0, epoch=-1, index=1, id=987_654_322)
    transactional = batch(producer_id=producer, producer_epoch=1, base_sequence=1, is_transactional=True)
    await side.ask("transactional of another", produce(side, name, transactional, transactional_id=side.name))
    await side.ask("end", list_offsets(name, -1, -1))


async def filled(side: Side, suffix: str = "topic") -> str:
    """Create a topic of two partitions; partition 0 has batches of 1, 2 and 3 records, one second apart."""
    name = await side.topic(suffix)
    for count, first in ((1, 0), (2, 1), (3, 3)):
        await side.tell(produce(side, name, batch(count, timestamp=START + 1000 * first)))
    return name


async def fetched(side: Side) -> None:
    name = await filled(side)
    for offset in (0, 1, 2, 5, 6, 7, -1):
        await side.ask(f"from {offset}", fetch(side, name, offset))
    await side.ask("of two", fetch(side, name, 0, 0))
    await side.ask("of an unknown topic", fetch(side, f"{side.name}-unknown", 0))
    await side.ask("of an empty name", fetch(side, "", 0))
    await side.ask("of a negative partition", fetch(side, name, 0, first=-1))
    await side.ask("of an unknown partition", fetch(side, name, 0, 0, first=1))
    for epoch in (-1, 0, 1):
        await side.ask(f"leader epoch {epoch}", fetch(side, name, 0, part={"current_leader_epoch": epoch}))
    for epoch, offset in ((0, 0), (0, 6), (0, 7), (1, 0), (1, 6), (-1, 0), (-2, 0), (0, -1)):
        label = f"last epoch {epoch} at {offset}"
        await side.ask(label, fetch(side, name, offset, part={"last_fetched_epoch": epoch, "current_leader_epoch": 0}))
    for size in (0, 1, 100, 200):
        await side.ask(f"max {size}", fetch(side, name, 0, max_bytes=size))
        await side.ask(f"max {size} of a partition", fetch(side, name, 0, part={"partition_max_bytes": size}))
        await side.ask(f"max {size} of two", fetch(side, name, 0, 0, max_bytes=size))
    await side.ask("negative max", fetch(side, name, 0, max_bytes=-1, part={"partition_max_bytes": -1}))
    await side.ask("committed", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("isolation 2", fetch(side, name, 0, isolation_level=2))
    await side.ask("waiting in vain", fetch(side, name, 6, min_bytes=1, max_wait_ms=50))
    await side.ask("not waiting", fetch(side, name, 0, min_bytes=1 << 20, max_wait_ms=0))
    await side.ask("log start offset", fetch(side, name, 0, part={"log_start_offset": 3}))
    await side.ask("rack", fetch(side, name, 0, rack_id="rack"))
    await side.ask("no topics", fetch(side, name, topics=[]))
    await side.ask("no partitions", fetch(side, name))
    twice = fetch(side, name, 0, 3)
    twice.topics[0].partitions[1].partition = 0
    await side.ask("a partition twice", twice)
    await side.ask("unknown session", fetch(side, name, 0, session_id=77, session_epoch=1))
    await side.ask("session without id", fetch(side, name, 0, session_id=0, session_epoch=1))
    await side.ask("closed session", fetch(side, name, 0, session_id=77, session_epoch=-1))
    await side.ask("new session", fetch(side, name, 0, session_epoch=0))
    waiting = side.start("while a record arrives", fetch(side, name, 6, min_bytes=1, max_wait_ms=10_000))
    other = Side(side.port, side.name, 99)
    other.ids = side.ids
    await other.tell(produce(other, name, batch()))
    await other.close()
    await waiting


async def listed_offsets(side: Side) -> None:
    name = await filled(side)
    for timestamp in (-1, -2, -3, -4, -5, -6, -7, 0, START, START + 1, START + 2500, START + 5000, START + 5001):
        await side.ask(f"at {timestamp}", list_offsets(name, timestamp, timestamp))
        await side.ask(f"committed at {timestamp}", list_offsets(name, timestamp, isolation_level=1))
    await side.ask("of an unknown topic", list_offsets(f"{side.name}-unknown", -1))
    await side.ask("of an empty name", list_offsets("", -1))
    await side.ask("of a negative partition", list_offsets(name, -1, first=-1))
    await side.ask("of an unknown partition", list_offsets(name, -1, -1, first=1))
    for epoch in (-1, 0, 1, -5):
        await side.ask(f"leader epoch {epoch}", list_offsets(name, -1, part={"current_leader_epoch": epoch}))
    for replica in (0, 1, -2, -3):
        await side.ask(f"replica {replica}", list_offsets(name, -1, replica_id=replica))
    twice = list_offsets(name, -1, -2)
    twice.topics[0].partitions[1].partition_index = 0
    await side.ask("a partition twice", twice)
    await side.ask("no topics", list_offsets(name, topics=[]))
    await side.ask("no partitions", list_offsets(name))
    await side.ask("isolation 2", list_offsets(name, -1, isolation_level=2))


async def epochs(side: Side) -> None:
    name = await filled(side)
    for epoch in (-1, 0, 1, -2):
        await side.ask(f"epoch {epoch}", leader_epochs(name, epoch, epoch))
        await side.ask(f"current {epoch}", leader_epochs(name, 0, current=epoch))
    await side.ask("unknown topic", leader_epochs(f"{side.name}-unknown", 0))
    await side.ask("unknown partition", leader_epochs(name, 0, 0, first=1))
    await side.ask("negative partition", leader_epochs(name, 0, first=-1))
    await side.ask("no partitions", leader_epochs(name))
    await side.ask("no topics", OffsetForLeaderEpochRequest(replica_id=-1))


async def coordinators(side: Side) -> None:
    for kind in (0, 1, 2, 3, -1):
        for key in (side.name, ""):
            await side.ask(f"type {kind} of {'a name' if key else 'nothing'}", FindCoordinatorRequest(key=key, key_type=kind, coordinator_keys=[key]))
    if await side.version(FindCoordinatorRequest()) >= 4:
        await side.ask("of none", FindCoordinatorRequest(key_type=0))
        await side.ask("of three", FindCoordinatorRequest(key_type=0, coordinator_keys=["a", "b", "a"]))


async def unknown_group(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    for label, given in (("unknown", f"{side.name}-nobody"), ("empty", "")):
        await side.ask(label, heartbeat(given, "member", 1))
        await side.ask(f"{label} static", heartbeat(given, "member", 1, group_instance_id="one"))
        await side.ask(label, sync(given, "member", 1))
        await side.ask(label, leave(given, "member"))
        await side.ask(f"{label} two", leave(given, "member", "another"))
        await side.ask(f"{label} instance", leave(given, "", instance_id="one"))
        await side.ask(label, join(given, "member"))
        await side.ask(f"{label} generation", commit(side, given, name, 1, member_id="member", generation_id_or_member_epoch=1))
        await side.ask(f"{label} member", commit(side, given, name, 1, member_id="member"))
        await side.ask(label, DescribeGroupsRequest(groups=[given], include_authorized_operations=True))
        await side.ask(label, committed(side, given, topics={name: [0]}))
        await side.ask(f"{label} all", committed(side, f"{given}-nobody"))
    if await side.version(leave(group)) >= 3:
        await side.ask("nobody", leave(group))
    await side.ask("none", DescribeGroupsRequest())
    await side.ask("two", DescribeGroupsRequest(groups=["", f"{side.name}-nobody", f"{side.name}-nobody"]))
    for number, timeout in enumerate((0, -1, 1_800_001)):
        await side.ask(f"session timeout {number}", join(group, session_timeout_ms=timeout))
    await side.ask("no protocols", join(group, protocols={}))
    await side.ask("no protocol type", join(group, protocol_type=""))
    await side.ask("afterwards", DescribeGroupsRequest(groups=[group]))


async def listed_groups(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    await side.tell(commit(side, group, name, 1))
    await joined(side, f"{side.name}-classic")
    await side.tell(beat(side, f"{side.name}-consumer", "member", 0, name))
    only = side.name
    await side.ask("all", ListGroupsRequest(), only=only)
    for number, states in enumerate((["Empty"], ["empty", "STABLE"], ["nonsense"], ["Dead"])):
        await side.ask(f"states {number}", ListGroupsRequest(states_filter=states), only=only)
    for number, types in enumerate((["classic"], ["Consumer"], ["nonsense"], ["share"], ["Unknown"])):
        await side.ask(f"types {number}", ListGroupsRequest(types_filter=types), only=only)
    await side.ask("classic and empty", ListGroupsRequest(states_filter=["Empty"], types_filter=["classic"]), only=only)


async def joined(side: Side, group: str, **fields: Any) -> tuple[str, int]:
    """Let a member join a group and get its assignment, without comparing; return its id and the generation."""
    made = await side.tell(join(group, **fields))
    if made.error_code == ErrorCode.MEMBER_ID_REQUIRED:
        made = await side.tell(join(group, made.member_id, **fields))
    instance = fields.get("group_instance_id")
    await side.tell(sync(group, made.member_id, made.generation_id, group_instance_id=instance))
    return made.member_id, made.generation_id


async def one_member(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    made = await side.ask("new", join(group))
    if made.error_code:
        await side.ask("pending", DescribeGroupsRequest(groups=[group]))
        await side.ask("pending", heartbeat(group, made.member_id, 0))
        await side.ask("pending", commit(side, group, name, 1, member_id=made.member_id, generation_id_or_member_epoch=0))
        made = await side.ask("with id", join(group, made.member_id))
    id, generation = made.member_id, made.generation_id
    await side.ask("before sync", heartbeat(group, id, generation))
    await side.ask("before sync", DescribeGroupsRequest(groups=[group]))
    own = {"member_id": id, "generation_id_or_member_epoch": generation}
    await side.ask("before sync", commit(side, group, name, 1, **own))
    await side.ask("wrong generation", sync(group, id, generation + 1))
    await side.ask("wrong member", sync(group, "member", generation))
    await side.ask("wrong type", sync(group, id, generation, protocol_type="connect"))
    await side.ask("wrong name", sync(group, id, generation, protocol_name="sticky"))
    await side.ask("no type", sync(group, id, generation, protocol_type=None, protocol_name=None))
    await side.ask("again", sync(group, id, generation))
    await side.ask("stable", DescribeGroupsRequest(groups=[group], include_authorized_operations=True))
    await side.ask("stable", heartbeat(group, id, generation))
    for label, member, number in (("member", "member", generation), ("no member", "", generation)):
        await side.ask(label, heartbeat(group, member, number))
        await side.ask(label, commit(side, group, name, 1, member_id=member, generation_id_or_member_epoch=number))
        await side.ask(label, leave(group, member))
    for number in (-1, 0, generation + 1):
        await side.ask(f"generation {number}", heartbeat(group, id, number))
        await side.ask(f"generation {number}", commit(side, group, name, 1, member_id=id, generation_id_or_member_epoch=number))
    await side.ask("without member", commit(side, group, name, 1))
    await side.ask("unknown instance", heartbeat(group, id, generation, group_instance_id="one"))
    await side.ask("unknown instance", commit(side, group, name, 1, **own, group_instance_id="one"))
    await side.ask("valid", commit(side, group, name, 5, 6, **own))
    await side.ask("valid", committed(side, group))
    await side.ask("of a member", committed(side, group, topics={name: [0]}, member_id=id, member_epoch=generation))
    await side.ask("other protocol type", join(group, protocol_type="connect"))
    await side.ask("other protocols", join(group, protocols={"sticky": b""}))
    await side.ask("unknown member", join(group, "member"))
    await side.ask("unknown member with other type", join(group, "member", protocol_type="connect"))
    made = await side.ask("the leader again", join(group, id))
    await side.ask("after the leader", heartbeat(group, id, made.generation_id))
    await side.ask("after the leader", sync(group, id, made.generation_id, assignments={id: b"new", "member": b"x"}))
    await side.ask("after leader's sync", sync(group, id, made.generation_id, assignments={}))
    await side.ask("consumer", beat(side, group, "new member", 0, name))
    await side.ask("leaves", leave(group, id))
    await side.ask("left", heartbeat(group, id, made.generation_id))
    await side.ask("left", DescribeGroupsRequest(groups=[group]))
    await side.ask("leaves again", leave(group, id))
    await side.ask("after all left", commit(side, group, name, 7))
    await side.ask("after all left, a member", commit(side, group, name, 8, member_id="member"))
    await side.ask("after all left, a generation", commit(side, group, name, 8, member_id=id, generation_id_or_member_epoch=made.generation_id))
    await side.ask("after all left", committed(side, group))
    await side.ask("again after all left", join(group, protocols={"sticky": b"1", "range": b"2"}, protocol_type="other"))


async def two_members(side: Side) -> None:
    group, other = f"{side.name}-group", Side(side.port, side.name, side.level)
    protocols = {"range": b"a", "sticky": b"b"}
    first, generation = await joined(side, group, protocols=protocols)
    made = await other.ask("second", join(group, protocols={"sticky": b"c", "x": b"d"}))if await side.version(join(group)) >= 4 else None
    second = made.member_id if made else ""
    waiting = other.start("second with id", join(group, second, protocols={"sticky": b"c", "x": b"d"}))
    await side.until(heartbeat(group, first, generation), lambda it: it.error_code)
    await side.ask("rebalancing", heartbeat(group, first, generation))
    await side.ask("rebalancing", sync(group, first, generation, protocol_name="range"))
    leader = await side.ask("first again", join(group, first, protocols=protocols))
    follower = await waiting
    second, generation = follower.member_id, leader.generation_id
    following = other.start("follower", sync(group, second, generation, protocol_name="sticky", assignments={}))
    given = {first: b"one", second: b"two"}
    await side.ask("leader", sync(group, first, generation, protocol_name="sticky", assignments=given))
    await following
    await other.ask("stable", heartbeat(group, second, generation))
    await other.ask("follower again", join(group, second, protocols={"sticky": b"c", "x": b"d"}))
    await side.ask("two", leave(group, second, "member"))
    await side.ask("after leave", heartbeat(group, first, generation))
    await side.ask("after leave, second", heartbeat(group, second, generation))
    side.answers |= {f"{label} of the second": answer for label, answer in other.answers.items()}
    await other.close()


async def static_member(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    one = {"group_instance_id": "one"}
    made = await side.ask("new", join(group, **one))
    if (await side.version(join(group))) < 5:
        return
    id, generation = made.member_id, made.generation_id
    await side.ask("new", sync(group, id, generation, **one))
    again = await side.ask("restarted", join(group, **one))
    await side.ask("restarted", sync(group, again.member_id, again.generation_id, **one))
    await side.ask("fenced", heartbeat(group, id, generation, **one))
    await side.ask("fenced", join(group, id, **one))
    await side.ask("fenced", sync(group, id, generation, **one))
    old = {"member_id": id, "generation_id_or_member_epoch": generation}
    await side.ask("fenced", commit(side, group, name, 1, **old, **one))
    await side.ask("fenced", leave(group, id, instance_id="one"))
    await side.ask("without instance", heartbeat(group, again.member_id, again.generation_id))
    await side.ask("other instance", heartbeat(group, again.member_id, again.generation_id, group_instance_id="two"))
    await side.ask("other instance", leave(group, again.member_id, instance_id="two"))
    await side.ask("described", DescribeGroupsRequest(groups=[group]))
    changed = await side.ask("changed", join(group, **one, protocols={"sticky": b"new"}))
    await side.ask("changed", sync(group, changed.member_id, changed.generation_id, **one, protocol_name="sticky"))
    if await side.version(leave(group)) >= 3:
        await side.ask("removed", leave(group, "", "", instance_id="one"))


async def commits(side: Side) -> None:
    name, other, group = await side.topic(), await side.topic("another"), f"{side.name}-group"
    await side.ask("simple", commit(side, group, name, 3, 4, part={"committed_metadata": "note"}))
    await side.ask("epoch", commit(side, group, other, 5, part={"committed_leader_epoch": 2}))
    await side.ask("null metadata", commit(side, group, other, 0, first=1, part={"committed_metadata": None}))
    await side.ask("long metadata", commit(side, group, name, 9, part={"committed_metadata": "n" * 4097}))
    await side.ask("longest metadata", commit(side, f"{group}-long", name, 9, part={"committed_metadata": "n" * 4096}))
    await side.ask("long metadata of wide characters", commit(side, group, name, 9, part={"committed_metadata": "ä" * 4000}))
    await side.ask("negative", commit(side, f"{group}-negative", name, -1, -2))
    await side.ask("negative", committed(side, f"{group}-negative"))
    await side.ask("unknown topic", commit(side, group, f"{side.name}-unknown", 1))
    await side.ask("unknown partition", commit(side, group, name, 1, 2, first=1))
    await side.ask("negative partition", commit(side, group, name, 1, first=-1))
    await side.ask("empty name", commit(side, group, "", 1))
    await side.ask("no partitions", commit(side, group, name))
    await side.ask("no topics", commit(side, group, name, topics=[]))
    await side.ask("no topics of a new group", commit(side, f"{group}-new", name, topics=[]))
    await side.ask("empty group", commit(side, "", name, 1))
    await side.ask("empty group", committed(side, "", topics={name: [0]}))
    await side.ask("new group", DescribeGroupsRequest(groups=[f"{group}-new"]))
    await side.ask("generation", commit(side, group, name, 1, generation_id_or_member_epoch=1))
    await side.ask("member", commit(side, group, name, 1, member_id="member"))
    await side.ask("instance", commit(side, group, name, 1, group_instance_id="one"))
    twice = commit(side, group, other, 10, 11)
    twice.topics[0].partitions[1].partition_index = 0
    await side.ask("a partition twice", twice)
    await side.ask("retention", commit(side, group, name, 3, retention_time_ms=1))
    for label, asked in (("all", None), ("some", {name: [1, 0]}), ("no topics", {}), ("no partitions", {name: []})):
        await side.ask(label, committed(side, group, topics=asked))
    await side.ask("unknown places", committed(side, group, topics={name: [2, -1, 1], f"{side.name}-unknown": [0]}))
    await side.ask("one twice", committed(side, group, topics={other: [0, 0]}))
    await side.ask("stable", committed(side, group, topics={name: [0]}, require_stable=True))
    await side.ask("with member", committed(side, group, topics={name: [0]}, member_id="member", member_epoch=1))
    await side.ask("two groups", committed(side, f"{group}-long", f"{group}-nobody", group, topics={other: [0]}))
    await side.ask("a group twice", committed(side, group, group, topics={other: [0]}))
    if await side.version(committed(side)) >= 8:
        await side.ask("no groups", committed(side))
    await side.ask("group", DescribeGroupsRequest(groups=[group]))
    await side.tell(delete(ids=[side.ids[other]]))
    await side.until(metadata(other, allow_auto_topic_creation=False), lambda it: it.topics[0].error_code)
    await side.until(committed(side, group), lambda it: len(it.groups[0].topics) == 1)
    await side.ask("deleted topic", committed(side, group, topics={other: [0]}))
    await side.ask("without deleted topic", committed(side, group))


async def consumer_group(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    await side.ask("unknown member", beat(side, group, "member", 1))
    await side.ask("unknown leaves", beat(side, group, "member", -1))
    await side.ask("empty group", beat(side, "", "member", 0, name))
    await side.ask("no topics", beat(side, group, "member", 0))
    await side.ask("unknown topic", beat(side, f"{group}-unknown", "member", 0, f"{side.name}-unknown"))
    for label, fields in {
        "null topics": {"subscribed_topic_names": None},
        "no timeout": {"rebalance_timeout_ms": -1},
        "zero timeout": {"rebalance_timeout_ms": 0},
        "owned": {"owned": {name: [0]}},
        "null owned": {"topic_partitions": None},
        "assignor": {"server_assignor": "nonsense"},
        "empty assignor": {"server_assignor": ""},
        "range": {"server_assignor": "range"},
        "instance": {"instance_id": ""},
        "rack": {"rack_id": ""},
        "given rack": {"rack_id": "rack"},
        "regex": {"subscribed_topic_regex": f"{side.name}.*"},
        "wrong regex": {"subscribed_topic_regex": "("},
        "empty regex": {"subscribed_topic_regex": ""},
    }.items():
        await side.ask(label, beat(side, f"{group}-{label}", "member", 0, name, **fields))
    await side.ask("epoch -3", beat(side, group, "member", -3))
    await side.ask("static leaves without instance", beat(side, group, "member", -2))
    made = await side.ask("first", beat(side, f"{group}-1", "member", 0, name))
    epoch = made.member_epoch
    one = f"{group}-1"
    await side.ask("again", beat(side, one, "member", epoch))
    await side.ask("owns", beat(side, one, "member", epoch, owned={name: [0, 1]}))
    await side.ask("full", beat(side, one, "member", epoch, rebalance_timeout_ms=60_000, subscribed_topic_names=[name], owned={name: [0, 1]}))
    await side.ask("rejoins", beat(side, one, "member", 0, name))
    await side.ask("too high", beat(side, one, "member", epoch + 1))
    await side.ask("too low", beat(side, one, "member", epoch - 1))
    await side.ask("another", beat(side, one, "another", epoch))
    own = {"member_id": "member", "generation_id_or_member_epoch": epoch}
    await side.ask("valid", commit(side, one, name, 5, **own))
    await side.ask("older epoch", commit(side, one, name, 6, member_id="member", generation_id_or_member_epoch=epoch - 1))
    await side.ask("newer epoch", commit(side, one, name, 6, member_id="member", generation_id_or_member_epoch=epoch + 1))
    await side.ask("unknown member", commit(side, one, name, 6, member_id="another", generation_id_or_member_epoch=epoch))
    await side.ask("no member", commit(side, one, name, 6))
    for label, fields in {
        "no member": {},
        "member": {"member_id": "member", "member_epoch": epoch},
        "newer": {"member_id": "member", "member_epoch": epoch + 1},
        "older": {"member_id": "member", "member_epoch": epoch - 1},
        "unknown": {"member_id": "another", "member_epoch": epoch},
        "only epoch": {"member_epoch": epoch},
        "only member": {"member_id": "member"},
    }.items():
        await side.ask(label, committed(side, one, topics={name: [0]}, **fields))
    await side.ask("as classic", DescribeGroupsRequest(groups=[one], include_authorized_operations=True))
    await side.ask("as classic", join(one))
    await side.ask("as classic", sync(one, "member", epoch))
    await side.ask("as classic", heartbeat(one, "member", epoch))
    await side.ask("as classic unknown", leave(one, "nobody"))
    await side.ask("leaves", beat(side, one, "member", -1))
    await side.ask("leaves again", beat(side, one, "member", -1))
    await side.ask("left", beat(side, one, "member", epoch))
    await side.ask("empty", commit(side, one, name, 7))
    await side.ask("empty", DescribeGroupsRequest(groups=[one]))


async def two_consumers(side: Side) -> None:
    name, group = await side.topic(partitions=3), f"{side.name}-group"
    first = await side.ask("first", beat(side, group, "a", 0, name))
    await side.ask("first owns", beat(side, group, "a", first.member_epoch, owned={name: [0, 1, 2]}))
    second = await side.ask("second", beat(side, group, "b", 0, name))
    revoked = await side.ask("first is told", beat(side, group, "a", first.member_epoch, owned={name: [0, 1, 2]}))
    await side.ask("second waits", beat(side, group, "b", second.member_epoch))
    kept = {name: [] if revoked.assignment is None else list(revoked.assignment.topic_partitions[0].partitions)}
    done = await side.ask("first gives up", beat(side, group, "a", first.member_epoch, owned=kept))
    await side.ask("second gets", beat(side, group, "b", second.member_epoch, owned={}))
    await side.ask("first is stable", beat(side, group, "a", done.member_epoch))
    await side.ask("first with its last epoch", beat(side, group, "a", first.member_epoch, owned=kept))
    static = await side.ask("static", beat(side, group, "c", 0, name, instance_id="one"))
    await side.ask("static twice", beat(side, group, "d", 0, name, instance_id="one"))
    await side.ask("static of another", beat(side, group, "d", static.member_epoch, instance_id="one"))
    await side.ask("static of nobody", beat(side, group, "c", static.member_epoch, instance_id="two"))
    await side.ask("static pauses", beat(side, group, "c", -2, instance_id="one"))
    await side.ask("static returns", beat(side, group, "d", 0, name, instance_id="one"))
    await side.ask("static fenced", beat(side, group, "c", static.member_epoch, instance_id="one"))
    await side.ask("static leaves", beat(side, group, "d", -1, instance_id="one"))


async def producers(side: Side) -> None:
    id = f"{side.name}-id"
    await side.ask("null", init(None))
    await side.ask("null with timeout", init(None, timeout=0))
    await side.ask("empty", init(""))
    for timeout in (0, -1, 900_000, 900_001):
        await side.ask(f"timeout {timeout}", init(f"{id}{timeout}", timeout=timeout))
    made = await side.ask("first", init(id))
    await side.ask("second", init(id))
    producer = (made.producer_id, made.producer_epoch)
    for label, given in {
        "older": producer,
        "same": (producer[0], producer[1] + 1),
        "newer": (producer[0], producer[1] + 7),
        "other": (producer[0] + 1, 0),
        "no epoch": (producer[0], -1),
        "no id": (-1, 0),
        "of another new": (5, 5),
    }.items():
        await side.ask(label, init(id if label != "of another new" else f"{id}-new", producer=given))
    await side.ask("idempotent with id", init(None, producer=producer))


async def unknown_transaction(side: Side) -> None:
    name, group = await side.topic(), f"{side.name}-group"
    for label, id in (("unknown", f"{side.name}-nobody"), ("empty", "")):
        await side.ask(label, add(id, (1, 0), name, 0))
        await side.ask(f"{label} topic", add(id, (1, 0), f"{side.name}-unknown", 0))
        await side.ask(label, add_offsets(id, (1, 0), group))
        await side.ask(f"{label} and empty group", add_offsets(id, (1, 0), ""))
        await side.ask(label, end(id, (1, 0)))
        await side.ask(label, txn_commit(side, id, (1, 0), group, name, 1))
        await side.ask(f"{label} and empty group", txn_commit(side, id, (1, 0), "", name, 1))
        await side.ask(f"{label} topic", txn_commit(side, id, (1, 0), group, f"{side.name}-unknown", 1))
    if await side.version(add("", (1, 0), name)) >= 4:
        await side.ask("verify", add(f"{side.name}-nobody", (1, 0), name, 0, verify_only=True))


async def transaction(side: Side) -> None:
    name, group, id = await side.topic(), f"{side.name}-group", f"{side.name}-id"
    made = await side.ask("init", init(id))
    producer = (made.producer_id, made.producer_epoch)
    wrong = {"old": (producer[0], producer[1] - 1), "new": (producer[0], producer[1] + 1), "other": (producer[0] + 1, 0)}

    def data(sequence: int, of: tuple[int, int]) -> bytes:
        return batch(producer_id=of[0], producer_epoch=of[1], base_sequence=sequence, is_transactional=True)

    await side.ask("commit nothing", end(id, producer))
    await side.ask("abort nothing", end(id, producer, False))
    made = await side.ask("init again", init(id))
    producer = (made.producer_id, made.producer_epoch)
    for label, given in wrong.items():
        await side.ask(label, add(id, given, name, 0))
        await side.ask(label, add_offsets(id, given, group))
        await side.ask(label, end(id, given))
        await side.ask(label, txn_commit(side, id, given, group, name, 1))
        await side.ask(label, produce(side, name, data(0, given), transactional_id=id))
    await side.ask("not added", txn_commit(side, id, producer, group, name, 1))
    await side.ask("some unknown", add(id, producer, name, 0, 9, -1))
    await side.ask("nothing", add(id, producer, name))
    await side.ask("valid", add(id, producer, name, 0))
    await side.ask("again", add(id, producer, name, 0))
    await side.ask("first", produce(side, name, data(0, producer), transactional_id=id))
    await side.ask("other partition", produce(side, name, data(0, producer), first=1, transactional_id=id))
    await side.ask("not transactional", produce(side, name, batch(producer_id=producer[0], producer_epoch=producer[1], base_sequence=1)))
    await side.ask("open", list_offsets(name, -1, -1, isolation_level=1))
    await side.ask("open uncommitted", list_offsets(name, -1, -1))
    await side.ask("open", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("valid", add_offsets(id, producer, group))
    await side.ask("valid", txn_commit(side, id, producer, group, name, 4))
    await side.ask("member", txn_commit(side, id, producer, group, name, 4, member_id="member", generation_id_or_member_epoch=1))
    await side.ask("unknown topic", txn_commit(side, id, producer, group, f"{side.name}-unknown", 4))
    await side.ask("unknown partition", txn_commit(side, id, producer, group, name, 4, first=9))
    await side.ask("open", committed(side, group, topics={name: [0, 1]}))
    await side.ask("open all", committed(side, group))
    await side.ask("open stable", committed(side, group, topics={name: [0, 1]}, require_stable=True))
    await side.ask("open stable all", committed(side, group, require_stable=True))
    await side.ask("open", DescribeGroupsRequest(groups=[group]))
    ended = await side.ask("commit", end(id, producer))
    await settled(side, name)
    await side.until(committed(side, group, topics={name: [0]}, require_stable=True), lambda it: not it.groups[0].topics[0].partitions[0].error_code)
    await side.ask("commit again", end(id, producer))
    await side.ask("abort after commit", end(id, producer, False))
    await side.ask("committed", committed(side, group, topics={name: [0]}))
    await side.ask("committed", fetch(side, name, 0, 0, isolation_level=1))
    producer = producer if ended.producer_id < 0 else (ended.producer_id, ended.producer_epoch)
    await side.ask("next", add(id, producer, name, 1))
    await side.ask("next", produce(side, name, data(0, producer), first=1, transactional_id=id))
    await side.ask("next in sequence", produce(side, name, data(1, producer), first=1, transactional_id=id))
    ended = await side.ask("abort", end(id, producer, False))
    await settled(side, name)
    await side.ask("commit after abort", end(id, producer))
    await side.ask("aborted", fetch(side, name, 0, 0, isolation_level=1))
    await side.ask("aborted uncommitted", fetch(side, name, 0, 0))
    await side.ask("aborted at the latest", list_offsets(name, -3, -3, isolation_level=1))
    producer = producer if ended.producer_id < 0 else (ended.producer_id, ended.producer_epoch)
    await side.ask("third", add(id, producer, name, 0))
    await side.ask("while open", init(id), is_retried=False)
    made = await side.until(init(id), lambda it: it.error_code == 0)
    await settled(side, name)
    await side.ask("fenced", add(id, producer, name, 0))
    await side.ask("fenced", end(id, producer))
    await side.ask("fenced", produce(side, name, data(0, producer), transactional_id=id))
    await side.ask("after all", list_offsets(name, -1, -1))


async def settled(side: Side, name: str) -> None:
    """Wait until no transaction is open in the partitions of a topic."""

    async def offsets(level: int) -> list[int]:
        found = await side.tell(list_offsets(name, -1, -1, isolation_level=level))
        return [each.offset for each in found.topics[0].partitions]

    import asyncio

    while await offsets(0) != await offsets(1):
        await asyncio.sleep(0.02)


SERVED: tuple[type[Request[Any]], ...] = (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    ApiVersionsRequest,
    ConsumerGroupHeartbeatRequest,
    CreateTopicsRequest,
    DescribeClusterRequest,
    DescribeGroupsRequest,
    DescribeTopicPartitionsRequest,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    InitProducerIdRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    SyncGroupRequest,
    TxnOffsetCommitRequest,
    DeleteTopicsRequest,
)


async def every(side: Side) -> None:
    """Send the request of ``everything`` to each API."""
    from kafka_messages.protocol import api

    from .everything import NAME

    name = await side.topic()
    for each in SERVED:
        made = renamed(request(api(each), side.ids[name]), {NAME: name})
        await side.ask("filled", made, only=side.name if each is ListGroupsRequest else None)


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a message with other strings."""
    if isinstance(value, str):
        return names.get(value, value)
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            setattr(value, field.name, renamed(getattr(value, field.name), names))
    elif isinstance(value, list):
        value[:] = [renamed(each, names) for each in value]
    return value


CONVERSATIONS = {
    each.__name__: each
    for each in (
        api_versions, every, topics, described_topics, cluster, created_topics, deleted_topics, produced, produced_twice, unacknowledged, idempotent,
        fetched, listed_offsets, epochs, coordinators, unknown_group, listed_groups, one_member, two_members,
        static_member, commits, consumer_group, two_consumers, producers, unknown_transaction, transaction,
    )
}  # fmt: skip
