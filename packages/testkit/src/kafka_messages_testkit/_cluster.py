"""Mock cluster in process."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from kafka_messages import ApiVersionsRequest, Response
from kafka_messages.aio import CloseConnection, Listener, serve
from kafka_messages.connection import RequestReceived

from ._exchange import Exchange
from ._faults import respond
from ._kit import Kit
from ._selectors import Received
from .broker.cluster import ClusterState, Context, Node
from .broker.errors import RequestError
from .broker.handlers import announced, handle

_HOST = "127.0.0.1"
_NO_TOPICS: Mapping[str, int] = MappingProxyType({})


class KafkaCluster(Kit):
    """Cluster of mock brokers in this process, for any client.

    ``brokers`` is their number; their node ids start at 1. ``topics`` maps names of topics to numbers of partitions.
    ``release``, such as ``2.8``, limits the announced APIs and versions to those of a Kafka release. ``seed`` makes
    ``probability``, ids and leaders repeatable.

    Use it in a ``with`` statement, also in asynchronous tests: it runs in a thread. Raises ValueError for an unknown
    release or an invalid number, and OSError without a free port.
    """

    def __init__(
        self,
        brokers: int = 1,
        *,
        topics: Mapping[str, int] = _NO_TOPICS,
        release: str | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(seed)
        if type(brokers) is not int or brokers < 1:
            raise ValueError(f"brokers must be a number from 1 on, not {brokers!r}")
        self._state = ClusterState(seed)
        self._nodes = self._state.nodes = {number: Node(number, 0) for number in range(1, brokers + 1)}
        self._announced = announced(release)
        self._listeners: dict[int, Listener] = {}
        for name, partitions in topics.items():
            self._create(name, partitions)

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for a client, separated by commas."""
        self._started()
        return ",".join(f"{_HOST}:{node.port}" for node in self._state.nodes.values())

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic. Raises ValueError for an invalid or existing name, or less than one partition."""
        self._started().call(self._create, name, partitions)

    def _create(self, name: str, partitions: int) -> None:
        try:
            self._state.create_topic(name, partitions)
        except RequestError as error:
            raise ValueError(f"topic {name!r}: {error.message}") from None

    async def _start(self) -> None:
        for node in self._state.nodes.values():
            await self._open(node)

    async def _open(self, node: Node) -> None:
        self._listeners[node.id] = await serve(
            partial(self._respond, node.id),
            _HOST,
            node.port,
            announced=self._announced,
            linger=0.2,
            on_error=self._report,
        )
        node.port, node.is_running = self._listeners[node.id].port, True

    async def _stop(self) -> None:
        for listener in self._listeners.values():
            await listener.close(0.2 / len(self._listeners))

    async def _respond(self, node_id: int, received: RequestReceived) -> Response | None:
        context = Context(self._state, node_id, received)
        exchange = Exchange(
            node_id=node_id,
            identity=received.identity,
            decoded=received.request,
            client_address=received.client_address or ("", 0),
            broker_address=(_HOST, self._state.nodes[node_id].port),
            received_at=time.time(),
            request_data=received.request.encode(text="surrogateescape"),
        )
        self._exchanges.append(exchange)
        seen = Received(received.request, node_id, received.identity.client_id, self._state.topics.names)
        try:
            response = await respond(self._rules, exchange, seen, partial(self._act, context))
        except CloseConnection as error:
            exchange.response_data, exchange.answered_at = error.data, time.time()
            raise
        except Exception as error:
            self._failures.append(error)
            raise CloseConnection from error
        return None if response is None else response.downgraded(received.response_version)

    async def _act(self, context: Context, message: Any) -> Response | None:
        if isinstance(message, ApiVersionsRequest):
            response: Response = self._announced
            return response
        return await handle(context, message)
