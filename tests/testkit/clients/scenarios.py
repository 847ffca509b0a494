"""Twenty scenarios. Each returns what the application observes, in the words of docs/testkit-clients.md."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from kafka_messages import (
    ConsumerGroupHeartbeatRequest,
    EndTxnRequest,
    FetchRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    MetadataRequest,
    OffsetCommitRequest,
    ProduceRequest,
)
from kafka_messages.protocol import ErrorCode

from tests.support.testkit_clients import Answer, Client, ConsumerHandle, ProducerHandle
from tests.support.testkit_stage import Stage

Scenario: TypeAlias = Callable[[Stage, Client], list[str]]
QUICK = 3.0
"""Seconds in which a redelivery must arrive."""
HANGS = 10.0
"""Seconds after which a poll of four seconds counts as hanging."""


def result(answer: Answer, attempts: int = 1) -> str:
    """Name what an application gets from a call that took so many requests."""
    if answer.error is not None:
        name = re.sub(r"-?\b[0-9a-f]{6,8}\b", "…", answer.error)  # checksums in the texts of franz-go
        return f"exception {name}" + (f" {answer.code}" if answer.code and answer.code != answer.error else "")
    return "retry" if attempts > 1 else "nothing"


def consumer_of(stage: Stage, client: Client, **options: object) -> ConsumerHandle:
    return client.consumer(stage.servers, [stage.topic], group=stage.group, **options)  # type: ignore[arg-type]


def polled(consumer: ConsumerHandle, *values: str) -> str:
    """Poll for values that were delivered before; return what the application observes."""
    answer = consumer.poll(len(values), seconds=QUICK)
    if answer.error is not None:
        return result(answer)
    return "redelivery" if answer.values == list(values) else "nothing"


def first_poll(stage: Stage, client: Client, **options: object) -> ConsumerHandle:
    """Return a consumer in a group that has read the record ``paid``."""
    stage.produce("paid")
    consumer = consumer_of(stage, client, **options)
    assert consumer.poll().values == ["paid"]
    return consumer


def recovered(stage: Stage, consumer: ConsumerHandle) -> list[str]:
    """Poll and commit again; return whether the record came again, and check that it is committed at last."""
    again = polled(consumer, "paid")
    for _ in range(3):
        if stage.committed() == 1:
            break
        consumer.commit()
    assert stage.committed() == 1
    return [again]


def commit_fails_and_recovers(stage: Stage, client: Client) -> list[str]:
    consumer = first_poll(stage, client)
    rule = stage.on(OffsetCommitRequest, group=stage.group).fail(ErrorCode.ILLEGAL_GENERATION)
    answer = consumer.commit()
    assert rule.called
    return [result(answer, len(commits(stage))), *recovered(stage, consumer)]


def commits(stage: Stage) -> list[OffsetCommitRequest]:
    return [each for each in stage.kit.requests(OffsetCommitRequest) if each.group_id == stage.group]


def rebalance_during_commit(stage: Stage, client: Client) -> list[str]:
    """A second member joins while the commit of the first is on its way."""
    consumer = first_poll(stage, client)
    held = stage.on(OffsetCommitRequest, group=stage.group).hold()
    joined = stage.on(JoinGroupRequest, group=stage.group).observe()
    commit = consumer.later("commit")
    held.wait()
    second = consumer_of(stage, client)
    poll = second.later("poll", count=1, seconds=1)
    joined.wait()
    held.release()
    answer = client.result("commit", commit)
    rows = [result(answer, len(commits(stage)))]
    poll.result(30)
    second.close()
    return rows


def member_expires(stage: Stage, client: Client) -> list[str]:
    consumer = first_poll(stage, client)
    stage.expire()
    answer = consumer.commit()
    return [result(answer, len(commits(stage))), *recovered(stage, consumer)]


def static_member_is_fenced(stage: Stage, client: Client) -> list[str]:
    """A second member with the same ``group.instance.id`` joins (KIP-345)."""
    consumer = first_poll(stage, client, instance="one", heartbeat_ms=2500)  # the commit is to notice it
    second = consumer_of(stage, client, instance="one")
    assert second.poll().values == ["paid"]
    rows = [result(consumer.commit())]
    second.close()
    return rows


def coordinator_moves(stage: Stage, client: Client) -> list[str]:
    consumer = first_poll(stage, client, heartbeat_ms=2500)  # the commit is to notice it
    [*_, joined] = stage.kit.exchanges(JoinGroupRequest)
    stage.cluster.move_coordinator(stage.group, joined.node_id % 3 + 1)
    answer = consumer.commit()
    assert stage.committed() == 1
    return [result(answer, len(commits(stage)))]


def coordinator_is_not_available(stage: Stage, client: Client) -> list[str]:
    stage.produce("paid")
    rule = stage.on(FindCoordinatorRequest, times=2).fail(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    consumer = consumer_of(stage, client)
    answer = consumer.poll()
    assert rule.call_count == 2
    assert answer.error is not None or answer.values == ["paid"]
    return [result(answer, len(stage.kit.requests(FindCoordinatorRequest)))]


def sent(stage: Stage, producer: ProducerHandle) -> str:
    before = len(stage.kit.requests(ProduceRequest))
    return result(producer.send(stage.topic, "paid"), len(stage.kit.requests(ProduceRequest)) - before)


def leader_moves_while_producing(stage: Stage, client: Client) -> list[str]:
    producer = client.producer(stage.servers)
    assert producer.send(stage.topic, "first").error is None
    [*_, produced] = stage.kit.exchanges(ProduceRequest)
    stage.cluster.move_leader(stage.topic, 0, produced.node_id % 3 + 1)
    row = sent(stage, producer)
    assert stage.records() == ["first", "paid"]
    return [row]


def broker_dies_after_it_wrote(stage: Stage, client: Client) -> list[str]:
    """The producer is not idempotent."""
    return lost_response(stage, client.producer(stage.servers, idempotence=False))


def idempotent_retry_after_a_lost_response(stage: Stage, client: Client) -> list[str]:
    return lost_response(stage, client.producer(stage.servers))


def lost_response(stage: Stage, producer: ProducerHandle) -> list[str]:
    """Send a record; it is in the log, but the connection ends instead of a response."""
    rule = stage.on(ProduceRequest, topic=stage.topic).disconnect(applied=True)
    row = sent(stage, producer)
    assert rule.called
    return [row, f"records {len(stage.records())}"]


def out_of_order_sequence(stage: Stage, client: Client) -> list[str]:
    producer = client.producer(stage.servers)
    assert producer.send(stage.topic, "first").error is None
    rule = stage.on(ProduceRequest, topic=stage.topic).fail(ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    row = sent(stage, producer)
    assert rule.called
    return [row, f"records {len(stage.records())}"]


def producer_is_fenced(stage: Stage, client: Client) -> list[str]:
    """A second producer with the same transactional id initializes (KIP-98)."""
    first = client.producer(stage.servers, transactional_id=stage.group)
    assert first.init().error is None
    first.begin()
    first.send(stage.topic, "paid")
    second = client.producer(stage.servers, transactional_id=stage.group)
    assert second.init().error is None
    rows = [result(first.end(commit=True))]
    second.close()
    return rows


def transaction_is_aborted_between_two_commits(stage: Stage, client: Client) -> list[str]:
    producer = client.producer(stage.servers, transactional_id=stage.group)
    assert producer.init().error is None
    answers = []
    for value, commit in (("one", True), ("two", False), ("three", True)):
        answers.append(producer.begin())
        answers.append(producer.send(stage.topic, value))
        answers.append(producer.end(commit=commit))
    assert [each.error for each in answers] == [None] * 9
    consumer = consumer_of(stage, client, isolation="read_committed")
    values = consumer.poll(2).values
    return ["nothing", f"read {', '.join(values)}"]


def commit_of_a_transaction_times_out(stage: Stage, client: Client) -> list[str]:
    producer = client.producer(stage.servers, transactional_id=stage.group)
    assert producer.init().error is None
    producer.begin()
    producer.send(stage.topic, "paid")
    rule = stage.on(EndTxnRequest).drop()
    answer = producer.end(commit=True, seconds=8)
    assert rule.called
    return [result(answer, len(stage.kit.requests(EndTxnRequest)))]


def topic_is_recreated(stage: Stage, client: Client) -> list[str]:
    """The topic is deleted and created again, with another topic id (KIP-516)."""
    consumer = first_poll(stage, client)
    held = [stage.on(cls, times=None, optional=True).hold() for cls in (FetchRequest, MetadataRequest)]
    stage.recreate_topic()
    stage.produce("new one", "new two")
    for rule in held:
        rule.release()
    answer = consumer.poll(seconds=6)
    return [result(answer) if answer.error else f"read {', '.join(answer.values) or 'no record'}"]


def offset_is_out_of_range(stage: Stage, client: Client) -> list[str]:
    consumer = first_poll(stage, client)
    stage.on(FetchRequest, topic=stage.topic, times=1).fail(ErrorCode.OFFSET_OUT_OF_RANGE)
    return [polled(consumer, "paid")]


def frame_is_truncated(stage: Stage, client: Client) -> list[str]:
    stage.produce("paid")
    rule = stage.on(FetchRequest, topic=stage.topic).disconnect(after_bytes=20)
    return read_after(stage, client, rule.wait)


def batch_is_corrupted(stage: Stage, client: Client) -> list[str]:
    stage.produce("paid")
    rule = stage.on(FetchRequest, topic=stage.topic).corrupt("records")
    return read_after(stage, client, rule.wait)


def read_after(stage: Stage, client: Client, wait: Callable[[], object]) -> list[str]:
    """Poll until the record comes; return the exceptions before it."""
    consumer = consumer_of(stage, client)
    rows: list[str] = []
    values: list[str] = []
    for _ in range(3):
        poll = consumer.later("poll", count=1, seconds=4)
        try:
            answer = poll.result(HANGS)
        except TimeoutError:
            client.close()
            return [*rows, "hang"]
        values = answer.values
        if answer.error is None:
            break
        rows.append(result(answer))
    wait()
    return [*rows, "retry" if values == ["paid"] else "no record"]


def produce_and_fetch_are_throttled(stage: Stage, client: Client) -> list[str]:
    produce = stage.on(ProduceRequest, topic=stage.topic).throttle(200)
    fetch = stage.on(FetchRequest).throttle(200)
    producer = client.producer(stage.servers)
    row = sent(stage, producer)
    consumer = consumer_of(stage, client)
    assert consumer.poll().values == ["paid"]
    assert produce.called
    assert fetch.called
    return [row]


def broker_has_version_2_8(stage: Stage, client: Client) -> list[str]:
    producer = client.producer(stage.servers)
    row = sent(stage, producer)
    consumer = consumer_of(stage, client)
    assert consumer.poll().values == ["paid"]
    assert consumer.commit().error is None
    assert stage.committed() == 1
    return [row]


def consumer_group_member_is_fenced(stage: Stage, client: Client) -> list[str]:
    """A heartbeat of the new protocol (KIP-848) fails; the member joins again with epoch 0."""
    consumer = first_poll(stage, client, protocol="consumer")
    rule = stage.on(ConsumerGroupHeartbeatRequest, when=lambda request: request.member_epoch > 0)
    fenced = rule.fail(ErrorCode.FENCED_MEMBER_EPOCH)
    poll = consumer.later("poll", count=1, seconds=QUICK)
    fenced.wait()
    answer = client.result("poll", poll)
    return [result(answer) if answer.error else "redelivery" if answer.values else "nothing"]


BROKERS = {"coordinator_moves": 3, "leader_moves_while_producing": 3}
RELEASES = {"broker_has_version_2_8": "2.8"}
SCENARIOS: dict[str, Scenario] = {
    each.__name__: each
    for each in (
        commit_fails_and_recovers,
        rebalance_during_commit,
        member_expires,
        static_member_is_fenced,
        coordinator_moves,
        coordinator_is_not_available,
        leader_moves_while_producing,
        broker_dies_after_it_wrote,
        idempotent_retry_after_a_lost_response,
        out_of_order_sequence,
        producer_is_fenced,
        transaction_is_aborted_between_two_commits,
        commit_of_a_transaction_times_out,
        topic_is_recreated,
        offset_is_out_of_range,
        frame_is_truncated,
        batch_is_corrupted,
        produce_and_fetch_are_throttled,
        broker_has_version_2_8,
        consumer_group_member_is_fenced,
    )
}
