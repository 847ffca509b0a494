"""ProxyConnection."""

from __future__ import annotations

import gc
import weakref
from collections import deque
from collections.abc import Iterator
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    DescribeGroupsRequest,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
    RequestHeader,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
    connection,
)
from kafka_messages.connection import (
    ClientConnection,
    ClientIdentity,
    ConnectionClosed,
    LocalProtocolError,
    LocalResponse,
    ProxyConnection,
    RemoteProtocolError,
    RequestForwarded,
    ResponseForwarded,
    ServerConnection,
    TokenForwarded,
    announce,
    endpoints,
    error_response,
)
from kafka_messages.protocol import (
    ApiKey,
    ErrorCode,
    UnknownApiError,
    UnsupportedRequestError,
    api,
    apis,
    encode_request,
    encode_response,
    frame,
)

from tests.support.cluster import COMMITTED, Cluster
from tests.support.lines import recording
from tests.support.random_messages import messages, versions_of

PROXY = Path(connection.__file__).with_name("_proxy.py")
# Client id, client instance id and tags of request header 3 (KIP-1313), and a body. Header 2 cannot be read from it.
NEW_HEADER = b"\0\2me" + bytes.fromhex("0a1b2c3d4e5f406182738495a6b7c8d9") + b"\0body"


def captured_connections() -> Iterator[tuple[bytes, bytes]]:
    for path in sorted(Cluster(COMMITTED).traffic.glob("*.request.bin")):
        name = path.name.split(".")[0]
        yield path.read_bytes(), path.with_name(f"{name}.response.bin").read_bytes()


@pytest.mark.parametrize("decode", [None, [], [ApiKey.METADATA, ApiKey.FETCH, ApiKey.FIND_COORDINATOR]])
def test_real_traffic_is_forwarded_unchanged(decode: list[ApiKey] | None) -> None:
    decoded = passed = 0
    for there, back in captured_connections():
        proxy = ProxyConnection(decode)
        requests = [e for at in range(0, len(there), 999) for e in proxy.receive_from_client(there[at : at + 999])]
        assert b"".join(event.data for event in requests) == there
        responses = [e for at in range(0, len(back), 999) for e in proxy.receive_from_broker(back[at : at + 999])]
        assert b"".join(event.data for event in responses) == back
        for event in (*requests, *responses):
            assert isinstance(event, (RequestForwarded, ResponseForwarded))
            assert event.error is None
            assert event.encode() == event.data
            decoded += event.message is not None
            passed += 1
        assert proxy.unanswered == ()
    assert passed > 300
    assert decoded == passed if decode is None else (decoded > 0) is bool(decode) and decoded < passed


def test_modified_response_is_encoded() -> None:
    proxy = ProxyConnection([ApiKey.METADATA])
    [request] = proxy.receive_from_client(encode_request(MetadataRequest(), 12, 5))
    assert isinstance(request, RequestForwarded)
    assert proxy.unanswered == (request,)
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="broker", port=9092)
    [response] = proxy.receive_from_broker(encode_response(MetadataResponse(brokers=[broker]), 12, 5))
    assert isinstance(response, ResponseForwarded)
    assert response.request is request
    assert response.message is not None
    for endpoint in endpoints(response.message):
        endpoint.host, endpoint.port = "proxy", 1
    changed = MetadataResponse(brokers=[MetadataResponse.MetadataResponseBroker(node_id=1, host="proxy", port=1)])
    assert response.encode() == encode_response(changed, 12, 5)


def test_unknown_apis_and_versions_are_forwarded() -> None:
    proxy = ProxyConnection()
    unknown = frame(b"\x03\xe8\0\0\0\0\0\x01\xff\xffbody")
    newer = frame(b"\0\3\0\x63\0\0\0\2\xff\xff\0body")
    first, second = proxy.receive_from_client(unknown + newer)
    assert isinstance(first, RequestForwarded)
    assert isinstance(second, RequestForwarded)
    assert (first.data, first.api, first.header.request_api_key) == (unknown, None, 1000)
    assert isinstance(first.error, UnknownApiError)
    assert (second.data, second.message) == (newer, None)
    assert str(second.error) == "MetadataRequest has no version 99, only versions 0 to 13"
    responses = frame(b"\0\0\0\1abc") + frame(b"\0\0\0\2def")
    assert b"".join(event.data for event in proxy.receive_from_broker(responses)) == responses


