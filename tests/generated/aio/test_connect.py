"""Clients: many tasks, timeouts, TLS, SASL, and connections that end."""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    Response,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.aio import CloseConnection, connect, serve
from kafka_messages.aio._listener import within
from kafka_messages.connection import (
    AuthenticationError,
    ClientConnection,
    RemoteProtocolError,
    RequestReceived,
    announce,
)
from kafka_messages.enums import ErrorCode
from kafka_messages.errors import UnsupportedVersionError
from kafka_messages.protocol import ApiKey, BrokerVersions

from tests.support.certificates import certificate
from tests.support.loops import run
from tests.support.replaced import replaced
from tests.support.scram import ScramError, ScramServer

Answer = Callable[[RequestReceived], Awaitable[Response | None]]


def answering(answer: Answer, announced: ApiVersionsResponse | None = None) -> Answer:
    """Return a handler that announces versions, and passes other requests to ``answer``."""

    async def handler(received: RequestReceived) -> Response | None:
        if isinstance(received.message, ApiVersionsRequest):
            return (announced or announce()).downgraded(received.response_version)
        return await answer(received)

    return handler


async def refuse(received: RequestReceived) -> Response | None:
    raise AssertionError(f"unexpected {received}")


async def list_groups(received: RequestReceived) -> Response | None:
    """Return the state filter as the name of a group."""
    assert isinstance(received.message, ListGroupsRequest)
    kind = ListGroupsResponse.ListedGroup
    return ListGroupsResponse(groups=[kind(group_id=each) for each in received.message.states_filter])


def test_response_belongs_to_its_request_for_many_tasks() -> None:
    async def talk() -> None:
        async with await serve(answering(list_groups)) as server, await connect("127.0.0.1", server.port) as broker:

            async def ask(number: int) -> None:
                response = await broker.request(ListGroupsRequest(states_filter=[str(number)]))
                assert [each.group_id for each in response.groups] == [str(number)]

            await asyncio.gather(*map(ask, range(1000)))

    run(talk())


def test_requests_are_pipelined_up_to_max_pending() -> None:
    async def talk() -> None:
        arrived: list[str] = []
        is_full, go_on = asyncio.Event(), asyncio.Event()

        async def answer(received: RequestReceived) -> Response | None:
            assert isinstance(received.message, ListGroupsRequest)
            arrived.append(received.message.states_filter[0])
            if len(arrived) == 3:
                is_full.set()
            await go_on.wait()
            return ListGroupsResponse()

        async with (
            await serve(answering(answer)) as server,
            await connect("127.0.0.1", server.port, max_pending=3) as broker,
        ):
            requests = [broker.request(ListGroupsRequest(states_filter=[str(number)])) for number in range(5)]
            tasks = [asyncio.create_task(each) for each in requests]
            await is_full.wait()
            assert [sent.correlation_id for sent in broker.connection.unanswered] == [1, 2, 3]
            go_on.set()
            await asyncio.gather(*tasks)
        assert arrived == ["0", "1", "2", "3", "4"]

    run(talk())


def test_versions_are_negotiated_with_an_old_broker() -> None:
    old = announce([ApiKey.METADATA], release="2.2.0")
    versions: list[int] = []

    async def answer(received: RequestReceived) -> Response | None:
        versions.append(received.version)
        return MetadataResponse(cluster_id="old")

    async def talk() -> None:
        async with (
            await serve(answering(answer, old), announced=old) as server,
            await connect("127.0.0.1", server.port) as broker,
        ):
            assert (await broker.request(MetadataRequest())).cluster_id == "old"
            assert (await broker.request(MetadataRequest(), 5)).cluster_id == "old"
            with pytest.raises(UnsupportedVersionError):
                await broker.request(ListGroupsRequest())

    run(talk())
    assert versions == [7, 5]


def test_known_versions_skip_the_negotiation() -> None:
    async def talk() -> ListGroupsResponse:
        known = ClientConnection("me", versions=BrokerVersions.from_response(announce()))
        async with (
            await serve(list_groups) as server,
            await connect("127.0.0.1", server.port, connection=known) as broker,
        ):
            return await broker.request(ListGroupsRequest(states_filter=["g"]))

    assert [each.group_id for each in run(talk()).groups] == ["g"]


