"""Limits of recorded exchanges, and the memory that a cluster and a proxy need."""

from __future__ import annotations

import asyncio
import gc
import re
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from kafka_messages import FetchRequest, HeartbeatRequest, MetadataRequest, ProduceRequest
from kafka_messages_testkit import KafkaCluster, KafkaProxy
from kafka_records import Record, write_batch

from tests.support.testkit_broker import asked, client

LIMIT = 1_000_000
ZERO = b"\0"


@contextmanager
def running(kind: str, **options: Any) -> Iterator[tuple[KafkaCluster, Any]]:
    """Run a cluster, and a proxy in front of it for ``proxy``; yield the cluster, and what has the options."""
    with ExitStack() as stack:
        behind = KafkaCluster(topics={"orders": 1}, **({"max_exchange_bytes": 0} if kind == "proxy" else options))
        cluster = stack.enter_context(behind)
        kit = stack.enter_context(KafkaProxy(cluster.bootstrap_servers, **options)) if kind == "proxy" else cluster
        yield cluster, kit


def produce(size: int) -> ProduceRequest:
    part = ProduceRequest.PartitionProduceData(index=0, records=write_batch([Record(timestamp=0, value=ZERO * size)]))
    topic = ProduceRequest.TopicProduceData(name="orders", partition_data=[part])
    return ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])


def fetch(offset: int) -> FetchRequest:
    part = FetchRequest.FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=LIMIT)
    return FetchRequest(max_wait_ms=0, topics=[FetchRequest.FetchTopic(topic="orders", partitions=[part])])


def kept(kit: Any) -> int:
    return sum(len(each.request_data) + len(each.response_data) for each in kit.exchanges())


@pytest.mark.parametrize("kind", ["cluster", "proxy"])
def test_the_oldest_exchanges_are_forgotten(kind: str) -> None:
    """Three of four requests with 100 kB fit."""
    with running(kind, max_exchange_bytes=350_000) as (_, kit):
        asked(kit.bootstrap_servers, *map(produce, (100_000, 100_001, 100_002, 100_003)), version=9)
        sizes = [len(each.topic_data[0].partition_data[0].records) for each in kit.requests(ProduceRequest)]
        assert (sizes[-1] - sizes[0], len(sizes), kept(kit) <= 350_000) == (2, 3, True)
        kit.clear()
        assert (kit.exchanges(), kept(kit)) == ([], 0)
        asked(kit.bootstrap_servers, MetadataRequest())
        assert len(kit.exchanges(MetadataRequest)) == 1


def test_responses_count_too() -> None:
    with running("cluster", max_exchange_bytes=350_000) as (cluster, _):
        cluster.produce("orders", ZERO * 400_000)
        asked(cluster.bootstrap_servers, MetadataRequest())
        asked(cluster.bootstrap_servers, fetch(0), version=12)
        assert cluster.exchanges() == []


def test_a_forgotten_request_that_is_answered_later_does_not_count() -> None:
    with running("cluster", max_exchange_bytes=100_000) as (cluster, _):
        held = cluster.on(MetadataRequest).hold()

        async def hold() -> None:
            async with await client(cluster.bootstrap_servers) as connection:
                waiting = asyncio.create_task(connection.request(MetadataRequest()))
                await held.wait_async()
                cluster.clear()
                held.release()
                await waiting

        asyncio.run(hold())
        assert cluster.exchanges() == []
        assert cluster._exchanges._bytes == 0
        assert (held.calls, held.call_count) == ([], 1)


@pytest.mark.parametrize("limit", [-1, 1.5, None])
@pytest.mark.parametrize("make", [KafkaCluster, lambda **options: KafkaProxy("localhost:9092", **options)])
def test_an_invalid_limit_is_refused(make: Callable[..., object], limit: Any) -> None:
    message = f"max_exchange_bytes must be a number from 0 on, not {limit!r}"
    with pytest.raises(ValueError, match="^" + re.escape(message) + "$"):
        make(max_exchange_bytes=limit)


@pytest.mark.parametrize("kind", ["cluster", "proxy"])
def test_written_and_read_records_need_little_more_than_their_size(kind: str) -> None:
    """Frames, decoded messages and the log would be four times the size."""
    count, size = 40, 500_000
    request = produce(size)
    tracemalloc.start()
    try:
        with running(kind, max_exchange_bytes=LIMIT) as (cluster, kit):

            async def work() -> None:
                async with await client(kit.bootstrap_servers) as connection:
                    for _ in range(count):
                        await connection.request(request, version=9)
                    for offset in range(count):
                        await connection.request(fetch(offset), version=12)

            asyncio.run(work())
            gc.collect()
            used, _ = tracemalloc.get_traced_memory()
            assert len(cluster.records("orders")) == count
    finally:
        tracemalloc.stop()
    assert size * count < used < 1.5 * size * count


