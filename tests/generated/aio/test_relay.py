"""Proxies: addresses, versions, hooks, and connections that end."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    Response,
)
from kafka_messages.aio import CloseConnection, Relay, RelayConnection, connect, relay, serve
from kafka_messages.aio._listener import write
from kafka_messages.connection import (
    ProxyConnection,
    RequestForwarded,
    RequestReceived,
    ResponseForwarded,
    announce,
    endpoints,
    error_response,
)
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import Api, ApiKey, api, apis, decode_response, encode_request, encode_response
from kafka_messages.schema import FieldDescriptor

from tests.support.certificates import certificate
from tests.support.filled import filled
from tests.support.loops import run
from tests.support.replaced import replaced

T = TypeVar("T")
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Relay], Awaitable[T]]
LOCAL = "127.0.0.1"
APIS = [api for api in apis() if not api.is_removed]


async def frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))


def serve_responses(*responses: bytes) -> Serve:
    """Return a broker that answers requests with these bytes, then reads to the end."""

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in responses:
            await frame(reader)
            writer.write(answer)
        await reader.read()
        writer.close()

    return broker


def talk_through(broker: Serve, talk: Talk[T], **options: Any) -> tuple[T, list[Exception], int]:
    """Return the result of ``talk`` through a relay, the reported errors, and the broker's port."""

    async def both() -> tuple[T, list[Exception], int]:
        errors: list[Exception] = []
        async with await asyncio.start_server(broker, LOCAL, 0) as server:
            port: int = server.sockets[0].getsockname()[1]
            async with await relay([(LOCAL, port)], on_error=errors.append, **options) as proxy:
                reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
                try:
                    return await talk(reader, writer, proxy), errors, port
                finally:
                    writer.close()

    return run(both())


def send_requests(*requests: bytes) -> Talk[list[bytes]]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> list[bytes]:
        found = []
        for request in requests:
            writer.write(request)
            found.append(await frame(reader))
        return found

    return talk


def read_to_the_end(request: bytes) -> Talk[bytes]:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> bytes:
        writer.write(request)
        return await reader.read()

    return talk


def metadata_frame(*brokers: tuple[str, int], number: int = 1) -> bytes:
    kind = MetadataResponse.MetadataResponseBroker
    named = [kind(node_id=node, host=host, port=port) for node, (host, port) in enumerate(brokers)]
    return encode_response(MetadataResponse(brokers=named), 12, number, text="surrogateescape")


ASKED = encode_request(MetadataRequest(), 12, 1)
VERSIONS = encode_request(ApiVersionsRequest(client_software_name="c", client_software_version="1"), 3, 1)


def at_version(request: bytes, version: int) -> bytes:
    return request[:6] + version.to_bytes(2, "big") + request[8:]


def with_addresses(field: FieldDescriptor) -> Any:
    return {"host": "broker", "port": 9092}.get(field.name, 0 if field.is_array and "int" in field.type else None)


def addresses(data: bytes, each: Api, request: bytes) -> set[tuple[str, int]]:
    connection = ProxyConnection(decode=[each])
    list(connection.receive_from_client(request))
    [passing] = connection.receive_from_broker(data)
    assert isinstance(passing, ResponseForwarded)
    assert passing.message is not None
    return {(endpoint.host, endpoint.port) for endpoint in endpoints(passing.message)}


