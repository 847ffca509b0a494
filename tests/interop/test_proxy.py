"""A relay between third-party clients and a live broker."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from kafka_messages.aio import Relay, RelayConnection, relay
from kafka_messages.aio._listener import write
from kafka_messages.connection import RequestForwarded, ResponseForwarded, endpoints
from kafka_messages.protocol import Api, ApiKey, decode_response

from tests.interop.broker import Broker, running
from tests.interop.guide import looping
from tests.interop.kafka import Java
from tests.interop.make import TRAFFIC_SECONDS, WORK
from tests.interop.peers import NAMES, PLAIN_AND_COMPRESSED, RECORDS, Peer, expected

PROXY = "127.0.0.1"


class Watched:
    """The relay to a broker, with the APIs of responses, of changed responses, and the reported errors."""

    def __init__(self, broker: Broker, decode: Iterable[Api]) -> None:
        self.broker = broker
        self.decode = decode
        self.relay: Relay | None = None
        self.received: list[bytes] = []
        self.forwarded: list[bytes] = []
        self.asked: set[ApiKey] = set()
        self.changed: set[ApiKey] = set()
        self.errors: list[Exception] = []

    async def start(self) -> Relay:
        brokers = [("localhost", self.broker.port)]
        self.relay = await relay(
            brokers,
            decode=self.decode,
            on_request=self.see,
            on_response=self.compare,
            on_error=self.errors.append,
        )
        return self.relay

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Record what is written to the broker, then write it."""
        if writer.get_extra_info("peername")[1] == self.broker.port:
            self.forwarded += [data] if data else []
        await write(writer, data)

    async def see(self, event: RequestForwarded, _: RelayConnection) -> None:
        assert event.error is None
        assert event.encode() == event.data
        self.received.append(event.data)

    async def compare(self, event: ResponseForwarded, _: RelayConnection) -> None:
        """Raise AssertionError if anything but addresses of brokers was changed."""
        assert event.request.api is not None
        assert self.relay is not None
        self.asked.add(event.request.api.key)
        if (sent := event.encode()) == event.data:
            return
        self.changed.add(event.request.api.key)
        brokers = {port: broker for broker, port in self.relay.ports.items()}
        version = event.request.header.request_api_version
        again = decode_response(sent[4:], event.request.api.key, version, text="surrogateescape")
        for endpoint in endpoints(again.message):
            assert endpoint.host == PROXY
            endpoint.host, endpoint.port = brokers[endpoint.port]
        assert again.encode(text="surrogateescape") == event.data


@contextmanager
def watching(broker: Broker, decode: Iterable[Api] = ()) -> Iterator[tuple[int, Watched]]:
    """Yield the port of a relay; afterwards check that requests were forwarded unchanged, and nothing was reported."""
    watched = Watched(broker, decode)
    with looping() as loop, pytest.MonkeyPatch.context() as patch:
        patch.setattr("kafka_messages.aio._relay.write", watched.write)
        made = loop.run(watched.start)
        yield made.port, watched
        loop.run(made.close)
    assert watched.errors == []
    assert sorted(watched.forwarded) == sorted(watched.received)
    assert made.ports.keys() == {("localhost", broker.port)}


@pytest.mark.parametrize("name", NAMES)
def test_clients_work_through_the_proxy(name: str, peer: Callable[[str], Peer], quiet_broker: Broker) -> None:
    client = peer(name)
    with watching(quiet_broker) as (port, watched):
        talk = client.talk(port, f"through-{name}", PLAIN_AND_COMPRESSED)
    want = expected(f"through-{name}", PLAIN_AND_COMPRESSED)
    assert talk.records == want
    assert talk.committed == dict.fromkeys(want, RECORDS)
    assert set(want) <= set(talk.topics)
    assert {ApiKey.METADATA, ApiKey.FIND_COORDINATOR} <= watched.changed
    assert {ApiKey.PRODUCE, ApiKey.FETCH, ApiKey.OFFSET_COMMIT} <= watched.asked - watched.changed


def test_traffic_of_kafkas_clients_passes_the_proxy(tmp_path: Path) -> None:
    with running(Java.prepare(WORK), tmp_path) as broker, watching(broker) as (port, watched):
        broker.java.run("Traffic", f"127.0.0.1:{port}", seconds=TRAFFIC_SECONDS)
    assert {ApiKey.METADATA, ApiKey.FIND_COORDINATOR} <= watched.changed
    assert {ApiKey.END_TXN, ApiKey.SHARE_FETCH, ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.CREATE_ACLS} <= watched.asked
    assert len(watched.asked) > 30