@pytest.mark.parametrize("decode", [None, []])
def test_unknown_version_with_an_unreadable_header_is_forwarded(decode: list[str] | None) -> None:
    proxy = ProxyConnection(decode)
    known = encode_request(HeartbeatRequest(), 4, 4, "me")
    frames = [frame(start + NEW_HEADER) for start in (b"\0\3\0\x0e\0\0\0\2", b"\0\x12\0\6\0\0\0\3")]
    found: list[Any] = list(proxy.receive_from_client(b"".join([*frames, known])))
    assert [event.data for event in found] == [*frames, known]
    assert [event.header for event in found[:2]] == [
        RequestHeader(request_api_key=3, request_api_version=14, correlation_id=2, client_id=None),
        RequestHeader(request_api_key=18, request_api_version=6, correlation_id=3, client_id=None),
    ]
    assert [event.api for event in found[:2]] == [api(ApiKey.METADATA), api(ApiKey.API_VERSIONS)]
    assert [(event.message, event.expects_response) for event in found[:2]] == [(None, True)] * 2
    assert [(type(event.error), str(event.error)) for event in found[:2]] == [
        (UnsupportedRequestError, "MetadataRequest has no version 14, only versions 0 to 13"),
        (UnsupportedRequestError, "ApiVersionsRequest has no version 6, only versions 0 to 5"),
    ]
    assert [event.identity for event in found] == [ClientIdentity(), ClientIdentity(), ClientIdentity("me")]
    assert proxy.unanswered == tuple(found)
    refusal = ApiVersionsResponse(error_code=35)
    assert proxy.answer(found[1], refusal) == b""  # the first response is missing
    newer = frame(b"\0\0\0\2body")
    answered = list(proxy.receive_from_broker(newer))
    assert [event.data for event in answered] == [newer, encode_response(refusal, 0, 3)]


def test_unreadable_header_of_a_known_version_ends_the_connection() -> None:
    with pytest.raises(RemoteProtocolError, match=r"^invalid request header at offset 0: RequestHeader v2: "):
        list(ProxyConnection([]).receive_from_client(frame(b"\0\3\0\x0d\0\0\0\2" + NEW_HEADER)))


def test_token_that_resembles_an_unknown_version_stays_a_token() -> None:
    proxy = ProxyConnection([])
    list(proxy.receive_from_client(encode_request(SaslHandshakeRequest(mechanism="GSSAPI"), 0, 1)))
    list(proxy.receive_from_broker(encode_response(SaslHandshakeResponse(), 0, 1)))
    token = frame(b"\0\3\0\x0e\0\0\0\2" + NEW_HEADER)
    [event] = proxy.receive_from_client(token)
    assert type(event) is TokenForwarded
    assert event.data == token


def test_forwarded_frames_are_not_copied() -> None:
    data = encode_request(HeartbeatRequest(), 4, 2)
    [passing] = ProxyConnection([]).receive_from_client(data)
    assert isinstance(passing, RequestForwarded)
    assert passing.data is data
    assert passing.encode_chunks() == [data]
    proxy = ProxyConnection([])
    pieces = [data[:2], data[2:9], data[9:] + data]
    found = [each for piece in pieces for each in proxy.receive_from_client(piece)]
    assert [each.data for each in found if isinstance(each, RequestForwarded)] == [data, data]
    assert [each.header for each in found if isinstance(each, RequestForwarded)] == [passing.header] * 2


def test_invalid_utf8_client_id_is_forwarded() -> None:
    data = encode_request(DescribeGroupsRequest(groups=["a\udcff"]), 5, 2, "c\udcff", text="surrogateescape")
    choices: tuple[list[ApiKey] | None, ...] = (None, [])
    for decode in choices:
        [passing] = ProxyConnection(decode).receive_from_client(data)
        assert isinstance(passing, RequestForwarded)
        assert (passing.data, passing.encode(), passing.error) == (data, data, None)
        assert passing.header.client_id == "c\udcff"


