"""Command of kafka-python."""

from __future__ import annotations

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import CommitFailedError
from tasks import ATTEMPTS, COUNT, NAME, PLACES, RECORDS, ROUNDS, do


def produce(address: str) -> None:
    producer = KafkaProducer(bootstrap_servers=address, acks="all")
    for key, value in RECORDS:
        producer.send(NAME, value, key, partition=0).get(20)
    producer.close()


def consumer(address: str, **settings: Any) -> Any:
    return KafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest", enable_auto_commit=False, **settings)


def read(client: Any) -> None:
    seen = 0
    while seen < COUNT:
        seen += sum(map(len, client.poll(500).values()))


def consume(address: str) -> None:
    client = consumer(address)
    client.assign([TopicPartition(NAME, 0)])
    read(client)
    client.close()


def group(address: str) -> None:
    client = consumer(address, group_id=NAME, session_timeout_ms=6000, heartbeat_interval_ms=500)
    client.subscribe([NAME])
    for attempt in range(ATTEMPTS):
        read(client)
        try:
            client.commit()
            break
        except CommitFailedError:
            if attempt == ATTEMPTS - 1:
                raise
    client.close()


def transaction(address: str) -> None:
    producer = KafkaProducer(bootstrap_servers=address, transactional_id=NAME)
    producer.init_transactions()
    for _ in range(2):
        producer.begin_transaction()
        for _ in range(ROUNDS):
            sent = [producer.send(NAME, b"v", partition=place) for place in PLACES]
            for each in sent:
                each.get(20)
        producer.commit_transaction()
    producer.close()


do({"produce": produce, "consume": consume, "group": group, "transaction": transaction})
