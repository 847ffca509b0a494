"""Fault proxy for the brokers of a real cluster."""

from __future__ import annotations

import asyncio
import time
from asyncio import Future, StreamWriter, Task
from copy import copy
from dataclasses import replace
from functools import partial
from ssl import SSLContext
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from kafka_messages import Response
from kafka_messages.aio import Relay, RelayConnection, relay
from kafka_messages.connection import RequestForwarded, ResponseForwarded
from kafka_messages.protocol import apis

from ._exchange import MAX_EXCHANGE_BYTES, Exchange
from ._faults import frame_of, respond
from ._kit import Kit
from ._selectors import Received

UNKNOWN = -1  # node id before the first metadata
_NO_SESSION = -1  # session epoch of a Fetch request that wants no session (KIP-227)


class KafkaProxy(Kit):
    """Proxy with one port per broker, which applies rules to requests and responses.

    ``bootstrap_servers`` are addresses of the brokers, such as ``localhost:9092,localhost:9093``; ``ssl_context`` is for
    connections to them. ``seed`` makes ``probability`` repeatable; ``max_exchange_bytes`` limits the memory of recorded
    exchanges. All addresses of brokers in responses are replaced, and clients get no fetch sessions, so that each Fetch
    request names its partitions. Raises ValueError for an invalid address or limit.

    Use it in a ``with`` statement, also in asynchronous tests: it runs in a thread. Raises OSError without a free port.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        *,
        ssl_context: SSLContext | None = None,
        seed: int | None = None,
        max_exchange_bytes: int = MAX_EXCHANGE_BYTES,
    ) -> None:
        super().__init__(seed, max_exchange_bytes)
        self._brokers = _addresses(bootstrap_servers)
        self._ssl_context = ssl_context
        self._relay: Relay | None = None
        self._node_ids: dict[tuple[str, int], int] = {}
        self._topic_names: dict[UUID, str] = {}
        self._pending: WeakKeyDictionary[RelayConnection, dict[RequestForwarded, _Passing]] = WeakKeyDictionary()
        self._tasks: set[Task[Response | None]] = set()  # event loops have only weak references

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for a client, separated by commas."""
        self._started()
        return ",".join(f"127.0.0.1:{self._ports[each]}" for each in self._brokers)

    @property
    def _ports(self) -> dict[tuple[str, int], int]:
        return self._relay.ports if self._relay is not None else {}

    async def _start(self) -> None:
        self._relay = await relay(
            self._brokers,
            decode=[each for each in apis() if not each.is_removed],
            on_request=self._on_request,
            on_response=self._on_response,
            ssl_context=self._ssl_context,
            linger=0.2,
            on_error=self._report,
        )

    async def _stop(self) -> None:
        if self._relay is not None:
            await self._relay.close(0.2)

    async def _on_request(self, event: RequestForwarded, connection: RelayConnection) -> Response | bytes | None:
        if event.request is None:
            return None  # of an unknown API or version
        passing = _Passing(self, event, connection)
        self._exchanges.measure(passing.exchange, is_new=True)
        if event.expects_response:
            self._pending.setdefault(connection, {})[event] = passing
        return await passing.until_forwarded()

    async def _on_response(self, event: ResponseForwarded, connection: RelayConnection) -> bytes | None:
        self._learn(event.message)
        passing = self._pending.get(connection, {}).pop(event.request, None)
        return None if passing is None else await passing.answered(event)

    def _learn(self, message: Any) -> None:
        """Remember the topics of responses, and the node ids of the ports, which already replace the brokers' ones."""
        name = type(message).__name__  # importing the classes is slow
        if name in ("MetadataResponse", "DescribeTopicPartitionsResponse", "CreateTopicsResponse"):
            self._topic_names.update({each.topic_id: each.name for each in message.topics if each.name})
        if name == "MetadataResponse":
            self._node_ids |= {(each.host, each.port): each.node_id for each in message.brokers}
            for exchange in self._exchanges.sizes:
                if exchange.node_id == UNKNOWN:
                    exchange.node_id = self._node_ids.get(exchange.broker_address, UNKNOWN)


class _Passing:
    """A request on its way to the broker and back."""

    def __init__(self, proxy: KafkaProxy, event: RequestForwarded, connection: RelayConnection) -> None:
        assert event.request is not None
        self.proxy, self.event = proxy, event
        loop = asyncio.get_running_loop()
        self.forwarded: Future[Any] = loop.create_future()
        self.response: Future[Any] = loop.create_future()
        address = "127.0.0.1", proxy._ports[connection.broker]
        self.exchange = Exchange(
            node_id=proxy._node_ids.get(address, UNKNOWN),
            identity=event.identity,
            decoded=event.request,
            client_address=connection.client_address,
            broker_address=address,
            received_at=time.time(),
            request_data=event.data,
        )
        node_id, client_id = self.exchange.node_id, event.identity.client_id
        self.received = Received(event.request, node_id, client_id, proxy._topic_names)
        self.task: Task[Response | None] = asyncio.create_task(self.respond())
        proxy._tasks.add(self.task)
        self.task.add_done_callback(partial(self.ended, connection._client))

    def ended(self, client: StreamWriter, task: Task[Response | None]) -> None:
        self.proxy._tasks.discard(task)
        if not task.cancelled() and task.exception() and not self.event.expects_response:
            client.close()  # no hook of a response does

    async def respond(self) -> Response | None:
        with self.proxy._ending(self.exchange):
            response = await respond(self.proxy._rules, self.exchange, self.received, self.broker)
            if self.response.done() and response is not None:
                decoded = replace(self.response.result(), message=response)
                self.exchange.response_data = decoded.encode(text="surrogateescape")
            else:
                self.exchange.response_data = frame_of(self.exchange, response)
            return response

    async def broker(self, message: Any) -> Response | None:
        self.forwarded.set_result(message)
        response: Response | None = (await self.response).message if self.event.expects_response else None
        return response

    async def until_forwarded(self) -> Response | bytes | None:
        """Return what the hook of a request returns."""
        waits: list[Future[Any]] = [self.task, self.forwarded]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.task.cancel()
            raise
        if not self.forwarded.done():
            return await self.task
        message, request = self.forwarded.result(), self.event.request
        assert request is not None
        is_changed = message is not request.message
        if request.api.name == "Fetch" and message.session_epoch != _NO_SESSION:
            message, is_changed = copy(message), True
            message.session_id, message.session_epoch = 0, _NO_SESSION
        return replace(request, message=message).encode(text="surrogateescape") if is_changed else None

    async def answered(self, event: ResponseForwarded) -> bytes | None:
        """Return what the hook of a response returns."""
        before = event.data
        if event.response is None:
            self.task.cancel()
            return None
        self.response.set_result(event.response)
        await self.task
        after = self.exchange.response_data
        return None if after == before else after


def _addresses(servers: str) -> list[tuple[str, int]]:
    given: object = servers  # untyped callers may pass a list, as to kafka-python
    if not isinstance(given, str):
        raise TypeError(f"bootstrap_servers must be str with commas between addresses, not {servers!r}")
    found = []
    for each in servers.split(","):
        host, _, port = each.strip().rpartition(":")
        is_name = host and (":" not in host or host.startswith("["))
        if not (is_name and port.isdecimal() and int(port) < 1 << 16):
            raise ValueError(f"bootstrap_servers has {each!r}; expected addresses such as localhost:9092")
        found.append((host.strip("[]"), int(port)))
    return found