def test_every_response_with_addresses_is_rewritten() -> None:
    requests, responses = {}, {}
    for each in APIS:
        version = each.valid_versions.highest
        asked: Any = each.request_class()
        if each.key == ApiKey.PRODUCE:
            asked.acks = -1  # otherwise there is no response
        requests[each] = encode_request(asked.downgraded(version), version, 1)
        message = filled(each.response_class, with_addresses).downgraded(version)
        responses[each] = encode_response(message, version, 1)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> dict[Api, set[Any]]:
        found = {}
        for each, request in requests.items():
            writer.write(request)
            data = await frame(reader)
            found[each] = addresses(len(data).to_bytes(4, "big") + data, each, request)
        assert proxy.ports.keys() >= {("broker", 9092)}
        return {each: {(host, port == proxy.ports["broker", 9092]) for host, port in found[each]} for each in found}

    found, errors, _ = talk_through(serve_responses(*responses.values()), talk)
    rewritten = {each.key for each, pairs in found.items() if pairs == {(LOCAL, True)}}
    left = {each.key for each, pairs in found.items() if pairs == {("broker", False)}}
    assert left == {ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.STREAMS_GROUP_DESCRIBE}
    assert {ApiKey.METADATA, ApiKey.FETCH, ApiKey.SHARE_FETCH, ApiKey.SHARE_ACKNOWLEDGE} <= rewritten
    assert all(not pairs for each, pairs in found.items() if each.key not in rewritten | left)
    assert errors == []


def test_each_broker_has_one_port() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> dict[Any, int]:
        for number in (1, 2):
            writer.write(encode_request(MetadataRequest(), 12, number))
            response = decode_response(await frame(reader), MetadataResponse, 12).message
            assert [(each.host, each.port) for each in response.brokers] == [
                (LOCAL, proxy.ports["a", 1]),
                (LOCAL, proxy.ports["b", 2]),
                (LOCAL, proxy.ports["a", 1]),
            ]
        return proxy.ports

    brokers = ("a", 1), ("b", 2), ("a", 1)
    responses = metadata_frame(*brokers), metadata_frame(*brokers, number=2)
    ports, _, port = talk_through(serve_responses(*responses), talk)
    assert ports.keys() == {(LOCAL, port), ("a", 1), ("b", 2)}
    assert len(set(ports.values())) == 3


def test_client_reaches_a_broker_found_through_the_relay() -> None:
    async def talk() -> None:
        async def handler(received: RequestReceived) -> Response | None:
            if isinstance(received.message, ApiVersionsRequest):
                return announce().downgraded(received.response_version)
            kind = MetadataResponse.MetadataResponseBroker
            return MetadataResponse(
                brokers=[kind(host=LOCAL, port=other.port)], cluster_id=str(received.header.client_id)
            )

        async with (
            await serve(handler) as other,
            await serve(handler) as first,
            await relay([(LOCAL, first.port)]) as proxy,
        ):
            async with await connect(LOCAL, proxy.port) as broker:
                [found] = (await broker.request(MetadataRequest())).brokers
            assert (found.host, found.port) == (LOCAL, proxy.ports[LOCAL, other.port])
            async with await connect(found.host, found.port) as broker:
                assert (await broker.request(MetadataRequest())).brokers.find(0) == found

    run(talk())


def test_invalid_utf8_is_forwarded_unchanged() -> None:
    response = metadata_frame(("caf\udce9", 1))

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> str | None:
        odd = "caf\udce9"
        writer.write(encode_request(MetadataRequest(), 12, 1, odd, text="surrogateescape"))
        [found] = decode_response(await frame(reader), MetadataResponse, 12).message.brokers
        assert proxy.ports[odd, 1] == found.port
        return found.host

    assert talk_through(serve_responses(response), talk)[0] == LOCAL


def test_unreachable_broker_closes_the_client() -> None:
    async def talk() -> None:
        errors: list[Exception] = []
        async with await serve(lambda _: asyncio.sleep(0)) as nobody:
            port = nobody.port
        async with await relay([(LOCAL, port)], on_error=errors.append) as proxy:
            reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
            assert await reader.read() == b""
            writer.close()
        [error] = errors
        assert isinstance(error, ConnectionError)
        assert re.fullmatch(rf"no connection to '127.0.0.1' port {port}: .*Connect call failed.*", str(error))

    run(talk())


