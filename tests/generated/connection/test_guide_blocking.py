"""The blocking client of the guide against mock brokers: plain, TLS, PLAIN and SCRAM."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    Message,
    MetadataRequest,
    MetadataResponse,
    Response,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.connection import (
    AuthenticationError,
    RemoteProtocolError,
    RequestReceived,
    ServerConnection,
    announce,
)
from kafka_messages.enums import ErrorCode
from kafka_messages.protocol import ApiKey

from tests.support import pages
from tests.support.certificates import certificate
from tests.support.scram import ScramError, ScramServer

SECONDS = 20
USER, PASSWORD = "a,li=ce", "alice-sécret"
SERVED = (ApiKey.API_VERSIONS, ApiKey.METADATA, ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)
Login = Callable[[bytes], bytes]
"""Server side of a login: maps a client token to the response, or raises ScramError."""


@pytest.fixture(scope="module")
def page() -> SimpleNamespace:
    names: dict[str, object] = {"__name__": "guide"}
    pages.run("docs/guide/blocking-client.md", names)
    return SimpleNamespace(**names)


def scram(algorithm: str) -> Login:
    server = ScramServer(algorithm, USER, PASSWORD)
    steps = iter((server.challenge, server.finish))
    return lambda token: next(steps)(token)


def plain(token: bytes) -> bytes:
    if token != b"\0" + USER.encode() + b"\0" + PASSWORD.encode():
        raise ScramError("the password is wrong")
    return b""


class Broker:
    def __init__(self, mechanism: str = "", login: Login | None = None) -> None:
        self.mechanism, self.login = mechanism, login
        self.asked: list[Message] = []

    def answer(self, request: Message) -> Response:
        self.asked.append(request)
        if isinstance(request, ApiVersionsRequest):
            return announce(SERVED)
        if isinstance(request, SaslHandshakeRequest):
            is_known = request.mechanism == self.mechanism
            code = ErrorCode.NONE if is_known else ErrorCode.UNSUPPORTED_SASL_MECHANISM
            return SaslHandshakeResponse(error_code=code, mechanisms=[self.mechanism])
        if isinstance(request, SaslAuthenticateRequest):
            return self.authenticate(request.auth_bytes)
        assert isinstance(request, MetadataRequest)
        wanted = ["orders", "payments"] if request.topics is None else [each.name for each in request.topics]
        partitions = [MetadataResponse.MetadataResponsePartition(partition_index=0)]
        return MetadataResponse(
            topics=[MetadataResponse.MetadataResponseTopic(name=name, partitions=partitions) for name in wanted]
        )

    def authenticate(self, token: bytes) -> SaslAuthenticateResponse:
        assert self.login is not None
        try:
            return SaslAuthenticateResponse(auth_bytes=self.login(token))
        except ScramError as error:
            code = ErrorCode.SASL_AUTHENTICATION_FAILED
            return SaslAuthenticateResponse(error_code=code, error_message=str(error))

    def serve(self, stream: socket.socket) -> None:
        connection = ServerConnection(announce(SERVED))
        while data := stream.recv(7):  # frames arrive in chunks
            for event in connection.receive_data(data):
                assert isinstance(event, RequestReceived)
                response = self.answer(event.message)
                stream.sendall(connection.send(event, response.downgraded(event.response_version)))


@contextmanager
def serve_one_connection(
    serve: Callable[[socket.socket], None], context: ssl.SSLContext | None = None
) -> Iterator[int]:
    failed: list[Exception] = []

    def run() -> None:
        try:
            stream, _ = listener.accept()
            stream.settimeout(SECONDS)
            with closing(context.wrap_socket(stream, server_side=True) if context else stream) as wrapped:
                serve(wrapped)
        except Exception as error:
            failed.append(error)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(SECONDS)
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(SECONDS)
    assert not thread.is_alive()
    assert failed == []


def test_client_lists_all_topics(page: SimpleNamespace) -> None:
    broker = Broker()
    with serve_one_connection(broker.serve) as port, page.connect("127.0.0.1", port) as stream:
        client = page.Client(stream)
        assert page.topics(client) == {"orders": 1, "payments": 1}
        assert client.ask(MetadataRequest()).topics == []
    first, all_topics, none = broker.asked
    assert isinstance(first, ApiVersionsRequest)
    assert (first.client_software_name, first.client_software_version) == ("my-script", "1.0")
    assert (all_topics, none) == (MetadataRequest(topics=None), MetadataRequest(topics=[]))


def test_client_works_with_a_kafka_2_2_broker(page: SimpleNamespace) -> None:
    def serve(stream: socket.socket) -> None:
        old = announce(SERVED, release="2.2.0")
        connection = ServerConnection(old)
        while data := stream.recv(65536):
            for event in connection.receive_data(data):
                assert isinstance(event, RequestReceived)
                response: Response = old if isinstance(event.message, ApiVersionsRequest) else MetadataResponse()
                stream.sendall(connection.send(event, response.downgraded(event.response_version)))

    with serve_one_connection(serve) as port, page.connect("127.0.0.1", port) as stream:
        assert page.topics(page.Client(stream)) == {}


def test_closing_broker_raises_connection_error(page: SimpleNamespace) -> None:
    def serve(stream: socket.socket) -> None:
        stream.recv(65536)

    with (
        serve_one_connection(serve) as port,
        page.connect("127.0.0.1", port) as stream,
        pytest.raises(ConnectionError) as caught,
    ):
        page.Client(stream)
    assert str(caught.value) == "ApiVersionsRequest: the broker closed the connection"


def test_close_inside_a_response_raises(page: SimpleNamespace) -> None:
    def serve(stream: socket.socket) -> None:
        stream.recv(65536)
        stream.sendall(b"\0\0\0\x20\0\0")

    with (
        serve_one_connection(serve) as port,
        page.connect("127.0.0.1", port) as stream,
        pytest.raises(RemoteProtocolError) as caught,
    ):
        page.Client(stream)
    want = "the peer closed the connection inside the frame at offset 0, after 6 bytes"
    assert str(caught.value) == want


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.parametrize("mechanism", ["", "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_client_logs_in_over_tls_with_each_mechanism(
    mechanism: str, page: SimpleNamespace, certified: tuple[Path, Path]
) -> None:
    logins = {"": None, "PLAIN": plain, "SCRAM-SHA-256": scram("sha256"), "SCRAM-SHA-512": scram("sha512")}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certified)
    trusted = ssl.create_default_context(cafile=str(certified[0]))
    broker = Broker(mechanism, logins[mechanism])
    with serve_one_connection(broker.serve, context) as port, page.connect("127.0.0.1", port, trusted) as stream:
        client = page.Client(stream)
        if mechanism == "PLAIN":
            page.log_in_plain(client, USER, PASSWORD)
        elif mechanism:
            page.log_in_scram(client, USER, PASSWORD, mechanism)
        assert page.topics(client) == {"orders": 1, "payments": 1}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_wrong_password_raises(mechanism: str, page: SimpleNamespace) -> None:
    broker = Broker(mechanism, plain if mechanism == "PLAIN" else scram("sha256"))
    with serve_one_connection(broker.serve) as port, page.connect("127.0.0.1", port) as stream:
        client = page.Client(stream)
        log_in = page.log_in_plain if mechanism == "PLAIN" else partial(page.log_in_scram, mechanism=mechanism)
        with pytest.raises(RuntimeError) as caught:
            log_in(client, USER, "wrong")
    reason = "the password is wrong" if mechanism == "PLAIN" else "the proof is wrong"
    assert str(caught.value) == f"SaslAuthenticateRequest: error_code is SASL_AUTHENTICATION_FAILED: {reason}"


def test_unknown_sasl_mechanism_raises(page: SimpleNamespace) -> None:
    broker = Broker("SCRAM-SHA-256", scram("sha256"))
    with serve_one_connection(broker.serve) as port, page.connect("127.0.0.1", port) as stream:
        client = page.Client(stream)
        with pytest.raises(RuntimeError) as caught:
            page.log_in_plain(client, USER, PASSWORD)
    assert str(caught.value) == "SaslHandshakeRequest: error_code is UNSUPPORTED_SASL_MECHANISM: None"
    assert [type(each) for each in broker.asked] == [ApiVersionsRequest, SaslHandshakeRequest]


def test_scram_server_without_the_password_is_rejected(page: SimpleNamespace) -> None:
    replies = iter((ScramServer("sha512", USER, "other").challenge, lambda _: b"v=AAAA"))
    broker = Broker("SCRAM-SHA-512", lambda token: next(replies)(token))
    with serve_one_connection(broker.serve) as port, page.connect("127.0.0.1", port) as stream:
        client = page.Client(stream)
        with pytest.raises(AuthenticationError) as caught:
            page.log_in_scram(client, USER, PASSWORD)
    assert str(caught.value) == "SCRAM: the broker's signature is wrong: it does not know the password"
