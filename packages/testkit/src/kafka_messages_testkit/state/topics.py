"""Topics and their partitions."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from kafka_messages.protocol import ErrorCode

from .errors import RequestError
from .log import Log

ZERO = UUID(int=0)
OFFSETS = "__consumer_offsets"
INTERNAL = {OFFSETS, "__transaction_state"}


@dataclass(slots=True)
class Topic:
    name: str
    id: UUID
    partitions: list[Log] = field(default_factory=list)
    next_partition: int = 0
    """Partition of the next record of ``KafkaCluster.produce`` without partition and key, modulo their number."""


class Topics:
    """Topics by name and by id."""

    def __init__(self, random: Random) -> None:
        self.by_name: dict[str, Topic] = {}
        self.names: dict[UUID, str] = {}
        self._folded: set[str] = set()
        """Names with '_' for '.', which would be the same in metrics (``Topic.unifyCollisionChars``)."""
        self._random = random

    def check(self, name: str, partitions: int) -> None:
        """Raise RequestError for a topic that cannot be created."""
        if name in self.by_name:
            raise RequestError(ErrorCode.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
        check_name(name)
        if name.replace(".", "_") in self._folded:
            text = f"Topic name {name!r} differs from an existing one in '.' and '_' only."
            raise RequestError(ErrorCode.INVALID_TOPIC_EXCEPTION, text)
        if partitions < 1:
            raise RequestError(ErrorCode.INVALID_PARTITIONS, "A topic needs at least one partition.")

    def create(self, name: str, leaders: list[int]) -> Topic:
        """Create a topic with a partition for each leader. Raises RequestError."""
        self.check(name, len(leaders))
        topic = Topic(name, UUID(int=self._random.getrandbits(128), version=4))
        topic.partitions = [Log(index, leader) for index, leader in enumerate(leaders)]
        self.by_name[name] = topic
        self.names[topic.id] = name
        self._folded.add(name.replace(".", "_"))
        return topic

    def delete(self, topic: Topic) -> None:
        """Delete a topic. Its id stays unknown from now on."""
        del self.by_name[topic.name], self.names[topic.id]
        self._folded.discard(topic.name.replace(".", "_"))
        for log in topic.partitions:
            log.notify()  # waiting Fetch requests fail now

    def find(self, name: str | None, id: UUID = ZERO) -> Topic:
        """Return the topic with an id, or without one with a name. Raises RequestError."""
        if id != ZERO:
            name = self.names.get(id)
            if name is None:
                raise RequestError(ErrorCode.UNKNOWN_TOPIC_ID)
        topic = self.by_name.get(name or "")
        if topic is None:
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if name else ErrorCode.UNKNOWN_TOPIC_ID)
        return topic

    def partition(self, name: str | None, id: UUID, index: int) -> Log:
        """Return a partition. Raises RequestError."""
        partitions = self.find(name, id).partitions
        if not 0 <= index < len(partitions):
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        return partitions[index]


_VALID = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def check_name(name: str) -> None:
    """Raise RequestError for an invalid topic name, as Kafka's ``Topic.validate``."""
    if not 0 < len(name) < 250 or name in (".", "..") or set(name) - _VALID:
        raise RequestError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name {name!r} is invalid.")
