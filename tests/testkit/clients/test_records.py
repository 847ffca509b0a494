"""Python clients that write records with idempotent producers, and read them without a group."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from kafka_messages import FetchRequest, ProduceRequest
from kafka_messages_testkit import KafkaCluster
from kafka_records import Record

pytestmark = pytest.mark.nightly

PARTITIONS = 2
SECONDS = 30
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
Values = list[tuple[int, bytes | None]]
"""Offset and value of each record."""


class KafkaPython:
    """The package kafka-python."""

    def __init__(self, servers: str) -> None:
        self.kafka, self.servers = import_module("kafka"), servers

    def write(self, values: list[bytes], codec: str = "none", between: Callable[[], None] | None = None) -> None:
        producer = self.kafka.KafkaProducer(
            bootstrap_servers=self.servers,
            compression_type=None if codec == "none" else codec,
        )
        for number, value in enumerate(values):
            if number == 1 and between is not None:
                between()
            producer.send("orders", value, partition=number % PARTITIONS).get(SECONDS)
        producer.close()

    def read(self, count: int, between: Callable[[], None] | None = None) -> list[Values]:
        places = [self.kafka.TopicPartition("orders", index) for index in range(PARTITIONS)]
        consumer = self.kafka.KafkaConsumer(bootstrap_servers=self.servers, group_id=None)
        consumer.assign(places)
        consumer.seek_to_beginning()
        found: list[Values] = [[] for _ in places]
        while sum(map(len, found)) < count:
            for records in consumer.poll(1000).values():
                for each in records:
                    found[each.partition].append((each.offset, each.value))
            if between is not None and any(found):
                between()
                between = None
        consumer.close()
        return found


class Confluent:
    """The package confluent-kafka."""

    def __init__(self, servers: str) -> None:
        self.kafka, self.servers = import_module("confluent_kafka"), servers

    def write(self, values: list[bytes], codec: str = "none", between: Callable[[], None] | None = None) -> None:
        settings = {"bootstrap.servers": self.servers, "compression.type": codec, "enable.idempotence": True}
        producer = self.kafka.Producer(settings)
        for number, value in enumerate(values):
            if number == 1 and between is not None:
                between()
            producer.produce("orders", value, partition=number % PARTITIONS)
            assert producer.flush(SECONDS) == 0

    def read(self, count: int, between: Callable[[], None] | None = None) -> list[Values]:
        kind = self.kafka.TopicPartition
        settings = {"bootstrap.servers": self.servers, "group.id": "none", "enable.auto.commit": False}
        consumer = self.kafka.Consumer(settings)
        consumer.assign([kind("orders", index, self.kafka.OFFSET_BEGINNING) for index in range(PARTITIONS)])
        found: list[Values] = [[] for _ in range(PARTITIONS)]
        while sum(map(len, found)) < count:
            each = consumer.poll(1)
            if each is not None and each.error() is None:
                found[each.partition()].append((each.offset(), each.value()))
            if between is not None and any(found):
                between()
                between = None
        return found


class AioKafka:
    """The package aiokafka."""

    def __init__(self, servers: str) -> None:
        self.kafka, self.servers = import_module("aiokafka"), servers

    def write(self, values: list[bytes], codec: str = "none", between: Callable[[], None] | None = None) -> None:
        async def write() -> None:
            options = {"compression_type": None if codec == "none" else codec, "enable_idempotence": True}
            async with self.kafka.AIOKafkaProducer(bootstrap_servers=self.servers, **options) as producer:
                for number, value in enumerate(values):
                    if number == 1 and between is not None:
                        await asyncio.to_thread(between)
                    await producer.send_and_wait("orders", value, partition=number % PARTITIONS)

        asyncio.run(asyncio.wait_for(write(), SECONDS))

    def read(self, count: int, between: Callable[[], None] | None = None) -> list[Values]:
        async def read(between: Callable[[], None] | None = between) -> list[Values]:
            places = [self.kafka.TopicPartition("orders", index) for index in range(PARTITIONS)]
            consumer = self.kafka.AIOKafkaConsumer(bootstrap_servers=self.servers)
            async with consumer:
                consumer.assign(places)
                await consumer.seek_to_beginning()
                found: list[Values] = [[] for _ in places]
                while sum(map(len, found)) < count:
                    for records in (await consumer.getmany(timeout_ms=1000)).values():
                        for each in records:
                            found[each.partition].append((each.offset, each.value))
                    if between is not None and any(found):
                        await asyncio.to_thread(between)
                        between = None
                return found

        return asyncio.run(asyncio.wait_for(read(), SECONDS))


CLIENTS: list[Any] = [KafkaPython, Confluent, AioKafka]
FOUR = [b"0", b"1", b"2", b"3"]
EXPECTED = [[(0, b"0"), (1, b"2")], [(0, b"1"), (1, b"3")]]


def kept(cluster: KafkaCluster) -> list[list[tuple[int, bytes | None]]]:
    return [[(each.offset, each.value) for each in cluster.records("orders", index)] for index in range(PARTITIONS)]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_write_and_read_records(client: Any, codec: str) -> None:
    with KafkaCluster(3, topics={"orders": PARTITIONS}) as cluster:
        made = client(cluster.bootstrap_servers)
        made.write(FOUR, codec)
        assert kept(cluster) == EXPECTED
        assert made.read(4) == EXPECTED


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_read_what_a_test_writes(client: Any) -> None:
    with KafkaCluster(topics={"orders": PARTITIONS}) as cluster:
        for number, value in enumerate(FOUR):
            cluster.produce("orders", value, partition=number % PARTITIONS)
        assert client(cluster.bootstrap_servers).read(4) == EXPECTED


@pytest.mark.parametrize("release", ["2.8", "4.0"])
@pytest.mark.parametrize("client", CLIENTS)
def test_clients_use_the_versions_of_a_release(client: Any, release: str) -> None:
    with KafkaCluster(topics={"orders": PARTITIONS}, release=release) as cluster:
        made = client(cluster.bootstrap_servers)
        made.write(FOUR)
        assert made.read(4) == EXPECTED
        most = max(each.version for kind in (FetchRequest, ProduceRequest) for each in cluster.exchanges(kind))
    assert most <= (12 if release == "2.8" else 17)


@pytest.mark.parametrize("client", CLIENTS)
def test_producers_follow_a_leader(client: Any) -> None:
    with KafkaCluster(2, topics={"orders": PARTITIONS}) as cluster:
        for index in range(PARTITIONS):
            cluster.move_leader("orders", index, 1)

        def move() -> None:
            for index in range(PARTITIONS):
                cluster.move_leader("orders", index, 2)

        client(cluster.bootstrap_servers).write(FOUR, between=move)
        assert kept(cluster) == EXPECTED
        assert {each.node_id for each in cluster.exchanges(ProduceRequest)} == {1, 2}


@pytest.mark.parametrize("client", CLIENTS)
def test_producers_survive_a_stopped_broker(client: Any) -> None:
    with KafkaCluster(2, topics={"orders": PARTITIONS}) as cluster:
        for index in range(PARTITIONS):
            cluster.move_leader("orders", index, 1)
        client(cluster.bootstrap_servers).write(FOUR, between=lambda: cluster.stop_broker(1))
        assert kept(cluster) == EXPECTED


@pytest.mark.parametrize("client", CLIENTS)
def test_a_batch_sent_again_is_written_once(client: Any) -> None:
    with KafkaCluster(topics={"orders": PARTITIONS}) as cluster:
        lost = cluster.on(ProduceRequest, nth=2, partition=0).disconnect(applied=True)
        client(cluster.bootstrap_servers).write(FOUR)
        assert kept(cluster) == EXPECTED
        assert len(cluster.requests(ProduceRequest)) == len(FOUR) + lost.call_count


@pytest.mark.parametrize("client", CLIENTS)
def test_consumers_follow_a_leader(client: Any) -> None:
    with KafkaCluster(2, topics={"orders": PARTITIONS}) as cluster:
        cluster.move_leader("orders", 0, 1)
        cluster.produce("orders", b"0", partition=0)

        def move() -> None:
            cluster.move_leader("orders", 0, 2)
            cluster.produce("orders", b"1", partition=0)

        found = client(cluster.bootstrap_servers).read(2, between=move)
        assert found == [[(0, b"0"), (1, b"1")], []]
        assert {each.node_id for each in cluster.exchanges(FetchRequest)} == {1, 2}


@pytest.mark.parametrize("client", CLIENTS)
def test_consumers_survive_a_stopped_broker(client: Any) -> None:
    with KafkaCluster(2, topics={"orders": PARTITIONS}) as cluster:
        for index in range(PARTITIONS):
            cluster.move_leader("orders", index, 1)
        cluster.produce("orders", b"0", partition=0)

        def stop() -> None:
            cluster.stop_broker(1)
            cluster.produce("orders", b"1", partition=1)

        assert client(cluster.bootstrap_servers).read(2, between=stop) == [[(0, b"0")], [(0, b"1")]]


def test_keys_go_to_the_partition_that_kafka_python_chooses() -> None:
    kafka = import_module("kafka")
    keys = [b"%d" % number for number in range(20)]
    with KafkaCluster(topics={"orders": 5, "same": 5}) as cluster:
        producer = kafka.KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)
        for key in keys:
            producer.send("orders", key=key, value=b"").get(SECONDS)
            cluster.produce("same", b"", key=key)
        producer.close()
        for index in range(5):
            found, ours = ([each.key for each in cluster.records(name, index)] for name in ("orders", "same"))
            assert found == ours


def test_confluent_kafka_writes_headers_and_timestamps() -> None:
    kafka = import_module("confluent_kafka")
    with KafkaCluster(topics={"orders": 1}) as cluster:
        producer = kafka.Producer({"bootstrap.servers": cluster.bootstrap_servers})
        producer.produce("orders", b"v", b"k", headers=[("trace", b"1"), ("none", None)], timestamp=5)
        assert producer.flush(SECONDS) == 0
        assert cluster.records("orders") == [Record(0, 5, b"k", b"v", (("trace", b"1"), ("none", None)))]
