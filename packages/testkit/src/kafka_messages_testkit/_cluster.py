"""Mock cluster in process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from kafka_messages import Response
from kafka_messages.aio import Listener, serve
from kafka_messages.connection import RequestReceived
from kafka_messages.protocol import encode_response, frame
from kafka_records import MissingCodecError, Record, write_batch
from kafka_records.format import CODECS

from ._exchange import MAX_EXCHANGE_BYTES, Exchange
from ._faults import respond
from ._group import Group
from ._kit import Kit
from ._selectors import Received
from .handlers.table import announced, feature_levels, handle, handlers
from .state.batches import now_ms
from .state.cluster import BrokerNode, ClusterState, Context
from .state.errors import RequestError
from .state.groups import java_hash

T = TypeVar("T")
_HOST = "127.0.0.1"
_MOST_PENDING = 10  # requests of a connection that are read; more than common clients have in flight
_NO_TOPICS: Mapping[str, int] = MappingProxyType({})


class KafkaCluster(Kit):
    """Cluster of mock brokers in this process, for any client.

    ``brokers`` is their number; their node ids start at 1. ``topics`` maps names of topics to numbers of partitions.
    ``release``, such as ``2.8``, limits the announced APIs and versions to those of a Kafka release. ``seed`` makes
    ``probability``, ids and leaders repeatable. ``max_exchange_bytes`` limits the memory of recorded exchanges.

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
        max_exchange_bytes: int = MAX_EXCHANGE_BYTES,
    ) -> None:
        super().__init__(seed, max_exchange_bytes)
        if type(brokers) is not int or brokers < 1:
            raise ValueError(f"brokers must be a number from 1 on, not {brokers!r}")
        _check_types(topics, release)
        self._state = ClusterState(seed)
        self._nodes = self._state.nodes = {number: BrokerNode(number, 0) for number in range(1, brokers + 1)}
        self._announced = announced(release)
        self._served = {each.api_key for each in self._announced.api_keys}
        self._state.transactions.is_version_2 = "transaction.version" in feature_levels(release)
        self._listeners: dict[int, Listener] = {}
        self._turns: WeakValueDictionary[object, asyncio.Lock] = WeakValueDictionary()  # by node id and client
        for name, partitions in topics.items():
            self._create(name, partitions)

    @property
    def bootstrap_servers(self) -> str:
        """Addresses for a client, separated by commas."""
        self._started()
        return ",".join(f"{_HOST}:{node.port}" for node in self._state.nodes.values())

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic. Raises ValueError for an invalid or existing name, or less than one partition."""
        _check_types({name: partitions}, None)
        self._started().call(self._create, name, partitions)

    def _create(self, name: str, partitions: int) -> None:
        try:
            self._state.create_topic(name, partitions)
        except RequestError as error:
            raise ValueError(f"topic {name!r}: {error.message}") from None

    def produce(
        self,
        topic: str,
        value: bytes | None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        timestamp: int | None = None,
    ) -> int:
        """Append a record and return its offset.

        Without ``partition`` the key chooses it, as in Kafka's producers; without a key the partitions follow in turn.
        ``timestamp`` is in milliseconds since 1970, by default now. Raises ValueError for an unknown topic or
        partition, and for values that a record cannot hold.
        """
        record = Record(-1, now_ms() if timestamp is None else timestamp, key, value, tuple(headers))
        return self._call(self._state.produce, topic, partition, record)

    def records(self, topic: str, partition: int | None = None) -> list[Record]:
        """Return the records of a partition, or of all partitions, one after the other, ordered by offset.

        These are the records that a consumer with the isolation level ``read_uncommitted`` gets: records of open and
        aborted transactions are included. Raises ValueError for an unknown topic or partition.
        """
        return self._call(self._state.records, topic, partition)

    def move_leader(self, topic: str, partition: int, node_id: int) -> None:
        """Make a running broker the leader of a partition, with the next leader epoch.

        Raises ValueError for an unknown topic or partition, and for a broker that is not running.
        """
        self._call(self._state.move_leader, topic, partition, node_id)

    def stop_broker(self, node_id: int) -> None:
        """Close the port and the connections of a broker; its unanswered requests are never answered.

        Each of its partitions moves to a running broker with the next leader epoch, or has no leader until a broker
        starts. Raises ValueError for a broker that is not running.
        """
        self._check_node(node_id, is_running=True)
        self._started().run(self._close(self._state.nodes[node_id]))

    def start_broker(self, node_id: int) -> None:
        """Start a stopped broker again, at the same port. It gets partitions only if no other broker runs.

        Raises ValueError for a broker that is running, and OSError if the port is in use.
        """
        self._check_node(node_id, is_running=False)
        self._started().run(self._open(self._state.nodes[node_id]))

    def _call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function in the thread of the loop; raise ValueError for RequestError."""
        try:
            return self._started().call(function, *arguments)
        except RequestError as error:
            raise ValueError(error.message or error.code.name) from None

    def _check_node(self, node_id: int, is_running: bool) -> None:
        node = self._state.nodes.get(node_id)
        if node is None or node.is_running != is_running:
            words = "running" if is_running else "stopped"
            nodes = [node.id for node in self._state.nodes.values() if node.is_running == is_running]
            raise ValueError(f"node_id: broker {node_id!r} is not {words}; {words}: {nodes}")

    def group(self, id: str) -> Group:
        """Return a group of consumers; it need not exist yet."""
        return Group(id, self._state.groups, self._started())

    def commit(self, group: str, offsets: Mapping[tuple[str, int], int]) -> None:
        """Commit offsets by topic and partition for a group, and create it if it does not exist.

        The state of the group is not checked. Raises ValueError for an unknown partition, or an invalid offset.
        """
        given: list[object] = list(offsets)  # untyped callers may pass names of topics
        if not all(isinstance(place, tuple) and len(place) == 2 for place in given):
            raise TypeError(f"offsets must be by topic and partition, such as {{('orders', 0): 1}}, not {offsets!r}")
        invalid: list[object] = [each for each in offsets.values() if type(each) is not int or each < 0]
        if invalid:
            raise ValueError(f"an offset must be a number from 0 on, not {invalid[0]!r}")
        self._call(self._state.commit, group, offsets)

    def committed(self, group: str) -> dict[tuple[str, int], int]:
        """Return the committed offsets of a group by topic and partition."""
        found = self._started().call(self._state.offsets.of_group, group)
        return {place: committed.offset for place, committed in found.items()}

    def move_coordinator(self, key: str, node_id: int) -> None:
        """Make a running broker the coordinator of a group or transactional id.

        The other brokers answer NOT_COORDINATOR from now on. Raises ValueError for a broker that is not running.
        """
        self._call(self._state.move_coordinator, key, node_id)

    def _import(self) -> None:
        super()._import()
        handlers()
        for codec in CODECS:
            with suppress(MissingCodecError):
                write_batch([Record(value=b"")], compression=codec)
        java_hash("")

    async def _start(self) -> None:
        for node in self._state.nodes.values():
            await self._open(node)

    async def _open(self, node: BrokerNode) -> None:
        self._listeners[node.id] = await serve(
            partial(self._respond, node.id),
            _HOST,
            node.port,
            announced=self._announced,
            max_pending=_MOST_PENDING,
            linger=0.2,
            on_error=self._report,
        )
        node.port, node.is_running = self._listeners[node.id].port, True
        self._state.elect()

    async def _close(self, node: BrokerNode) -> None:
        node.is_running = False
        await self._listeners.pop(node.id).close(0)
        self._state.elect()

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
            request_data=frame(received.data),
        )
        self._exchanges.measure(exchange, is_new=True)
        seen = Received(received.request, node_id, received.identity.client_id, self._state.topics.names)
        turn = self._turns.setdefault((node_id, received.client_address), asyncio.Lock())
        with self._ending(exchange):
            await turn.acquire()  # as Kafka: the next request of a connection waits for the response
            response = await respond(self._rules, exchange, seen, partial(handle, context, announced=self._announced))
            if response is not None:
                version, number = received.response_version, received.request.header.correlation_id
                response = response.downgraded(version)
                exchange.response_data = encode_response(response, version, number, text="surrogateescape")
            turn.release()  # never after an exception, which closes the connection
            return response


def _check_types(topics: object, release: object) -> None:
    """Raise TypeError for arguments that untyped callers often pass."""
    if not isinstance(topics, Mapping):
        raise TypeError(f"topics must map names to numbers of partitions, such as {{'orders': 1}}, not {topics!r}")
    for name, partitions in topics.items():
        if not isinstance(name, str) or type(partitions) is not int:
            raise TypeError(f"topics must map names to numbers of partitions, not {name!r} to {partitions!r}")
    if not (release is None or isinstance(release, str)):
        raise TypeError(f"release must be str, such as '3.9', not {release!r}")