@pytest.mark.parametrize("decode", [None, []])
@pytest.mark.parametrize("version", [3, 8, 9, 13])
@pytest.mark.parametrize("transactional_id", [None, "t"])
def test_produce_without_acks_expects_no_response(
    decode: list[ApiKey] | None, version: int, transactional_id: str | None
) -> None:
    proxy = ProxyConnection(decode)
    data = encode_request(ProduceRequest(acks=0, transactional_id=transactional_id), version, 1)
    with recording(PROXY) as lines:
        for _ in range(10):
            [passing] = proxy.receive_from_client(data)
            assert isinstance(passing, RequestForwarded)
            assert not passing.expects_response
    is_unread = lines.includes(PROXY, "request.expects_response = False")
    assert is_unread == (decode is not None and transactional_id is None)
    assert not proxy.unanswered
    [passing] = proxy.receive_from_client(encode_request(ProduceRequest(acks=1), version, 2))
    assert proxy.unanswered == (passing,)


@pytest.mark.parametrize(("acks", "expects_response"), [(b"\0\0", False), (b"\xff\xff", True)])
@pytest.mark.parametrize("version", [0, 2, 3, 9, 20])
def test_acks_are_read_at_unsupported_versions(version: int, acks: bytes, expects_response: bool) -> None:
    transactional_id = b"" if version < 3 else b"\xff\xff" if version < 9 else b"\0"
    header = b"\0\0" + version.to_bytes(2, "big") + b"\0\0\0\1\xff\xff" + (b"" if version < 9 else b"\0")
    [passing] = ProxyConnection().receive_from_client(
        frame(header + transactional_id + acks + b"\0\0\x75\x30" + b"\0" * 9)
    )
    assert isinstance(passing, RequestForwarded)
    assert passing.expects_response is expects_response


def test_api_versions_response_falls_back_to_version_0() -> None:
    proxy = ProxyConnection()
    list(proxy.receive_from_client(encode_request(ApiVersionsRequest(), 5, 1)))
    data = encode_response(ApiVersionsResponse(error_code=35), 0, 1)
    [response] = proxy.receive_from_broker(data)
    assert isinstance(response, ResponseForwarded)
    assert response.response is not None
    assert response.response.version == 0
    assert response.encode() == data


def slots_of(event: object) -> dict[str, object]:
    names = [name for cls in type(event).__mro__ for name in vars(cls).get("__slots__", ())]
    return {name: getattr(event, name) for name in names}


@pytest.mark.parametrize("member_id", [b"m1", b"m\xff"])
def test_changed_header_of_a_decoded_request_is_encoded(member_id: bytes) -> None:
    sent = encode_request(HeartbeatRequest(member_id="m1"), 4, 7, "me").replace(b"m1", member_id)
    [passing] = ProxyConnection().receive_from_client(sent)
    assert isinstance(passing, RequestForwarded)
    assert passing.request is not None
    assert passing.header is passing.request.header
    assert passing.encode() == sent
    passing.header.client_id = "gateway"
    assert passing.encode() == frame(sent[4:].replace(b"\0\2me", b"\0\7gateway"))


def test_repeated_undecoded_events_have_the_same_attributes() -> None:
    proxy = ProxyConnection([])
    sent, answered = encode_request(HeartbeatRequest(), 4, 7, "c"), encode_response(HeartbeatResponse(), 4, 7)
    found: list[Any] = [each for _ in range(4) for each in proxy.receive_from_client(sent)]
    first, second, *rest = map(slots_of, found)
    assert (first.pop("_is_unread"), first.pop("_header") is None) == (False, False)
    assert {name: second[name] for name in first} == first
    assert rest == [second, second]
    assert [slots_of(found[0].request), repr(found[3])] == [{}, repr(found[0])]
    responses = list(proxy.receive_from_broker(answered * 4))
    assert [slots_of(each) for each in responses] == [
        {"_frame": answered, "request": each, "response": None, "error": None} for each in found
    ]
    assert {each._waits_at for each in found} == {None}


