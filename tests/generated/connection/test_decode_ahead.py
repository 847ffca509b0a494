"""``decode_ahead``: frames decoded by another thread give the same events, errors and state."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka_messages import (
    ApiVersionsRequest,
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    MetadataRequest,
    MetadataResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.connection import (
    ClientConnection,
    ProxyConnection,
    RemoteProtocolError,
    RequestForwarded,
    ResponseForwarded,
    ServerConnection,
    announce,
)
from kafka_messages.protocol import ApiKey, encode_request, encode_response

from tests.support.replaced import replaced

Ahead = Callable[[int], Callable[[], None] | None]

LARGE = encode_request(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t" * 500)]), 12, 1)
SMALL = encode_request(HeartbeatRequest(member_id="m"), 4, 2)
INVALID = LARGE[:-2] + b"\x7f\xff"  # an incomplete tag section


def in_thread(decode: Callable[[], None]) -> None:
    thread = Thread(target=decode)
    thread.start()
    thread.join()


def events_ahead(events: Iterator[Any], ahead: Ahead, min_size: int) -> Iterator[Any]:
    while True:
        if decode := ahead(min_size):
            in_thread(decode)
        if (event := next(events, None)) is None:
            return
        yield event


@contextmanager
def counted(name: str) -> Iterator[list[bytes]]:
    """Yield the payloads that a function of `protocol` gets from connections inside the block."""
    calls: list[bytes] = []

    def counting(decode: Callable[..., Any]) -> Callable[..., Any]:
        def count(payload: bytes, **options: Any) -> Any:
            calls.append(payload)
            return decode(payload, **options)

        return count

    with replaced(name, counting):
        yield calls


def split(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    while data:
        size = sizes.pop() if sizes else len(data)
        yield data[:size]
        data = data[size:]


def outcome(events: Iterable[Any], connection: Any) -> tuple[list[str], str, object]:
    """Return the events, the error and the rest of a connection."""
    found, error = [], ""
    try:
        for event in events:
            found.append(f"{event!r} {getattr(event, 'data', b'').hex()} {getattr(event, 'message', None)}")
    except RemoteProtocolError as raised:
        error = f"{raised} {raised.offset} {raised.__cause__!r}"
    return found, error, connection.trailing_data


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([LARGE, SMALL, INVALID, b"\xff\xff\xff\xff"]), max_size=5),
    st.lists(st.integers(1, 700)),
    st.sampled_from([1, 100, 515, 10_000]),
    st.integers(20, 600),
)
def test_server_has_the_same_events(frames: list[bytes], sizes: list[int], min_size: int, most: int) -> None:
    def received(with_threads: bool) -> Iterator[Any]:
        connection = connections[with_threads]
        for piece in split(b"".join(frames), [*sizes]):
            events = connection.receive_data(piece)
            yield from events_ahead(events, connection.decode_ahead, min_size) if with_threads else events

    connections = [ServerConnection(max_frame_size=most) for _ in range(2)]
    plain, threaded = (outcome(received(bool(each)), connections[each]) for each in range(2))
    assert threaded == plain


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0, 500]), min_size=1, max_size=5),
    st.lists(st.integers(1, 700)),
    st.booleans(),
    st.booleans(),
)
def test_client_and_proxy_have_the_same_events(
    names: list[int], sizes: list[int], damaged: bool, lenient: bool
) -> None:
    requests = [encode_request(MetadataRequest(), 12, number) for number in range(len(names))]
    data = b"".join(
        encode_response(MetadataResponse(cluster_id="c" * size), 12, number) for number, size in enumerate(names)
    )
    data = data[:-1] + b"\xff" if damaged else data

    def of_client(with_threads: bool) -> tuple[Any, ...]:
        connection = ClientConnection(lenient=lenient)
        for _ in names:
            connection.send(MetadataRequest(), 12)

        def received() -> Iterator[Any]:
            for piece in split(data, [*sizes]):
                events = connection.receive_data(piece)
                yield from events_ahead(events, connection.decode_ahead, 100) if with_threads else events

        return outcome(received(), connection)

    def of_proxy(with_threads: bool, decode: list[ApiKey]) -> tuple[Any, ...]:
        connection = ProxyConnection(decode)

        def received() -> Iterator[Any]:
            for piece in split(b"".join(requests), [*sizes]):
                asked = connection.receive_from_client(piece)
                yield from events_ahead(asked, connection.decode_request_ahead, 20) if with_threads else asked
            for piece in split(data, [*sizes]):
                answers = connection.receive_from_broker(piece)
                yield from events_ahead(answers, connection.decode_response_ahead, 100) if with_threads else answers

        return outcome(received(), connection)

    assert of_client(True) == of_client(False)
    for decode in ([ApiKey.METADATA], []):
        assert of_proxy(True, decode) == of_proxy(False, decode)


@pytest.mark.parametrize("data", [LARGE, INVALID])
def test_frame_is_decoded_once_and_by_the_thread(data: bytes) -> None:
    connection = ServerConnection()
    connection.receive_data(data)
    decode = connection.decode_ahead(100)
    assert decode is not None
    with counted("decode_request") as calls:
        in_thread(decode)
        assert calls == [data[4:]]
        outcome(iter(connection.next_event, None), connection)
    assert calls == [data[4:]]


def test_only_complete_and_large_messages_are_decoded_ahead() -> None:
    server = ServerConnection()
    assert server.decode_ahead(1) is None
    server.receive_data(LARGE[:-1])
    assert server.decode_ahead(1) is None
    server.receive_data(LARGE[-1:])
    assert server.decode_ahead(len(LARGE) + 1) is None
    assert server.decode_ahead(len(LARGE)) is not None

    proxy = ProxyConnection(decode=[ApiKey.METADATA])
    events = proxy.receive_from_client(SMALL + SMALL + LARGE)
    assert proxy.decode_request_ahead(1) is not None  # its header is new
    next(events)
    assert proxy.decode_request_ahead(1) is None  # a Heartbeat is not decoded
    next(events)
    assert proxy.decode_request_ahead(1) is not None
    proxy.receive_from_broker(encode_response(HeartbeatResponse(), 4, 2))
    assert proxy.decode_response_ahead(1) is None


@pytest.mark.parametrize("api", [ApiKey.METADATA, ApiKey.HEARTBEAT, ApiKey.API_VERSIONS])
@pytest.mark.parametrize("decode", [[ApiKey.METADATA], []])
def test_proxy_reads_a_large_header_only_in_the_thread(api: ApiKey, decode: list[ApiKey]) -> None:
    tags = b"".join(bytes([tag, 0]) for tag in (*range(100, 127), 126))  # the last one is a duplicate
    version = {ApiKey.METADATA: 12, ApiKey.HEARTBEAT: 4, ApiKey.API_VERSIONS: 3}[api]
    payload = struct.pack(">hhih", api, version, 1, -1) + b"\x1c" + tags
    proxy = ProxyConnection(decode)
    events = proxy.receive_from_client(len(payload).to_bytes(4, "big") + payload)
    ahead = proxy.decode_request_ahead(20)
    assert ahead is not None
    in_thread(ahead)
    with (
        replaced("read_request_header", lambda _: None),
        replaced("decode_request", lambda _: None),
        pytest.raises(RemoteProtocolError, match=r"^invalid request header at offset 0: .*duplicate tag 126"),
    ):
        next(events)


def test_response_to_a_handshake_is_decoded_by_the_thread() -> None:
    proxy = ProxyConnection(decode=[])
    [asked] = proxy.receive_from_client(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
    response = encode_response(SaslHandshakeResponse(error_code=33, mechanisms=["m"] * 30), 0, 1)
    events = proxy.receive_from_broker(response)
    ahead = proxy.decode_response_ahead(20)
    assert ahead is not None
    in_thread(ahead)
    assert isinstance(asked, RequestForwarded)
    [passing] = events
    assert (passing.data, getattr(passing, "error", 0)) == (response, None)


def test_unannounced_version_is_refused_before_it_is_decoded() -> None:
    server = ServerConnection(announce([ApiKey.HEARTBEAT]))
    server.receive_data(LARGE)
    decode = server.decode_ahead(1)
    assert decode is not None
    with replaced("decode_request", lambda _: None):
        decode()
        with pytest.raises(RemoteProtocolError) as caught:
            server.next_event()
    assert str(caught.value) == "unsupported request at offset 0: MetadataRequest v12 is not announced"


def test_raw_tokens_are_not_decoded_ahead() -> None:
    server = ServerConnection()
    [handshake] = server.receive_data(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1))
    server.receive_data(SMALL)
    assert server.decode_ahead(1) is None
    server.send(handshake, SaslHandshakeResponse())  # type: ignore[arg-type]
    assert server.decode_ahead(1) is None


def test_unused_result_is_not_taken_for_a_later_frame() -> None:
    """The thread of a frame ends after the frame was decoded without it."""
    server = ServerConnection()
    server.receive_data(LARGE + SMALL)
    late = server.decode_ahead(1)
    assert late is not None
    server.next_event()
    late()
    event = server.next_event()
    assert event is not None
    assert repr(event) == f"<RequestReceived {HeartbeatRequest(member_id='m')!r} v4>"


def test_response_is_not_taken_for_another_request() -> None:
    """The oldest request is answered locally while a thread decodes the next frame as its response."""
    proxy = ProxyConnection()
    [first, second] = proxy.receive_from_client(
        encode_request(FetchRequest(), 12, 1) + encode_request(MetadataRequest(), 12, 1)
    )
    events = proxy.receive_from_broker(encode_response(MetadataResponse(cluster_id="c"), 12, 1))
    decode = proxy.decode_response_ahead(1)
    assert decode is not None
    decode()
    assert isinstance(first, RequestForwarded)
    assert proxy.answer(first, FetchResponse()) != b""
    [passing] = events
    assert isinstance(passing, ResponseForwarded)
    assert (passing.request, passing.message) == (second, MetadataResponse(cluster_id="c"))


def test_refused_api_versions_request_is_decoded_once() -> None:
    data = encode_request(ApiVersionsRequest(), 3, 1)[:-1] + b"\xff"
    with counted("decode_request") as calls:
        [passing] = ProxyConnection().receive_from_client(data)
    assert isinstance(passing, RequestForwarded)
    assert passing.error is not None
    assert calls == [data[4:]]
