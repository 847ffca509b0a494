"""A client and a server connected in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    FetchRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    RawTaggedField,
    RequestHeader,
    Response,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.connection import (
    ClientConnection,
    ClientIdentity,
    ConnectionClosed,
    LocalProtocolError,
    RemoteProtocolError,
    RequestReceived,
    ResponseReceived,
    ServerConnection,
    TokenReceived,
    VersionFallback,
    announce,
)
from kafka_messages.protocol import (
    ApiKey,
    BrokerVersions,
    UnknownApiError,
    UnsupportedRequestError,
    Versions,
    apis,
    decode_response,
    encode_request,
    encode_response,
    frame,
)

from tests.support.kafka_protocol import KNOWN_KEYS
from tests.support.random_messages import FULL, random_message

# Client id, client instance id and tags of request header 3 (KIP-1313), and a body. Header 2 cannot be read from it.
NEW_HEADER = b"\0\2me" + bytes.fromhex("0a1b2c3d4e5f406182738495a6b7c8d9") + b"\0body"

ALL = announce()
CLIENT = ApiVersionsRequest(client_software_name="tests", client_software_version="1")


def negotiated_client() -> ClientConnection:
    return ClientConnection("me", versions=BrokerVersions.from_response(ALL))


def send_empty_responses(server: ServerConnection, data: bytes, announced: ApiVersionsResponse = ALL) -> bytes:
    out = b""
    for event in server.receive_data(data):
        assert isinstance(event, RequestReceived)
        empty: Any = announced if event.api.name == "ApiVersions" else event.api.response_class()
        out += server.send(event, empty)
    return out


def test_every_api_round_trips_at_every_version() -> None:
    announced = announce(apis(), versions={int(api.key): api.valid_versions for api in apis()})
    client, server, pairs = ClientConnection("me"), ServerConnection(announced), 0
    for api in apis():
        for version in api.valid_versions:
            request: Any = random_message(api.request_class, version, f"{api}", **FULL)
            response: Any = random_message(api.response_class, version, f"{api}", **FULL)
            if api.key == ApiKey.PRODUCE:
                request.acks = -1
            if api.key == ApiKey.API_VERSIONS:
                response.error_code = 0
            if api.key == ApiKey.SASL_HANDSHAKE:
                response.error_code = 33  # otherwise tokens would follow
            sent = client.send(request, version)
            [received] = server.receive_data(sent.data)
            assert isinstance(received, RequestReceived)
            name = "me" if api.request_header_version(version) else ""  # header version 0 has no client id
            assert (received.message, received.version, received.header.client_id) == (request, version, name)
            assert received.header.correlation_id == sent.correlation_id == pairs
            [event] = client.receive_data(server.send(received, response))
            assert isinstance(event, ResponseReceived)
            assert event.sent is sent
            assert event.message == sent.response == response
            pairs += 1
    assert pairs >= 364  # up to release 4.4.0; later releases have more
    assert (client.unanswered, server.unanswered) == ((), ())


def test_versions_are_negotiated_by_api_versions() -> None:
    client, server = ClientConnection("me"), ServerConnection(ALL)
    reason = (
        "no version of Metadata is negotiated: send an ApiVersionsRequest and await its response, or pass a version"
    )
    with pytest.raises(LocalProtocolError, match=rf"^{reason}$"):
        client.send(MetadataRequest())
    assert client.unanswered == ()
    sent = client.send(CLIENT)
    [event] = client.receive_data(send_empty_responses(server, sent.data))
    assert isinstance(event, ResponseReceived)
    assert client.versions == BrokerVersions.from_response(ALL)
    sent_metadata = client.send(MetadataRequest())
    assert sent_metadata.version == 13
    list(client.receive_data(send_empty_responses(server, sent_metadata.data)))
    response: MetadataResponse = sent_metadata.response
    assert response == MetadataResponse()


@pytest.mark.parametrize(("theirs", "version"), [(Versions(0, 3), 3), (Versions(0, 0), 0)])
def test_api_versions_falls_back_to_the_broker_version(theirs: Versions, version: int) -> None:
    announced = announce(versions={ApiKey.API_VERSIONS: theirs, ApiKey.METADATA: Versions(0, 5)})
    client, server = ClientConnection("me"), ServerConnection(announced)
    sent = client.send(CLIENT)
    assert sent.version == 5
    [received] = server.receive_data(sent.data)
    assert isinstance(received, RequestReceived)
    assert (received.is_supported, received.version, received.response_version) == (False, 5, 0)
    assert received.message == ApiVersionsRequest()
    refused = server.send(received, announced)
    assert int.from_bytes(refused[8:10], "big") == 35
    assert announced.error_code == 0
    [again] = client.receive_data(refused)
    assert isinstance(again, VersionFallback)
    assert again.sent is sent
    assert again.data == sent.data
    assert (sent.version, sent.is_answered) == (version, False)
    [event] = client.receive_data(send_empty_responses(server, again.data, announced))
    assert isinstance(event, ResponseReceived)
    assert event.sent is sent
    assert client.send(MetadataRequest()).version == 5


def test_fallback_without_broker_versions_uses_version_0() -> None:
    client = ClientConnection()
    sent = client.send(CLIENT)
    refusal = encode_response(ApiVersionsResponse(error_code=35), 0, sent.correlation_id)
    [again] = client.receive_data(refusal)
    assert isinstance(again, VersionFallback)
    assert sent.version == 0
    [event] = client.receive_data(refusal)  # a second refusal is reported to the client
    assert isinstance(event, ResponseReceived)
    assert sent.response.error_code == 35


def test_api_versions_at_an_explicit_version_has_no_fallback() -> None:
    client = ClientConnection()
    sent = client.send(CLIENT, 4)
    [event] = client.receive_data(encode_response(ApiVersionsResponse(error_code=35), 0, sent.correlation_id))
    assert isinstance(event, ResponseReceived)
    assert sent.version == 4


def test_unannounced_request_raises_remote_protocol_error() -> None:
    server = ServerConnection(announce(versions={ApiKey.METADATA: Versions(0, 5)}))
    data = encode_request(MetadataRequest(), 6, 7)
    with pytest.raises(RemoteProtocolError) as caught:
        list(server.receive_data(data))
    what = "unsupported request at offset 0: MetadataRequest v6 is not announced"
    assert str(caught.value) == what
    assert isinstance(caught.value.__cause__, UnsupportedRequestError)
    assert caught.value.__cause__.header.correlation_id == 7
    assert server.trailing_data == (data, False)


def test_produce_without_acks_has_no_response() -> None:
    client, server = negotiated_client(), ServerConnection()
    quiet, loud = client.send(ProduceRequest(acks=0)), client.send(HeartbeatRequest())
    assert (quiet.expects_response, loud.expects_response) == (False, True)
    assert client.unanswered == (loud,)
    reason = (
        "HeartbeatRequest v4 with correlation id 1 has no response yet; iterate over the result of receive_data to read"
    )
    with pytest.raises(LocalProtocolError, match=f"^{reason} responses$"):
        loud.response  # noqa: B018
    first, second = server.receive_data(quiet.data + loud.data)
    assert isinstance(first, RequestReceived)
    assert isinstance(second, RequestReceived)
    assert server.send(first, ProduceResponse()) == b""
    assert server.unanswered == (second,)
    [event] = client.receive_data(server.send(second, HeartbeatResponse(error_code=27)))
    assert isinstance(event, ResponseReceived)
    assert event.sent is loud
    assert loud.response.error_code == 27
    with pytest.raises(LocalProtocolError, match=r"^ProduceRequest v13 with correlation id 0 gets no response$"):
        quiet.response  # noqa: B018


def requests_in(server: ServerConnection, data: bytes) -> list[RequestReceived]:
    """Return the events of received requests, and fail for others."""
    events = list(server.receive_data(data))
    received = [event for event in events if isinstance(event, RequestReceived)]
    assert len(received) == len(events)
    return received


def test_responses_are_sent_in_request_order() -> None:
    client, server = negotiated_client(), ServerConnection()
    sent = [client.send(HeartbeatRequest(generation_id=number)) for number in range(3)]
    received = requests_in(server, b"".join(each.data for each in sent))
    assert server.send(received[2], HeartbeatResponse(error_code=3)) == b""
    assert server.send(received[1], HeartbeatResponse(error_code=2)) == b""
    assert server.unanswered == (received[0],)
    data = server.send(received[0], HeartbeatResponse(error_code=1))
    assert [event.sent for event in client.receive_data(data) if isinstance(event, ResponseReceived)] == sent
    assert [each.response.error_code for each in sent] == [1, 2, 3]


def test_wrong_responses_are_rejected() -> None:
    server = ServerConnection()
    [received] = requests_in(server, encode_request(HeartbeatRequest(), 4, 7))
    with pytest.raises(
        LocalProtocolError, match=r"^HeartbeatRequest is answered with HeartbeatResponse, not MetadataR"
    ):
        server.send(received, MetadataResponse())
    with pytest.raises(
        LocalProtocolError, match=r"^HeartbeatRequest with correlation id 7 came on another connection$"
    ):
        ServerConnection().send(received, HeartbeatResponse())
    assert server.send(received, HeartbeatResponse())
    with pytest.raises(LocalProtocolError, match=r"^HeartbeatRequest with correlation id 7 was answered before$"):
        server.send(received, HeartbeatResponse())


def test_raw_tokens_are_exchanged_after_handshake_v0() -> None:
    client, server = negotiated_client(), ServerConnection()
    reason = "raw SASL tokens are only allowed after a successful SaslHandshake of version 0"
    with pytest.raises(LocalProtocolError, match=rf"^{reason}$"):
        client.send_token(b"x")
    with pytest.raises(LocalProtocolError, match=rf"^{reason}$"):
        server.send_token(b"x")
    sent = client.send(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    [received] = server.receive_data(sent.data + frame(b"\0admin\0secret"))  # held back until the response
    assert isinstance(received, RequestReceived)
    list(client.receive_data(server.send(received, SaslHandshakeResponse(mechanisms=["PLAIN"]))))
    assert server.next_event() == TokenReceived(b"\0admin\0secret")
    assert client.send_token(b"\0admin\0secret") == frame(b"\0admin\0secret")
    assert list(client.receive_data(server.send_token(b""))) == [TokenReceived(b"")]
    assert client.send_token(b"last", expects_answer=False) == frame(b"last")
    server.end_tokens()
    beat = client.send(HeartbeatRequest())
    assert list(client.receive_data(send_empty_responses(server, beat.data)))
    assert beat.is_answered


def test_failed_handshake_expects_no_tokens() -> None:
    server = ServerConnection()
    handshake = encode_request(SaslHandshakeRequest(mechanism="X"), 0, 1)
    for _ in range(2):
        [received] = server.receive_data(handshake)
        assert isinstance(received, RequestReceived)
        server.send(received, SaslHandshakeResponse(error_code=33, mechanisms=["PLAIN"]))


CONVERSATION = [CLIENT, MetadataRequest(), ProduceRequest(acks=0), FetchRequest(max_wait_ms=3), HeartbeatRequest()]


def split_into_chunks(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    position = 0
    while position < len(data):
        size = sizes.pop(0) if len(sizes) > 1 else sizes[0]
        yield data[position : position + size]
        position += size


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=20), st.lists(st.integers(1, 60), min_size=1, max_size=20))
def test_events_are_independent_of_chunking(there: list[int], back: list[int]) -> None:
    client, server = negotiated_client(), ServerConnection()
    sent = [client.send(request) for request in CONVERSATION]
    received = [
        e
        for piece in split_into_chunks(b"".join(each.data for each in sent), there)
        for e in server.receive_data(piece)
    ]
    assert [event.message for event in received if isinstance(event, RequestReceived)] == CONVERSATION
    out = b"".join(server.send(each, empty(each)) for each in received if isinstance(each, RequestReceived))
    events = [event for piece in split_into_chunks(out, back) for event in client.receive_data(piece)]
    answered = [event.sent for event in events if isinstance(event, ResponseReceived)]
    assert len(answered) == len(events)
    assert answered == [each for each in sent if each.expects_response]


def empty(received: RequestReceived) -> Response:
    found: type[Response] = received.api.response_class
    return found()


def test_close_between_frames_returns_connection_closed() -> None:
    client, server = negotiated_client(), ServerConnection()
    sent = client.send(HeartbeatRequest())
    [received] = server.receive_data(sent.data)
    assert list(client.receive_data(b"")) == [ConnectionClosed((sent,))]
    assert client.next_event() is None
    assert list(server.receive_data(b"")) == [ConnectionClosed((received,))]
    with pytest.raises(LocalProtocolError, match=r"^the peer has closed the connection; no data can follow$"):
        server.receive_data(b"x")


def test_close_inside_a_frame_raises() -> None:
    client = negotiated_client()
    sent = client.send(HeartbeatRequest())
    half = encode_response(HeartbeatResponse(), sent.version, sent.correlation_id)[:9]
    assert list(client.receive_data(half)) == []
    for _ in range(2):  # repeated
        with pytest.raises(RemoteProtocolError) as caught:
            list(client.receive_data(b"") if not client.trailing_data[1] else [client.next_event()])
        assert str(caught.value) == "the peer closed the connection inside the frame at offset 0, after 9 bytes"
    assert client.trailing_data == (half, True)
    assert client.unanswered == (sent,)
    with pytest.raises(RemoteProtocolError):
        client.send(HeartbeatRequest())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (frame(b""), "the response to HeartbeatRequest v4 with correlation id 0 cannot be read at offset 0: "
         "ResponseHeader v1: correlation_id: INT32: 4 bytes needed at offset 0, 0 left"),
        (frame(b"\0\0\0\1\0"), "expected the response to HeartbeatRequest v4 with correlation id 0, got correlation id 1 "
         "at offset 0"),
        (frame(b"\0\0\0\0\0\0"), "the response to HeartbeatRequest v4 with correlation id 0 cannot be read at offset 0: "
         "HeartbeatResponse v4: throttle_time_ms: INT32: 4 bytes needed at offset 5, 1 left"),
        (b"\xff\xff\xff\xff", "the length of the frame at offset 0 is negative: -1"),
        (b"HTTP/1.1 400", "the frame at offset 0 has 1213486160 bytes, but at most 1000 are allowed; this looks like an "
         "HTTP/1 response"),
    ],
)  # fmt: skip
def test_invalid_response_raises_remote_protocol_error(data: bytes, reason: str) -> None:
    client = ClientConnection(versions=BrokerVersions.from_response(ALL), max_frame_size=1000)
    client.send(HeartbeatRequest())
    for piece in (data, b""):
        with pytest.raises(RemoteProtocolError) as caught:
            list(client.receive_data(piece))
        assert (str(caught.value), caught.value.offset) == (reason, 0)
    assert client.trailing_data[0] == data


def test_response_without_request_raises() -> None:
    with pytest.raises(
        RemoteProtocolError, match=r"^unexpected frame of 3 bytes without an unanswered request at offset 0$"
    ):
        list(ClientConnection().receive_data(frame(b"abc")))


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (b"GET ", "RequestHeader v0: correlation_id: INT32: 4 bytes needed at offset 4, 0 left"),
        (b"GET / HTTP/1.1", f"unknown API key 18245; {KNOWN_KEYS}"),
        (b"\0\3\0\x63\0\0\0\1\xff\xff\0", "MetadataRequest has no version 99, only versions 0 to 13"),
        (b"\0\x0c\0\0\0\0\0\1\xff\xff", "HeartbeatRequest v0: group_id: INT16: 2 bytes needed at offset 10, 0 left"),
    ],
)
def test_invalid_request_raises_remote_protocol_error(payload: bytes, reason: str) -> None:
    server = ServerConnection()
    good = encode_request(HeartbeatRequest(), 4, 7)
    events = server.receive_data(good + frame(payload) + b"rest")
    assert isinstance(next(events), RequestReceived)
    with pytest.raises(RemoteProtocolError) as caught:
        next(events)
    assert str(caught.value).endswith(f" at offset {len(good)}: {reason}")
    assert caught.value.offset == len(good)
    assert server.trailing_data == (frame(payload) + b"rest", False)


@pytest.mark.parametrize("header", [NEW_HEADER, b""], ids=["header 3", "no header"])
def test_api_versions_with_an_unreadable_header_is_answered_at_version_0(header: bytes) -> None:
    server = ServerConnection()
    [event] = server.receive_data(frame(b"\0\x12\0\6\0\0\0\7" + header))
    assert isinstance(event, RequestReceived)
    assert (event.is_supported, event.version, event.message) == (False, 6, ApiVersionsRequest())
    assert event.header == RequestHeader(request_api_key=18, request_api_version=6, correlation_id=7, client_id=None)
    assert event.identity == ClientIdentity()
    answer = announce()
    rejected = ApiVersionsResponse(error_code=35, api_keys=answer.api_keys)
    assert decode_response(server.send(event, answer)[4:], "ApiVersions", 0).message == rejected


def test_unreadable_header_of_another_unknown_version_raises() -> None:
    with pytest.raises(RemoteProtocolError) as caught:
        list(ServerConnection().receive_data(frame(b"\0\3\0\x0e\0\0\0\7" + NEW_HEADER)))
    what = "unsupported request at offset 0: MetadataRequest has no version 14, only versions 0 to 13"
    assert str(caught.value) == what


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=80), st.integers(1, 20))
def test_garbage_raises_one_error_or_waits_for_more(data: bytes, size: int) -> None:
    server, taken = ServerConnection(max_frame_size=64), b""
    failed: list[RemoteProtocolError] = []
    for piece in split_into_chunks(data, [size]):
        try:
            taken += b"" if failed else piece
            list(server.receive_data(piece))
        except RemoteProtocolError as error:
            failed.append(error)
    assert taken.endswith(server.trailing_data[0])
    for each in failed:  # identical on each call
        assert (str(each), taken[each.offset :]) == (str(failed[0]), server.trailing_data[0])


def test_correlation_ids_wrap() -> None:
    client = negotiated_client()
    client._next_id = 2**31 - 1
    assert [client.send(HeartbeatRequest()).correlation_id for _ in range(2)] == [2**31 - 1, 0]


def test_token_is_sent_after_pending_responses() -> None:
    server = ServerConnection()
    data = encode_request(HeartbeatRequest(), 4, 1) + encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 2)
    first, handshake = server.receive_data(data)
    assert isinstance(first, RequestReceived)
    assert isinstance(handshake, RequestReceived)
    assert server.send(handshake, SaslHandshakeResponse()) == b""
    [token] = server.receive_data(frame(b"secret"))
    assert isinstance(token, TokenReceived)
    assert server.send_token(b"welcome") == b""
    assert server.unanswered == (first,)
    assert server.send(first, HeartbeatResponse()) == (
        encode_response(HeartbeatResponse(), 4, 1) + encode_response(SaslHandshakeResponse(), 0, 2) + frame(b"welcome")
    )
    assert server.send_token(b"more") == frame(b"more")


def test_client_cannot_send_after_close_but_server_can_respond() -> None:
    client = ClientConnection(versions=BrokerVersions.of({"Heartbeat": Versions(0, 4)}))
    [closed] = client.receive_data(b"")
    assert isinstance(closed, ConnectionClosed)
    assert list(client.receive_data(b"")) == []
    refused = "the peer has closed the connection; open a new one"
    with pytest.raises(LocalProtocolError, match=f"^{refused}$"):
        client.send(HeartbeatRequest())
    with pytest.raises(LocalProtocolError, match=f"^{refused}$"):
        client.send_token(b"t")
    assert client.unanswered == ()
    server = ServerConnection()
    [asked] = server.receive_data(encode_request(HeartbeatRequest(), 4, 1))
    list(server.receive_data(b""))  # a client may half-close and await the response
    assert isinstance(asked, RequestReceived)
    assert server.send(asked, HeartbeatResponse()) == encode_response(HeartbeatResponse(), 4, 1)


def test_fallback_drops_unknown_tagged_fields() -> None:
    client = ClientConnection()
    sent = client.send(ApiVersionsRequest(unknown_tagged_fields=(RawTaggedField(9, b"x"),)))
    [again] = client.receive_data(encode_response(ApiVersionsResponse(error_code=35), 0, 0))
    assert isinstance(again, VersionFallback)
    assert again.data == encode_request(ApiVersionsRequest(), 0, 0)
    assert sent.version == 0


def test_broker_versions_of_accepts_keys_and_names() -> None:
    known = BrokerVersions.of({ApiKey.METADATA: Versions(0, 5), "Heartbeat": Versions(0, 4), 1000: Versions(0, 1)})
    assert known == BrokerVersions({3: Versions(0, 5), 12: Versions(0, 4), 1000: Versions(0, 1)}, {}, {}, None)
    assert known.highest_common("Metadata") == 5
    with pytest.raises(UnknownApiError, match=r"^unknown API 'Metdata'; did you mean 'Metadata'\?$"):
        BrokerVersions.of({"Metdata": Versions(0, 5)})
