"""Command of confluent-kafka, the Python client of librdkafka."""

from __future__ import annotations

from typing import Any

import confluent_kafka as rd
from tasks import ATTEMPTS, COUNT, NAME, PLACES, RECORDS, ROUNDS, do

_LOST = (rd.KafkaError.UNKNOWN_MEMBER_ID, rd.KafkaError.ILLEGAL_GENERATION, rd.KafkaError._NO_OFFSET)


def delivered(error: rd.KafkaError | None, _: Any) -> None:
    if error is not None:
        raise rd.KafkaException(error)


def flush(producer: rd.Producer) -> None:
    if left := producer.flush(20):
        raise TimeoutError(f"{left} records were not delivered")


def produce(address: str) -> None:
    producer = rd.Producer({"bootstrap.servers": address, "acks": "all", "linger.ms": 0})
    for key, value in RECORDS:
        producer.produce(NAME, value, key, partition=0, on_delivery=delivered)
        flush(producer)


def consumer(address: str, **settings: Any) -> rd.Consumer:
    fixed = {"bootstrap.servers": address, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    return rd.Consumer({**fixed, "group.id": NAME, **settings})


def read(client: rd.Consumer) -> None:
    seen = 0
    while seen < COUNT:
        message = client.poll(0.5)
        if message is not None:
            delivered(message.error(), None)
            seen += 1


def consume(address: str) -> None:
    client = consumer(address)
    client.assign([rd.TopicPartition(NAME, 0, rd.OFFSET_BEGINNING)])
    read(client)
    client.close()


def group(address: str) -> None:
    client = consumer(address, **{"session.timeout.ms": 6000, "heartbeat.interval.ms": 500})
    client.subscribe([NAME])
    for attempt in range(ATTEMPTS):
        read(client)
        try:
            client.commit(asynchronous=False)
            break
        except rd.KafkaException as error:
            if error.args[0].code() not in _LOST or attempt == ATTEMPTS - 1:
                raise
    client.close()


def transaction(address: str) -> None:
    producer = rd.Producer({"bootstrap.servers": address, "transactional.id": NAME, "linger.ms": 0})
    producer.init_transactions(20)
    for _ in range(2):
        producer.begin_transaction()
        for _ in range(ROUNDS):
            for place in PLACES:
                producer.produce(NAME, b"v", partition=place, on_delivery=delivered)
            flush(producer)
        producer.commit_transaction(20)


do({"produce": produce, "consume": consume, "group": group, "transaction": transaction})