def test_refused_negotiation_raises_connection_error() -> None:
    async def answer(received: RequestReceived) -> Response | None:
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)

    async def talk() -> None:
        async with await serve(answer) as server:
            with pytest.raises(ConnectionError, match=r"^the ApiVersionsResponse has the error INVALID_REQUEST$"):
                await connect("127.0.0.1", server.port)

    run(talk())


def test_produce_without_acks_is_sent() -> None:
    async def talk() -> None:
        arrived: asyncio.Queue[Any] = asyncio.Queue()

        async def answer(received: RequestReceived) -> Response | None:
            await arrived.put(received.message)
            return None

        async with await serve(answering(answer)) as server:
            async with await connect("127.0.0.1", server.port, max_pending=1) as broker:
                with pytest.raises(ValueError, match=r"^ProduceRequest gets no") as caught:
                    await broker.request(ProduceRequest(acks=0))
                text = "ProduceRequest gets no response, as a ProduceRequest with acks=0; use send"
                assert str(caught.value) == text
                for number in range(3):
                    sent = await broker.send(ProduceRequest(acks=0, timeout_ms=number))
                    assert not sent.expects_response
            assert [(await arrived.get()).timeout_ms for _ in range(3)] == [0, 1, 2]

    run(talk())


def test_cancelled_request_does_not_affect_others() -> None:
    async def talk() -> None:
        arrived, go_on = asyncio.Event(), asyncio.Event()

        async def answer(received: RequestReceived) -> Response | None:
            if isinstance(received.message, MetadataRequest):
                arrived.set()
                await go_on.wait()
                return MetadataResponse()
            return await list_groups(received)

        async with (
            await serve(answering(answer)) as server,
            await connect("127.0.0.1", server.port, max_pending=2) as broker,
        ):
            slow = asyncio.create_task(broker.request(MetadataRequest()))
            await arrived.wait()
            slow.cancel()
            other = asyncio.create_task(broker.request(ListGroupsRequest(states_filter=["g"])))
            waiting = asyncio.create_task(broker.request(ListGroupsRequest(states_filter=["never sent"])))
            await asyncio.wait([slow])
            assert slow.cancelled()
            assert not waiting.done()  # the cancelled request still takes a place
            waiting.cancel()
            go_on.set()
            assert [each.group_id for each in (await other).groups] == ["g"]
            assert [each.group_id for each in (await broker.request(ListGroupsRequest())).groups] == []

    run(talk())


def test_slow_response_raises_timeout_error() -> None:
    async def answer(received: RequestReceived) -> Response | None:
        await asyncio.Event().wait()
        return None

    async def talk() -> str:
        async with (
            await serve(answering(answer)) as server,
            await connect("127.0.0.1", server.port, request_timeout=0.05) as broker,
        ):
            with pytest.raises(TimeoutError) as caught:
                await broker.request(MetadataRequest())
            await server.close(0)
            return str(caught.value).replace(str(server_port(broker)), "PORT")

    def server_port(broker: Any) -> int:
        port: int = broker._writer.get_extra_info("peername")[1]
        return port

    assert run(talk()) == "MetadataRequest: no response from 127.0.0.1 port PORT within 0.05 s"


@pytest.mark.parametrize(
    ("last", "cause", "text"),
    [
        (b"", ConnectionError, "the broker has closed it"),
        (
            b"\0\0",
            RemoteProtocolError,
            "the peer closed the connection inside the frame at offset {offset}, after 2 bytes",
        ),
        (
            b"\0\0\0\4\0\0\0\x63",
            RemoteProtocolError,
            "expected the response to MetadataRequest v13 with correlation id 1, got correlation id 99 at offset {offset}",
        ),
    ],
)
def test_lost_connection_fails_pending_and_later_requests(last: bytes, cause: type[Exception], text: str) -> None:
    async def answer(_: RequestReceived) -> Response | None:
        raise CloseConnection(last)

    async def talk() -> None:
        async with await serve(answering(answer)) as server, await connect("127.0.0.1", server.port) as broker:
            requests = [broker.request(MetadataRequest()) for _ in range(2)]
            failures = await asyncio.gather(*requests, return_exceptions=True)
            later = await asyncio.gather(broker.request(MetadataRequest()), return_exceptions=True)
            for failure in [*failures, *later]:
                assert type(failure) is ConnectionError
                assert type(failure.__cause__) is cause
                reason = text.format(offset=getattr(failure.__cause__, "offset", None))
                ended = f"MetadataRequest: the connection to 127.0.0.1 port {server.port} has ended: {reason}"
                assert str(failure) == ended

    run(talk())