@settings(deadline=None)
@given(st.lists(st.integers(1, 60), max_size=8), st.lists(st.booleans(), min_size=1, max_size=12))
def test_undecoded_frames_survive_any_chunking(sizes: list[int], are_flexible: list[bool]) -> None:
    versions = [4 if each else 3 for each in are_flexible]
    sent = [encode_request(HeartbeatRequest(), version, n, "c") for n, version in enumerate(versions)]
    answered = [encode_response(HeartbeatResponse(), version, n) for n, version in enumerate(versions)]
    proxy, found = ProxyConnection([]), []
    for receive, frames in ((proxy.receive_from_client, sent), (proxy.receive_from_broker, answered)):
        data = b"".join(frames)
        ends = [end for end in accumulate(sizes) if end < len(data)]
        for start, end in pairwise([0, *ends, len(data)]):
            found += [event.data for event in receive(data[start:end])]
    assert found == sent + answered
    assert (proxy.unanswered, proxy.trailing_data) == ((), (b"", b""))


def test_known_requests_between_tokens_wait_for_the_responses_to_tokens() -> None:
    proxy = ProxyConnection([])
    beat, answered = encode_request(HeartbeatRequest(), 4, 2, "c"), encode_response(HeartbeatResponse(), 4, 2)
    for _ in range(3):
        list(proxy.receive_from_client(beat))
        list(proxy.receive_from_broker(answered))
    list(proxy.receive_from_client(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "c")))
    list(proxy.receive_from_broker(encode_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1)))
    there = list(proxy.receive_from_client(frame(b"token") + beat * 3))
    assert list(map(type, there)) == [TokenForwarded, *[RequestForwarded] * 3]
    back = list(proxy.receive_from_broker(frame(b"other") + answered * 3))
    assert list(map(type, back)) == [TokenForwarded, *[ResponseForwarded] * 3]
    with pytest.raises(RemoteProtocolError, match=r"^invalid request header at offset "):
        list(proxy.receive_from_client(frame(b"token")))


def test_proxy_with_unanswered_requests_is_freed() -> None:
    proxy = ProxyConnection([])
    events = list(proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 2, "c") * 4))
    gone = weakref.ref(proxy)
    del proxy, events
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("decode", [None, []])
@pytest.mark.parametrize("token", [b"", b"\0admin\0secret", b"n,,n=user,r=abc", b"\x60\x82\x01\x00" + b"x" * 50])
def test_sasl_tokens_are_forwarded(token: bytes, decode: list[ApiKey] | None) -> None:
    proxy = ProxyConnection(decode)
    list(proxy.receive_from_client(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)))
    list(proxy.receive_from_broker(encode_response(SaslHandshakeResponse(mechanisms=["PLAIN"]), 0, 1)))
    for _ in range(2):
        [there] = proxy.receive_from_client(frame(token))
        assert isinstance(there, TokenForwarded)
        assert (there.token, there.data) == (token, frame(token))
    [back] = proxy.receive_from_broker(frame(b"challenge"))
    assert isinstance(back, TokenForwarded)
    assert back.token == b"challenge"
    [request] = proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 2))
    assert isinstance(request, RequestForwarded)
    [response] = proxy.receive_from_broker(encode_response(HeartbeatResponse(), 4, 2))  # the last token had no header
    assert isinstance(response, ResponseForwarded)
    with pytest.raises(RemoteProtocolError):
        list(proxy.receive_from_client(frame(b"\0admin\0secret"[:7])))


