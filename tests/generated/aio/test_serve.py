"""Servers: order of responses, limits, faults of handlers and clients, and shutdown."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from typing import Any

import pytest
from kafka_messages import (
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    Response,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.aio import CloseConnection, relay, serve
from kafka_messages.connection import LocalProtocolError, RemoteProtocolError, RequestReceived, announce
from kafka_messages.errors import EncodeError
from kafka_messages.protocol import ApiKey, encode_request, encode_response

from tests.support.loops import run
from tests.support.replaced import replaced

Handler = Callable[[RequestReceived], Awaitable[Response | None]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def heartbeat(number: int) -> bytes:
    return encode_request(HeartbeatRequest(generation_id=number), 4, number)


def answered(number: int, throttle: int = 0) -> bytes:
    return encode_response(HeartbeatResponse(throttle_time_ms=throttle), 4, number)


def number_of(received: RequestReceived) -> int:
    assert isinstance(received.message, HeartbeatRequest)
    return received.message.generation_id


async def echo(received: RequestReceived) -> Response | None:
    return HeartbeatResponse(throttle_time_ms=number_of(received))


async def never(received: RequestReceived) -> Response | None:
    await asyncio.Event().wait()
    return None


async def replies(port: int, *sent: bytes) -> bytes:
    """Send bytes, and return everything that the server sends until it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(b"".join(sent))
        writer.write_eof()
        return await reader.read()


def test_slow_response_holds_back_later_ones() -> None:
    async def talk() -> bytes:
        last_arrived = asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            if number_of(received) == 2:
                last_arrived.set()
            if number_of(received) == 0:
                await last_arrived.wait()
            return await echo(received)

        async with await serve(handler) as server:
            return await replies(server.port, *map(heartbeat, range(3)))

    assert run(talk()) == b"".join(answered(number, number) for number in range(3))


def test_connection_is_not_read_while_max_pending_requests_are_unanswered() -> None:
    async def talk() -> None:
        started: list[int] = []
        two_started, go_on = asyncio.Event(), asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            started.append(number_of(received))
            if len(started) == 2:
                two_started.set()
            await go_on.wait()
            return await echo(received)

        # 30 MB, more than the buffers of both sockets.
        data = encode_request(HeartbeatRequest(generation_id=7, member_id="m" * 30_000), 4, 7) * 1000
        async with await serve(handler, max_pending=2) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            with closing(writer):
                writer.write(data)
                await two_started.wait()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(writer.drain(), 0.5)
                assert len(started) == 2
                go_on.set()
                assert await reader.readexactly(1000 * len(answered(7, 7))) == answered(7, 7) * 1000

    run(talk())


def test_connection_of_a_client_that_reads_nothing_is_not_read() -> None:
    async def talk() -> int:
        started = 0
        part = FetchResponse.PartitionData(records=bytes(1 << 18))
        response = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=[part])])

        async def handler(received: RequestReceived) -> Response | None:
            nonlocal started
            started += 1
            return response

        # 30 MB of requests, more than the buffers of both sockets, and 250 MB of responses.
        data = encode_request(FetchRequest(rack_id="r" * 30_000), 12, 7) * 1000
        async with await serve(handler, max_pending=2) as server:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(data)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(writer.drain(), 0.5)
            writer.transport.abort()
        return started

    assert 0 < run(talk()) < 200


def test_one_way_requests_take_places_too() -> None:
    async def talk() -> None:
        running = most = 0

        async def handler(received: RequestReceived) -> Response | None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return None

        async with await serve(handler, max_pending=3) as server:
            assert await replies(server.port, encode_request(ProduceRequest(acks=0), 9, 1) * 50) == b""
        assert most == 3

    run(talk())


@pytest.mark.parametrize("is_first", [True, False])
def test_exception_of_a_handler_closes_its_connection_only(is_first: bool) -> None:
    async def talk() -> list[Exception]:
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            if number_of(received) == 5:
                raise KeyError("topic")
            return await echo(received)

        async with await serve(handler, on_error=errors.append) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            with closing(writer):
                sent = [heartbeat(5), heartbeat(6)] if is_first else [heartbeat(4), heartbeat(5), heartbeat(6)]
                assert await replies(server.port, *sent) == (b"" if is_first else answered(4, 4))
                writer.write(heartbeat(7))
                assert await reader.readexactly(len(answered(7, 7))) == answered(7, 7)
        return errors

    [error] = run(talk())
    assert repr(error) == "KeyError('topic')"
    assert error.__notes__[0] == "handler of HeartbeatRequest v4"
    assert error.__notes__[1].startswith("connection of ('127.0.0.1', ")


