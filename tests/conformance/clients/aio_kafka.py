"""Command of aiokafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import CommitFailedError
from tasks import ATTEMPTS, COUNT, NAME, PLACES, RECORDS, ROUNDS, do


async def produce(address: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=address, acks="all") as producer:
        for key, value in RECORDS:
            await producer.send_and_wait(NAME, value, key, partition=0)


def consumer(address: str, *topics: str, **settings: Any) -> Any:
    return AIOKafkaConsumer(
        *topics, bootstrap_servers=address, auto_offset_reset="earliest", enable_auto_commit=False, **settings
    )


async def read(client: Any) -> None:
    seen = 0
    while seen < COUNT:
        seen += sum(map(len, (await client.getmany(timeout_ms=500)).values()))


async def consume(address: str) -> None:
    client = consumer(address)
    client.assign([TopicPartition(NAME, 0)])
    async with client:
        await read(client)


async def group(address: str) -> None:
    settings = {"group_id": NAME, "session_timeout_ms": 6000, "heartbeat_interval_ms": 500}
    async with consumer(address, NAME, **settings) as client:
        for attempt in range(ATTEMPTS):
            await read(client)
            try:
                await client.commit()
                break
            except CommitFailedError:
                if attempt == ATTEMPTS - 1:
                    raise


async def transaction(address: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=address, transactional_id=NAME) as producer:
        for _ in range(2):
            await producer.begin_transaction()
            for _ in range(ROUNDS):
                sent = [await producer.send(NAME, b"v", partition=place) for place in PLACES]
                await asyncio.gather(*sent)
            await producer.commit_transaction()


def running(task: Callable[[str], Coroutine[Any, Any, None]]) -> Callable[[str], None]:
    return lambda address: asyncio.run(task(address))


do({each.__name__: running(each) for each in (produce, consume, group, transaction)})