@pytest.mark.parametrize(("seconds", "text"), [(1, "1 s"), (1.0, "1 s"), (0.5, "0.5 s")])
def test_timeout_is_told_in_seconds(seconds: float, text: str) -> None:
    async def talk() -> str:
        with pytest.raises(TimeoutError) as caught:
            async with within(seconds, "no answer"):
                await asyncio.Event().wait()
        return str(caught.value)

    assert run(talk()) == f"no answer within {text}"


def test_large_response_does_not_block_the_event_loop() -> None:
    """While a response is decoded, another connection gets its own."""
    other_is_answered = threading.Event()

    def slow(decode_response: Callable[..., Any]) -> Callable[..., Any]:
        def decode(payload: bytes, *args: Any, **options: Any) -> Any:
            if len(payload) > 1 << 16:
                assert other_is_answered.wait(5), "the event loop is blocked"
            return decode_response(payload, *args, **options)

        return decode

    async def answer(received: RequestReceived) -> Response | None:
        topics = [MetadataResponse.MetadataResponseTopic(name="t" * 30_000)] * (3 if received.version == 12 else 0)
        return MetadataResponse(topics=topics)

    async def talk() -> None:
        async with (
            await serve(answering(answer)) as server,
            await connect("127.0.0.1", server.port) as broker,
            await connect("127.0.0.1", server.port) as other,
        ):
            large = asyncio.create_task(broker.request(MetadataRequest(), 12))
            assert (await other.request(MetadataRequest(), 11)).topics == []
            other_is_answered.set()
            assert len((await large).topics) == 3

    with replaced("decode_response", slow):
        run(talk())


@pytest.mark.parametrize(
    ("is_tls", "text"),
    [
        (True, "no connection to 127.0.0.1 port PORT: reset; does the port expect TLS, or refuse connections?"),
        (
            False,
            "ApiVersionsRequest: the connection to 127.0.0.1 port PORT has ended: "
            "the broker has closed it before it sent its versions; does the port expect TLS, or refuse connections?",
        ),
    ],
)
def test_port_that_expects_the_opposite_of_tls_is_named(is_tls: bool, text: str) -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1 << 16)
        writer.close()

    async def talk() -> str:
        async with await asyncio.start_server(close, "127.0.0.1", 0) as server:
            port: int = server.sockets[0].getsockname()[1]
            context = ssl.create_default_context() if is_tls else None
            with pytest.raises(ConnectionError) as caught:
                await connect("127.0.0.1", port, ssl_context=context)
            return str(caught.value).replace(str(port), "PORT")

    assert run(talk()) == text


def test_close_fails_pending_requests() -> None:
    async def talk() -> None:
        arrived = asyncio.Event()

        async def answer(received: RequestReceived) -> Response | None:
            arrived.set()
            await asyncio.Event().wait()
            return None

        async with await serve(answering(answer), linger=0) as server:
            broker = await connect("127.0.0.1", server.port, max_pending=1)
            tasks = [asyncio.create_task(broker.request(MetadataRequest())) for _ in range(3)]
            await arrived.wait()
            await broker.close()
            await broker.close()
            for failure in await asyncio.gather(*tasks, return_exceptions=True):
                assert str(failure) == (
                    f"MetadataRequest: the connection to 127.0.0.1 port {server.port} has ended: "
                    "this program has closed it"
                )

    run(talk())


@pytest.mark.parametrize("is_tls", [False, True])
def test_silent_peer_is_given_up(is_tls: bool) -> None:
    async def talk() -> str:
        ended = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with closing(writer):
                while await reader.read(1000):
                    pass
            ended.set()

        async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            context = ssl.create_default_context() if is_tls else None
            with pytest.raises(TimeoutError) as caught:
                await connect("127.0.0.1", port, ssl_context=context, timeout=0.1)
            await ended.wait()
            return str(caught.value).replace(str(port), "PORT")

    assert run(talk()) == "no connection to 127.0.0.1 port PORT within 0.1 s"