def test_invalid_frames_raise_remote_protocol_error() -> None:
    proxy = ProxyConnection()
    with pytest.raises(RemoteProtocolError) as caught:
        list(proxy.receive_from_client(frame(b"abc")))
    what = "invalid request header at offset 0: "
    assert (
        str(caught.value) == what + "RequestHeader v0: request_api_version: INT16: 2 bytes needed at offset 2, 1 left"
    )
    assert proxy.trailing_data == (frame(b"abc"), b"")
    with pytest.raises(
        RemoteProtocolError, match=r"^unexpected frame of 4 bytes without an unanswered request at offset 0$"
    ):
        list(proxy.receive_from_broker(frame(b"abcd")))
    proxy = ProxyConnection()
    list(proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 2)))
    what = "expected the response with correlation id 2, got another frame at offset 0"
    with pytest.raises(RemoteProtocolError, match=rf"^{what}$"):
        list(proxy.receive_from_broker(encode_response(HeartbeatResponse(), 4, 3)))


def test_close_returns_unanswered_requests() -> None:
    proxy = ProxyConnection()
    [request] = proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 2))
    assert list(proxy.receive_from_client(b"")) == [ConnectionClosed((request,))]
    assert list(proxy.receive_from_broker(b"")) == [ConnectionClosed((request,))]


@settings(deadline=None)
@given(st.binary(min_size=1, max_size=80), st.binary(min_size=1, max_size=80))
def test_garbage_is_forwarded_or_raises(there: bytes, back: bytes) -> None:
    proxy = ProxyConnection(max_frame_size=64)
    passed = [b"", b""]
    for side, (receive, data) in enumerate(((proxy.receive_from_client, there), (proxy.receive_from_broker, back))):
        try:
            for event in receive(data):
                assert not isinstance(event, ConnectionClosed)
                passed[side] += event.data
        except RemoteProtocolError:
            pass
    assert [passed[0] + proxy.trailing_data[0], passed[1] + proxy.trailing_data[1]] == [there, back]


def receive_three_requests(proxy: ProxyConnection) -> list[RequestForwarded]:
    data = b"".join(encode_request(HeartbeatRequest(), 4, number) for number in (1, 2, 3))
    return [event for event in proxy.receive_from_client(data) if isinstance(event, RequestForwarded)]


def test_local_responses_are_sent_in_request_order() -> None:
    proxy = ProxyConnection([])
    _, second, third = receive_three_requests(proxy)
    refused = error_response(HeartbeatRequest(), ErrorCode.NOT_COORDINATOR, version=4)
    assert proxy.answer(third, HeartbeatResponse()) == b""
    assert proxy.answer(second, refused) == b""
    assert [each.header.correlation_id for each in proxy.unanswered] == [1]
    first = encode_response(HeartbeatResponse(), 4, 1)
    came = list(proxy.receive_from_broker(first))
    assert [type(each) for each in came] == [ResponseForwarded, LocalResponse, LocalResponse]
    assert b"".join(each.data for each in came) == (
        first + encode_response(refused, 4, 2) + encode_response(HeartbeatResponse(), 4, 3)
    )
    assert isinstance(came[1], LocalResponse)
    assert came[1].request is second


def test_local_response_to_the_first_request_is_sent_at_once() -> None:
    proxy = ProxyConnection()
    first, second, third = receive_three_requests(proxy)
    assert proxy.answer(second, HeartbeatResponse()) == b""
    assert proxy.answer(first, HeartbeatResponse()) == (
        encode_response(HeartbeatResponse(), 4, 1) + encode_response(HeartbeatResponse(), 4, 2)
    )
    assert proxy.unanswered == (third,)
    [passing] = proxy.receive_from_broker(encode_response(HeartbeatResponse(), 4, 3))
    assert isinstance(passing, ResponseForwarded)
    assert passing.request is third


class NoWalk(deque[Any]):
    def __iter__(self) -> NoReturn:
        raise AssertionError("all that waits was walked through")


def test_answering_in_reverse_order_does_not_scan_the_queue() -> None:
    proxy = ProxyConnection()
    frames = b"".join(encode_request(HeartbeatRequest(), 4, number) for number in range(5))
    requests = [each for each in proxy.receive_from_client(frames) if isinstance(each, RequestForwarded)]
    for name, queue in vars(proxy).items():
        if isinstance(queue, deque):
            setattr(proxy, name, NoWalk(queue))
    responses = [proxy.answer(each, HeartbeatResponse()) for each in reversed(requests)]
    assert [len(each) for each in responses] == [0, 0, 0, 0, 5 * len(encode_response(HeartbeatResponse(), 4, 0))]


