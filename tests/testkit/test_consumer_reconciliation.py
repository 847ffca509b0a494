"""Any sequence of joins, leaves, subscriptions and confirmations: no partition ever has two owners."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any, Literal, TypeAlias, get_args
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import ConsumerGroupHeartbeatRequest
from kafka_messages.protocol import ErrorCode
from kafka_messages_testkit.state.consumer_group import ConsumerGroup
from kafka_messages_testkit.state.errors import RequestError
from kafka_messages_testkit.state.groups import Groups
from kafka_messages_testkit.state.topics import Topics

from tests.support.testkit_heartbeats import GROUP, topic_partitions

NAMES = ("one", "two", "three")
Partition: TypeAlias = tuple[UUID, int]
Act: TypeAlias = Literal[
    "confirm", "beat", "report", "join", "leave", "restart", "lose", "subscribe", "rebalance", "topic", "expire"
]
Step: TypeAlias = tuple[Act, str, tuple[str, ...]]
ACTS: tuple[Act, ...] = get_args(Act)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(ACTS[:4]) | st.sampled_from(ACTS),
        st.sampled_from(NAMES),
        st.sampled_from([("a",), ("b",), ("a", "b"), ("new", "b")]),
    ),
    min_size=10,
    max_size=60,
)
MOST_ROUNDS = 12
EXPECTED = {ErrorCode.FENCED_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.UNRELEASED_INSTANCE_ID}


class Client:
    """A member as its client sees it; ``owned`` are the partitions that it uses."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.instance_id = "i" if name == "three" else None
        self.restarts = 0
        self.stop()

    def stop(self) -> None:
        self.epoch: int | None = None
        self.topics: list[str] = []
        self.was_lost = False
        self.owned: set[Partition] = set()
        self.assigned: set[Partition] = set()

    def is_stopped(self) -> bool:
        return self.epoch is None

    def send(self, epoch: int, owned: set[Partition] | None = None, is_lost: bool = False, **fields: Any) -> None:
        if "subscribed_topic_names" in fields:
            self.topics = fields["subscribed_topic_names"]
        if self.was_lost:  # a client repeats all fields after an error
            owned = self.owned if owned is None else owned
            fields |= {"rebalance_timeout_ms": 1000, "subscribed_topic_names": self.topics}
        self.was_lost = is_lost
        request = ConsumerGroupHeartbeatRequest(
            group_id=GROUP,
            member_id=f"{self.name}-{self.restarts}",
            member_epoch=epoch,
            instance_id=self.instance_id,
            **fields,
        )
        if owned is not None:
            by_topic: dict[UUID, list[int]] = {}
            for topic, index in owned:
                by_topic.setdefault(topic, []).append(index)
            request.topic_partitions = topic_partitions(ConsumerGroupHeartbeatRequest.TopicPartitions, by_topic)
        try:
            response = self.world.group.heartbeat(request, "client", "/127.0.0.1")
        except RequestError as error:
            self.world.errors.add(error.code)
            self.stop()
            return
        if not is_lost:
            self.epoch = response.member_epoch
            if response.assignment is not None:
                parts = response.assignment.topic_partitions
                self.assigned = {(each.topic_id, index) for each in parts for index in each.partitions}

    def act(self, act: Act, topics: tuple[str, ...]) -> None:
        if act == "join":
            self.stop()
            self.send(0, set(), rebalance_timeout_ms=1000, subscribed_topic_names=list(topics))
        elif self.epoch is None:
            return
        elif act in ("leave", "restart"):
            epoch = -2 if act == "restart" and self.instance_id else -1
            try:
                self.world.group.leave(f"{self.name}-{self.restarts}", self.instance_id, epoch)
            except RequestError as error:
                self.world.errors.add(error.code)
            self.stop()
            self.restarts += 1
        elif act == "confirm":
            self.owned = set(self.assigned)
            self.send(self.epoch, self.owned)
        elif act == "report":  # confirms nothing
            self.send(self.epoch, self.owned)
        elif act == "subscribe":
            self.send(self.epoch, subscribed_topic_names=list(topics))
        else:
            self.send(self.epoch, is_lost=act == "lose")


class World:
    def __init__(self) -> None:
        self.topics = Topics(Random(1))
        for name, count in (("a", 3), ("b", 4)):
            self.topics.create(name, [1] * count)
        self.group = ConsumerGroup(GROUP, Groups(Random(1)), self.topics)
        self.clients = {name: Client(self, name) for name in NAMES}
        self.errors: set[ErrorCode] = set()

    def act(self, act: Act, name: str, topics: tuple[str, ...]) -> None:
        if act == "rebalance":
            self.group.rebalance()
        elif act == "topic":
            if "new" in self.topics.by_name:
                self.topics.delete(self.topics.by_name["new"])
            else:
                self.topics.create("new", [1, 1])
        elif act == "expire":
            client = self.clients[name]
            if client.epoch is not None:
                client.stop()  # a client whose session has ended stops before the group removes it
                id = f"{name}-{client.restarts}"
                if id in self.group.by_id:
                    self.group.expire(id)
        else:
            self.clients[name].act(act, topics)
        owned = [each for client in self.clients.values() for each in client.owned]
        assert len(owned) == len(set(owned)), f"two owners after {act} of {name}"

    def settle(self) -> None:
        """Let all members confirm until the group is stable; members without a client expire."""
        ids = {f"{each.name}-{each.restarts}": each for each in self.clients.values() if each.epoch is not None}
        for id in [*self.group.by_id]:
            if id not in ids:
                self.group.expire(id)
        for _ in range(MOST_ROUNDS):
            for name, client in self.clients.items():
                if not client.is_stopped():
                    self.act("confirm", name, ())
                    if client.is_stopped():  # fenced
                        self.act("join", name, ("a",))


@settings(max_examples=100)
@given(STEPS)
def test_any_sequence_ends_stable_with_each_partition_at_one_member(
    steps: list[Step],
) -> None:
    async def play() -> None:
        world = World()
        for step in steps:
            world.act(*step)
        world.settle()
        group = world.group
        assert group.is_stable
        assert world.errors <= EXPECTED
        clients = {f"{each.name}-{each.restarts}": each for each in world.clients.values() if each.epoch is not None}
        assert {each.id: set(each.assigned) for each in group.by_id.values()} == {
            id: each.owned for id, each in clients.items()
        }
        wanted = {name for each in group.by_id.values() for name in each.topics}
        assert sorted(each for client in clients.values() for each in client.owned) == sorted(
            (topic.id, log.index)
            for name, topic in world.topics.by_name.items()
            if name in wanted
            for log in topic.partitions
        )

    asyncio.run(play())
