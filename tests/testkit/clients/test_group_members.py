"""Python clients as members of classic groups of the cluster."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any, TypeAlias

import pytest
from kafka_messages import HeartbeatRequest, OffsetCommitRequest
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

pytestmark = pytest.mark.nightly

GROUP = "billing"
PARTITIONS = 6
HEARTBEAT_MS = 50
KAFKA_PYTHON_MS = 500
"""Poll time: version 3.0.12 of kafka-python loses an assignment that arrives between two calls of ``poll``."""
Found: TypeAlias = set[tuple[int, bytes]]
"""Partition and value of records."""


def kafka_python(servers: str, name: str, is_ended: threading.Event, found: Found) -> None:
    consumer = import_module("kafka").KafkaConsumer(
        "orders",
        bootstrap_servers=servers,
        client_id=name,
        group_id=GROUP,
        auto_offset_reset="earliest",
        heartbeat_interval_ms=HEARTBEAT_MS,
    )
    while not is_ended.is_set():
        for records in consumer.poll(KAFKA_PYTHON_MS).values():
            found.update((each.partition, each.value) for each in records)
    consumer.close()


def confluent(servers: str, name: str, is_ended: threading.Event, found: Found) -> None:
    options = {"bootstrap.servers": servers, "client.id": name, "group.id": GROUP, "auto.offset.reset": "earliest"}
    consumer = import_module("confluent_kafka").Consumer({**options, "heartbeat.interval.ms": HEARTBEAT_MS})
    consumer.subscribe(["orders"])
    while not is_ended.is_set():
        if (record := consumer.poll(0.05)) is not None and record.error() is None:
            found.add((record.partition(), record.value()))
    consumer.close()


def aiokafka(servers: str, name: str, is_ended: threading.Event, found: Found) -> None:
    async def consume() -> None:
        consumer = import_module("aiokafka").AIOKafkaConsumer(
            "orders",
            bootstrap_servers=servers,
            client_id=name,
            group_id=GROUP,
            auto_offset_reset="earliest",
            heartbeat_interval_ms=HEARTBEAT_MS,
        )
        await consumer.start()
        while not is_ended.is_set():
            for records in (await consumer.getmany(timeout_ms=50)).values():
                found.update((each.partition, each.value) for each in records)
        await consumer.stop()

    asyncio.run(consume())


@pytest.fixture(params=[kafka_python, confluent, aiokafka], ids=lambda each: each.__name__)
def client(request: pytest.FixtureRequest) -> Callable[..., None]:
    made: Callable[..., None] = request.param
    return made


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(2, topics={"orders": PARTITIONS}) as cluster:
        yield cluster


@contextmanager
def member(client: Callable[..., None], cluster: KafkaCluster, name: str, found: Found) -> Iterator[None]:
    """Run a consumer in a thread."""
    is_ended = threading.Event()
    thread = threading.Thread(target=client, args=(cluster.bootstrap_servers, name, is_ended, found))
    thread.start()
    try:
        yield
    finally:
        is_ended.set()
        thread.join()


def assigned(cluster: KafkaCluster, members: int) -> list[Any]:
    """Wait until all partitions belong to ``members`` members, each with its share; return them."""

    def is_shared() -> bool:
        group = cluster._state.groups.get(GROUP)
        if group is None or not group.is_stable:
            return False
        places = sorted(place for each in group.members for place in each.assignment)
        shares = {len(each.assignment) for each in group.members}
        return places == [("orders", index) for index in range(PARTITIONS)] and shares == {PARTITIONS // members}

    deadline = time.monotonic() + 15
    while not cluster._started().call(is_shared):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    return cluster.group(GROUP).members


def read(cluster: KafkaCluster, value: bytes, found: Found) -> None:
    """Produce a record for each partition, and wait until the consumers have read them."""
    wanted = {(index, value) for index in range(PARTITIONS)}
    for index in range(PARTITIONS):
        cluster.produce("orders", value, partition=index)
    waiting = threading.Event()
    for _ in range(300):
        if wanted <= found:
            return
        waiting.wait(0.05)
    assert wanted <= found


@pytest.mark.parametrize("members", [1, 2, 3])
def test_members_share_partitions(client: Callable[..., None], cluster: KafkaCluster, members: int) -> None:
    found: Found = set()
    group = cluster.group(GROUP)
    with ExitStack() as stack:
        for number in range(members):
            stack.enter_context(member(client, cluster, f"client-{number}", found))
        assert {each.client_id for each in assigned(cluster, members)} == {f"client-{each}" for each in range(members)}
        read(cluster, b"first", found)
        group.rebalance()
        group.wait_stable(members)
        [expired, *_] = assigned(cluster, members)
        group.expire(expired)
        assert expired.member_id not in {each.member_id for each in assigned(cluster, members)}
        read(cluster, b"second", found)
    assert group.state == "Empty"
    assert cluster.committed(GROUP) == {("orders", index): 2 for index in range(PARTITIONS)}


def test_members_follow_a_moved_coordinator(client: Callable[..., None], cluster: KafkaCluster) -> None:
    found: Found = set()
    cluster.move_coordinator(GROUP, 1)
    with member(client, cluster, "one", found), member(client, cluster, "two", found):
        assigned(cluster, 2)
        read(cluster, b"first", found)
        heartbeat = cluster.on(HeartbeatRequest, node_id=2).observe()
        cluster.move_coordinator(GROUP, 2)
        heartbeat.wait()
        assigned(cluster, 2)
        read(cluster, b"second", found)
    assert cluster.committed(GROUP) == {("orders", index): 2 for index in range(PARTITIONS)}
    codes = [each.response.error_code for each in cluster.exchanges(HeartbeatRequest, node_id=1)]
    assert ErrorCode.NOT_COORDINATOR in codes


def test_a_restarted_static_member_keeps_its_partitions(cluster: KafkaCluster) -> None:
    kafka = import_module("kafka")
    options = {"bootstrap_servers": cluster.bootstrap_servers, "group_id": GROUP, "group_instance_id": "first"}
    with kafka.KafkaConsumer("orders", **options) as old:
        [before] = assigned_to(old, cluster)
        with kafka.KafkaConsumer("orders", **options) as new:
            [after] = assigned_to(new, cluster)
            assert (before.instance_id, before.assignment) == (after.instance_id, after.assignment)
            assert before.member_id != after.member_id
            with pytest.raises(kafka.errors.FencedInstanceIdError):
                old.commit({kafka.TopicPartition("orders", 0): kafka.OffsetAndMetadata(1, "", -1)})


def assigned_to(consumer: Any, cluster: KafkaCluster) -> list[Any]:
    """Poll a kafka-python consumer until it has partitions; return the members of the group."""
    while not consumer.assignment():
        consumer.poll(KAFKA_PYTHON_MS)
    return assigned(cluster, 1)


def test_a_commit_fails_once() -> None:
    kafka = import_module("kafka")
    with KafkaCluster(topics={"orders": 1}) as cluster:
        cluster.produce("orders", value=b"paid")
        commit = cluster.on(OffsetCommitRequest, group=GROUP).fail(ErrorCode.ILLEGAL_GENERATION)
        consumer = kafka.KafkaConsumer(
            "orders",
            group_id=GROUP,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            bootstrap_servers=cluster.bootstrap_servers,
        )
        assert next(consumer).value == b"paid"
        with pytest.raises(kafka.errors.CommitFailedError):
            consumer.commit()
        assert next(consumer).value == b"paid"  # delivered again
        consumer.commit()
        assert cluster.committed(GROUP) == {("orders", 0): 1}
        assert commit.call_count == 1
        consumer.close()
