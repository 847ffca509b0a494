"""Transactions of third-party clients with the cluster: the clients are imported by the tests that use them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import EndTxnRequest, FetchRequest
from kafka_messages_testkit import KafkaCluster

from tests.support.testkit_broker import asked

pytestmark = pytest.mark.nightly


class Confluent:
    """Transactions of confluent-kafka."""

    fenced = "_FENCED"

    def __init__(self, servers: str, timeout: int = 60_000) -> None:
        from confluent_kafka import Producer

        options = {"bootstrap.servers": servers, "transactional.id": "t", "transaction.timeout.ms": timeout}
        self.client = Producer({**options, "log_level": 0})
        self.client.init_transactions(10)
        self.begin, self.abort = self.client.begin_transaction, self.client.abort_transaction
        self.commit = self.client.commit_transaction

    def send(self, value: bytes) -> None:
        self.client.produce("orders", value)
        assert self.client.flush(10) == 0

    def send_offset(self, servers: str) -> None:
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer({"bootstrap.servers": servers, "group.id": "billing"})
        consumer.assign([TopicPartition("in", 0)])
        self.client.send_offsets_to_transaction([TopicPartition("in", 0, 7)], consumer.consumer_group_metadata(), 10)
        consumer.close()

    def close(self) -> None:
        self.client.purge()

    @staticmethod
    def error(error: Exception) -> str:
        return str(error.args[0].name())

    @staticmethod
    def read(servers: str) -> list[bytes]:
        from confluent_kafka import Consumer, TopicPartition

        options = {"bootstrap.servers": servers, "group.id": "reader", "enable.partition.eof": True}
        consumer = Consumer({**options, "isolation.level": "read_committed"})
        consumer.assign([TopicPartition("orders", 0, 0)])
        values: list[bytes] = []
        while (message := consumer.poll(10)) is not None and not (error := message.error()):
            values.append(message.value() or b"")
        assert message is not None
        assert error is not None
        assert error.name() == "_PARTITION_EOF"
        consumer.close()
        return values


class KafkaPython:
    """Transactions of kafka-python."""

    fenced = "ProducerFencedError"

    def __init__(self, servers: str, timeout: int = 60_000) -> None:
        from kafka import KafkaProducer

        self.client = KafkaProducer(bootstrap_servers=servers, transactional_id="t", transaction_timeout_ms=timeout)
        self.client.init_transactions()
        self.begin, self.abort = self.client.begin_transaction, self.client.abort_transaction
        self.commit = self.client.commit_transaction

    def send(self, value: bytes) -> None:
        self.client.send("orders", value).get(10)

    def send_offset(self, servers: str) -> None:
        from kafka import TopicPartition
        from kafka.structs import OffsetAndMetadata

        self.client.send_offsets_to_transaction({TopicPartition("in", 0): OffsetAndMetadata(7, "", -1)}, "billing")

    def close(self) -> None:
        self.client.close(timeout=0)

    @staticmethod
    def error(error: Exception) -> str:
        return type(error).__name__

    @staticmethod
    def read(servers: str) -> list[bytes]:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(bootstrap_servers=servers, isolation_level="read_committed")
        place = TopicPartition("orders", 0)
        consumer.assign([place])
        consumer.seek_to_beginning()
        end, values = consumer.end_offsets([place])[place], []
        while consumer.position(place) < end:
            values += [each.value for found in consumer.poll(100).values() for each in found]
        consumer.close()
        return values


class Aiokafka:
    """Transactions of aiokafka, which runs in a loop of its own."""

    fenced = "ProducerFenced"

    def __init__(self, servers: str, timeout: int = 60_000) -> None:
        from aiokafka import AIOKafkaProducer

        self.runner = asyncio.Runner()
        options = {"bootstrap_servers": servers, "transactional_id": "t", "transaction_timeout_ms": timeout}

        async def start() -> Any:
            client = AIOKafkaProducer(**options)
            await client.start()
            return client

        self.client = self.runner.run(start())

    def begin(self) -> None:
        self.runner.run(self.client.begin_transaction())

    def commit(self) -> None:
        self.runner.run(self.client.commit_transaction())

    def abort(self) -> None:
        self.runner.run(self.client.abort_transaction())

    def send(self, value: bytes) -> None:
        self.runner.run(self.client.send_and_wait("orders", value))

    def send_offset(self, servers: str) -> None:
        from aiokafka import TopicPartition

        self.runner.run(self.client.send_offsets_to_transaction({TopicPartition("in", 0): 7}, "billing"))

    def close(self) -> None:
        try:
            self.runner.run(self.client.stop())
        finally:
            self.runner.close()

    @staticmethod
    def error(error: Exception) -> str:
        return type(error).__name__

    @staticmethod
    def read(servers: str) -> list[bytes]:
        from aiokafka import AIOKafkaConsumer, TopicPartition

        async def read() -> list[bytes]:
            place = TopicPartition("orders", 0)
            consumer = AIOKafkaConsumer(bootstrap_servers=servers, isolation_level="read_committed")
            await consumer.start()
            consumer.assign([place])
            await consumer.seek_to_beginning()
            end, values = (await consumer.end_offsets([place]))[place], []
            while await consumer.position(place) < end:
                found = await consumer.getmany(timeout_ms=100)
                values += [each.value for records in found.values() for each in records]
            await consumer.stop()
            return values

        return asyncio.run(read())


@pytest.fixture(params=[Confluent, KafkaPython, Aiokafka])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[None, "2.8"])
def cluster(request: pytest.FixtureRequest) -> Iterator[KafkaCluster]:
    with KafkaCluster(2, topics={"orders": 1, "in": 1}, release=request.param) as made:
        yield made


def wait_for_marker(cluster: KafkaCluster) -> None:
    """Wait until the only transaction in the topic ``orders`` has ended."""
    cluster.move_leader("orders", 0, 1)
    kind = FetchRequest
    part = kind.FetchPartition(partition_max_bytes=1 << 20)
    topics = [kind.FetchTopic(topic="orders", partitions=[part])]
    request = kind(max_wait_ms=10_000, min_bytes=1, max_bytes=1 << 20, isolation_level=1, topics=topics)
    [response] = asked(cluster.bootstrap_servers, request, version=12)
    assert response.responses[0].partitions[0].last_stable_offset == 2


def test_readers_skip_aborted_records(cluster: KafkaCluster, kind: Any) -> None:
    servers = cluster.bootstrap_servers
    producer = kind(servers)
    for value, end in ((b"one", producer.commit), (b"lost", producer.abort), (b"two", producer.commit)):
        producer.begin()
        producer.send(value)
        end()
    producer.close()
    assert kind.read(servers) == [b"one", b"two"]
    assert [each.value for each in cluster.records("orders")] == [b"one", b"lost", b"two"]


def test_a_commit_without_response_is_repeated(cluster: KafkaCluster, kind: Any) -> None:
    servers = cluster.bootstrap_servers
    lost = cluster.on(EndTxnRequest, transactional_id="t").disconnect(applied=True)
    producer = kind(servers)
    for value in (b"one", b"two"):
        producer.begin()
        producer.send(value)
        producer.commit()
    producer.close()
    assert kind.read(servers) == [b"one", b"two"]
    assert (lost.call_count, len(cluster.requests(EndTxnRequest))) == (1, 3)


def test_offsets_follow_their_transaction(cluster: KafkaCluster, kind: Any) -> None:
    servers = cluster.bootstrap_servers
    producer = kind(servers)
    for end, committed in ((producer.abort, {}), (producer.commit, {("in", 0): 7})):
        producer.begin()
        producer.send(b"paid")
        producer.send_offset(servers)
        assert cluster.committed("billing") == {}
        end()
        assert cluster.committed("billing") == committed
    producer.close()


def test_a_second_producer_fences_the_first(cluster: KafkaCluster, kind: Any) -> None:
    servers = cluster.bootstrap_servers
    producer = kind(servers)
    producer.begin()
    producer.send(b"lost")
    second = kind(servers)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        producer.commit()
    assert kind.error(caught.value) == kind.fenced
    second.begin()
    second.send(b"paid")
    second.commit()
    assert kind.read(servers) == [b"paid"]
    producer.close()
    second.close()


def test_a_commit_after_the_timeout_is_fenced(cluster: KafkaCluster, kind: Any) -> None:
    servers = cluster.bootstrap_servers
    producer = kind(servers, timeout=1000)
    producer.begin()
    producer.send(b"lost")
    wait_for_marker(cluster)
    with pytest.raises(Exception) as caught:  # noqa: PT011
        producer.commit()
    assert kind.error(caught.value) == kind.fenced
    second = kind(servers)
    second.begin()
    second.send(b"paid")
    second.commit()
    assert kind.read(servers) == [b"paid"]
    producer.close()
    second.close()
