"""Faults, triggers and scenarios of Kafka's own fault proxy, KafkaProtocolFaultProxy (KAFKA-21074), with KafkaProxy.

Kafka's proxy changes responses, so the broker has acted: its counterpart is ``applied=True``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import (
    AddOffsetsToTxnRequest,
    EndTxnRequest,
    EndTxnResponse,
    FetchRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    MetadataRequest,
    ProduceRequest,
    TxnOffsetCommitRequest,
)
from kafka_messages.connection import ClientConnection, error_codes
from kafka_messages.protocol import ErrorCode, apis
from kafka_messages_testkit import KafkaCluster, KafkaProxy
from kafka_records import Record, write_batch

from tests.support.testkit_broker import asked

HEARTBEAT = HeartbeatRequest(group_id="billing", member_id="one", generation_id=1)
UNKNOWN_MEMBER = HeartbeatResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
INIT = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=60_000)
LOADING, UNAVAILABLE = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(topics={"orders": 1}) as made:
        yield made


@pytest.fixture
def proxy(cluster: KafkaCluster) -> Iterator[KafkaProxy]:
    with KafkaProxy(cluster.bootstrap_servers, seed=1) as made:
        yield made


VERSIONS = {
    ProduceRequest: 12,  # the last one with topic names; 12 adds partitions to the transaction
    FetchRequest: 12,
    TxnOffsetCommitRequest: 5,
    EndTxnRequest: 4,  # the last one that keeps the epoch
}


def ask(proxy: KafkaProxy, *requests: Any, client_id: str = "app") -> list[Any]:
    """Send requests one after another, each on its own connection; return the responses."""
    responses: list[Any] = []
    for each in requests:
        connection = ClientConnection(client_id)
        responses += asked(proxy.bootstrap_servers, each, version=VERSIONS.get(type(each)), connection=connection)
    return responses


def produce(transactional_id: str | None = None, epoch: int = 0, sequence: int = 0) -> ProduceRequest:
    batch = write_batch(
        [Record(timestamp=0, value=b"paid")],
        producer_id=0,
        producer_epoch=epoch,
        base_sequence=sequence,
        is_transactional=transactional_id is not None,
    )
    part = ProduceRequest.PartitionProduceData(index=0, records=batch)
    topic = ProduceRequest.TopicProduceData(name="orders", partition_data=[part])
    return ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=1000, topic_data=[topic])


def commit_offset(epoch: int = 0) -> TxnOffsetCommitRequest:
    kind = TxnOffsetCommitRequest
    part = kind.TxnOffsetCommitRequestPartition(committed_offset=5)
    topics = [kind.TxnOffsetCommitRequestTopic(name="orders", partitions=[part])]
    return kind(transactional_id="t", group_id="billing", producer_id=0, producer_epoch=epoch, topics=topics)


def end(epoch: int = 0) -> EndTxnRequest:
    return EndTxnRequest(transactional_id="t", producer_id=0, producer_epoch=epoch, committed=True)


def fetch() -> FetchRequest:
    part = FetchRequest.FetchPartition(partition_max_bytes=1 << 20)
    topics = [FetchRequest.FetchTopic(topic="orders", partitions=[part])]
    return FetchRequest(max_wait_ms=0, max_bytes=1 << 20, isolation_level=1, topics=topics)


def readable(proxy: KafkaProxy) -> int:
    """Return the offset up to which a consumer with read_committed reads."""
    [response] = ask(proxy, fetch(), client_id="reader")
    offset: int = response.responses[0].partitions[0].last_stable_offset
    return offset


def codes(response: Any) -> list[int]:
    return [place.code for place in error_codes(response)]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (end(), LOADING),
        (INIT, LOADING),
        (AddOffsetsToTxnRequest(transactional_id="t", producer_id=0, group_id="billing"), LOADING),
        (commit_offset(), LOADING),
        (produce(), ErrorCode.NOT_ENOUGH_REPLICAS),
        (fetch(), ErrorCode.OFFSET_OUT_OF_RANGE),
    ],
    ids=lambda each: type(each).__name__,
)
def test_each_api_that_can_fail_in_kafkas_proxy_can_fail(proxy: KafkaProxy, message: Any, code: ErrorCode) -> None:
    rule = proxy.on(type(message)).fail(code, applied=True)
    failed, passed = ask(proxy, message, message)
    assert code in codes(failed)
    assert code not in codes(passed)
    assert rule.call_count == 1


@pytest.mark.parametrize(
    ("trigger", "frequency", "affected"),
    [
        ("once", {}, [0]),
        ("onCall", {"nth": 3}, [2]),
        ("times", {"times": 2}, [0, 1]),
        ("everyTime", {"times": None}, [0, 1, 2, 3, 4, 5]),
        ("withProbability", {"times": None, "probability": 0.5}, [0, 3, 4, 5]),
    ],
)
def test_each_trigger_has_a_frequency(
    proxy: KafkaProxy, trigger: str, frequency: dict[str, Any], affected: list[int]
) -> None:
    times_matched = proxy.on(HeartbeatRequest).observe()
    rule = proxy.on(HeartbeatRequest, **frequency).fail(UNAVAILABLE, applied=True)
    responses = ask(proxy, *[HEARTBEAT] * 6)
    assert [number for number, each in enumerate(responses) if each.error_code == UNAVAILABLE] == affected
    assert (rule.call_count, times_matched.call_count) == (len(affected), 6), trigger


def test_a_rule_for_one_client_and_its_removal(proxy: KafkaProxy) -> None:
    rule = proxy.on(HeartbeatRequest, client_id="restore", times=None).fail(UNAVAILABLE)
    assert [each.error_code for each in ask(proxy, HEARTBEAT, client_id="restore")] == [UNAVAILABLE]
    assert ask(proxy, HEARTBEAT, client_id="main") == [UNKNOWN_MEMBER]
    rule.remove()
    assert ask(proxy, HEARTBEAT, client_id="restore") == [UNKNOWN_MEMBER]


def test_disconnect_on_leaves_a_commit_gap(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    """The transaction is committed, and the producer does not know."""
    ask(proxy, INIT, produce("t"))
    proxy.on(EndTxnRequest).disconnect(applied=True)
    with pytest.raises(ConnectionError):
        ask(proxy, end())
    assert readable(proxy) == 2  # the record and the marker
    assert ask(proxy, end()) == [EndTxnResponse()]


def test_a_black_hole_hides_a_client_from_the_broker(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    rules = [
        proxy.on(each.request_class, client_id="one", times=None, optional=True).disconnect()
        for each in apis()
        if not each.is_removed
    ]
    for request in (HEARTBEAT, MetadataRequest()):
        with pytest.raises(ConnectionError):
            ask(proxy, request, client_id="one")
    assert [each.client_id for each in cluster.exchanges()] == []
    assert ask(proxy, HEARTBEAT, client_id="two") == [UNKNOWN_MEMBER]
    for rule in rules:
        rule.remove()
    assert ask(proxy, HEARTBEAT, client_id="one") == [UNKNOWN_MEMBER]


def test_scenario_a_producer_retries_after_an_error(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    """FaultProxyPlainClientsExampleIntegrationTest: every record is read."""
    rule = proxy.on(ProduceRequest).fail(ErrorCode.NOT_ENOUGH_REPLICAS, applied=True)
    responses = ask(proxy, *[produce(sequence=number) for number in (0, 0, 1, 2)])
    assert [codes(each) for each in responses] == [[ErrorCode.NOT_ENOUGH_REPLICAS], [0], [0], [0]]
    assert len(cluster.records("orders")) == 3
    assert rule.call_count == 1


def test_scenario_a_commit_is_fenced_once(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    """FaultProxyExampleIntegrationTest: the task starts again, and each record counts once."""
    proxy.on(EndTxnRequest).fail(ErrorCode.PRODUCER_FENCED, applied=True)
    *_, fenced = ask(proxy, INIT, produce("t"), end())
    assert fenced == EndTxnResponse(error_code=ErrorCode.PRODUCER_FENCED)
    again, _, committed = ask(proxy, INIT, produce("t", epoch=1), end(1))
    assert again == InitProducerIdResponse(producer_id=0, producer_epoch=1)
    assert committed == EndTxnResponse()
    assert (len(cluster.records("orders")), readable(proxy)) == (2, 4)


def durations(proxy: KafkaProxy, cls: type[Any]) -> list[float]:
    """Return the seconds until each response to a delayed request of a class."""
    return [each.answered_at - each.received_at for each in proxy.exchanges(cls) if each.outcome and each.answered_at]


def test_scenario_one_response_is_delayed(proxy: KafkaProxy) -> None:
    """FaultProxyDelayIntegrationTest."""
    proxy.on(ProduceRequest).delay(0.2)
    ask(proxy, produce(), produce(sequence=1))
    assert [each.outcome for each in proxy.exchanges(ProduceRequest)] == ["delay 0.2 s", ""]
    assert min(durations(proxy, ProduceRequest)) >= 0.2


def test_scenario_one_clients_fetches_and_one_commit_are_delayed(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    """SourceTopicChangelogRestoreIntegrationTest."""
    proxy.on(FetchRequest, client_id="restore", times=None).delay(0.2)
    proxy.on(TxnOffsetCommitRequest, client_id="app").delay(0.2)
    ask(proxy, fetch(), client_id="main")
    ask(proxy, fetch(), fetch(), client_id="restore")
    *_, committed, ended = ask(proxy, INIT, commit_offset(), end())
    assert [each.outcome for each in proxy.exchanges(FetchRequest)] == ["", "delay 0.2 s", "delay 0.2 s"]
    assert min(durations(proxy, FetchRequest) + durations(proxy, TxnOffsetCommitRequest)) >= 0.2
    assert codes(committed) == [0]
    assert ended == EndTxnResponse()
    assert cluster.committed("billing") == {("orders", 0): 5}


@pytest.mark.parametrize("code", [ErrorCode.CONCURRENT_TRANSACTIONS, LOADING])
def test_scenario_a_commit_fails_once_and_is_retried(proxy: KafkaProxy, code: ErrorCode) -> None:
    """TransactionalStoreFaultInjectionIntegrationTest of the draft, first part."""
    rule = proxy.on(EndTxnRequest).fail(code, applied=True)
    *_, failed, committed = ask(proxy, INIT, produce("t"), end(), end())
    assert [failed, committed] == [EndTxnResponse(error_code=code), EndTxnResponse()]
    assert (readable(proxy), rule.call_count) == (2, 1)


def test_scenario_commits_fail_at_random_for_a_while(cluster: KafkaCluster, proxy: KafkaProxy) -> None:
    """TransactionalStoreFaultInjectionIntegrationTest of the draft, second part; the seed makes it repeatable."""
    ask(proxy, INIT)
    rule = proxy.on(EndTxnRequest, times=None, probability=0.3).fail(LOADING, applied=True)
    for number in range(25):
        ask(proxy, produce("t", sequence=number))
        while ask(proxy, end()) != [EndTxnResponse()]:
            assert rule.calls[-1].response.error_code == LOADING
    rule.remove()
    assert 0 < rule.call_count < 25
    assert (len(cluster.records("orders")), readable(proxy)) == (25, 50)