async def wrong(received: RequestReceived) -> Response | None:
    return MetadataResponse()


async def unencodable(received: RequestReceived) -> Response | None:
    return HeartbeatResponse(throttle_time_ms=1 << 40)


async def nothing(received: RequestReceived) -> Response | None:
    return None


@pytest.mark.parametrize(
    ("handler", "kind", "text"),
    [
        (wrong, LocalProtocolError, "HeartbeatRequest is answered with HeartbeatResponse, not MetadataResponse"),
        (
            unencodable,
            EncodeError,
            "HeartbeatResponse v4: throttle_time_ms: 1099511627776 is out of range for INT32, "
            "-2147483648 to 2147483647",
        ),
        (nothing, TypeError, "the handler returned None, but HeartbeatRequest expects a response"),
    ],
)
def test_invalid_response_is_reported(handler: Handler, kind: type[Exception], text: str) -> None:
    async def talk() -> list[Exception]:
        errors: list[Exception] = []
        async with await serve(handler, on_error=errors.append) as server:
            assert await replies(server.port, heartbeat(1)) == b""
        return errors

    [error] = run(talk())
    assert (type(error), str(error)) == (kind, text)


@pytest.mark.parametrize(
    ("last", "text"),
    [
        (b"\0\0\0\1x", "invalid request at offset {offset}: "),
        (b"\0\0", "the peer closed the connection inside the frame at offset {offset}, after 2 bytes"),
        (b"GET / HTTP/1.1\r\n\r\n", "{offset}"),
    ],
)
def test_invalid_bytes_close_their_connection_after_earlier_responses(last: bytes, text: str) -> None:
    async def talk() -> list[Exception]:
        errors: list[Exception] = []
        async with await serve(echo, on_error=errors.append) as server:
            assert await replies(server.port, heartbeat(1), heartbeat(2), last) == answered(1, 1) + answered(2, 2)
            assert await replies(server.port, heartbeat(3)) == answered(3, 3)
        return errors

    [error] = run(talk())
    assert isinstance(error, RemoteProtocolError)
    assert text.format(offset=2 * len(heartbeat(1))) in str(error)


def test_handler_can_write_bytes_and_close() -> None:
    async def talk() -> None:
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            if number_of(received) == 2:
                raise CloseConnection(answered(2)[:6])
            return await echo(received)

        async with await serve(handler, on_error=errors.append) as server:
            assert await replies(server.port, *map(heartbeat, (1, 2, 3))) == answered(1, 1) + answered(2)[:6]
        assert errors == []

    run(talk())


def test_errors_are_logged_by_default(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> None:
        async with await serve(nothing) as server:
            await replies(server.port, heartbeat(1))

    run(talk())
    [record] = caplog.records
    assert (record.name, record.levelno) == ("kafka_messages.aio._listener", logging.ERROR)
    text = record.getMessage()
    assert text.startswith(
        "the handler returned None, but HeartbeatRequest expects a response (handler of HeartbeatRequest v4, "
    )


def test_unannounced_version_closes_the_connection() -> None:
    async def talk() -> list[str]:
        errors: list[Exception] = []
        announced = announce([ApiKey.METADATA])
        async with await serve(echo, announced=announced, on_error=errors.append) as server:
            assert await replies(server.port, heartbeat(1)) == b""
        return [str(each) for each in errors]

    assert run(talk()) == ["unsupported request at offset 0: HeartbeatRequest v4 is not announced"]


def test_raw_sasl_tokens_are_rejected() -> None:
    async def talk() -> list[str]:
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            return SaslHandshakeResponse()

        async with await serve(handler, on_error=errors.append) as server:
            token = b"\0\0\0\1t"
            handshake = encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)
            assert await replies(server.port, handshake, token) == encode_response(SaslHandshakeResponse(), 0, 1)
        return [str(each) for each in errors]

    assert run(talk()) == ["raw SASL tokens are not supported; refuse SaslHandshake version 0"]


def test_request_after_a_refused_handshake_is_answered() -> None:
    async def handler(received: RequestReceived) -> Response | None:
        if isinstance(received.message, SaslHandshakeRequest):
            return SaslHandshakeResponse(error_code=33)
        return await echo(received)

    async def talk() -> bytes:
        async with await serve(handler) as server:
            return await replies(server.port, encode_request(SaslHandshakeRequest(), 0, 1), heartbeat(2))

    assert run(talk()) == encode_response(SaslHandshakeResponse(error_code=33), 0, 1) + answered(2, 2)


