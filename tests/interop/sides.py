"""Sends the same conversations to two brokers, and finds the differences between their responses."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias
from uuid import UUID

from kafka_messages import (
    CreateTopicsRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    Request,
)
from kafka_messages.aio import BrokerConnection, connect
from kafka_messages.connection import errors
from kafka_messages.protocol import ApiKey, ErrorCode, api
from kafka_messages_testkit.handlers.table import FAMILIES
from kafka_records import read_batches

SECONDS = 20
RECENT = 1_750_000_000_000
"""Timestamps after this one, in milliseconds, are those of the brokers' clocks."""
BUSY = (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
CLOSED = "connection closed"
OLDEST_PRODUCE = 3
"""Brokers since Kafka 4.0 announce older versions of Produce but reject them."""
SERVED = {api(name).key for name in ("ApiVersions", *chain.from_iterable(FAMILIES.values()))}
"""Keys of the APIs of the cluster."""

Conversation: TypeAlias = Callable[["Side"], Awaitable[None]]
Answers: TypeAlias = dict[str, Any]
"""Responses by label, without what must differ between two brokers."""

IDENTITY = (
    "name",
    "topic",
    "topic_id",
    "group_id",
    "transactional_id",
    "member_id",
    "group_instance_id",
    "key",
    "partition_index",
    "partition",
    "index",
    "api_key",
    "node_id",
    "fetch_offset",
    "base_offset",
)

_UUID_END = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$|^[A-Za-z0-9_-]{22}$")


class Side:
    """One of two brokers during a conversation.

    Each request is sent at the version ``level``, or at the nearest that the broker has.
    """

    def __init__(self, port: int, name: str, level: int) -> None:
        self.port, self.name, self.level = port, name, level
        self.answers: Answers = {}
        self.ids: dict[str, UUID] = {}
        """Ids of the created topics."""
        self._connection: BrokerConnection | None = None
        self._names: dict[Any, str] = {}

    async def connection(self) -> BrokerConnection:
        if self._connection is None:
            self._connection = await connect("localhost", self.port, request_timeout=SECONDS)
        return self._connection

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def version(self, request: Request[Any]) -> int:
        """Return the version at which ``ask`` sends a request."""
        versions = await self.versions(request)
        return min(max(self.level, versions[0]), versions[-1])

    async def versions(self, request: Request[Any]) -> range:
        """Return the versions that both brokers serve."""
        announced = (await self.connection()).connection.versions
        assert announced is not None
        of = api(type(request))
        theirs, ours = announced.versions[of.key], of.stable_versions
        lowest = OLDEST_PRODUCE if of.key == ApiKey.PRODUCE else max(theirs.lowest, ours.lowest)
        return range(lowest, min(theirs.highest, ours.highest) + 1)

    async def ask(self, label: str, request: Request[Any], *, only: str | None = None, is_retried: bool = True) -> Any:
        """Send a request, keep its response under a label, and return it; None if the broker closes the connection.

        With ``only``, elements of its arrays with other names are dropped: those of other conversations. Unless
        ``is_retried`` is False, it is sent again while the broker is busy.
        """
        version = await self.version(request)
        request = request.downgraded(version)
        label = f"{request.NAME} {label}"
        assert label not in self.answers, label
        try:
            response = await (await self.connection()).request(request, version)
            while is_retried and any(each.code in BUSY for each in errors(response)):
                await asyncio.sleep(0.02)
                response = await (await self.connection()).request(request, version)
        except ConnectionError:
            await self.close()
            self.answers[label] = CLOSED
            return None
        except Exception as error:  # raised again, with the name of the request
            error.add_note(label)
            raise
        self.answers[label] = self._plain("", response, only)
        return response

    async def tell(self, request: Request[Any], version: int | None = None) -> Any:
        """Send a request, by default at its highest version, and return its response, without keeping it."""
        version = (await self.versions(request))[-1] if version is None else version
        return await (await self.connection()).request(request.downgraded(version), version)

    def start(self, label: str, request: Request[Any]) -> asyncio.Task[Any]:
        return asyncio.create_task(self.ask(label, request))

    async def until(self, request: Request[Any], is_met: Callable[[Any], object], version: int | None = None) -> Any:
        """Repeat ``tell`` until the response is as expected."""
        async with asyncio.timeout(SECONDS):
            while not is_met(response := await self.tell(request, version)):
                await asyncio.sleep(0.02)
        return response

    async def topic(self, suffix: str = "topic", partitions: int = 2) -> str:
        """Create a topic; return its name, which starts with that of the conversation."""
        name = f"{self.name}-{suffix}"
        kind = CreateTopicsRequest.CreatableTopic
        made = await self.tell(
            CreateTopicsRequest(topics=[kind(name=name, num_partitions=partitions, replication_factor=1)])
        )
        assert not any(errors(made)), list(errors(made))
        await self.visible(name)
        return name

    async def visible(self, name: str) -> None:
        """Wait until a created topic can be used, and keep its id."""
        kind = MetadataRequest.MetadataRequestTopic
        found = await self.until(MetadataRequest(topics=[kind(name=name)]), lambda it: not any(errors(it)))
        self.ids[name] = found.topics[0].topic_id
        part = ListOffsetsRequest.ListOffsetsPartition
        parts = [part(partition_index=each.partition_index, timestamp=-1) for each in found.topics[0].partitions]
        topics = [ListOffsetsRequest.ListOffsetsTopic(name=name, partitions=parts)]
        await self.until(ListOffsetsRequest(replica_id=-1, topics=topics), lambda it: not any(errors(it)))
        self._names[self.ids[name]] = f"id of {name}"

    def _plain(self, key: str, value: Any, only: str | None) -> Any:
        if dataclasses.is_dataclass(value):
            return {f.name: self._plain(f.name, getattr(value, f.name), only) for f in dataclasses.fields(value)}
        if isinstance(value, list):
            kept = [each for each in value if only is None or _named(each, only)]
            if key == "api_keys":
                kept = [each for each in kept if each.api_key in SERVED]
            return sorted((self._plain(key, each, only) for each in kept), key=_identity)
        if isinstance(value, UUID) and value.int:
            return self._names.get(value, "an id")
        if isinstance(value, str) and value:
            return self._text(key, value)
        if key.endswith("error_code"):
            return ErrorCode(value).name
        if key == "port" and value == self.port:
            return "its port"
        if key == "producer_id":
            return self._producer(value)
        if key == "session_id":
            return value and "an id"
        if key == "records":
            return self._batches(bytes(value or b""))
        if (key == "timestamp" and value > RECENT) or (key == "finalized_features_epoch" and value >= 0):
            return "any"
        return bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else value

    def _producer(self, id: int) -> Any:
        return id if id < 0 else self._names.setdefault(("producer", id), f"producer {self._count('producer')}")

    def _batches(self, data: bytes) -> list[Any]:
        """Return the fields of batches, without checksums; and the size of an incomplete batch."""
        found: list[Any] = []
        start = 0
        for batch in read_batches(data[: complete_size(data)], verify=False):
            start += batch.size
            found.append(
                {
                    "base_offset": batch.base_offset,
                    "producer_id": self._producer(batch.producer_id),
                    "header": [batch.size, *batch.data[12:17], *batch.data[21:23], batch.producer_epoch],
                    "sequences": (batch.base_sequence, batch.count, batch.last_offset_delta),
                    "records": [] if batch.is_control else [repr(each) for each in batch.records()],
                    "control": batch.data[61:][-12:] if batch.is_control else b"",
                }
            )
        return [*found, {"incomplete": len(data) - start}]

    def _text(self, key: str, value: str) -> str:
        if key.endswith("message"):
            return "a text"
        if key in ("host", "cluster_id"):
            return f"its {key}"
        if _UUID_END.search(value) and key in ("member_id", "leader"):
            number = self._names.setdefault(value, f"#{self._count('#')}")
            return _UUID_END.sub(number, value)
        return value

    def _count(self, prefix: str) -> int:
        return sum(each.startswith(prefix) for each in self._names.values())


def _identity(element: Any) -> list[str]:
    """Return the key to sort arrays by: most have no order in Kafka, as they come from hash maps."""
    if not isinstance(element, dict):
        return [str(element).rjust(20)]
    return [str(element[key]).rjust(20) for key in IDENTITY if key in element] + [str(element.get("error_code"))]


def _named(element: Any, start: str) -> bool:
    name = getattr(element, "name", getattr(element, "group_id", None))
    return name is None or name.startswith(start)


def complete_size(data: bytes) -> int:
    """Return the size of the complete batches at the start of ``data``."""
    start = 0
    while len(data) >= start + 12 and len(data) >= (end := start + 12 + int.from_bytes(data[start + 8 : start + 12])):
        start = end
    return start


async def warm_up(side: Side) -> None:
    """Wait until the coordinators of groups and transactions are loaded."""
    for kind in (0, 1):
        keys = [f"{number}" for number in range(10)]
        request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
        await side.until(request, lambda it: not any(errors(it)))
    producer = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1)
    await side.until(producer, lambda it: not it.error_code)
    groups = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=f"{number}", topics=None) for number in range(10)]
    await side.until(OffsetFetchRequest(groups=groups), lambda it: not any(errors(it)))


async def held(conversation: Conversation, port: int, name: str, level: int) -> Answers:
    """Return the responses of a broker in a conversation."""
    side = Side(port, name, level)
    try:
        async with asyncio.timeout(3 * SECONDS):
            await conversation(side)
    finally:
        await side.close()
    return side.answers


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each difference, without indexes, and both values."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs.keys() | ours.keys():
            yield from differences(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for one, other in zip(theirs, ours, strict=True):
            yield from differences(one, other, path)
    elif theirs != ours:
        yield path.lstrip("."), theirs, ours
