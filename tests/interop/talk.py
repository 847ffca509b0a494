"""Work of the Python clients: ``python -m tests.interop.talk CLIENT WHAT BOOTSTRAP TOPICS RECORDS CODEC...``.

Writes records to the topic ``TOPICS-CODEC`` for each codec. If ``WHAT`` is ``talk`` instead of ``write``, the program then
reads all records in the group ``TOPICS-group``, commits, lists topics, and prints one line of JSON: ``topics``, and
``records`` and ``committed`` by topic.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

SECONDS = 60


@dataclass(frozen=True)
class Task:
    """Arguments of the program."""

    bootstrap: str
    prefix: str
    count: int
    codecs: Sequence[str]

    @property
    def topics(self) -> dict[str, str]:
        return {f"{self.prefix}-{codec}": codec for codec in self.codecs}

    @property
    def group(self) -> str:
        return f"{self.prefix}-group"

    @property
    def deadline(self) -> float:
        return time.monotonic() + SECONDS

    def pairs(self) -> list[tuple[str, str]]:
        """Return the keys and values to write to a topic."""
        return [(f"key-{number}", f"value {number} " * 5) for number in range(self.count)]


@dataclass
class Seen:
    """Topics, records and offsets that a client received."""

    topics: list[str]
    records: dict[str, list[tuple[int, str, str]]]
    committed: dict[str, int]

    def add(self, topic: str, offset: int, key: bytes, value: bytes) -> None:
        self.records.setdefault(topic, []).append((offset, key.decode(), value.decode()))

    def has_all(self, task: Task) -> bool:
        return sum(map(len, self.records.values())) >= len(task.codecs) * task.count


def librdkafka_writes(task: Task) -> None:
    from confluent_kafka import Producer

    common = {"bootstrap.servers": task.bootstrap}
    for topic, codec in task.topics.items():
        producer = Producer({**common, "compression.type": codec, "linger.ms": 50, "enable.idempotence": True})
        for key, value in task.pairs():
            producer.produce(topic, key=key, value=value)
        if producer.flush(SECONDS):
            raise SystemExit(f"{topic}: records were not written")


def librdkafka_reads(task: Task) -> Seen:
    from confluent_kafka import Consumer, TopicPartition
    from confluent_kafka.admin import AdminClient

    common: dict[str, str | int | float | bool] = {"bootstrap.servers": task.bootstrap}
    seen = Seen([], {}, {})
    consumer = Consumer(
        {**common, "group.id": task.group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    )
    consumer.subscribe(list(task.topics))
    deadline = task.deadline
    while not seen.has_all(task) and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None:
            if message.error():
                raise SystemExit(str(message.error()))
            seen.add(message.topic() or "", message.offset() or 0, message.key() or b"", message.value() or b"")
    consumer.commit(asynchronous=False)
    for each in consumer.committed([TopicPartition(topic, 0) for topic in task.topics], SECONDS):
        seen.committed[each.topic] = each.offset
    consumer.close()
    seen.topics = sorted(AdminClient(common).list_topics(timeout=SECONDS).topics)
    return seen


def kafka_python_writes(task: Task) -> None:
    from kafka import KafkaProducer

    for topic, codec in task.topics.items():
        producer = KafkaProducer(
            bootstrap_servers=task.bootstrap, compression_type=None if codec == "none" else codec, linger_ms=50
        )
        sent = [producer.send(topic, key=key.encode(), value=value.encode()) for key, value in task.pairs()]
        for each in sent:
            each.get(SECONDS)
        producer.close()


def kafka_python_reads(task: Task) -> Seen:
    from kafka import KafkaConsumer, TopicPartition

    seen = Seen([], {}, {})
    consumer = KafkaConsumer(
        *task.topics,
        bootstrap_servers=task.bootstrap,
        group_id=task.group,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    deadline = task.deadline
    while not seen.has_all(task) and time.monotonic() < deadline:
        for records in consumer.poll(500).values():
            for record in records:
                seen.add(record.topic, record.offset, record.key, record.value)
    consumer.commit()
    seen.committed = {topic: consumer.committed(TopicPartition(topic, 0)) for topic in task.topics}
    seen.topics = sorted(consumer.topics())
    consumer.close()
    return seen


async def aiokafka_writes(task: Task) -> None:
    from aiokafka import AIOKafkaProducer

    for topic, codec in task.topics.items():
        settings: dict[str, Any] = {"compression_type": None if codec == "none" else codec, "linger_ms": 50}
        async with AIOKafkaProducer(bootstrap_servers=task.bootstrap, acks="all", **settings) as producer:
            sent = [await producer.send(topic, key=key.encode(), value=value.encode()) for key, value in task.pairs()]
            await asyncio.wait_for(asyncio.gather(*sent), SECONDS)


async def aiokafka_reads(task: Task) -> Seen:
    from aiokafka import AIOKafkaConsumer, TopicPartition

    seen = Seen([], {}, {})
    settings: dict[str, Any] = {"group_id": task.group, "auto_offset_reset": "earliest", "enable_auto_commit": False}
    async with AIOKafkaConsumer(*task.topics, bootstrap_servers=task.bootstrap, **settings) as consumer:
        deadline = task.deadline
        while not seen.has_all(task) and time.monotonic() < deadline:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    seen.add(record.topic, record.offset, record.key, record.value)
        await consumer.commit()
        for topic in task.topics:
            seen.committed[topic] = await consumer.committed(TopicPartition(topic, 0))
        seen.topics = sorted(await consumer.topics())
    return seen


CLIENTS: dict[str, tuple[Callable[[Task], None], Callable[[Task], Seen]]] = {
    "librdkafka": (librdkafka_writes, librdkafka_reads),
    "kafka-python": (kafka_python_writes, kafka_python_reads),
    "aiokafka": (
        lambda task: asyncio.run(aiokafka_writes(task)),
        lambda task: asyncio.run(aiokafka_reads(task)),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.interop.talk", description=__doc__)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("what", choices=("write", "talk"))
    parser.add_argument("bootstrap")
    parser.add_argument("prefix")
    parser.add_argument("count", type=int)
    parser.add_argument("codecs", nargs="+")
    options = parser.parse_args()
    task = Task(options.bootstrap, options.prefix, options.count, options.codecs)
    writes, reads = CLIENTS[options.client]
    writes(task)
    if options.what == "talk":
        seen = reads(task)
        print(json.dumps({"topics": seen.topics, "records": seen.records, "committed": seen.committed}))


if __name__ == "__main__":
    main()