def test_peer_that_does_not_read_cannot_delay_close() -> None:
    async def talk() -> None:
        connected, ended = asyncio.Event(), asyncio.Event()

        async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connected.set()
            await ended.wait()
            writer.transport.abort()

        async with await asyncio.start_server(deaf, "127.0.0.1", 0) as server:
            known = ClientConnection(versions=BrokerVersions.from_response(announce()))
            port = server.sockets[0].getsockname()[1]
            broker = await connect("127.0.0.1", port, connection=known, request_timeout=0.05)
            await connected.wait()
            huge = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="n" * 30_000)] * 1000)
            with pytest.raises(TimeoutError):
                await broker.request(huge)
            await broker.close(0.05)
            ended.set()

    run(talk())


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return the contexts of a server and of its clients."""
    made, key = certificate(Path(tmp_path_factory.mktemp("tls")))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(made, key)
    return server, ssl.create_default_context(cafile=str(made))


def test_tls_connection_verifies_the_certificate(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def talk() -> None:
        async with await serve(answering(list_groups), ssl_context=contexts[0]) as server:
            async with await connect("localhost", server.port, ssl_context=contexts[1]) as broker:
                response = await broker.request(ListGroupsRequest(states_filter=["g"]))
                assert [each.group_id for each in response.groups] == ["g"]
            with pytest.raises(ssl.SSLCertVerificationError):
                await connect("localhost", server.port, ssl_context=ssl.create_default_context())
            with pytest.raises(OSError, match="has ended"):
                await connect("localhost", server.port)

    run(talk())


USER, PASSWORD = "a,li=ce", "alice-sécret"


class Login:
    """Broker side of a login."""

    def __init__(self, mechanism: str) -> None:
        self.mechanism = mechanism
        algorithm = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}.get(mechanism, "sha256")
        server = ScramServer(algorithm, USER, PASSWORD)
        steps: list[Callable[[bytes], bytes]] = (
            [self.plain] if mechanism == "PLAIN" else [server.challenge, server.finish]
        )
        self.steps = iter(steps)

    def plain(self, token: bytes) -> bytes:
        if token != f"\0{USER}\0{PASSWORD}".encode():
            raise ScramError("the password is wrong")
        return b""

    async def answer(self, received: RequestReceived) -> Response | None:
        match received.message:
            case SaslHandshakeRequest(mechanism=mechanism):
                assert received.version == 1
                code = ErrorCode.NONE if mechanism == self.mechanism else ErrorCode.UNSUPPORTED_SASL_MECHANISM
                return SaslHandshakeResponse(error_code=code, mechanisms=[self.mechanism])
            case SaslAuthenticateRequest(auth_bytes=token):
                try:
                    return SaslAuthenticateResponse(auth_bytes=next(self.steps)(token))
                except ScramError as error:
                    code = ErrorCode.SASL_AUTHENTICATION_FAILED
                    return SaslAuthenticateResponse(error_code=code, error_message=str(error))
            case _:
                assert next(self.steps, None) is None, "the login is not complete"
                return await list_groups(received)


def log_in(login: Any, mechanism: str, password: str) -> str:
    async def talk() -> str:
        async with await serve(answering(login.answer)) as server:
            try:
                sasl = (mechanism, USER, password)
                async with await connect("127.0.0.1", server.port, sasl=sasl) as broker:
                    response = await broker.request(ListGroupsRequest(states_filter=["logged in"]))
                    return response.groups[0].group_id
            except (AuthenticationError, UnsupportedVersionError) as error:
                return str(error)

    return run(talk())


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_client_logs_in(mechanism: str) -> None:
    assert log_in(Login(mechanism), mechanism, PASSWORD) == "logged in"


@pytest.mark.parametrize(
    ("mechanism", "reason"),
    [
        ("PLAIN", "the password is wrong"),
        ("SCRAM-SHA-256", "the proof is wrong"),
        ("SCRAM-SHA-512", "the proof is wrong"),
    ],
)
def test_wrong_password_raises_authentication_error(mechanism: str, reason: str) -> None:
    assert log_in(Login(mechanism), mechanism, "wrong") == f"{mechanism}: SASL_AUTHENTICATION_FAILED: {reason}"


def test_unsupported_mechanism_raises_authentication_error() -> None:
    found = log_in(Login("PLAIN"), "SCRAM-SHA-256", PASSWORD)
    assert found == "SCRAM-SHA-256: UNSUPPORTED_SASL_MECHANISM: the broker has PLAIN"


def test_broker_that_does_not_know_the_password_is_rejected() -> None:
    class Impostor(Login):
        def __init__(self) -> None:
            super().__init__("SCRAM-SHA-256")
            self.steps = iter([next(self.steps), lambda _: b"v=AAAA"])

    expected = "SCRAM: the broker's signature is wrong: it does not know the password"
    assert log_in(Impostor(), "SCRAM-SHA-256", PASSWORD) == expected
