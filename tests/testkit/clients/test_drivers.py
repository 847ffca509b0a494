"""Each driver does what its commands say, with a real broker."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from tests.support.testkit_clients import NAMES, Answer, Client, ClientFailedError, UnsupportedByClientError

if TYPE_CHECKING:
    from tests.interop.broker import Broker

pytestmark = [pytest.mark.nightly, pytest.mark.parametrize("name", NAMES)]
Clients = Callable[[str], Client]
FENCED = {
    "kafka-python": ("ProducerFencedError", "PRODUCER_FENCED"),
    "aiokafka": ("ProducerFenced", None),
    "confluent-kafka": ("_FENCED", None),
    "java": ("InvalidProducerEpochException", "INVALID_PRODUCER_EPOCH"),
    "franz-go": ("INVALID_PRODUCER_EPOCH", "INVALID_PRODUCER_EPOCH"),
}


@pytest.fixture
def topic() -> str:
    return f"topic-{uuid4()}"


def test_records_and_commits(name: str, client: Clients, real_broker: Broker, topic: str) -> None:
    producer = client(name).producer(real_broker.bootstrap)
    assert producer.send(topic, "first") == Answer(ok=0)
    assert producer.send(topic, "second") == Answer(ok=1)
    assert producer.send(topic, "other", partition=1) == Answer(ok=0)
    assert producer.metadata(topic) == Answer(ok=2)
    assert producer.close() == Answer()
    consumer = client(name).consumer(real_broker.bootstrap, [topic], group=topic)
    polled = consumer.poll(3)
    assert sorted(polled.ok) == [[topic, 0, 0, "first"], [topic, 0, 1, "second"], [topic, 1, 0, "other"]]
    assert consumer.committed(topic) == Answer()
    assert consumer.commit() == Answer()
    assert consumer.position(topic) == Answer(ok=2)
    assert consumer.committed(topic) == Answer(ok=2)
    assert consumer.committed(topic, 1) == Answer(ok=1)
    assert consumer.metadata(topic) == Answer(ok=2)
    assert consumer.close() == Answer()


def test_assigned_offset(name: str, client: Clients, real_broker: Broker, topic: str) -> None:
    producer = client(name).producer(real_broker.bootstrap, idempotence=False, acks=1, retries=20)
    for offset, value in enumerate("abc"):
        assert producer.send(topic, value) == Answer(ok=offset)
    producer.close()
    consumer = client(name).consumer(real_broker.bootstrap)
    assert consumer.assign((topic, 0, 1)) == Answer()
    assert consumer.poll(2).values == ["b", "c"]
    assert consumer.poll(1, seconds=0.2) == Answer(ok=[])
    consumer.close()


@pytest.mark.parametrize("strategy", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_members_share_partitions(name: str, client: Clients, real_broker: Broker, topic: str, strategy: str) -> None:
    """A second member takes over a partition from the first one, while both poll."""
    producer = client(name).producer(real_broker.bootstrap)
    for partition in (0, 1):
        producer.send(topic, str(partition), partition=partition)
    producer.close()
    open_ = partial(client(name).consumer, real_broker.bootstrap, [topic], group=topic, strategy=strategy)
    if (name, strategy) in {("aiokafka", "cooperative-sticky"), ("confluent-kafka", "sticky")}:
        with pytest.raises(UnsupportedByClientError):
            open_()
        return
    first = open_()
    assert sorted(first.poll(2).values) == ["0", "1"]
    second = open_()
    polled = second.later("poll", count=1)
    while not polled.done():
        first.poll(1, seconds=2)
    assert len(polled.result().ok) == 1
    for each in (first, second):
        assert each.close() == Answer()


def test_transactions(name: str, client: Clients, real_broker: Broker, topic: str) -> None:
    """A commit makes records and offsets visible; an abort does not."""
    servers = real_broker.bootstrap
    source = client(name).producer(servers)
    for value in ("a", "b"):
        source.send(topic, value)
    consumer = client(name).consumer(servers, [topic], group=topic, transactional_id=topic)
    producer = client(name).producer(servers, transactional_id=topic, consumer=consumer)
    assert producer.init() == Answer()
    for source_value, value, commit in (("a", "first", True), ("b", "aborted", False), (None, "last", True)):
        if source_value:
            assert consumer.poll(1).values == [source_value]
        assert producer.begin() == Answer()
        assert producer.send(topic, value, partition=1).error is None
        if source_value:
            assert producer.send_offsets(consumer) == Answer()
        assert producer.end(commit=commit) == Answer(ok=commit)
        tries = 100  # the broker completes the transaction after its response
        while not (committed := consumer.committed(topic)).ok and tries:
            tries -= 1
        assert committed == Answer(ok=1)
    reader = client(name).consumer(servers, isolation="read_committed")
    reader.assign((topic, 1, 0))
    assert reader.poll(2).values == ["first", "last"]
    for each in (reader, producer, consumer, source):
        assert each.close() == Answer()


def test_consumer_protocol(name: str, client: Clients, real_broker: Broker, topic: str) -> None:
    """KIP-848 groups work, or the client does not support them."""
    client(name).producer(real_broker.bootstrap).send(topic, "a")
    if name in ("kafka-python", "aiokafka"):
        with pytest.raises(UnsupportedByClientError):
            client(name).consumer(real_broker.bootstrap, [topic], group=topic, protocol="consumer")
        return
    consumer = client(name).consumer(real_broker.bootstrap, [topic], group=topic, protocol="consumer")
    assert consumer.poll(1).values == ["a"]
    assert consumer.commit() == Answer()
    assert consumer.committed(topic) == Answer(ok=1)
    assert consumer.close() == Answer()


def test_fenced_producer(name: str, client: Clients, real_broker: Broker, topic: str) -> None:
    first, second = (client(name).producer(real_broker.bootstrap, transactional_id=topic) for _ in range(2))
    for each in (first, second):
        assert each.init() == Answer()
    assert first.begin() == Answer()
    sent = first.send(topic, "fenced")
    assert (sent.error, sent.code) == FENCED[name]
    first.close()
    second.close()


def test_hanging_driver_is_killed(
    name: str, client: Clients, real_broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = client(name).producer(real_broker.bootstrap)
    producer.send(topic, "a")
    consumer = client(name).consumer(real_broker.bootstrap, [topic], group=topic)
    monkeypatch.setattr("tests.support.testkit_clients.GRACE", -5.5)
    hung = client(name)
    with pytest.raises(ClientFailedError, match="did not finish 'poll' within 0 seconds"):
        consumer.poll(2, seconds=6)
    assert not hung.is_running
    with pytest.raises(ClientFailedError, match="has ended"):
        producer.send(topic, "b")
