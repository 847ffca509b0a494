"""The guide's proxy between third-party clients and a live broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from kafka_messages.connection import ProxyConnection, RequestForwarded, ResponseForwarded, endpoints
from kafka_messages.protocol import ApiKey

from tests.interop.broker import Broker, running
from tests.interop.guide import served
from tests.interop.kafka import Java
from tests.interop.make import TRAFFIC_SECONDS, WORK
from tests.interop.peers import NAMES, PLAIN_AND_COMPRESSED, RECORDS, Peer, expected
from tests.support.programs import program

proxy = program("proxy")
PROXY = "127.0.0.1"


@dataclass
class Direction:
    """Bytes that the proxy received and sent in one direction of a connection."""

    came: bytearray = field(default_factory=bytearray)
    went: bytearray = field(default_factory=bytearray)


@dataclass
class Connection:
    requests: Direction = field(default_factory=Direction)
    responses: Direction = field(default_factory=Direction)


class Reader:
    def __init__(self, reader: Any, kept: bytearray) -> None:
        self._reader, self._kept = reader, kept

    async def read(self, count: int) -> bytes:
        data: bytes = await self._reader.read(count)
        self._kept += data
        return data


class Writer:
    def __init__(self, writer: Any, kept: bytearray) -> None:
        self._writer, self._kept = writer, kept

    def write(self, data: bytes) -> None:
        self._kept += data
        self._writer.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


class Watched(proxy.Proxy):
    """The proxy with all bytes that it forwarded."""

    def __init__(self) -> None:
        super().__init__()
        self.connections: dict[Any, Connection] = {}

    async def passes(self, reader: Any, writer: Any, receive: Any, refuse: Any) -> None:
        connection = self.connections.setdefault(receive.__self__, Connection())
        is_request = receive.__name__ == "receive_from_client"
        direction = connection.requests if is_request else connection.responses
        await super().passes(Reader(reader, direction.came), Writer(writer, direction.went), receive, refuse)


def passed(requests: bytes, responses: bytes) -> Iterator[ResponseForwarded]:
    connection = ProxyConnection(decode=proxy.WITH_ADDRESSES)
    for request in connection.receive_from_client(requests):
        assert isinstance(request, RequestForwarded)
    for response in connection.receive_from_broker(responses):
        assert isinstance(response, ResponseForwarded)
        assert response.error is None
        yield response


def compared(connection: Connection, ports: dict[tuple[str, int], int]) -> Iterator[tuple[ApiKey, bool]]:
    """Yield the API of each response and whether the proxy changed addresses; fail for any other change."""
    requests = connection.requests
    assert requests.went == requests.came
    brokers = {port: broker for broker, port in ports.items()}
    pairs = zip(
        passed(requests.came, connection.responses.came), passed(requests.went, connection.responses.went), strict=True
    )
    for came, went in pairs:
        if went.data != came.data:
            for endpoint in endpoints(went.message):
                assert endpoint.host == PROXY
                endpoint.host, endpoint.port = brokers[endpoint.port]
            assert went.encode() == came.data
        yield went.request.api.key, went.data != came.data


@contextmanager
def watching(broker: Broker) -> Iterator[tuple[int, Watched]]:
    watched = Watched()

    def make(port: int) -> Any:
        watched.ports["localhost", broker.port] = port

        async def serve(reader: Any, writer: Any) -> None:
            await watched.serve(reader, writer, "localhost", broker.port)

        return serve

    with served(make) as port:
        yield port, watched


def passed_and_changed(watched: Watched) -> tuple[set[ApiKey], set[ApiKey]]:
    """Return the requested APIs, and the APIs whose responses had changed addresses."""
    found = [each for connection in watched.connections.values() for each in compared(connection, watched.ports)]
    return {key for key, _ in found}, {key for key, is_changed in found if is_changed}


@pytest.mark.parametrize("name", NAMES)
def test_clients_work_through_the_proxy(
    name: str, peer: Callable[[str], Peer], quiet_broker: Broker, capfd: pytest.CaptureFixture[str]
) -> None:
    client = peer(name)
    capfd.readouterr()
    with watching(quiet_broker) as (port, watched):
        talk = client.talk(port, f"through-{name}", PLAIN_AND_COMPRESSED)
    assert capfd.readouterr().out == ""
    want = expected(f"through-{name}", PLAIN_AND_COMPRESSED)
    assert talk.records == want
    assert talk.committed == dict.fromkeys(want, RECORDS)
    assert set(want) <= set(talk.topics)
    assert watched.ports == {("localhost", quiet_broker.port): port}
    asked, changed = passed_and_changed(watched)
    assert {ApiKey.METADATA, ApiKey.FIND_COORDINATOR} <= changed
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT} <= asked - changed


def test_traffic_of_kafkas_clients_passes_the_proxy(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with running(Java.prepare(WORK), tmp_path) as broker, watching(broker) as (port, watched):
        broker.java.run("Traffic", f"127.0.0.1:{port}", seconds=TRAFFIC_SECONDS)
    assert capfd.readouterr().out == ""
    assert watched.ports == {("localhost", broker.port): port}
    asked, changed = passed_and_changed(watched)
    assert {ApiKey.METADATA, ApiKey.FIND_COORDINATOR} <= changed
    assert {ApiKey.END_TXN, ApiKey.SHARE_FETCH, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CREATE_ACLS} <= asked
    assert len(asked) > 30