def test_client_that_disconnects_ends_its_handlers() -> None:
    async def talk() -> None:
        arrived, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            arrived.set()
            try:
                return await never(received)
            finally:
                cancelled.set()

        async with await serve(handler, max_pending=1, linger=0.05) as server:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(heartbeat(1) + heartbeat(2))  # the second one stays in the buffer
            await arrived.wait()
            writer.close()
            await cancelled.wait()

    run(talk())


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection with a RST, as the system does for a program that left bytes unread."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


@pytest.mark.parametrize("leave", [reset, asyncio.StreamWriter.close])
@pytest.mark.parametrize("acks", [-1, 0])
@pytest.mark.parametrize("count", [10, 20_000])
def test_client_that_leaves_while_its_requests_wait_ends_its_handlers(
    leave: Callable[[asyncio.StreamWriter], object], acks: int, count: int
) -> None:
    """A million bytes of requests are more than the server reads ahead."""

    async def talk() -> None:
        arrived, cancelled = asyncio.Event(), asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            arrived.set()
            try:
                return await never(received)
            finally:
                cancelled.set()

        async with await serve(handler, max_pending=3, linger=0.05) as server:
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(encode_request(ProduceRequest(acks=acks), 9, 1, "c" * 20) * count)
            await arrived.wait()
            await asyncio.sleep(0.1)
            leave(writer)
            await cancelled.wait()

    run(talk())


def test_half_closed_client_gets_all_responses_while_there_is_progress() -> None:
    """The last response comes long after ``linger``."""

    async def talk() -> bytes:
        async def handler(received: RequestReceived) -> Response | None:
            await asyncio.sleep(0.6)
            return await echo(received)

        async with await serve(handler, max_pending=1000, linger=1) as server:
            return await replies(server.port, heartbeat(1) * 4000)

    assert run(talk()) == answered(1, 1) * 4000


@pytest.mark.parametrize("is_valid", [True, False])
def test_large_frame_does_not_block_the_event_loop(is_valid: bool) -> None:
    """While a frame is decoded, another connection is answered."""
    other_is_answered = threading.Event()

    def slow(decode_request: Callable[..., object]) -> Callable[..., object]:
        def decode(payload: bytes, **options: object) -> object:
            if len(payload) > 1000:
                assert other_is_answered.wait(5), "the event loop is blocked"
            return decode_request(payload, **options)

        return decode

    async def both() -> tuple[bytes, list[str]]:
        errors: list[Exception] = []
        topic = ProduceRequest.TopicProduceData(
            name="t", partition_data=[ProduceRequest.PartitionProduceData(records=bytes(1 << 17))]
        )
        large = encode_request(ProduceRequest(acks=1, topic_data=[topic]), 9, 2)

        async def handler(received: RequestReceived) -> Response | None:
            return ProduceResponse() if isinstance(received.message, ProduceRequest) else await echo(received)

        async with await serve(handler, on_error=errors.append) as server:
            sent = heartbeat(1) + (large if is_valid else large[:-1] + b"\xff") + heartbeat(3)
            first = asyncio.create_task(replies(server.port, sent))
            assert await replies(server.port, heartbeat(4)) == answered(4, 4)
            other_is_answered.set()
            return await first, [*map(str, errors)]

    with replaced("decode_request", slow):
        found, errors = run(both())
    if is_valid:
        assert found == answered(1, 1) + encode_response(ProduceResponse(), 9, 2) + answered(3, 3)
        assert errors == []
    else:
        assert found == answered(1, 1)
        [error] = errors
        assert error.startswith(f"invalid request at offset {len(heartbeat(1))}: ProduceRequest v9: ")


def test_close_does_not_wait_for_a_thread_that_decodes() -> None:
    go_on, started = threading.Event(), threading.Event()

    def decode(payload: bytes, **_: object) -> None:
        started.set()
        go_on.wait(10)

    async def talk() -> None:
        server = await serve(echo)
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with closing(writer):
            writer.write(encode_request(ListGroupsRequest(states_filter=["s" * 30_000] * 3), 4, 1))
            while not started.is_set():
                await asyncio.sleep(0.01)
            await server.close(0.05)
            assert not go_on.is_set()
            go_on.set()

    with replaced("decode_request", lambda _: decode):
        run(talk())