def test_invalid_frame_closes_its_connection() -> None:
    data, errors, _ = talk_through(serve_responses(), read_to_the_end(b"\0\0\0\1x"))
    assert data == b""
    assert [str(each)[:35] for each in errors] == ["invalid request header at offset 0:"]
    data, errors, _ = talk_through(serve_responses(metadata_frame(number=9)), read_to_the_end(ASKED))
    assert data == b""
    assert [str(each) for each in errors] == [
        "expected the response with correlation id 1, got another frame at offset 0"
    ]


@pytest.mark.parametrize(
    ("request_sent", "response", "what"),
    [
        (
            at_version(ASKED, 14),
            metadata_frame(("real", 9092)),
            "MetadataRequest v14 with correlation id 1, {size} bytes>",
        ),
        (ASKED, metadata_frame(("real", 9092)) + b"\0", "MetadataRequest v12 with correlation id 1, {size} bytes>"),
    ],
    ids=["unsupported version", "trailing byte"],
)
def test_undecodable_responses_are_forwarded_and_reported(request_sent: bytes, response: bytes, what: str) -> None:
    sent = (len(response) - 4).to_bytes(4, "big") + response[4:]
    found, [error], _ = talk_through(serve_responses(sent), send_requests(request_sent))
    assert found == [sent[4:]]
    beginning = "forwarded unchanged, with any addresses of brokers: <ResponseForwarded to "
    assert error.__notes__[0] == beginning + what.format(size=len(sent) - 4)


def api_versions_frame(*ranges: tuple[int, int, int]) -> bytes:
    kind = ApiVersionsResponse.ApiVersion
    made = [kind(api_key=key, min_version=lowest, max_version=highest) for key, lowest, highest in ranges]
    return encode_response(ApiVersionsResponse(api_keys=made), 3, 1)


def test_api_versions_are_limited_to_known_versions() -> None:
    newest = api("Metadata").valid_versions.highest
    newer = api_versions_frame((ApiKey.METADATA, 2, newest + 1), (ApiKey.FETCH, 999, 1000), (18, 0, 4), (9999, 0, 0))
    found, _, _ = talk_through(serve_responses(newer), send_requests(VERSIONS))
    assert found == [api_versions_frame((ApiKey.METADATA, 2, newest), (18, 0, 4))[4:]]
    today = encode_response(announce(), 3, 1)
    assert talk_through(serve_responses(today), send_requests(VERSIONS))[0] == [today[4:]]


def test_too_new_client_gets_unsupported_version() -> None:
    announced = api_versions_frame((18, 0, 4))
    sent = at_version(VERSIONS, 99), VERSIONS
    found, errors, _ = talk_through(serve_responses(announced), send_requests(*sent))
    refused = decode_response(found[0], ApiVersionsResponse, 99).message
    assert refused.error_code == ErrorCode.UNSUPPORTED_VERSION
    highest = api("ApiVersions").stable_versions.highest
    assert [(each.api_key, each.max_version) for each in refused.api_keys] == [(ApiKey.API_VERSIONS, highest)]
    assert found[1] == announced[4:]
    assert errors == []


def test_unsupported_version_from_the_broker_is_forwarded() -> None:
    kind = ApiVersionsResponse.ApiVersion
    response = ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[kind(api_key=18, max_version=2)])
    sent = encode_response(response, 0, 1)
    assert talk_through(serve_responses(sent), send_requests(VERSIONS))[0] == [sent[4:]]


@pytest.mark.parametrize(
    ("host", "port"), [("a" * 64, 1), ("a..b", 1), ("\udcff", 9), ("x\0y", 1), (LOCAL, -1), (LOCAL, 70000)]
)
def test_invalid_broker_addresses_are_reported(host: str, port: int) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> bytes:
        writer.write(ASKED)
        [broker] = decode_response(await frame(reader), MetadataResponse, 12).message.brokers
        its_reader, its_writer = await asyncio.open_connection(broker.host, broker.port)
        data = await its_reader.read()
        its_writer.close()
        return data

    data, [error], _ = talk_through(serve_responses(metadata_frame((host, port))), talk)
    assert data == b""
    assert str(error).startswith(f"no connection to {host!r} port {port}: ")  # Python's reason varies between versions


