"""State of the cluster, shared by all handlers. Used in the thread of the event loop only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from kafka_messages import Response
from kafka_messages.connection import RequestReceived
from kafka_messages.protocol import ErrorCode
from kafka_records import Record, write_batch

from .batches import now_ms
from .errors import RequestError
from .groups import Groups, java_hash
from .log import Log
from .offsets import Committed, Offsets
from .partitioner import choose_partition
from .topics import OFFSETS, ZERO, Topic, Topics
from .transactions import Partition, ProducerIdAndEpoch, Transactions

if TYPE_CHECKING:
    from .classic_group import ClassicGroup

HOST = "127.0.0.1"


@dataclass(slots=True)
class BrokerNode:
    """A broker."""

    id: int
    port: int
    is_running: bool = True


class ClusterState:
    """Brokers, topics, groups and transactions."""

    def __init__(self, seed: int | None) -> None:
        self.random = Random(seed)
        self.cluster_id = "kafka-messages-testkit"
        self.nodes: dict[int, BrokerNode] = {}
        self.topics = Topics(self.random)
        self.groups = Groups(self.random)
        self.offsets = Offsets()
        self.transactions = Transactions(self._mark)
        self.coordinators: dict[str, int] = {}
        """BrokerNode id of the coordinator of each group or transactional id that was moved."""

    @property
    def running(self) -> list[BrokerNode]:
        return [node for node in self.nodes.values() if node.is_running]

    @property
    def controller_id(self) -> int:
        """The running broker with the lowest id; -1 without one."""
        return min((node.id for node in self.running), default=-1)

    def create_topic(self, name: str, partitions: int) -> Topic:
        """Create a topic, led by the running brokers in turn. Raises RequestError."""
        nodes = [node.id for node in self.running] or list(self.nodes)
        first = self.random.randrange(len(nodes))
        return self.topics.create(name, [nodes[(first + index) % len(nodes)] for index in range(partitions)])

    def log(self, topic: str, partition: int) -> Log:
        """Return a partition. Raises RequestError."""
        if topic not in self.topics.by_name:
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"topic {topic!r} does not exist")
        partitions = self.topics.by_name[topic].partitions
        if type(partition) is not int or not 0 <= partition < len(partitions):
            text = f"partition must be from 0 to {len(partitions) - 1} for topic {topic!r}, not {partition!r}"
            raise RequestError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
        return partitions[partition]

    def produce(self, topic: str, partition: int | None, record: Record) -> int:
        """Append a record and return its offset. Raises RequestError."""
        self.log(topic, 0)
        if partition is None:
            partition = choose_partition(self.topics.by_name[topic], record.key)
        return self.log(topic, partition).append(write_batch([record]))

    def records(self, topic: str, partition: int | None) -> list[Record]:
        """Return the data records of a partition, or of all. Raises RequestError."""
        first = self.log(topic, partition or 0)
        logs = self.topics.by_name[topic].partitions if partition is None else [first]
        return [record for log in logs for record in log.records()]

    def move_leader(self, topic: str, partition: int, node_id: int) -> None:
        log = self.log(topic, partition)
        self._check_running(node_id)
        log.lead(node_id)

    def _check_running(self, node_id: int) -> None:
        if node_id not in [node.id for node in self.running]:
            raise RequestError(ErrorCode.BROKER_NOT_AVAILABLE, f"node_id: broker {node_id!r} is not running")

    def elect(self) -> None:
        """Move the partitions of stopped brokers to running ones, if there are any."""
        running = self.running
        for topic in self.topics.by_name.values():
            for log in topic.partitions:
                if running and not self.nodes[log.leader].is_running:
                    log.lead(running[log.index % len(running)].id)

    def create_group(self, id: str) -> ClassicGroup:
        """Create a classic group; without members, it only has offsets."""
        from .classic_group import ClassicGroup  # slow, see handlers.py

        self.groups[id] = group = ClassicGroup(id)
        return group

    def commit(self, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets for a group, and create it if it does not exist. Raises RequestError."""
        for place in offsets:
            self.log(*place)
        if group not in self.groups:
            self.create_group(group)
        for place, offset in offsets.items():
            self.offsets.commit(group, *place, Committed(offset, timestamp=now_ms()))

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
        """Let a running broker coordinate a group or transactional id. Raises RequestError."""
        self._check_running(node_id)
        self.coordinators[key] = node_id
        if key in self.groups:
            self.groups[key].unload()

    def _mark(self, partition: Partition, producer: ProducerIdAndEpoch, is_commit: bool) -> bool:
        """Write the marker of a transaction. Return False while no broker leads the partition."""
        name, index = partition
        if name == OFFSETS:
            self.offsets.end_pending(producer[0], is_commit)
            return True
        try:
            log = self.topics.partition(name, ZERO, index)
            if not self.nodes[log.leader].is_running:
                return False
            log.append_marker(*producer, is_commit)
        except RequestError:
            pass  # deleted meanwhile, or the producer has a later epoch there: Kafka gives up this marker
        return True


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
        if epoch != -1 and epoch != log.leader_epoch:
            is_old = epoch < log.leader_epoch
            raise RequestError(ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH)
        return log

    def add_leader(self, response: Any, part: Any, name: str | None, id: UUID, index: int) -> None:
        """Add the current leader of a partition to an error response (KIP-951)."""
        log = self.cluster.topics.partition(name, id, index)
        node = self.cluster.nodes[log.leader]
        part.current_leader.leader_epoch = log.leader_epoch
        if node.is_running:
            part.current_leader.leader_id = node.id
            if all(each.node_id != node.id for each in response.node_endpoints):
                response.node_endpoints.append(type(response).NodeEndpoint(node_id=node.id, host=HOST, port=node.port))


Handler: TypeAlias = Callable[[Context, Any], Awaitable[Response | None]]
"""Answers a request; raises RequestError for an error response."""