def test_further_connections_are_closed_and_reported_once() -> None:
    async def talk() -> list[Exception]:
        errors: list[Exception] = []
        async with await serve(echo, max_connections=2, on_error=errors.append) as server:
            kept = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(2)]
            for _ in range(3):
                assert await replies(server.port) == b""
            for _, writer in kept:
                writer.close()
                await writer.wait_closed()
            while len(server._sessions) > 0:
                await asyncio.sleep(0.01)
            assert await replies(server.port, heartbeat(1)) == answered(1, 1)
        return errors

    [error] = run(talk())
    assert (type(error), str(error)) == (
        ConnectionError,
        "2 connections are open (max_connections); new ones are closed",
    )


def test_idle_connection_is_closed_and_not_reported() -> None:
    async def talk() -> None:
        errors: list[Exception] = []
        async with await serve(echo, idle_timeout=0.05, on_error=errors.append) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            with closing(writer):
                writer.write(heartbeat(1) + heartbeat(2)[:5])
                assert await reader.read() == answered(1, 1)
        assert errors == []

    run(talk())


@pytest.mark.parametrize("acks", [-1, 0])
def test_connection_with_unanswered_requests_is_not_idle(acks: int) -> None:
    async def talk() -> None:
        handled = asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            await asyncio.sleep(2.5)  # longer than two looks at the connections
            handled.set()
            return ProduceResponse() if acks else None

        async with await serve(handler, idle_timeout=0.05) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            with closing(writer):
                writer.write(encode_request(ProduceRequest(acks=acks), 9, 1))
                assert await reader.read() == (encode_response(ProduceResponse(), 9, 1) if acks else b"")
                assert handled.is_set()

    run(talk())


@pytest.mark.parametrize("is_half_closed", [False, True])
def test_connection_is_not_idle_while_its_frame_is_decoded(is_half_closed: bool) -> None:
    """Two frames are decoded at a time; the third connection waits for that, longer than both limits."""

    def slow(decode_request: Callable[..., object]) -> Callable[..., object]:
        def decode(payload: bytes, **options: Any) -> object:
            time.sleep(1.2)
            return decode_request(payload, **options)

        return decode

    async def talk() -> None:
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            return ListGroupsResponse()

        async def ask(port: int) -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            with closing(writer):
                writer.write(encode_request(ListGroupsRequest(states_filter=["s" * 30_000] * 3), 4, 1))
                if is_half_closed:
                    writer.write_eof()
                return await reader.read()

        async with await serve(handler, idle_timeout=0.5, linger=0.5, on_error=errors.append) as server:
            found = await asyncio.gather(*(ask(server.port) for _ in range(3)))
        assert (found, errors) == ([encode_response(ListGroupsResponse(), 4, 1)] * 3, [])

    with replaced("decode_request", slow):
        run(talk())


SECONDS = "idle_timeout must be a number, at least 0.001, not "


@pytest.mark.parametrize("program", ["serve", "relay"])
@pytest.mark.parametrize(
    ("option", "text"),
    [
        *(
            ({"max_connections": each}, f"max_connections must be a number, at least 1, not {each!r}")
            for each in (0, -1, "x")
        ),
        *(({"idle_timeout": each}, SECONDS + repr(each)) for each in (0, -1, "x", float("nan"))),
        *(({"linger": each}, f"linger must be a number, at least 0, not {each!r}") for each in (-1, None)),
        ({"max_frame_size": 0}, "max_frame_size must be a number of bytes, 1 to 2147483647, not 0"),
    ],
)
def test_wrong_option_is_refused_at_the_call(program: str, option: dict[str, Any], text: str) -> None:
    async def talk() -> str:
        with pytest.raises(ValueError, match=next(iter(option))) as caught:
            await (serve(echo, **option) if program == "serve" else relay([], **option))
        return str(caught.value)

    assert run(talk()) == text


def test_wrong_max_pending_and_versions_are_refused_at_the_call() -> None:
    async def talk() -> None:
        with pytest.raises(ValueError, match=r"^max_pending must be a number, at least 1, not 0$"):
            await serve(echo, max_pending=0)
        with pytest.raises(TypeError, match=r"^announced must be an ApiVersionsResponse or None, not 'x'$"):
            await serve(echo, announced="x")  # type: ignore[arg-type]  # the fault

    run(talk())