@contextmanager
def limited_open_files(more: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_too_many_brokers_close_the_client() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> int:
        with limited_open_files(50):
            writer.write(ASKED)
            assert await reader.read() == b""
        return len(proxy.ports)

    response = metadata_frame(*((f"h{number}", 1) for number in range(200)))
    count, [error], _ = talk_through(serve_responses(response), talk)
    assert count == 1
    assert re.fullmatch(r"no port for a broker after \d+: \[Errno 24\] Too many open files", str(error))


def test_half_closed_client_gets_its_response() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.read() == ASKED
        writer.write(metadata_frame())
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> bytes:
        writer.write(ASKED)
        writer.write_eof()
        return await reader.read()

    assert talk_through(broker, talk)[0] == metadata_frame()


def test_lingering_broker_connection_is_closed() -> None:
    async def both() -> None:
        gone = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            await gone.wait()
            writer.close()

        async with await asyncio.start_server(silent, LOCAL, 0) as server:
            async with await relay([server.sockets[0].getsockname()], linger=0.05) as proxy:
                reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
                writer.write_eof()
                assert await reader.read() == b""
                writer.close()
            gone.set()

    run(both())


def test_client_disconnect_closes_the_broker_connection() -> None:
    asked, ended = asyncio.Event(), asyncio.Event()

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await frame(reader)
        asked.set()
        await reader.read()
        writer.close()
        ended.set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> bool:
        writer.write(ASKED)
        await asked.wait()
        writer.transport.abort()
        return await ended.wait()

    assert talk_through(broker, talk)[0]


def test_client_gets_the_last_responses_of_a_broker_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    failed = asyncio.Event()

    async def write_once(writer: asyncio.StreamWriter, data: bytes) -> None:
        if data == heartbeat(2):
            failed.set()
            raise CloseConnection from BrokenPipeError()
        await write(writer, data)

    async def on_response(event: ResponseForwarded, _: RelayConnection) -> bytes | None:
        await failed.wait()
        return None

    monkeypatch.setattr("kafka_messages.aio._relay.write", write_once)
    found, seen, errors = talk_with_hooks([heartbeat(1), heartbeat(2)], on_response=on_response)
    assert (found, seen, errors) == ([answered(1)], [1], [])


def test_large_responses_wait_for_a_slow_client() -> None:
    large = MetadataResponse(cluster_id="c" * 30_000)
    frames = [encode_response(large, 12, number) for number in range(1000)]
    written: list[int] = []

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for each in frames:  # 30 MB, more than all buffers
            await frame(reader)
            writer.write(each)
            await writer.drain()
            written.append(1)
        await reader.read()
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> None:
        for number in range(1000):
            writer.write(encode_request(MetadataRequest(), 12, number))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(until_written(), 0.5)
        for _ in range(1000):
            await frame(reader)

    async def until_written() -> None:
        while len(written) < 1000:
            await asyncio.sleep(0.01)

    talk_through(broker, talk)


def heartbeat(number: int) -> bytes:
    return encode_request(HeartbeatRequest(generation_id=number), 4, number)


def answered(number: int, throttle: int = 0) -> bytes:
    return encode_response(HeartbeatResponse(throttle_time_ms=throttle), 4, number)


def serve_heartbeats(seen: list[int]) -> Serve:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = ProxyConnection()  # decodes the requests
        while data := await reader.read(1000):
            for event in connection.receive_from_client(data):
                assert isinstance(event, RequestForwarded)
                assert isinstance(event.message, HeartbeatRequest)
                seen.append(event.message.generation_id)
                writer.write(answered(event.header.correlation_id))
        writer.close()

    return broker


def generation(event: RequestForwarded) -> int:
    assert isinstance(event.message, HeartbeatRequest)
    return event.message.generation_id


def talk_with_hooks(requests: list[bytes], **hooks: Any) -> tuple[list[bytes], list[int], list[Exception]]:
    """Return the frames that the client receives, the heartbeats that the broker receives, and the errors."""
    seen: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> list[bytes]:
        writer.write(b"".join(requests))
        writer.write_eof()
        data = await reader.read()
        found = []
        while data:
            end = 4 + int.from_bytes(data[:4], "big")
            found.append(data[:end])
            data = data[end:]
        return found

    found, errors, _ = talk_through(serve_heartbeats(seen), talk, decode=["Heartbeat"], **hooks)
    return found, seen, errors


def test_unused_port_is_closed_and_opened_again() -> None:
    """Ports of the first brokers, of connected clients and of brokers that responses name stay open."""

    async def talk() -> None:
        named = [("a", 1), ("b", 2)]

        async def answer(received: RequestReceived) -> Response | None:
            brokers = [(LOCAL, other.port), *named]
            kind = MetadataResponse.MetadataResponseBroker
            return MetadataResponse(brokers=[kind(node_id=n, host=h, port=p) for n, (h, p) in enumerate(brokers)])

        async def closed(*brokers: tuple[str, int]) -> None:
            while proxy.ports.keys() & brokers:
                await asyncio.sleep(0.01)

        async with (
            await serve(answer) as first,
            await serve(answer) as other,
            await relay([(LOCAL, first.port)], idle_timeout=0.5) as proxy,
        ):
            _, silent = await asyncio.open_connection(LOCAL, proxy.port)
            reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
            writer.write(ASKED)
            await frame(reader)
            assert proxy.ports.keys() == {(LOCAL, first.port), (LOCAL, other.port), *named}
            unused = proxy.ports["a", 1]
            used = proxy.ports[LOCAL, other.port]
            _, kept = await asyncio.open_connection(LOCAL, used)
            kept.write(ASKED[:2])
            named.clear()
            for byte in ASKED[2:]:
                if not proxy.ports.keys() & {("a", 1), ("b", 2)}:
                    break
                kept.write(bytes([byte]))
                await asyncio.sleep(0.2)
            await closed(("a", 1), ("b", 2))
            assert proxy.ports[LOCAL, other.port] == used
            with pytest.raises(OSError, match="Connect call failed"):
                await asyncio.open_connection(LOCAL, unused)
            kept.close()
            await closed((LOCAL, other.port))
            assert proxy.ports.keys() == {(LOCAL, first.port)}
            named.append(("a", 1))
            reader, again = await asyncio.open_connection(LOCAL, proxy.port)
            again.write(ASKED)
            await frame(reader)
            assert ("a", 1) in proxy.ports
            for each in (writer, again, silent):
                each.close()

    run(talk())


@pytest.mark.parametrize("is_request", [True, False])
def test_frames_are_limited(is_request: bool) -> None:
    response = metadata_frame(("a", 1), ("b", 2), ("c", 3))
    limit, refused = (len(ASKED) - 5, ASKED) if is_request else (len(ASKED), response)
    broker = serve_responses(*([] if is_request else [response]))
    found, errors, _ = talk_through(broker, read_to_the_end(ASKED), max_frame_size=limit)
    assert found == b""
    what = f"the frame at offset 0 has {len(refused) - 4} bytes, but at most {limit} are allowed"
    assert [str(each) for each in errors] == [what]


@pytest.mark.parametrize("side", ["request", "response"])
@pytest.mark.parametrize("is_valid", [True, False])
def test_large_frame_does_not_block_the_event_loop(side: str, is_valid: bool) -> None:
    """While a frame is decoded, another connection is forwarded."""
    other_is_answered = threading.Event()

    def slow(decode: Callable[..., Any]) -> Callable[..., Any]:
        def decoded(payload: bytes, *args: Any, **options: Any) -> Any:
            if len(payload) > 1 << 16:
                assert other_is_answered.wait(5), "the event loop is blocked"
            return decode(payload, *args, **options)

        return decoded

    topics = [MetadataRequest.MetadataRequestTopic(name="t" * 30_000)] * (3 if side == "request" else 0)
    request = encode_request(MetadataRequest(topics=topics), 12, 1)
    named = [MetadataResponse.MetadataResponseTopic(name="t" * 30_000)] * (3 if side == "response" else 0)
    response = encode_response(MetadataResponse(topics=named), 12, 1)
    if not is_valid:
        request, response = (each[:-1] + b"\xff" if len(each) > 1 << 16 else each for each in (request, response))

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await frame(reader)
        writer.write(encode_response(HeartbeatResponse(), 4, 2) if asked[:2] == b"\0\x0c" else response)
        await reader.read()
        writer.close()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> bytes:
        writer.write(request)
        other_reader, other = await asyncio.open_connection(LOCAL, proxy.port)
        other.write(encode_request(HeartbeatRequest(), 4, 2))
        assert await frame(other_reader) == encode_response(HeartbeatResponse(), 4, 2)[4:]
        other.close()
        other_is_answered.set()
        return await frame(reader)

    with replaced("decode_request", slow), replaced("decode_response", slow):
        found, errors, _ = talk_through(broker, talk)
    assert found == response[4:]
    assert [type(each).__name__ for each in errors] == (["DecodeError"] if side == "response" and not is_valid else [])


def test_connections_of_all_ports_are_limited() -> None:
    async def talk() -> list[str]:
        errors: list[Exception] = []
        async with (
            await asyncio.start_server(serve_responses(), LOCAL, 0) as server,
            await relay(
                [(LOCAL, server.sockets[0].getsockname()[1]), ("a", 1)], max_connections=1, on_error=errors.append
            ) as proxy,
        ):
            _, writer = await asyncio.open_connection(LOCAL, proxy.port)
            reader, refused = await asyncio.open_connection(LOCAL, proxy.ports["a", 1])
            assert await reader.read() == b""
            for each in (writer, refused):
                each.close()
        return [f"{type(each).__name__}: {each}" for each in errors]

    assert run(talk()) == ["ConnectionError: 1 connections are open (max_connections); new ones are closed"]


def test_idle_connection_is_closed_unless_a_request_is_unanswered() -> None:
    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await frame(reader)
        await asyncio.sleep(2.5)  # longer than two looks at the connections
        writer.write(encode_response(HeartbeatResponse(), 4, 1))
        await reader.read()
        writer.close()

    request = encode_request(HeartbeatRequest(), 4, 1)
    found, errors, _ = talk_through(broker, read_to_the_end(request), idle_timeout=0.05)
    assert (found, errors) == (encode_response(HeartbeatResponse(), 4, 1), [])


def test_failed_connection_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> int:
        server = await asyncio.start_server(serve_responses(), LOCAL, 0)
        port: int = server.sockets[0].getsockname()[1]
        server.close()
        async with await relay([(LOCAL, port)]) as proxy:
            reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
            assert await reader.read() == b""
            writer.close()
        return port

    port = run(talk())
    [record] = caplog.records
    assert record.exc_info is None
    assert record.getMessage().startswith(f"no connection to '127.0.0.1' port {port}: ")


@pytest.mark.parametrize("hook", ["on_request", "on_response"])
def test_hook_that_raises_cancelled_error_is_reported(hook: str) -> None:
    async def cancelled(*_: object) -> None:
        raise asyncio.CancelledError

    broker = serve_responses(*[encode_response(HeartbeatResponse(), 4, 1)] * (hook == "on_response"))
    found, errors, _ = talk_through(broker, read_to_the_end(heartbeat(1)), **{hook: cancelled})
    assert found == b""
    assert [repr(each) for each in errors] == ["RuntimeError('a handler or hook raised CancelledError')"]


def test_port_that_a_response_names_is_not_closed_while_others_are_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """The periodic look at unused ports comes while the ports of a response are opened."""
    opened = Relay._open

    async def open_and_look(self: Relay, brokers: Any, port: int = 0) -> None:
        await opened(self, brokers, port)
        if ("a", 1) in self._used and ("b", 2) in self.ports:
            self._end_unused()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> set[tuple[str, int]]:
        writer.write(ASKED)
        await frame(reader)
        proxy._used["a", 1] = 0.0
        writer.write(ASKED)
        await frame(reader)
        return {*proxy.ports}

    monkeypatch.setattr(Relay, "_open", open_and_look)
    broker = serve_responses(metadata_frame(("a", 1)), metadata_frame(("a", 1), ("b", 2)))
    found, errors, _ = talk_through(broker, talk)
    assert errors == []
    assert found >= {("a", 1), ("b", 2)}


def test_hook_changes_requests() -> None:
    async def on_request(event: RequestForwarded, _: RelayConnection) -> bytes | None:
        if generation(event) == 1:
            return None
        assert isinstance(event.message, HeartbeatRequest)
        event.message.generation_id *= 10
        return event.encode()

    found, seen, errors = talk_with_hooks([*map(heartbeat, range(3))], on_request=on_request)
    assert (found, seen, errors) == ([*map(answered, range(3))], [0, 1, 20], [])


def test_hook_changes_responses() -> None:
    async def on_response(event: ResponseForwarded, _: RelayConnection) -> bytes | None:
        assert isinstance(event.message, HeartbeatResponse)
        event.message.throttle_time_ms = generation(event.request)
        return event.encode() if generation(event.request) == 1 else None

    found, _, errors = talk_with_hooks([heartbeat(0), heartbeat(1)], on_response=on_response)
    assert (found, errors) == ([answered(0), answered(1, 1)], [])


def test_local_responses_keep_the_order() -> None:
    """Also while an earlier response waits in a hook."""
    answers = 0

    async def on_request(event: RequestForwarded, _: RelayConnection) -> Response | None:
        nonlocal answers
        if generation(event) % 2:
            answers += 1
            assert event.request is not None
            return error_response(event.request, ErrorCode.REBALANCE_IN_PROGRESS)
        return None

    async def on_response(event: ResponseForwarded, _: RelayConnection) -> bytes | None:
        while answers < 1:
            await asyncio.sleep(0)
        return None

    found, seen, errors = talk_with_hooks([*map(heartbeat, range(6))], on_request=on_request, on_response=on_response)
    assert [int.from_bytes(each[4:8], "big") for each in found] == [0, 1, 2, 3, 4, 5]
    assert [HeartbeatResponse.read(each[9:], 4).error_code for each in found] == [0, 27, 0, 27, 0, 27]
    assert (seen, errors) == ([0, 2, 4], [])


def test_request_that_waits_in_a_hook_does_not_delay_other_connections() -> None:
    go_on = asyncio.Event()

    async def on_request(event: RequestForwarded, _: RelayConnection) -> bytes | None:
        if generation(event) == 0:
            await go_on.wait()
        return None

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: Relay) -> None:
        writer.write(heartbeat(0))
        other_reader, other_writer = await asyncio.open_connection(LOCAL, proxy.port)
        other_writer.write(heartbeat(1))
        assert await frame(other_reader) == answered(1)[4:]
        other_writer.close()
        go_on.set()
        assert await frame(reader) == answered(0)[4:]

    talk_through(serve_heartbeats([]), talk, decode=["Heartbeat"], on_request=on_request)


