"""Which requests rules count and affect, and rules that are refused or without effect."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterConfigsRequest,
    ConsumerGroupHeartbeatRequest,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    OffsetCommitRequest,
    ShareFetchRequest,
)
from kafka_messages.aio import connect
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster, KafkaProxy, UnusedRuleError
from kafka_records import read_batches

pytestmark = pytest.mark.filterwarnings("ignore:Kafka never returns")
HEARTBEAT = HeartbeatRequest(group_id="billing", member_id="one", generation_id=1)
UNAVAILABLE, LOADING = ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS


def asked(cluster: KafkaCluster, *requests: Any, version: int | None = None) -> list[Any]:
    """Return the responses of the first broker, one connection for all requests."""
    host, _, port = cluster.bootstrap_servers.split(",")[0].rpartition(":")

    async def run() -> list[Any]:
        async with await connect(host, int(port)) as broker:
            return [await broker.request(each, version, lossy=True) for each in requests]

    return asyncio.run(run())


def fetch(wait_ms: int = 0) -> FetchRequest:
    kind = FetchRequest
    partition = kind.FetchPartition(partition=0, partition_max_bytes=1 << 20)
    topic = kind.FetchTopic(topic="orders", partitions=[partition])
    return kind(max_wait_ms=wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[topic])


def records(response: FetchResponse) -> bytes:
    return bytes(response.responses[0].partitions[0].records or b"")


def test_requests_that_an_earlier_rule_affects_are_counted() -> None:
    with KafkaCluster() as cluster:
        cluster.on(HeartbeatRequest).fail(UNAVAILABLE)
        cluster.on(HeartbeatRequest, nth=2).fail(LOADING)
        codes = [each.error_code for each in asked(cluster, *[HEARTBEAT] * 3)]
        assert codes == [UNAVAILABLE, LOADING, ErrorCode.UNKNOWN_MEMBER_ID]


def test_rules_without_numbers_affect_one_request_after_the_other() -> None:
    with KafkaCluster() as cluster:
        for code in (UNAVAILABLE, LOADING):
            cluster.on(HeartbeatRequest).fail(code)
        codes = [each.error_code for each in asked(cluster, *[HEARTBEAT] * 3)]
        assert codes == [UNAVAILABLE, LOADING, ErrorCode.UNKNOWN_MEMBER_ID]


def test_corrupt_counts_only_responses_that_it_damaged() -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        rule = cluster.on(FetchRequest).corrupt()
        polled = cluster.on(FetchRequest).observe()
        [empty] = asked(cluster, fetch(), version=12)
        assert polled.called
        assert not rule.called
        assert records(empty) == b""
        cluster.produce("orders", b"paid")
        damaged, whole = asked(cluster, fetch(), fetch(), version=12)
        assert rule.calls == cluster.exchanges(FetchRequest)[1:2]
        assert records(damaged) != records(whole)
        assert [record.value for record in read_batches(records(whole)).records()] == [b"paid"]


def test_corrupt_without_damage_is_unused() -> None:
    rule = "<Rule on(FetchRequest): corrupt records, 0 requests>"
    text = f"unused: {rule}; correct the arguments of on(), or pass optional=True"
    with pytest.raises(UnusedRuleError) as error, KafkaCluster(topics={"orders": 1}) as cluster:
        cluster.on(FetchRequest).corrupt()
        asked(cluster, fetch(), version=12)
    assert str(error.value) == text


def test_corrupt_damages_one_of_two_waiting_requests() -> None:
    async def poll(host: str, port: int, waiting: Callable[[], object]) -> list[FetchResponse]:
        async with await connect(host, port) as one, await connect(host, port) as two:
            requests = [asyncio.create_task(each.request(fetch(5000), 12, lossy=True)) for each in (one, two)]
            await asyncio.to_thread(waiting)
            return list(await asyncio.gather(*requests))

    with KafkaCluster(topics={"orders": 1}) as cluster:
        rule = cluster.on(FetchRequest).corrupt()
        seen = cluster.on(FetchRequest).observe()
        host, _, port = cluster.bootstrap_servers.rpartition(":")

        def produce() -> None:
            deadline = time.monotonic() + 5
            while seen.call_count < 2:
                assert time.monotonic() < deadline
            cluster.produce("orders", b"paid")

        one, two = asyncio.run(poll(host, int(port), produce))
        assert rule.call_count == 1
        assert records(one) != records(two)


def test_message_of_an_unused_rule_has_its_numbers_and_the_matching_requests() -> None:
    rule = (
        "<Rule on(HeartbeatRequest, group='billing', nth=2): fail COORDINATOR_NOT_AVAILABLE, 0 of 1 matching requests>"
    )
    text = f"unused: {rule}; correct the arguments of on(), or pass optional=True"
    with pytest.raises(UnusedRuleError) as error, KafkaCluster() as cluster:
        cluster.on(HeartbeatRequest, group="billing", nth=2).fail(UNAVAILABLE)
        asked(cluster, HEARTBEAT)
    assert str(error.value) == text


def test_on_without_an_action_is_an_error() -> None:
    text = (
        "without an action: on(HeartbeatRequest, times=None); call a method of the result, such as fail() or observe()"
    )
    with pytest.raises(UnusedRuleError) as error, KafkaCluster() as cluster:
        cluster.on(HeartbeatRequest, times=None)
    assert str(error.value) == text


def test_an_action_with_invalid_arguments_is_refused_once() -> None:
    with KafkaCluster() as cluster, pytest.raises(ValueError, match=re.escape("seconds must be 0 or more, not '1'")):
        cluster.on(HeartbeatRequest).delay("1")  # type: ignore[arg-type]


@pytest.mark.parametrize("selectors", [{"topic": ""}, {"group": ""}, {"topic_id": UUID(int=0)}])
def test_empty_selectors_are_refused(selectors: Any) -> None:
    with KafkaCluster() as cluster:
        cls = OffsetCommitRequest
        with pytest.raises(ValueError, match=r"^topic, group and topic_id must not be empty or zero$"):
            cluster.on(cls, **selectors)


@pytest.mark.parametrize("partition", [-1, 1 << 31, True])
def test_impossible_partitions_are_refused(partition: int) -> None:
    text = f"^partition must be an int32 from 0 on, not {partition!r}$"
    with KafkaCluster() as cluster, pytest.raises(ValueError, match=text):
        cluster.on(FetchRequest, partition=partition)


@pytest.mark.parametrize(
    ("cls", "release"), [(ShareFetchRequest, None), (ConsumerGroupHeartbeatRequest, "2.8"), (AlterConfigsRequest, None)]
)
def test_requests_that_the_cluster_does_not_serve_are_refused(cls: Any, release: str | None) -> None:
    with KafkaCluster(release=release) as cluster, KafkaProxy("127.0.0.1:9") as proxy:
        text = f"the cluster does not serve {cls.__name__}; use KafkaProxy, or another release"
        with pytest.raises(ValueError, match=f"^{text}$"):
            cluster.on(cls)
        proxy.on(cls, optional=True).fail(UNAVAILABLE)


def test_waiting_in_a_coroutine_can_be_cancelled_at_once() -> None:
    with KafkaCluster() as cluster:
        rule = cluster.on(HeartbeatRequest, optional=True).fail(UNAVAILABLE)

        async def run() -> float:
            waiting: list[asyncio.Task[Any]] = [asyncio.create_task(rule.wait_async(60)) for _ in range(100)]
            waiting += [asyncio.create_task(cluster.group("g").wait_stable_async(1, 60)) for _ in range(100)]
            await asyncio.sleep(0)
            begin = time.monotonic()
            for task in waiting:
                task.cancel()
            await asyncio.gather(*waiting, return_exceptions=True)
            return time.monotonic() - begin

        assert asyncio.run(run()) < 5


def test_waiting_in_a_coroutine_ends_with_a_request_or_a_timeout() -> None:
    with KafkaCluster() as cluster:
        rule = cluster.on(HeartbeatRequest).fail(UNAVAILABLE)

        async def run() -> None:
            with pytest.raises(TimeoutError) as error:
                await rule.wait_async(0.01)
            text = "<Rule on(HeartbeatRequest): fail COORDINATOR_NOT_AVAILABLE, 0 requests> affected no request within 0.01 s"
            assert str(error.value) == text
            waiting = asyncio.create_task(rule.wait_async())
            await asyncio.to_thread(asked, cluster, HEARTBEAT)
            assert await waiting == await rule.wait_async() == cluster.exchanges(HeartbeatRequest)[0]

        asyncio.run(run())


def test_a_group_without_members_is_stable_with_none() -> None:
    with KafkaCluster() as cluster:
        cluster.group("g").wait_stable(0, timeout=1)


def test_arguments_that_would_fail_later_are_refused() -> None:
    with KafkaCluster(topics={"orders": 1}) as cluster:
        for offset in (-5, "1"):
            with pytest.raises(ValueError, match=f"^an offset must be a number from 0 on, not {offset!r}$"):
                cluster.commit("g", {("orders", 0): offset})  # type: ignore[dict-item]
        with pytest.raises(TypeError) as error:
            cluster.create_topic("u", "3")  # type: ignore[arg-type]
        assert str(error.value) == "topics must map names to numbers of partitions, not 'u' to '3'"
