"""``foreign_protocol``: TLS, HTTP, ZooKeeper and SASL bytes that reach a Kafka port by mistake."""

from __future__ import annotations

import base64
import ssl

import pytest
from kafka_messages import MetadataResponse
from kafka_messages.connection import ClientConnection, RemoteProtocolError, ServerConnection
from kafka_messages.protocol import encode_response, foreign_protocol, frame

from tests.support.vectors import pinned


def client_hello() -> bytes:
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


GSSAPI = bytes.fromhex("6082025c06092a864886f71201020201006e82024b")
HTTP2 = "an HTTP/2 server preface (SETTINGS)"
# MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE and MAX_FRAME_SIZE, as from nginx.
SETTINGS = bytes.fromhex("000012040000000000" + "000300000080" + "000400010000" + "000500ffffff")
EMPTY_SETTINGS = bytes.fromhex("000000040000000000")
FOREIGN = {
    "TLS ClientHello": (client_hello(), "a TLS ClientHello"),
    "TLS ServerHello": (bytes.fromhex("160303007a02000076"), "a TLS ServerHello"),
    "TLS handshake, two bytes of it": (bytes.fromhex("1603010200"), "a TLS handshake record"),
    "TLS alert": (bytes.fromhex("15030300020246"), "a TLS alert"),
    "TLS data": (bytes.fromhex("1703030045"), "TLS data"),
    "SSLv2": (bytes.fromhex("802e0103010015000000100100800300"), "an SSLv2 ClientHello"),
    "HTTP/1 request, 4 bytes": (b"GET ", "an HTTP/1 request"),
    "HTTP/1 request, 4 letters": (b"DELE", "an HTTP/1 request"),
    "HTTP/1 request": (b"GET /metrics HTTP/1.1\r\nHost: broker:9092\r\n\r\n", "an HTTP/1 request"),
    "HTTP/1 response": (b"HTTP/1.1 400 Bad Request\r\n", "an HTTP/1 response"),
    "HTTP/2 client": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "an HTTP/2 client preface"),
    "HTTP/2 server": (SETTINGS, HTTP2),
    "HTTP/2 server without settings, acknowledgement": (EMPTY_SETTINGS + bytes.fromhex("000000040100000000"), HTTP2),
    "HTTP/2 server without settings, window": (EMPTY_SETTINGS + bytes.fromhex("00000408000000000000010000"), HTTP2),
    "ZooKeeper ruok": (b"ruok", "a four-letter word of ZooKeeper"),
    "ZooKeeper mntr with a line end": (b"mntr\r\n", "a four-letter word of ZooKeeper"),
    "PROXY protocol, version 1": (b"PROXY TCP4 10.0.0.1 10.0.0.2 4 9\r\n", "a PROXY protocol header (version 1)"),
    "PROXY protocol, version 1, 4 bytes": (b"PROX", "a PROXY protocol header (version 1)"),
    "PROXY protocol without addresses": (b"PROXY UNKNOWN\r\n", "a PROXY protocol header (version 1)"),
    "PROXY protocol, version 2": (b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0", "a PROXY protocol header (version 2)"),
    "SASL/PLAIN": (b"\0admin\0admin-secret", "a SASL/PLAIN token without a frame"),
    "SASL/PLAIN with an authorization id": (b"me\0admin\0pass", "a SASL/PLAIN token without a frame"),
    "SASL/SCRAM": (b"n,,n=admin,r=fyko+d2lbbFgONRv9qkxdawL", "a SASL/SCRAM token without a frame"),
    "SASL/OAUTHBEARER": (b"n,,\x01auth=Bearer vF9df\x01\x01", "a SASL/OAUTHBEARER token without a frame"),
    "SASL/GSSAPI": (GSSAPI, "a SASL/GSSAPI token without a frame"),
    "long frame": (bytes.fromhex("06400001"), "a frame length above 100 MiB"),
}


@pytest.mark.parametrize(("data", "expected"), FOREIGN.values(), ids=FOREIGN)
def test_foreign_bytes_are_recognized(data: bytes, expected: str) -> None:
    assert foreign_protocol(data) == foreign_protocol(bytearray(data)) == expected


@pytest.mark.parametrize("data", [b"", b"\0", b"\0\0\0", b"GET", b"\0\0\0\0", b"\x06\x40\0\0", b"\x80\0\0\0\0"])
def test_possible_frames_and_unknown_bytes_are_none(data: bytes) -> None:
    assert foreign_protocol(data) is None


@pytest.mark.parametrize(
    "data",
    [
        SETTINGS[:-1],
        SETTINGS[:9] + b"\0\x0a" + SETTINGS[11:],
        SETTINGS[:-6] + b"\1\5" + SETTINGS[-4:],
        SETTINGS[:2] + b"\x11" + SETTINGS[3:],
        SETTINGS[:8] + b"\1" + SETTINGS[9:],
        EMPTY_SETTINGS,
        EMPTY_SETTINGS + bytes.fromhex("0000000401000000"),
        EMPTY_SETTINGS + bytes.fromhex("000000040100000001"),
    ],
    ids=["cut", "first id 10", "last id 261", "length 17", "stream 1", "empty", "cut next frame", "next has a stream"],
)
def test_similar_bytes_are_no_http2_settings(data: bytes) -> None:
    assert foreign_protocol(data) is None


@pytest.mark.parametrize("size", [4 + 256 * number for number in (6, 12, 18, 24, 30, 36, 42)])
@pytest.mark.parametrize("version", [8, 13])
def test_response_with_the_first_bytes_of_http2_settings_is_not_foreign(size: int, version: int) -> None:
    rest = size + 4 - len(encode_response(MetadataResponse(cluster_id="x" * 200), version, 0))
    data = encode_response(MetadataResponse(cluster_id="x" * (200 + rest)), version, 0)
    assert data[:9] == bytes((0, 0, size >> 8, 4, 0, 0, 0, 0, 0))
    assert {foreign_protocol(data[:length]) for length in (*range(300), len(data))} == {None}


def test_no_message_of_kafka_is_foreign() -> None:
    assert [str(each) for every in pinned().values() for each in every if foreign_protocol(frame(each.data))] == []


@pytest.mark.parametrize("name", [name for name in FOREIGN if name != "long frame"])
def test_connection_errors_name_the_protocol(name: str) -> None:
    data, expected = FOREIGN[name]
    for connection in (ServerConnection(), ClientConnection()):
        connection.receive_data(data)
        with pytest.raises(RemoteProtocolError, match=r"; this looks like [^;]+$") as caught:
            list(connection.receive_data(b""))
        assert str(caught.value).endswith(f"; this looks like {expected}")


def test_secrets_are_not_in_the_error() -> None:
    for secret, token in (("hunter2", b"\0admin\0hunter2"), ("vF9df", FOREIGN["SASL/OAUTHBEARER"][0])):
        assert secret not in str(foreign_protocol(token))
        assert base64.b64encode(token).decode() not in str(foreign_protocol(token))