def test_handler_that_raises_cancelled_error_is_reported() -> None:
    async def talk() -> list[str]:
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            raise asyncio.CancelledError

        async with await serve(handler, on_error=errors.append) as server:
            assert await replies(server.port, heartbeat(1)) == b""
        return [repr(each) for each in errors]

    assert run(talk()) == ["RuntimeError('a handler or hook raised CancelledError')"]


def test_port_scan_is_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def talk() -> None:
        async with await serve(echo) as server:
            assert await replies(server.port) == b""
            assert await replies(server.port, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(512)) == b""
            assert await replies(server.port, b"\0\0\0\x08\x7f\xff\0\0\0\0\0\1") == b""

    run(talk())
    assert [record.exc_info for record in caplog.records] == [None, None]
    texts = [record.getMessage().partition(" (connection of ('127.0.0.1', ")[0] for record in caplog.records]
    assert texts == [
        "the frame at offset 0 has 369295618 bytes, but at most 104857600 are allowed; this looks like a TLS ClientHello",
        "invalid request at offset 0: unknown API key 32767; known keys are 0 to 94",
    ]


def test_close_finishes_pending_requests() -> None:
    async def talk() -> None:
        arrived, go_on = asyncio.Event(), asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            arrived.set()
            await go_on.wait()
            return await echo(received)

        server = await serve(handler)
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        with closing(writer):
            writer.write(heartbeat(1))
            await arrived.wait()
            closed = asyncio.create_task(server.close())
            await asyncio.sleep(0)
            go_on.set()
            assert await reader.read() == answered(1, 1)
            await closed

    run(talk())


def test_close_cancels_what_takes_too_long() -> None:
    async def talk() -> None:
        arrived: asyncio.Queue[int] = asyncio.Queue()
        errors: list[Exception] = []

        async def handler(received: RequestReceived) -> Response | None:
            arrived.put_nowait(number_of(received))
            if number_of(received) == 1:
                return HeartbeatResponse(throttle_time_ms=1)
            return await never(received)

        server = await serve(handler, on_error=errors.append)
        port = server.port
        silent = await asyncio.open_connection("127.0.0.1", port)
        hanging = await asyncio.open_connection("127.0.0.1", port)
        hanging[1].write(heartbeat(1) + heartbeat(2) + heartbeat(3))
        for _ in range(3):
            await arrived.get()
        await server.close(0.05)
        assert await hanging[0].read() == answered(1, 1)
        assert await silent[0].read() == b""
        with pytest.raises(OSError, match="Connect call failed"):
            await asyncio.open_connection("127.0.0.1", port)
        for _, writer in (silent, hanging):
            writer.close()
        assert errors == []

    run(talk())


def test_client_that_does_not_read_cannot_delay_close() -> None:
    async def talk() -> None:
        written = asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            written.set()
            return ListGroupsResponse(groups=[ListGroupsResponse.ListedGroup(group_id="g" * 30_000)] * 1000)

        server = await serve(handler)
        _, writer = await asyncio.open_connection("127.0.0.1", server.port, limit=1)
        writer.write(encode_request(ListGroupsRequest(), 4, 1) * 3)
        await written.wait()
        await server.close(0.1)
        writer.transport.abort()

    run(talk())


def test_handler_that_swallows_cancellation_cannot_block_close() -> None:
    async def talk() -> None:
        arrived, go_on = asyncio.Event(), asyncio.Event()

        async def handler(received: RequestReceived) -> Response | None:
            arrived.set()
            while not go_on.is_set():
                try:
                    await go_on.wait()
                except asyncio.CancelledError:
                    continue
            return await echo(received)

        server = await serve(handler, linger=0.05)
        _, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(heartbeat(1))
        await arrived.wait()
        await asyncio.wait_for(server.close(0.05), 5)
        go_on.set()
        await asyncio.sleep(0.05)
        writer.close()

    run(talk())


def test_import_of_the_package_imports_neither_aio_nor_asyncio() -> None:
    program = "import sys, kafka_messages, kafka_messages.connection\n"
    program += "kafka_messages.MetadataRequest, kafka_messages.connection.ClientConnection\n"
    program += "print([name for name in ('asyncio', 'kafka_messages.aio') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_occupied_port_raises_os_error() -> None:
    async def talk() -> None:
        async with await serve(echo) as server:
            with pytest.raises(OSError, match="address already in use"):
                await serve(echo, port=server.port)

    run(talk())
