"""State of the cluster, shared by all handlers. Used in the thread of the event loop only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias
from uuid import UUID

from kafka_messages import Response
from kafka_messages.connection import RequestReceived
from kafka_messages.protocol import ErrorCode

from .errors import RequestError
from .groups import Groups
from .log import Log
from .offsets import Offsets
from .topics import Topic, Topics


@dataclass(slots=True)
class Node:
    """A broker."""

    id: int
    port: int
    is_running: bool = True


class ClusterState:
    """Brokers, topics, groups and transactions."""

    def __init__(self, seed: int | None) -> None:
        self.random = Random(seed)
        self.cluster_id = "kafka-messages-testkit"
        self.nodes: dict[int, Node] = {}
        self.topics = Topics(self.random)
        self.groups = Groups(self.random)
        self.offsets = Offsets()
        self.coordinators: dict[str, int] = {}
        """Node id of the coordinator of each group or transactional id that was moved."""

    @property
    def running(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.is_running]

    @property
    def controller_id(self) -> int:
        """The running broker with the lowest id; -1 without one."""
        return min((node.id for node in self.running), default=-1)

    def create_topic(self, name: str, partitions: int) -> Topic:
        return self.topics.create(name, partitions, [node.id for node in self.running] or list(self.nodes))

    def coordinator(self, key: str) -> int:
        """Return the node id of the coordinator of a group or transactional id; -1 if no broker runs.

        As in Kafka, it depends on a hash of the key (``Utils.abs(groupId.hashCode()) % partitions``).
        """
        nodes, running = list(self.nodes), [node.id for node in self.running]
        number = java_hash(key)
        for node_id in (self.coordinators.get(key), nodes[number % len(nodes)]):
            if node_id in running:
                return node_id
        return running[number % len(running)] if running else -1

    def move_coordinator(self, key: str, node_id: int) -> None:
        """Let another broker coordinate a group or transactional id."""
        self.coordinators[key] = node_id
        if key in self.groups:
            self.groups[key].unload()


@dataclass(slots=True)
class Context:
    """A request on its way through a handler."""

    cluster: ClusterState
    node_id: int
    received: RequestReceived

    @property
    def version(self) -> int:
        return self.received.version

    @property
    def client_id(self) -> str:
        return self.received.identity.client_id or ""

    @property
    def client_host(self) -> str:
        """Host of the client, as brokers print it."""
        address = self.received.client_address
        return f"/{address[0]}" if address else ""

    def check_coordinator(self, key: str) -> None:
        """Raise RequestError if this broker does not coordinate a group or transactional id."""
        if self.cluster.coordinator(key) != self.node_id:
            raise RequestError(ErrorCode.NOT_COORDINATOR)

    def led(self, name: str | None, id: UUID, index: int, epoch: int = -1) -> Log:
        """Return a partition that this broker leads; ``epoch`` is the client's leader epoch (KIP-320).

        Raises RequestError.
        """
        log = self.cluster.topics.partition(name, id, index)
        if log.leader != self.node_id:
            raise RequestError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        if epoch >= 0 and epoch != log.leader_epoch:
            is_old = epoch < log.leader_epoch
            raise RequestError(ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH)
        return log


Handler: TypeAlias = Callable[[Context, Any], Awaitable[Response | None]]
"""Answers a request; raises RequestError for an error response."""


def java_hash(text: str) -> int:
    """Return the absolute value of Java's ``String.hashCode``."""
    value = 0
    for unit in memoryview(text.encode("utf-16-le")).cast("H"):
        value = (31 * value + unit) & 0xFFFFFFFF
    value = value - (1 << 32) if value >> 31 else value
    return value & 0x7FFFFFFF
