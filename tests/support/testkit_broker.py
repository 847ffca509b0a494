"""Broker for tests of rules: it answers every API with success, and keeps the requests that reach it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafka_messages import ApiVersionsRequest, FetchRequest, FetchResponse, Response
from kafka_messages.aio import BrokerConnection, connect, serve
from kafka_messages.connection import RequestReceived, announce, error_response
from kafka_messages.protocol import apis
from kafka_messages_testkit._loop import LoopThread
from kafka_records import Record, write_batch

BATCH = write_batch([Record(timestamp=0, value=b"paid")])
ANNOUNCED = announce([each for each in apis() if each.stable_versions and each.response_name])


class Broker:
    """``requests`` are the messages that it received, without ApiVersionsRequest."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.address = ""

    async def answer(self, received: RequestReceived) -> Response | None:
        message = received.message
        if isinstance(message, ApiVersionsRequest):
            return ANNOUNCED
        self.requests.append(message)
        if not received.expects_response:
            return None
        response = error_response(received.request, 1, where=lambda place: False)
        if isinstance(message, FetchRequest) and isinstance(response, FetchResponse):
            for topic in response.responses:
                for partition in topic.partitions:
                    partition.records = BATCH
        return response


@contextmanager
def broker() -> Iterator[Broker]:
    """Serve a broker in a thread."""
    thread, made = LoopThread("broker"), Broker()
    listener = thread.run(serve(made.answer, announced=ANNOUNCED))
    made.address = f"127.0.0.1:{listener.port}"
    try:
        yield made
    finally:
        thread.run(listener.close(0.1))
        thread.stop()


async def client(servers: str, **options: Any) -> BrokerConnection:
    """Return a connection to the first of the addresses."""
    host, _, port = servers.split(",")[0].rpartition(":")
    return await connect(host, int(port), **options)


def asked(servers: str, *requests: Any, version: int | None = None, **options: Any) -> list[Any]:
    """Send requests one after another on one connection; return the responses."""

    async def ask() -> list[Any]:
        async with await client(servers, **options) as connection:
            return [await connection.request(each, version=version) for each in requests]

    return asyncio.run(ask())
