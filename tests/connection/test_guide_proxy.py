"""The guide's proxy: no address of a broker gets past it, and everything else does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kafka_messages import MetadataRequest, MetadataResponse
from kafka_messages.connection import Middleman, ResponsePassing, endpoints
from kafka_messages.protocol import Api, ApiKey, apis, decode_response, encode_request, encode_response
from kafka_messages.schema import FieldFacts

from tests.support.filled import filled
from tests.support.programs import program

guide = program("proxy")
mock = program("mock_broker")
SECONDS = 20
OWN = 4000
"""What is added to a port, here."""
APIS = [api for api in apis() if not api.is_removed]


class NowhereProxy(guide.Proxy):
    """A proxy that opens no ports."""

    async def listen(self, host: str, port: int, own: int = 0) -> int:
        return port + OWN


def with_addresses(field: FieldFacts) -> Any:
    return {"host": "broker", "port": 9092}.get(field.name, 0 if field.is_array and "int" in field.type else None)


def addresses(api: Api) -> list[tuple[str, int]]:
    """Those of a response with an address wherever one can be, after it went through the proxy."""
    version = api.valid_versions.highest
    asked: Any = api.request_class()
    if api.key == ApiKey.PRODUCE:
        asked.acks = -1  # without that there is no response
    request = encode_request(asked.fitted(version), version, 1)
    sent = encode_response(filled(api.response_class, with_addresses).fitted(version), version, 1)
    received = asyncio.run(NowhereProxy().rewritten(through(guide.WITH_ADDRESSES, request, sent)))
    message = through([api], request, received).message
    assert message is not None
    return [(endpoint.host, endpoint.port) for endpoint in endpoints(message)]


def through(decode: Any, request: bytes, response: bytes) -> ResponsePassing:
    middleman = Middleman(decode=decode)
    list(middleman.receive_from_client(request))
    [passing] = middleman.receive_from_broker(response)
    assert isinstance(passing, ResponsePassing)
    return passing


def test_every_response_with_addresses() -> None:
    """A list made by hand forgot the responses of share groups: clients then talk past the proxy, and nobody sees it."""
    found = {api.key: set(addresses(api)) for api in APIS}
    rewritten = {key for key, each in found.items() if each == {("127.0.0.1", 9092 + OWN)}}
    left = {key for key, each in found.items() if each == {("broker", 9092)}}
    assert left == {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE}
    assert rewritten == {api.key for api in guide.WITH_ADDRESSES}
    assert {ApiKey.METADATA, ApiKey.FETCH, ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE} <= rewritten
    assert all(not each for key, each in found.items() if key not in rewritten | left)


def test_text_that_is_no_utf8() -> None:
    """Client id and names pass as they came, also in a response that is written anew."""
    odd = "caf\udce9"

    async def talk() -> str | None:
        broker = mock.Broker("127.0.0.1", 0)
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            broker.port = server.sockets[0].getsockname()[1]
            port = await guide.Proxy().listen("127.0.0.1", broker.port)
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            asked = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=odd)])
            writer.write(encode_request(asked, 9, 1, odd, text="surrogateescape"))
            frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
            writer.close()
            assert broker.port != port
            response = decode_response(frame, MetadataResponse, 9, text="surrogateescape").message
            assert [(each.host, each.port) for each in response.brokers] == [("127.0.0.1", port)]
            return response.topics[0].name

    assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == odd


def test_no_broker(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody listens the client's connection ends, as it would without a proxy; it must not wait."""

    async def talk() -> bytes:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        nobody = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        reader, writer = await asyncio.open_connection("127.0.0.1", await guide.Proxy().listen("127.0.0.1", nobody))
        data = await reader.read()
        writer.close()
        return data

    assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == b""
    assert "Connect call failed" in capsys.readouterr().out


def test_garbage(capsys: pytest.CaptureFixture[str]) -> None:
    """What is no request ends the connection, and the proxy says why: silence would hide a bug of the client."""

    async def talk() -> bytes:
        broker = mock.Broker("127.0.0.1", 0)
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            port = await guide.Proxy().listen("127.0.0.1", server.sockets[0].getsockname()[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\0\0\0\1x")
            data = await reader.read()
            writer.close()
            return data

    assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == b""
    assert capsys.readouterr().out.startswith("there is a request without a header at offset 0: ")
