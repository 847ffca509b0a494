"""Addresses and failures in the proxy of the guide."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import resource
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka_messages.connection import ProxyConnection, ResponseForwarded, announce, endpoints
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import Api, ApiKey, api, apis, decode_response, encode_request, encode_response
from kafka_messages.schema import FieldDescriptor

from tests.support.filled import filled
from tests.support.programs import program

guide = program("proxy")
mock = program("mock_broker")
SECONDS = 20
T = TypeVar("T")
OWN = 4000
"""Offset between a broker's port and the proxy's."""
APIS = [api for api in apis() if not api.is_removed]


class NowhereProxy(guide.Proxy):
    async def listen(self, brokers: Any, own: int = 0) -> None:
        self.ports.update({(host, port): port + OWN for host, port in brokers})


async def start_proxy(port: int, host: str = "127.0.0.1") -> int:
    proxy = guide.Proxy()
    await proxy.listen([(host, port)])
    own: int = proxy.ports[host, port]
    return own


class Written(list[bytes]):
    def write(self, data: bytes) -> None:
        self.append(data)


def test_only_large_frames_are_written_in_chunks() -> None:
    written = Written()
    records = b"r" * guide.LARGE
    guide.write(written, [b"\0\0\0\2", b"ab"])
    guide.write(written, [b"\0\1\0\0", records])
    guide.write(written, [])
    assert written == [b"\0\0\0\2ab", b"\0\1\0\0", records, b""]
    assert written[2] is records


def with_addresses(field: FieldDescriptor) -> Any:
    return {"host": "broker", "port": 9092}.get(field.name, 0 if field.is_array and "int" in field.type else None)


def addresses(api: Api) -> list[tuple[str, int]]:
    version = api.valid_versions.highest
    asked: Any = api.request_class()
    if api.key == ApiKey.PRODUCE:
        asked.acks = -1  # otherwise there is no response
    request = encode_request(asked.downgraded(version), version, 1)
    sent = encode_response(filled(api.response_class, with_addresses).downgraded(version), version, 1)
    received = b"".join(asyncio.run(NowhereProxy().rewritten(forward_response(guide.WITH_ADDRESSES, request, sent))))
    message = forward_response([api], request, received).message
    assert message is not None
    return [(endpoint.host, endpoint.port) for endpoint in endpoints(message)]


def forward_response(decode: Any, request: bytes, response: bytes) -> ResponseForwarded:
    connection = ProxyConnection(decode=decode)
    list(connection.receive_from_client(request))
    [passing] = connection.receive_from_broker(response)
    assert isinstance(passing, ResponseForwarded)
    return passing


def test_every_response_with_addresses_is_rewritten() -> None:
    found = {api.key: set(addresses(api)) for api in APIS}
    rewritten = {key for key, each in found.items() if each == {("127.0.0.1", 9092 + OWN)}}
    left = {key for key, each in found.items() if each == {("broker", 9092)}}
    assert left == {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE}
    assert rewritten == {api.key for api in guide.WITH_ADDRESSES}
    assert {ApiKey.METADATA, ApiKey.FETCH, ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE} <= rewritten
    assert all(not each for key, each in found.items() if key not in rewritten | left)


def test_invalid_utf8_is_forwarded_unchanged() -> None:
    odd = "caf\udce9"

    async def talk() -> str | None:
        broker = mock.Broker("127.0.0.1", 0)
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            broker.port = server.sockets[0].getsockname()[1]
            port = await start_proxy(broker.port)
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


def test_unreachable_broker_closes_the_client(capsys: pytest.CaptureFixture[str]) -> None:
    async def talk() -> bytes:
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        nobody = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        reader, writer = await asyncio.open_connection("127.0.0.1", await start_proxy(nobody))
        data = await reader.read()
        writer.close()
        return data

    assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == b""
    assert "Connect call failed" in capsys.readouterr().out


def test_garbage_closes_the_client(capsys: pytest.CaptureFixture[str]) -> None:
    async def talk() -> bytes:
        broker = mock.Broker("127.0.0.1", 0)
        async with await asyncio.start_server(broker.serve, "127.0.0.1", 0) as server:
            port = await start_proxy(server.sockets[0].getsockname()[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"\0\0\0\1x")
            data = await reader.read()
            writer.close()
            return data

    assert asyncio.run(asyncio.wait_for(talk(), SECONDS)) == b""
    assert capsys.readouterr().out.startswith("invalid request header at offset 0: ")


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[T]]


def talk_through_proxy(serve: Serve, talk: Talk[T]) -> tuple[int, T]:
    async def run() -> tuple[int, T]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", await start_proxy(port))
            try:
                return port, await talk(reader, writer)
            finally:
                writer.close()

    return asyncio.run(asyncio.wait_for(run(), SECONDS))


def serve_responses(*responses: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in responses:
            await frame(reader)
            writer.write(answer)
        await reader.read()
        writer.close()

    return serve


async def frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


def send_requests(*requests: bytes) -> Talk[list[bytes]]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> list[bytes]:
        found = []
        for request in requests:
            writer.write(request)
            found.append(await frame(reader))
        return found

    return talk


def metadata_frame(*brokers: tuple[str, int]) -> bytes:
    kind = MetadataResponse.MetadataResponseBroker
    named = [kind(node_id=number, host=host, port=port) for number, (host, port) in enumerate(brokers)]
    return encode_response(MetadataResponse(brokers=named), 12, 1, text="surrogateescape")


ASKED = encode_request(MetadataRequest(), 12, 1)


def at_version(request: bytes, version: int) -> bytes:
    return request[:6] + version.to_bytes(2, "big") + request[8:]


@pytest.mark.parametrize(
    ("request_sent", "response", "what"),
    [
        (
            at_version(ASKED, 14),
            metadata_frame(("real", 9092)),
            "MetadataRequest v14 with correlation id 1, {size} bytes>: ",
        ),
        (ASKED, metadata_frame(("real", 9092)) + b"\0", "MetadataRequest v12 with correlation id 1, {size} bytes>: "),
    ],
    ids=["unsupported version", "trailing byte"],
)
def test_undecodable_responses_are_forwarded_and_reported(
    request_sent: bytes, response: bytes, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = (len(response) - 4).to_bytes(4, "big") + response[4:]
    _, found = talk_through_proxy(serve_responses(sent), send_requests(request_sent))
    assert found == [sent[4:]]
    beginning = "forwarded unchanged, with any addresses of brokers: <ResponseForwarded to "
    out = capsys.readouterr().out
    assert out.startswith(beginning + what.format(size=len(sent) - 4))
    assert out.count("\n") == 1


def api_versions_frame(*ranges: tuple[int, int, int]) -> bytes:
    kind = ApiVersionsResponse.ApiVersion
    made = [kind(api_key=key, min_version=lowest, max_version=highest) for key, lowest, highest in ranges]
    return encode_response(ApiVersionsResponse(api_keys=made), 3, 1)


def test_api_versions_are_limited_to_known_versions() -> None:
    newest = api("Metadata").valid_versions.highest
    asked = encode_request(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3, 1)
    newer = api_versions_frame((ApiKey.METADATA, 2, newest + 1), (ApiKey.FETCH, 999, 1000), (18, 0, 4), (9999, 0, 0))
    _, found = talk_through_proxy(serve_responses(newer), send_requests(asked))
    assert found == [api_versions_frame((ApiKey.METADATA, 2, newest), (18, 0, 4))[4:]]
    today = encode_response(announce(), 3, 1)
    _, found = talk_through_proxy(serve_responses(today), send_requests(asked))
    assert found == [today[4:]]


def test_too_new_client_gets_unsupported_version(capsys: pytest.CaptureFixture[str]) -> None:
    asked = encode_request(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3, 1)
    announced = api_versions_frame((18, 0, 4))
    _, found = talk_through_proxy(serve_responses(announced), send_requests(at_version(asked, 99), asked))
    refused = decode_response(found[0], ApiVersionsResponse, 99).message
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    highest = api("ApiVersions").stable_versions.highest
    assert [(each.api_key, each.max_version) for each in refused.api_keys] == [(ApiKey.API_VERSIONS, highest)]
    assert found[1] == announced[4:]
    assert capsys.readouterr().out == ""


def test_unsupported_version_from_the_broker_is_forwarded() -> None:
    kind = ApiVersionsResponse.ApiVersion
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[kind(api_key=18, max_version=2)])
    sent = encode_response(response, 0, 1)
    asked = encode_request(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3, 1)
    assert talk_through_proxy(serve_responses(sent), send_requests(asked))[1] == [sent[4:]]


@pytest.mark.parametrize(
    ("host", "port"), [("a" * 64, 1), ("a..b", 1), ("\udcff", 9), ("x\0y", 1), ("127.0.0.1", -1), ("127.0.0.1", 70000)]
)
def test_invalid_broker_addresses_are_reported(host: str, port: int, capsys: pytest.CaptureFixture[str]) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(ASKED)
        response = decode_response(await frame(reader), MetadataResponse, 12).message
        [broker] = response.brokers
        its_reader, its_writer = await asyncio.open_connection(broker.host, broker.port)
        data = await its_reader.read()
        its_writer.close()
        return data

    assert talk_through_proxy(serve_responses(metadata_frame((host, port))), talk)[1] == b""
    out = capsys.readouterr().out  # Python's reason varies between versions
    assert out.startswith(f"no connection to {host!r} port {port}: ")
    assert out.count("\n") == 1


@contextmanager
def limited_open_files(more: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_too_many_open_files_closes_the_client(capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> tuple[bytes, dict[Any, int], bytes]:
        response = metadata_frame(*((f"h{number}", 1) for number in range(200)))
        async with await asyncio.start_server(serve_responses(response), "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            proxy = guide.Proxy()
            await proxy.listen([("127.0.0.1", port)])
            found = []
            for _ in range(2):
                with limited_open_files(50):
                    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.ports["127.0.0.1", port])
                    writer.write(ASKED)
                    found.append(await reader.read())
                    writer.close()
            return found[0], proxy.ports, found[1]

    first, ports, second = asyncio.run(asyncio.wait_for(run(), SECONDS))
    assert (first, len(ports), second) == (b"", 1, b"")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    for line in lines:
        assert re.fullmatch(r"no port for a broker after \d+: \[Errno 24\] Too many open files", line)


def test_half_closed_client_gets_its_response() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == ASKED
        await asyncio.sleep(0.2)
        writer.write(metadata_frame())
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write(ASKED)
        writer.write_eof()
        return await reader.read()

    assert talk_through_proxy(serve, talk)[1] == metadata_frame()


def test_lingering_broker_connection_is_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(guide, "LINGER_SECONDS", 0.1)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        while not writer.is_closing():
            await asyncio.sleep(0.05)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
        writer.write_eof()
        return await reader.read()

    port, data = talk_through_proxy(serve, talk)
    assert data == b""
    assert capsys.readouterr().out == f"'127.0.0.1' port {port}: closed 0.1 seconds after the end of the client\n"


class Gone:
    def write_eof(self) -> None:
        raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

    async def drain(self) -> None:
        pass


def test_disconnected_peer_is_ignored(capsys: pytest.CaptureFixture[str]) -> None:
    async def run() -> None:
        reader = asyncio.StreamReader()
        reader.feed_eof()
        await guide.Proxy().passes(reader, Gone(), ProxyConnection().receive_from_broker, None)

    asyncio.run(run())
    assert capsys.readouterr().out == ""


def test_client_disconnect_closes_the_broker_connection() -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        ended.set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(ASKED)
        await asyncio.sleep(0.1)
        writer.transport.abort()
        return await ended.wait()

    assert talk_through_proxy(serve, talk)[1]