def test_client_that_disconnects_ends_a_hook_that_waits() -> None:
    waits, ended = asyncio.Event(), asyncio.Event()

    async def on_request(event: RequestForwarded, _: RelayConnection) -> bytes | None:
        waits.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return None

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, _: Relay) -> None:
        writer.write(heartbeat(0) + heartbeat(1))
        await waits.wait()
        writer.close()
        await ended.wait()

    talk_through(serve_heartbeats([]), talk, decode=["Heartbeat"], on_request=on_request, linger=0.05)


@pytest.mark.parametrize("which", ["on_request", "on_response"])
def test_hook_can_write_bytes_and_close(which: str) -> None:
    async def hook(event: RequestForwarded | ResponseForwarded, _: RelayConnection) -> bytes | None:
        raise CloseConnection(b"last")

    data, errors, _ = talk_through(serve_heartbeats([]), read_to_the_end(heartbeat(1)), linger=0, **{which: hook})
    assert (data, errors) == (b"last", [])


@pytest.mark.parametrize("which", ["on_request", "on_response"])
def test_exception_of_a_hook_is_reported(which: str) -> None:
    async def hook(event: RequestForwarded | ResponseForwarded, _: RelayConnection) -> bytes | None:
        raise KeyError("topic")

    data, [error], _ = talk_through(serve_heartbeats([]), read_to_the_end(heartbeat(1)), linger=0, **{which: hook})
    assert (data, repr(error)) == (b"", "KeyError('topic')")
    assert error.__notes__[-1].startswith("connection of ('127.0.0.1', ")