@pytest.mark.parametrize("kind", ["cluster", "proxy"])
@pytest.mark.parametrize(
    ("request_", "count", "limit"),
    [(MetadataRequest(topics=None), 40, 400_000), (HeartbeatRequest(group_id="g"), 150, 100_000)],
    ids=["large messages", "small messages"],
)
def test_the_limit_holds_for_the_memory_of_exchanges_and_rules(
    kind: str, request_: Any, count: int, limit: int
) -> None:
    """Decoded, the topics of a Metadata response take twelve times the bytes of the frame."""
    with running(kind, max_exchange_bytes=limit) as (cluster, kit):
        for number in range(300):
            cluster.create_topic(f"topic-{number}")
        rule = kit.on(type(request_)).observe()

        async def work(count: int) -> None:
            async with await client(kit.bootstrap_servers) as connection:
                for _ in range(count):
                    await connection.request(request_)

        asyncio.run(work(2))
        tracemalloc.start()
        try:
            before = used()
            asyncio.run(work(count))
            kit_memory = used() - before
            kept_calls = len(rule.calls)
            kit.clear()
            left = used() - before
        finally:
            tracemalloc.stop()
    assert kit_memory < 2 * limit
    assert left < limit
    assert 3 < kept_calls < count
    assert (rule.calls, rule.call_count) == ([], count + 2)


def used() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize("kind", ["cluster", "proxy"])
def test_messages_are_those_that_were_sent(kind: str) -> None:
    """A function that changes the request affects the broker, not the record of what the client sent."""

    def emptied(request: MetadataRequest) -> None:
        request.topics = []

    with running(kind) as (_, kit):
        kit.on(MetadataRequest).respond(emptied)
        [response] = asked(kit.bootstrap_servers, MetadataRequest())
        [found] = kit.exchanges(MetadataRequest)
    assert response.topics == []
    assert (found.request, found.response, found.decoded.message) == (MetadataRequest(), response, MetadataRequest())
    assert (found.api, found.version) == (found.decoded.api, found.decoded.version)
    assert repr(found.decoded) in repr(found)
    with pytest.raises(AttributeError, match=r"^'Exchange' object has no attribute 'other'$"):
        _ = found.other


@pytest.mark.parametrize("after_bytes", [0, 9])
@pytest.mark.parametrize("kind", ["cluster", "proxy"])
def test_the_response_of_a_broken_connection_is_known(kind: str, after_bytes: int) -> None:
    with running(kind) as (_, kit):
        kit.on(MetadataRequest).disconnect(after_bytes=after_bytes)
        with pytest.raises(ConnectionError):
            asked(kit.bootstrap_servers, MetadataRequest(topics=None))
        [found] = kit.exchanges(MetadataRequest)
    assert [each.name for each in found.response.topics] == ["orders"]
    assert len(found.response_data) == after_bytes


def test_a_rule_waits_for_the_next_request_after_clear() -> None:
    with running("cluster") as (cluster, _):
        rule = cluster.on(MetadataRequest).observe()
        asked(cluster.bootstrap_servers, MetadataRequest())
        assert rule.wait(0) is rule.calls[0]
        cluster.clear()
        with pytest.raises(TimeoutError):
            rule.wait(0.01)
        asked(cluster.bootstrap_servers, MetadataRequest())
        assert rule.wait(0) is rule.calls[0]
        assert asyncio.run(rule.wait_async()) is rule.calls[0]


def test_requests_of_a_connection_are_received_when_they_arrive_and_answered_in_turn() -> None:
    with running("cluster") as (cluster, _):
        cluster.on(MetadataRequest).delay(0.2)

        async def pipeline() -> None:
            async with await client(cluster.bootstrap_servers) as connection:
                await asyncio.gather(*(connection.request(MetadataRequest()) for _ in range(3)))

        asyncio.run(pipeline())
        first, *others = cluster.exchanges(MetadataRequest)
    assert first.answered_at
    assert all(each.received_at < first.answered_at <= (each.answered_at or 0) for each in others)


def test_a_request_behind_a_broken_one_is_not_handled() -> None:
    with running("cluster") as (cluster, _):
        cluster.on(ProduceRequest).disconnect()

        async def pipeline() -> list[Any]:
            async with await client(cluster.bootstrap_servers) as connection:
                waiting = (connection.request(produce(size), version=9) for size in (1, 2))
                return await asyncio.gather(*waiting, return_exceptions=True)

        assert [isinstance(each, ConnectionError) for each in asyncio.run(pipeline())] == [True, True]
        assert cluster.records("orders") == []
