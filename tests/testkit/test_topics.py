"""Metadata, and creation, deletion and description of topics; leaders; brokers that stop and start."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any, SupportsIndex
from uuid import UUID

import pytest
from kafka_messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeClusterRequest,
    DescribeClusterResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    FetchRequest,
    MetadataRequest,
    MetadataResponse,
)
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

from tests.support.testkit_broker import asked, client

ZERO = UUID(int=0)
ON_TOPIC, ON_CLUSTER, NO_OPERATIONS = 3576, 8096, -(1 << 31)  # as a broker 4.0 without authorizer answers


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(3, topics={"orders": 3, "paid": 1}, seed=1) as made:
        yield made


def id_of(cluster: KafkaCluster, name: str = "orders") -> UUID:
    return cluster._state.topics.by_name[name].id


def ports(cluster: KafkaCluster) -> list[int]:
    return [int(each.rpartition(":")[2]) for each in cluster.bootstrap_servers.split(",")]


def leaders(cluster: KafkaCluster, name: str = "orders") -> list[tuple[int, int]]:
    """Return node id and leader epoch of the leader of each partition."""
    return [(log.leader, log.leader_epoch) for log in cluster._state.topics.by_name[name].partitions]


def metadata(*names: str, id: UUID = ZERO, **fields: Any) -> MetadataRequest:
    kind = MetadataRequest.MetadataRequestTopic
    topics = [kind(name=name) for name in names] + ([kind(name=None, topic_id=id)] if id != ZERO else [])
    return MetadataRequest(topics=topics or None, **fields)


def described(cluster: KafkaCluster, name: str, **fields: Any) -> MetadataResponse.MetadataResponseTopic:
    parts = [
        MetadataResponse.MetadataResponsePartition(
            partition_index=index, leader_id=leader, leader_epoch=epoch, replica_nodes=[leader], isr_nodes=[leader]
        )
        for index, (leader, epoch) in enumerate(leaders(cluster, name))
    ]
    kind = MetadataResponse.MetadataResponseTopic
    return kind(name=name, topic_id=id_of(cluster, name), partitions=parts, **fields)


def answered(cluster: KafkaCluster, *topics: Any, **fields: Any) -> MetadataResponse:
    kind = MetadataResponse.MetadataResponseBroker
    brokers = [kind(node_id=id, host="127.0.0.1", port=port) for id, port in enumerate(ports(cluster), 1)]
    return MetadataResponse(
        brokers=brokers, cluster_id="kafka-messages-testkit", controller_id=1, topics=list(topics), **fields
    )


@pytest.mark.parametrize("version", range(14))
def test_metadata_names_brokers_topics_and_leaders(cluster: KafkaCluster, version: int) -> None:
    [some] = asked(cluster.bootstrap_servers, metadata("orders"), version=version)
    assert some == answered(cluster, described(cluster, "orders")).downgraded(version)
    everything = MetadataRequest(topics=[]) if version == 0 else metadata()
    [all_] = asked(cluster.bootstrap_servers, everything, version=version)
    assert all_ == answered(cluster, described(cluster, "orders"), described(cluster, "paid")).downgraded(version)


def test_topics_are_found_by_id(cluster: KafkaCluster) -> None:
    known, unknown = metadata(id=id_of(cluster)), metadata(id=UUID(int=9))
    kind = MetadataResponse.MetadataResponseTopic
    lost = kind(name=None, topic_id=UUID(int=9), error_code=ErrorCode.UNKNOWN_TOPIC_ID)
    assert asked(cluster.bootstrap_servers, known, unknown, version=12) == [
        answered(cluster, described(cluster, "orders")),
        answered(cluster, lost),
    ]
    both = metadata("orders", id=UUID(int=9))  # names are ignored if there are ids
    assert asked(cluster.bootstrap_servers, both, version=12) == [answered(cluster, lost)]


def test_unknown_topics_are_never_created(cluster: KafkaCluster) -> None:
    wanted = metadata("other", "no/name", allow_auto_topic_creation=True)
    answers = asked(cluster.bootstrap_servers, wanted, wanted, version=8)
    kind = MetadataResponse.MetadataResponseTopic
    unknown = kind(name="other", error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    invalid = kind(name="no/name", error_code=ErrorCode.INVALID_TOPIC_EXCEPTION)
    assert answers == [answered(cluster, unknown, invalid)] * 2


def test_metadata_names_authorized_operations(cluster: KafkaCluster) -> None:
    wanted = metadata(
        "paid", "other", "paid", include_topic_authorized_operations=True, include_cluster_authorized_operations=True
    )
    [answer] = asked(cluster.bootstrap_servers, wanted, version=10)
    unknown = MetadataResponse.MetadataResponseTopic(name="other", error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    topics = [described(cluster, "paid"), unknown]
    for each in topics:
        each.topic_authorized_operations = ON_TOPIC
    assert answer == answered(cluster, *topics, cluster_authorized_operations=ON_CLUSTER)


def creatable(name: str, partitions: int = -1, replicas: int = -1, assigned: Any = ()) -> Any:
    kind = CreateTopicsRequest.CreatableReplicaAssignment
    assignments = [kind(partition_index=index, broker_ids=list(ids)) for index, ids in assigned]
    return CreateTopicsRequest.CreatableTopic(
        name=name, num_partitions=partitions, replication_factor=replicas, assignments=assignments
    )


@pytest.mark.parametrize("version", range(2, 8))
def test_topics_are_created(cluster: KafkaCluster, version: int) -> None:
    wanted = [creatable("one"), creatable("four", 4, 2), creatable("chosen", assigned=[(1, [3]), (0, [2, 1])])]
    if version < 4:
        wanted[0].num_partitions = wanted[0].replication_factor = 1
    [answer] = asked(cluster.bootstrap_servers, CreateTopicsRequest(topics=wanted), version=version)
    made = [
        CreateTopicsResponse.CreatableTopicResult(
            name=name, topic_id=id_of(cluster, name), error_message=None, num_partitions=count, replication_factor=1
        )
        for name, count in (("one", 1), ("four", 4), ("chosen", 2))
    ]
    assert answer == CreateTopicsResponse(topics=made).downgraded(version)
    assert leaders(cluster, "chosen") == [(2, 0), (3, 0)]
    assert [len(leaders(cluster, name)) for name in ("one", "four")] == [1, 4]


REFUSED = {
    "exists": ([creatable("orders")], ErrorCode.TOPIC_ALREADY_EXISTS),
    "name": ([creatable("a/b")], ErrorCode.INVALID_TOPIC_EXCEPTION),
    "partitions": ([creatable("a", 0, 1)], ErrorCode.INVALID_PARTITIONS),
    "no replicas": ([creatable("a", 1, 0)], ErrorCode.INVALID_REPLICATION_FACTOR),
    "many replicas": ([creatable("a", 1, 4)], ErrorCode.INVALID_REPLICATION_FACTOR),
    "both": ([creatable("a", 1, -1, [(0, [1])])], ErrorCode.INVALID_REQUEST),
    "gap": ([creatable("a", -1, -1, [(0, [1]), (2, [1])])], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    "no broker": ([creatable("a", -1, -1, [(0, [9])])], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    "same broker": ([creatable("a", -1, -1, [(0, [1, 1])])], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    "twice": ([creatable("a"), creatable("a")], ErrorCode.INVALID_REQUEST),
}


def test_names_that_differ_in_dots_and_underscores_collide(cluster: KafkaCluster) -> None:
    cluster.create_topic("of.all_kinds")
    [answer] = asked(cluster.bootstrap_servers, CreateTopicsRequest(topics=[creatable("of_all.kinds")]))
    assert [each.error_code for each in answer.topics] == [ErrorCode.INVALID_TOPIC_EXCEPTION]


class Counted(str):
    """Name that counts how often it is folded."""

    folded = 0

    def replace(self, *arguments: Any, count: SupportsIndex = -1) -> str:
        Counted.folded += 1
        return super().replace(*arguments)


def test_the_number_of_comparisons_grows_with_the_number_of_topics() -> None:
    names = [Counted(f"topic.{number}") for number in range(500)]
    KafkaCluster(topics=dict.fromkeys(names, 1))
    assert Counted.folded < 10 * len(names)


def test_the_name_of_a_deleted_topic_collides_with_none(cluster: KafkaCluster) -> None:
    cluster.create_topic("of.all")
    asked(cluster.bootstrap_servers, DeleteTopicsRequest(topic_names=["of.all"], timeout_ms=1000), version=5)
    cluster.create_topic("of_all")


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_topics_are_not_created(cluster: KafkaCluster, name: str) -> None:
    wanted, code = REFUSED[name]
    before = list(cluster._state.topics.by_name)
    [answer] = asked(cluster.bootstrap_servers, CreateTopicsRequest(topics=wanted))
    [refused] = answer.topics
    assert refused.error_message
    assert refused == CreateTopicsResponse.CreatableTopicResult(
        name=wanted[0].name, error_code=code, error_message=refused.error_message
    )
    assert list(cluster._state.topics.by_name) == before


def test_a_topic_that_is_only_validated_is_not_created(cluster: KafkaCluster) -> None:
    [answer] = asked(cluster.bootstrap_servers, CreateTopicsRequest(topics=[creatable("a", 2)], validate_only=True))
    made = CreateTopicsResponse.CreatableTopicResult(
        name="a", error_message=None, num_partitions=2, replication_factor=1
    )
    assert answer == CreateTopicsResponse(topics=[made])
    assert "a" not in cluster._state.topics.by_name


@pytest.mark.parametrize("version", range(1, 6))
def test_topics_are_deleted_by_name(cluster: KafkaCluster, version: int) -> None:
    id = id_of(cluster)
    [answer] = asked(cluster.bootstrap_servers, DeleteTopicsRequest(topic_names=["orders", "other"]), version=version)
    kind = DeleteTopicsResponse.DeletableTopicResult
    code, text = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This topic does not exist."
    deleted = [kind(name="orders", topic_id=id), kind(name="other", error_code=code, error_message=text)]
    assert answer == DeleteTopicsResponse(responses=deleted).downgraded(version)
    assert list(cluster._state.topics.by_name) == ["paid"]


def test_topics_are_deleted_by_id(cluster: KafkaCluster) -> None:
    id, state = id_of(cluster), DeleteTopicsRequest.DeleteTopicState
    wanted = [state(name=None, topic_id=id), state(name=None, topic_id=UUID(int=9)), state(name="paid", topic_id=id)]
    [answer] = asked(cluster.bootstrap_servers, DeleteTopicsRequest(topics=[*wanted, state(name=None)]))
    assert [(each.name, each.topic_id, each.error_code) for each in answer.responses] == [
        ("orders", id, 0),
        (None, UUID(int=9), ErrorCode.UNKNOWN_TOPIC_ID),
        ("paid", id, ErrorCode.INVALID_REQUEST),
        (None, ZERO, ErrorCode.INVALID_REQUEST),
    ]
    assert list(cluster._state.topics.by_name) == ["paid"]


def test_a_topic_that_is_created_again_has_another_id(cluster: KafkaCluster) -> None:
    id = id_of(cluster)
    delete, create = DeleteTopicsRequest(topic_names=["orders"]), CreateTopicsRequest(topics=[creatable("orders")])
    asked(cluster.bootstrap_servers, delete, create, version=5)
    assert id_of(cluster) != id
    [answer] = asked(cluster.bootstrap_servers, metadata(id=id))
    assert [each.error_code for each in answer.topics] == [ErrorCode.UNKNOWN_TOPIC_ID]


def describe(*names: str, limit: int = 2000, cursor: tuple[str, int] | None = None) -> DescribeTopicPartitionsRequest:
    kind = DescribeTopicPartitionsRequest
    start = None if cursor is None else kind.Cursor(topic_name=cursor[0], partition_index=cursor[1])
    topics = [kind.TopicRequest(name=name) for name in names]
    return kind(topics=topics, response_partition_limit=limit, cursor=start)


def pages(cluster: KafkaCluster, *names: str, limit: int) -> list[list[tuple[str, list[int]]]]:
    """Return the names and partitions of each page, until there is no cursor."""
    found, cursor = [], None
    while True:
        [page] = asked(cluster.bootstrap_servers, describe(*names, limit=limit, cursor=cursor))
        found.append([(each.name, [part.partition_index for part in each.partitions]) for each in page.topics])
        if page.next_cursor is None:
            return found
        cursor = (page.next_cursor.topic_name, page.next_cursor.partition_index)


def test_topics_are_described_in_pages(cluster: KafkaCluster) -> None:
    assert pages(cluster, limit=9) == [[("orders", [0, 1, 2]), ("paid", [0])]]
    assert pages(cluster, limit=2) == [[("orders", [0, 1])], [("orders", [2]), ("paid", [0])]]
    assert pages(cluster, limit=3) == [[("orders", [0, 1, 2])], [("paid", [0])]]
    assert pages(cluster, limit=0) == [[("orders", [0])], [("orders", [1])], [("orders", [2])], [("paid", [0])]]
    assert pages(cluster, "paid", "orders", "paid", limit=2) == pages(cluster, limit=2)


def test_described_topics_are_complete(cluster: KafkaCluster) -> None:
    [answer] = asked(cluster.bootstrap_servers, describe("paid", "other", "no/name"))
    [(leader, epoch)] = leaders(cluster, "paid")
    part = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition(
        leader_id=leader,
        leader_epoch=epoch,
        replica_nodes=[leader],
        isr_nodes=[leader],
        eligible_leader_replicas=[],
        last_known_elr=[],
    )
    kind = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
    topics = [
        kind(name="no/name", error_code=ErrorCode.INVALID_TOPIC_EXCEPTION),
        kind(name="other", error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        kind(name="paid", topic_id=id_of(cluster, "paid"), partitions=[part]),
    ]
    for each in topics:
        each.topic_authorized_operations = ON_TOPIC
    assert answer == DescribeTopicPartitionsResponse(topics=topics)


@pytest.mark.parametrize("wanted", [describe("paid", cursor=("orders", 0)), describe(cursor=("orders", -1))])
def test_invalid_cursors_are_refused(cluster: KafkaCluster, wanted: Any) -> None:
    [answer] = asked(cluster.bootstrap_servers, wanted)
    assert {each.error_code for each in answer.topics} <= {ErrorCode.INVALID_REQUEST}
    assert not any(each.partitions for each in answer.topics)


def test_the_cluster_is_described(cluster: KafkaCluster) -> None:
    cluster.stop_broker(2)
    wanted = [
        DescribeClusterRequest(include_cluster_authorized_operations=True, include_fenced_brokers=True),
        DescribeClusterRequest(),
        DescribeClusterRequest(endpoint_type=2),
    ]
    everything, running, refused = asked(cluster.bootstrap_servers, *wanted, version=2)
    kind = DescribeClusterResponse.DescribeClusterBroker
    brokers = [
        kind(broker_id=id, host="127.0.0.1", port=port, is_fenced=id == 2) for id, port in enumerate(ports(cluster), 1)
    ]
    described = partial(DescribeClusterResponse, cluster_id="kafka-messages-testkit", controller_id=1)
    assert everything == described(brokers=brokers, cluster_authorized_operations=ON_CLUSTER)
    assert running == described(brokers=[brokers[0], brokers[2]])
    assert refused.error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE


def test_leaders_move_with_a_new_epoch(cluster: KafkaCluster) -> None:
    before = leaders(cluster)
    cluster.move_leader("orders", 1, before[0][0])
    assert leaders(cluster) == [before[0], (before[0][0], 1), before[2]]
    [answer] = asked(cluster.bootstrap_servers, metadata("orders"))
    assert list(answer.topics) == [described(cluster, "orders")]


def test_partitions_of_a_stopped_broker_move(cluster: KafkaCluster) -> None:
    before = leaders(cluster)
    cluster.stop_broker(2)
    after = leaders(cluster)
    assert [epoch for _, epoch in after] == [1 if leader == 2 else 0 for leader, _ in before]
    assert 2 not in [leader for leader, _ in after]
    [answer] = asked(cluster.bootstrap_servers, metadata("orders"))
    assert [each.node_id for each in answer.brokers] == [1, 3]
    assert list(answer.topics) == [described(cluster, "orders")]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", ports(cluster)[1]), timeout=5)


def test_a_stopped_broker_starts_at_the_same_port(cluster: KafkaCluster) -> None:
    addresses = cluster.bootstrap_servers
    cluster.produce("orders", b"v", partition=0)
    cluster.stop_broker(2)
    moved = leaders(cluster)
    cluster.start_broker(2)
    assert (cluster.bootstrap_servers, leaders(cluster)) == (addresses, moved)
    [answer] = asked(addresses.split(",")[1], metadata("orders"))
    assert [each.node_id for each in answer.brokers] == [1, 2, 3]
    assert [each.value for each in cluster.records("orders")] == [b"v"]


def test_partitions_without_a_running_broker_have_no_leader() -> None:
    with KafkaCluster(2, topics={"orders": 1}, seed=1) as cluster:
        cluster.produce("orders", b"v")
        cluster.move_leader("orders", 0, 1)
        cluster.stop_broker(2)
        cluster.stop_broker(1)
        assert leaders(cluster) == [(1, 1)]
        cluster.start_broker(2)
        assert leaders(cluster) == [(2, 2)]
        [answer] = asked(cluster.bootstrap_servers.split(",")[1], metadata("orders"))
        assert [(each.node_id, answer.controller_id) for each in answer.brokers] == [(2, 2)]
        assert list(answer.topics) == [described(cluster, "orders")]
        assert [each.value for each in cluster.records("orders")] == [b"v"]


def test_stopping_a_broker_closes_its_connections(cluster: KafkaCluster) -> None:
    cluster.move_leader("orders", 0, 1)
    log = cluster._state.topics.by_name["orders"].partitions[0]

    async def wait() -> None:
        async with await client(cluster.bootstrap_servers) as connection:
            part = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1000)
            topic = FetchRequest.FetchTopic(topic="orders", partitions=[part])
            wanted = FetchRequest(max_wait_ms=60_000, min_bytes=1, topics=[topic])
            sent = asyncio.create_task(connection.request(wanted, version=12))
            while not log.waiting:
                await asyncio.sleep(0)
            await asyncio.to_thread(cluster.stop_broker, 1)
            with pytest.raises(ConnectionError):
                await sent

    asyncio.run(wait())
    assert not log.waiting


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_keeps_no_port_and_no_connection(cluster: KafkaCluster) -> None:
    address = "127.0.0.1", ports(cluster)[0]
    reader, writer = os.pipe()
    with socket.create_connection(address, timeout=5) as connection:
        asked(cluster.bootstrap_servers, MetadataRequest())  # the connection before it is accepted too
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)  # until the parent closes its end
            os._exit(0)
        try:
            cluster.stop_broker(1)
            assert connection.recv(1) == b""
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(address, timeout=5)
            cluster.start_broker(1)
            asked(cluster.bootstrap_servers, MetadataRequest())
        finally:
            os.close(writer)
            os.close(reader)
            os.waitpid(child, 0)


def test_brokers_stop_and_start_once(cluster: KafkaCluster) -> None:
    with pytest.raises(ValueError, match=r"broker 1 is not stopped; stopped: \[\]"):
        cluster.start_broker(1)
    cluster.stop_broker(1)
    with pytest.raises(ValueError, match=r"broker 1 is not running; running: \[2, 3\]"):
        cluster.stop_broker(1)
    with pytest.raises(ValueError, match="broker 7 is not running"):
        cluster.stop_broker(7)
    with pytest.raises(ValueError, match="broker 1 is not running"):
        cluster.move_leader("orders", 0, 1)