def test_hooks_know_broker_client_and_topics() -> None:
    found: list[Any] = []

    async def on_request(event: RequestForwarded, connection: RelayConnection) -> bytes | None:
        found.append((connection.broker[0], event.identity.client_id, len(connection.connection.topic_names)))
        return None

    sent = encode_request(MetadataRequest(), 12, 1, "me")
    talk_through(serve_responses(metadata_frame()), send_requests(sent), on_request=on_request)
    assert found == [(LOCAL, "me", 0)]


def test_request_without_response_is_forwarded() -> None:
    sent = encode_request(ProduceRequest(acks=0), 9, 1)

    async def broker(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert await reader.readexactly(len(sent + ASKED)) == sent + ASKED
        writer.write(metadata_frame())
        writer.close()

    assert talk_through(broker, send_requests(sent + ASKED))[0] == [metadata_frame()[4:]]


def test_relay_speaks_tls_to_the_broker(tmp_path: Path) -> None:
    made, key = certificate(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)

    async def handler(received: RequestReceived) -> Response | None:
        return HeartbeatResponse(throttle_time_ms=7)

    async def talk() -> None:
        trusted = ssl.create_default_context(cafile=str(made))
        async with (
            await serve(handler, ssl_context=context) as server,
            await relay([("localhost", server.port)], ssl_context=trusted) as proxy,
        ):
            reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
            writer.write(heartbeat(1))
            assert await frame(reader) == answered(1, 7)[4:]
            writer.close()

    run(talk())


def test_close_ends_connections_with_peers_that_hang() -> None:
    async def talk() -> None:
        asked, ended = asyncio.Event(), asyncio.Event()

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await frame(reader)
            asked.set()
            await ended.wait()
            writer.transport.abort()

        async with await asyncio.start_server(deaf, LOCAL, 0) as server:
            proxy = await relay([server.sockets[0].getsockname()])
            reader, writer = await asyncio.open_connection(LOCAL, proxy.port)
            writer.write(heartbeat(1))
            await asked.wait()
            await proxy.close(0.05)
            assert await reader.read() == b""
            writer.close()
            ended.set()

    run(talk())


def test_occupied_port_raises_os_error() -> None:
    async def talk() -> None:
        async with await relay([("a", 1), ("b", 2)]) as proxy:
            assert proxy.port == proxy.ports["a", 1]
            with pytest.raises(OSError, match=r"^no port for a broker after 0: \[Errno 98\] Address already in use"):
                await relay([("a", 1)], port=proxy.port)

    run(talk())
