"""A cluster of three brokers after an incident: a kill, unclean elections, a reassignment and deletions.

The third broker is killed while it has acknowledged records that no other broker has. The second broker lacks them and
becomes the leader. Meanwhile, a partition moves away from the killed broker, and a topic is deleted.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewTopic

from . import admin
from .broker import Broker, Node
from .kafka import Java
from .late import Late, hang
from .make import WORK
from .tools import Partition, ToolOutput, ask_tools, tool
from .two import REST_SECONDS, TRANSACTION, copy, copy_at_rest, size, until

SECONDS = 60
CHECKPOINT_MS = 2000
SETTINGS = f"""\
# Replicate internal topics; a single broker may still write.
offsets.topic.replication.factor=3
transaction.state.log.replication.factor=3
share.coordinator.state.topic.replication.factor=3
# Short timeouts and files.
broker.session.timeout.ms=6000
replica.high.watermark.checkpoint.interval.ms={CHECKPOINT_MS}
log.flush.start.offset.checkpoint.interval.ms=500
log.retention.check.interval.ms=1000
log.index.size.max.bytes=65536
# Leaders change only in elections that the test causes.
auto.leader.rebalance.enable=false
"""
HIGH_WATERMARKS = "replication-offset-checkpoint"
SEGMENT = 1 << 20
# Replicas of each partition, the preferred leader first, and settings.
TOPICS: dict[str, tuple[list[list[int]], dict[str, str]]] = {
    "orders": ([[3, 2], [3, 2], [3, 2], [1, 3]], {"unclean.leader.election.enable": "true"}),
    "payments": ([[3, 1], [1, 2]], {}),
    "customers": (
        [[1, 2, 3], [3, 1, 2]],
        {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.001"},
    ),
    "clicks": ([[2, 1], [1, 3]], {"segment.bytes": str(SEGMENT), "retention.ms": "604800000"}),
    "shipments": ([[1, 3], [1, 2]], {}),
    "basket": ([[1, 3], [2, 1]], {}),
}
LOST = [("orders", 0), ("orders", 1), ("orders", 2)]
"""Partitions led by the killed broker, with a follower that lacks the last records."""
MOVED, MOVES_TO, THROTTLE = ("shipments", 0), [1, 2], 100_000
DELETED, DELETED_BEFORE, LEFT_BEHIND = ("clicks", 1), 40, 15
"""Partition with DeleteRecords, the offset, and a committed offset below it."""


@dataclass(frozen=True)
class Written:
    """An acknowledged record, or a marker, which has no ``key``."""

    offset: int
    epoch: int
    key: bytes | None
    control: str = ""


@dataclass(frozen=True)
class Three:
    """Copies of the log directories, in the folders ``1`` to ``3``, at four times, and the truth."""

    healthy: Path
    moving: Path
    """Files while a partition moves; the third broker is dead."""
    killed: Path
    """Files after the move, before the third broker is back."""
    back: Path
    """Files after the third broker has followed the new leaders."""
    before: ToolOutput
    during: ToolOutput
    after: ToolOutput
    lost: dict[Partition, list[Written]]
    late: Late


@contextmanager
def three(work: Path = WORK) -> Iterator[Three]:
    """Yield the files of a stopped cluster."""
    java = Java.prepare(work)
    with tempfile.TemporaryDirectory(prefix="kafka-messages-") as name, ExitStack() as running:
        folder = Path(name)
        nodes: list[Node] = []
        for number in (1, 2, 3):
            (folder / str(number)).mkdir()
            first = nodes[0] if nodes else None
            node = Node.formatted(java, folder / str(number), settings=SETTINGS, first=first, number=number)
            nodes.append(node)
        one, two, other = (running.enter_context(node.running()) for node in nodes)
        until("three brokers are there", lambda: len(admin.metadata(one.port).brokers) == 3)
        _create(one)
        _traffic(one)
        copy_at_rest((one, two, other), folder / "healthy")
        before = ask_tools(one, 1, 2, 3)
        lost = _incident(one, two, other)
        _write_on(one)
        with _moving(one, two, folder):
            _copy_paused((one, two), other, folder / "moving")
        late = _delete(one, two)
        copy_at_rest((one, two), folder / "killed")
        copy((other,), folder / "killed")
        during = ask_tools(one, 1, 2)
        again = running.enter_context(nodes[2].running())
        _return(one)
        copy_at_rest((one, two, again), folder / "back")
        after = ask_tools(one, 1, 2, 3)
        running.close()
        healthy, moving, killed, back = (folder / place for place in ("healthy", "moving", "killed", "back"))
        yield Three(healthy, moving, killed, back, before, during, after, lost, late)


def _copy_paused(alive: Sequence[Broker], dead: Broker, target: Path) -> None:
    with ExitStack() as paused:
        for broker in alive:
            paused.enter_context(broker.paused())
        copy((*alive, dead), target)


# ---- before the incident


def _client(broker: Broker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap})


def _create(broker: Broker) -> None:
    made = [
        NewTopic(name, num_partitions=len(replicas), replica_assignment=replicas, config=config)
        for name, (replicas, config) in TOPICS.items()
    ]
    client = _client(broker)  # must outlive its futures
    for created in client.create_topics(made).values():
        created.result(SECONDS)
    until("all partitions have a leader", lambda: all(-1 not in admin.leaders(broker.port, name) for name in TOPICS))


def _traffic(broker: Broker) -> None:
    for partition in range(4):
        write(broker, ("orders", partition), 120 + 7 * partition, prefix="order")
    for round in range(3):
        for partition in range(2):
            write(broker, ("customers", partition), 25, prefix="customer", value=b"visit %d" % round)
        time.sleep(1.2)
    for partition in range(2):
        write(broker, ("clicks", partition), 3000, prefix="session", value=bytes(1000), batch=100)
        write(broker, ("basket", partition), 30, prefix="basket")
    write(broker, ("shipments", 0), 3000, prefix="parcel", value=bytes(range(250)) * 4, batch=100)
    write(broker, ("shipments", 1), 200, prefix="parcel")
    for number in range(9):
        transaction(broker, "checkout", [("payments", 0), ("payments", 1)], abort=number % 3 == 2)
    consume(broker, "billing", ["orders", "payments"], "classic")
    consume(broker, "search", ["clicks", "shipments"], "consumer")
    consume(broker, "warehouse", ["shipments"], "classic")


def producer(broker: Broker, **more: Any) -> Producer:
    return Producer({"bootstrap.servers": broker.bootstrap, "linger.ms": 50, **more})


def write(
    broker: Broker,
    partition: Partition,
    count: int,
    *,
    prefix: str,
    value: bytes = b"value",
    batch: int = 7,
    acks: str = "all",
    using: Producer | None = None,
) -> list[Written]:
    """Write records in batches of ``batch``; return what was acknowledged."""
    topic, number = partition
    made = using or producer(broker, acks=acks)
    done: list[Written] = []
    epoch = leader_epoch(broker, partition)

    def acknowledged(error: KafkaError | None, message: Any) -> None:
        assert error is None, error
        done.append(Written(message.offset(), epoch, message.key()))

    for at in range(count):
        key = b"%s-%d" % (prefix.encode(), at % 50)
        made.produce(topic, value, key, number, on_delivery=acknowledged)
        if at % batch == batch - 1:
            made.flush(SECONDS)
    assert made.flush(SECONDS) == 0
    assert len(done) == count
    return done


def transaction(broker: Broker, id: str, partitions: Sequence[Partition], *, abort: bool = False) -> list[Written]:
    """Write two records to each partition in a transaction; return them and the markers, for each partition."""
    made = producer(broker, **{"transactional.id": id})
    made.init_transactions(SECONDS)
    made.begin_transaction()
    done: list[Written] = []
    for partition in partitions:
        records = write(broker, partition, 2, prefix=id, using=made)
        marker = Written(records[-1].offset + 1, records[-1].epoch, None, "ABORT" if abort else "COMMIT")
        done += [*records, marker]
    (made.abort_transaction if abort else made.commit_transaction)(SECONDS)
    return done


def leader_epoch(broker: Broker, partition: Partition) -> int:
    epoch: int = _described(broker, partition).leader_epoch
    return epoch


def _described(broker: Broker, partition: Partition) -> Any:
    (topic,) = (each for each in admin.metadata(broker.port).topics if each.name == partition[0])
    return next(each for each in topic.partitions if each.partition_index == partition[1])


def consume(broker: Broker, group: str, topics: Sequence[str], protocol: str) -> None:
    """Read all partitions to their end as the only member of a group, and commit."""
    options: dict[str, Any] = {"bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": protocol}
    options |= {"auto.offset.reset": "earliest", "enable.partition.eof": True, "enable.auto.commit": False}
    reader = Consumer(options)
    ended: set[tuple[str | None, int | None]] = set()
    wanted = {(topic, number) for topic in topics for number in range(len(TOPICS[topic][0]))}

    def read() -> bool:
        message = reader.poll(1)
        if message is not None and (error := message.error()) is not None:
            assert error.code() == KafkaError._PARTITION_EOF or error.retriable(), error
            if error.code() == KafkaError._PARTITION_EOF:
                ended.add((message.topic(), message.partition()))
        return ended >= wanted

    reader.subscribe(list(topics))
    try:
        deadline = time.monotonic() + SECONDS
        while not read():
            assert time.monotonic() < deadline, f"{group} has not read {wanted - ended}"
        reader.commit(asynchronous=False)
    finally:
        reader.close()


# ---- the incident


def _incident(one: Broker, two: Broker, other: Broker) -> dict[Partition, list[Written]]:
    """Kill the third broker while the second is stopped; return the records that are lost then."""
    lost: dict[Partition, list[Written]] = {}
    with two.paused():
        until(
            "the third broker is the only one in sync", lambda: all(_described(one, p).isr_nodes == [3] for p in LOST)
        )
        for partition, count in zip(LOST, (33, 26, 11), strict=True):
            lost[partition] = write(one, partition, count, prefix="order", acks="1")
        lost[LOST[0]] += transaction(one, "checkout", [LOST[0]])
        consume(one, "billing", ["orders", "payments"], "classic")
        last = producer(one, acks=1)
        last.list_topics("orders", SECONDS)
        checkpoint = other.logs / HIGH_WATERMARKS
        written = checkpoint.stat().st_mtime_ns
        until("the high watermarks are written", lambda: checkpoint.stat().st_mtime_ns != written)
        for partition in LOST[:2]:
            lost[partition] += write(one, partition, 5, prefix="order", using=last)
        other.process.kill()
        other.process.wait(SECONDS)
    until("the second broker leads", lambda: all(_described(one, each).leader_id == 2 for each in LOST))
    return lost


def _write_on(broker: Broker) -> None:
    """Write more records than were lost to a partition, fewer to another, none to the third."""
    write(broker, LOST[0], 70, prefix="order", batch=5)
    write(broker, LOST[1], 9, prefix="order", batch=4)
    write(broker, ("orders", 3), 20, prefix="order")
    for number in range(4):
        transaction(broker, "refunds", [("payments", 0), ("payments", 1)], abort=number == 1)
    write(broker, ("clicks", 0), 60, prefix="session", value=bytes(1000), batch=20)
    write(broker, ("shipments", 1), 25, prefix="parcel")
    consume(broker, "warehouse", ["shipments"], "classic")


@contextmanager
def _moving(one: Broker, two: Broker, folder: Path) -> Iterator[None]:
    """Move a partition away from the killed broker, slowly inside the ``with`` block.

    The tool cannot throttle, because it would ask the killed broker.
    """
    topic, number = MOVED
    plan = folder / "plan.json"
    assigned = {"topic": topic, "partition": number, "replicas": MOVES_TO}
    plan.write_text(json.dumps({"version": 1, "partitions": [assigned]}), encoding="utf-8")

    def reassign(*arguments: str) -> str:
        file = ("--reassignment-json-file", str(plan))
        return tool(one, "reassign.ReassignPartitionsCommand", *file, *arguments)

    _configure(one, topic, {"follower.replication.throttled.replicas": "*"})
    admin.configure(two.port, 2, {"follower.replication.throttled.rate": str(THROTTLE)})
    reassign("--execute")
    until("the first records have moved", lambda: size(two, f"{topic}-{number}") > 0)
    yield
    assert "still in progress" in reassign("--verify", "--preserve-throttles")
    admin.configure(two.port, 2, {"follower.replication.throttled.rate": str(1 << 30)})
    until("the partition has moved", lambda: _described(one, MOVED).isr_nodes == MOVES_TO)


def _delete(one: Broker, two: Broker) -> Late:
    admin.commit(
        two.port if admin.coordinator(one.port, "reports", 0) == 2 else one.port, "reports", *DELETED, LEFT_BEHIND
    )
    admin.delete_records(one.port, *DELETED, DELETED_BEFORE)
    _configure(one, "clicks", {"retention.bytes": str(SEGMENT)})
    _configure(one, "payments", {"retention.ms": "86400000"})
    until("retention has deleted segments", lambda: len(list(one.logs.glob("clicks-0/*.log"))) < 3)
    client = _client(one)
    for deleted in client.delete_topics(["basket"]).values():
        deleted.result(SECONDS)
    until("the folders are marked", lambda: all(list(each.logs.glob("basket-*-delete")) for each in (one, two)))
    id = next(
        f"subscription-{n}" for n in range(99) if admin.coordinator(one.port, f"subscription-{n}", TRANSACTION) == 1
    )
    return hang(one.port, id, "payments", 1)


def _configure(broker: Broker, topic: str, settings: dict[str, str]) -> None:
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in settings.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
    client = _client(broker)
    for altered in client.incremental_alter_configs([resource]).values():
        altered.result(SECONDS)


def _return(broker: Broker) -> None:
    """Wait until all replicas are in sync, then elect the preferred leaders."""

    def in_sync() -> bool:
        parts = [part for topic in admin.metadata(broker.port).topics for part in topic.partitions]
        return all(sorted(part.isr_nodes) == sorted(part.replica_nodes) for part in parts)

    until("all replicas are in sync", in_sync)
    tool(broker, "LeaderElectionCommand", "--election-type", "PREFERRED", "--all-topic-partitions")
    time.sleep(REST_SECONDS)