@pytest.mark.parametrize(
    ("request_", "response", "text"),
    [
        (None, HeartbeatResponse(), "expected RequestForwarded, got None"),
        ("it", HeartbeatResponse(), "expected RequestForwarded, got 'it'"),
        (..., None, "expected HeartbeatResponse, got None"),
        (..., b"\0", "expected HeartbeatResponse, got b'\\x00'"),
    ],
)
def test_answer_rejects_wrong_types(request_: Any, response: Any, text: str) -> None:
    proxy = ProxyConnection()
    passing: Any
    received: Any
    [passing] = proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 1))
    with pytest.raises(TypeError) as caught:
        proxy.answer(passing if request_ is ... else request_, response)
    assert str(caught.value) == text
    server = ServerConnection()
    [received] = server.receive_data(encode_request(HeartbeatRequest(), 4, 1))
    with pytest.raises(TypeError) as caught:
        server.send(received if request_ is ... else request_, response)
    assert str(caught.value) == text.replace("RequestForwarded", "RequestReceived")


@pytest.mark.parametrize("size", [0, -1, 1 << 31, 1.5, "9", None])
def test_invalid_max_frame_size_is_rejected(size: Any) -> None:
    text = f"max_frame_size must be a number of bytes, 1 to 2147483647, not {size!r}"
    make: Any
    for make in (ProxyConnection, ServerConnection, ClientConnection):
        with pytest.raises(ValueError, match="max_frame_size") as caught:
            make(max_frame_size=size)
        assert str(caught.value) == text


@pytest.mark.parametrize(("which", "shown"), [("Metadata", "'Metadata'"), (int, "<class 'int'>")])
def test_single_api_is_rejected_as_list_of_apis(which: Any, shown: str) -> None:
    for make, what in ((ProxyConnection, "decode"), (announce, "apis")):
        with pytest.raises(TypeError) as caught:
            make(which)
        assert str(caught.value) == f"{what} must be a list of APIs, not {shown}"


def test_local_response_after_an_unanswered_token_is_sent() -> None:
    proxy = ProxyConnection()
    list(proxy.receive_from_client(encode_request(SaslHandshakeRequest(mechanism="GSSAPI"), 0, 1)))
    list(proxy.receive_from_broker(encode_response(SaslHandshakeResponse(), 0, 1)))
    [token] = proxy.receive_from_client(frame(b"last"))
    assert repr(token) == "<TokenForwarded of SASL, 4 bytes>"
    [asked] = proxy.receive_from_client(encode_request(HeartbeatRequest(), 4, 2))
    assert isinstance(asked, RequestForwarded)
    assert proxy.answer(asked, HeartbeatResponse()) == encode_response(HeartbeatResponse(), 4, 2)


def test_invalid_local_responses_are_rejected() -> None:
    proxy = ProxyConnection()
    first, *_ = receive_three_requests(proxy)
    with pytest.raises(
        LocalProtocolError, match=r"^HeartbeatRequest is answered with HeartbeatResponse, not MetadataResponse$"
    ):
        proxy.answer(first, MetadataResponse())
    proxy.answer(first, HeartbeatResponse())
    again = "HeartbeatRequest with correlation id 1 was answered before, or came on another connection"
    with pytest.raises(LocalProtocolError, match=f"^{again}$"):
        proxy.answer(first, HeartbeatResponse())
    [unknown] = ProxyConnection().receive_from_client(frame(b"\x03\xe8\0\0\0\0\0\x01\xff\xff"))
    assert isinstance(unknown, RequestForwarded)
    with pytest.raises(LocalProtocolError, match=r"^cannot answer a request of the unknown API 1000$"):
        proxy.answer(unknown, HeartbeatResponse())
    [silent] = proxy.receive_from_client(encode_request(ProduceRequest(acks=0), 9, 4))
    assert isinstance(silent, RequestForwarded)
    assert proxy.answer(silent, ProduceResponse()) == b""


