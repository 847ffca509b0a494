"""confluent-kafka with ``group.protocol=consumer`` (KIP-848) as members of consumer groups of the cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest
from kafka_messages import ConsumerGroupHeartbeatRequest, OffsetCommitRequest
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit import KafkaCluster

pytestmark = pytest.mark.nightly

GROUP = "billing"
PARTITIONS = 4
MOST_SECONDS = 20.0


class Member:
    """A consumer, and its calls of the callbacks."""

    def __init__(self, cluster: KafkaCluster, name: str, topic: str = "orders", **options: str) -> None:
        fields = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": name, "group.id": GROUP}
        protocol = {"group.protocol": "consumer", "auto.offset.reset": "earliest", "enable.auto.commit": "false"}
        self.consumer = import_module("confluent_kafka").Consumer({**fields, **protocol, **options})
        self.records: list[bytes] = []
        self.calls: list[tuple[str, list[int]]] = []
        callbacks = {f"on_{call}": self._callback(call) for call in ("assign", "revoke", "lost")}
        self.consumer.subscribe([topic], **callbacks)

    def _callback(self, call: str) -> Callable[[Any, list[Any]], None]:
        return lambda _, partitions: self.calls.append((call, [each.partition for each in partitions]))

    @property
    def partitions(self) -> list[int]:
        return sorted(each.partition for each in self.consumer.assignment())

    def poll(self) -> None:
        record = self.consumer.poll(0.02)
        if record is not None and record.error() is None:
            self.records.append(record.value())


def polled(*members: Member, until: Callable[[], object]) -> None:
    """Poll the members until a condition is true."""
    deadline = time.monotonic() + MOST_SECONDS
    while not until():
        assert time.monotonic() < deadline, [each.calls for each in members]
        for each in members:
            each.poll()


@pytest.fixture
def cluster() -> Iterator[KafkaCluster]:
    with KafkaCluster(topics={"orders": PARTITIONS}) as cluster:
        for partition in range(PARTITIONS):
            cluster.produce("orders", value=b"%d" % partition, partition=partition)
        yield cluster


@pytest.fixture
def pair(cluster: KafkaCluster) -> Iterator[tuple[Member, Member]]:
    """Two members with two partitions each."""
    one = Member(cluster, "one")
    polled(one, until=lambda: len(one.records) == PARTITIONS)
    two = Member(cluster, "two")
    polled(one, two, until=lambda: (one.partitions, two.partitions) == ([0, 1], [2, 3]))
    yield one, two
    one.consumer.close()
    two.consumer.close()


def test_partitions_are_revoked_first_and_come_back_when_a_member_leaves(
    cluster: KafkaCluster, pair: tuple[Member, Member]
) -> None:
    one, two = pair
    cluster.group(GROUP).wait_stable(2)
    assert [each for each in one.calls if each[1]] == [("assign", [0, 1, 2, 3]), ("revoke", [2, 3])]
    polled(one, two, until=lambda: len(two.records) == 2)  # nothing was committed
    two.consumer.commit(asynchronous=False)
    two.consumer.close()
    polled(one, until=lambda: one.partitions == [0, 1, 2, 3])
    assert cluster.committed(GROUP) == {("orders", 2): 1, ("orders", 3): 1}


def test_a_fenced_member_loses_its_partitions_and_joins_again(
    cluster: KafkaCluster, pair: tuple[Member, Member]
) -> None:
    one, two = pair
    fenced = cluster.on(ConsumerGroupHeartbeatRequest, client_id="one").fail(ErrorCode.FENCED_MEMBER_EPOCH)
    polled(one, two, until=lambda: ("lost", [0, 1]) in one.calls and one.calls[-1] == ("assign", [0, 1]))
    assert fenced.call_count == 1
    cluster.group(GROUP).wait_stable(2)


def test_an_expired_member_loses_its_partitions_and_joins_again(
    cluster: KafkaCluster, pair: tuple[Member, Member]
) -> None:
    one, two = pair
    group = cluster.group(GROUP)
    group.expire(next(each for each in group.members if each.client_id == "two"))
    polled(one, two, until=lambda: ("lost", [2, 3]) in two.calls and len(two.partitions) == 2)
    group.wait_stable(2)


def test_a_rebalance_exchanges_the_partitions(cluster: KafkaCluster, pair: tuple[Member, Member]) -> None:
    one, two = pair
    cluster.group(GROUP).wait_stable(2)
    cluster.group(GROUP).rebalance()
    polled(one, two, until=lambda: (one.partitions, two.partitions) == ([2, 3], [0, 1]))
    assert ("revoke", [0, 1]) in one.calls
    assert ("revoke", [2, 3]) in two.calls


def test_a_commit_with_a_stale_epoch_fails_and_the_next_one_works(
    cluster: KafkaCluster, pair: tuple[Member, Member]
) -> None:
    one, _ = pair
    cluster.on(OffsetCommitRequest, group=GROUP).fail(ErrorCode.STALE_MEMBER_EPOCH)
    with pytest.raises(import_module("confluent_kafka").KafkaException) as caught:
        one.consumer.commit(asynchronous=False)
    assert caught.value.args[0].code() == ErrorCode.STALE_MEMBER_EPOCH
    one.consumer.commit(asynchronous=False)
    assert cluster.committed(GROUP) == {("orders", 0): 1, ("orders", 1): 1}


def test_a_restarted_static_member_gets_its_partitions_without_a_rebalance(cluster: KafkaCluster) -> None:
    static = {"group.instance.id": "a"}
    one, two = Member(cluster, "one", **static), Member(cluster, "two")
    polled(one, two, until=lambda: len(one.partitions) == len(two.partitions) == 2)
    cluster.group(GROUP).wait_stable(2)
    before, calls = one.partitions, list(two.calls)
    one.consumer.close()
    assert cluster.group(GROUP).state == "Reconciling"
    again = Member(cluster, "again", **static)
    polled(again, two, until=lambda: again.partitions == before)
    assert two.calls == calls
    again.consumer.close()
    two.consumer.close()


def test_a_regular_expression_finds_a_new_topic(cluster: KafkaCluster) -> None:
    member = Member(cluster, "one", "^ord.*")
    polled(member, until=lambda: len(member.records) == PARTITIONS)
    cluster.create_topic("ordnung")
    cluster.produce("ordnung", value=b"new")
    polled(member, until=lambda: member.records[-1] == b"new")
    member.consumer.close()