def test_unknown_version_of_api_versions_is_answered_at_version_0() -> None:
    proxy = ProxyConnection()
    [asked] = proxy.receive_from_client(frame(b"\0\x12\0\x63\0\0\0\1\xff\xff\0body"))
    assert isinstance(asked, RequestForwarded)
    assert proxy.answer(asked, announce()) == encode_response(
        ApiVersionsResponse(error_code=35, api_keys=announce().api_keys), 0, 1
    )


def test_repr_of_forwarded_frames_has_api_and_size() -> None:
    proxy = ProxyConnection()
    first, *_ = receive_three_requests(proxy)
    assert repr(first) == "<RequestForwarded HeartbeatRequest v4 with correlation id 1, 19 bytes>"
    [response] = proxy.receive_from_broker(encode_response(HeartbeatResponse(), 4, 1))
    assert repr(response) == "<ResponseForwarded to HeartbeatRequest v4 with correlation id 1, 12 bytes>"
    [unknown] = proxy.receive_from_client(frame(b"\x03\xe8\0\7\0\0\0\x01\xff\xff"))
    assert repr(unknown) == "<RequestForwarded API 1000 v7 with correlation id 1, 10 bytes>"


@pytest.mark.parametrize("name", ["plain", "caf\udce9"])
def test_changed_messages_are_encoded_in_chunks(name: str) -> None:
    records = b"r" * 100_000
    partition = FetchResponse.PartitionData(records=records)
    topic = FetchResponse.FetchableTopicResponse(topic=name, partitions=[partition])
    data = encode_response(FetchResponse(responses=[topic]), 12, 1, text="surrogateescape")
    proxy = ProxyConnection()
    [asked] = proxy.receive_from_client(encode_request(FetchRequest(), 12, 1))
    [passing] = proxy.receive_from_broker(data)
    assert isinstance(asked, RequestForwarded)
    assert isinstance(passing, ResponseForwarded)
    assert b"".join(asked.encode_chunks()) == asked.data
    assert b"".join(passing.encode_chunks()) == data
    assert passing.message is not None
    pieces = passing.message.chunks(12, text="surrogateescape")
    assert (records in pieces) is (name == "plain")


@pytest.mark.parametrize("acks", [0, 1])
def test_acks_after_invalid_utf8_are_read(acks: int) -> None:
    proxy = ProxyConnection([])
    asked = ProduceRequest(acks=acks, transactional_id="caf\udce9")
    [passing] = proxy.receive_from_client(encode_request(asked, 9, 1, text="surrogateescape"))
    assert isinstance(passing, RequestForwarded)
    assert passing.expects_response is bool(acks)


def passed(data: bytes) -> object:
    try:
        [request] = ProxyConnection([]).receive_from_client(data)
    except RemoteProtocolError as error:
        return str(error)
    assert isinstance(request, RequestForwarded)
    return request.data, repr(request), request.header, request.api, request.expects_response, repr(request.error)


@pytest.mark.parametrize("api", [each for each in apis() if each.valid_versions], ids=str)
def test_cached_header_start_equals_the_parsed_header(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in versions_of(api.request_class):
        message: Any = next(messages(api.request_class, version, mixed=0))
        payload = encode_request(message, version, -2, "c\udcff", framed=False, text="surrogateescape")
        plain = encode_request(api.request_class(), version, 7, framed=False)
        tagged = payload[:8] + b"\xff\xff\1\0\0" + payload[-9:]  # a tagged field in a flexible header
        cut = [each[:size] for each in (payload, plain) for size in range(min(len(each), 40))]
        for each in (payload, plain, tagged, payload[:8] + b"\xff\xfe" + payload[10:], *cut):
            with monkeypatch.context() as context:
                context.setattr("kafka_messages.connection._proxy.STARTS", {})
                wanted = passed(frame(each))
            assert passed(frame(each)) == wanted
            assert passed(frame(each)) == wanted
