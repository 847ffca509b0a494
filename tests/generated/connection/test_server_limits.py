"""Servers with many unanswered requests, limits, and APIs that are not announced."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType

import pytest
from kafka_messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.connection import (
    ClientConnection,
    ConnectionClosed,
    RemoteProtocolError,
    RequestReceived,
    ServerConnection,
    TokenReceived,
    announce,
)
from kafka_messages.protocol import ApiKey, encode_request, encode_response, frame

HEARTBEAT = encode_request(HeartbeatRequest(group_id="g"), 4, 1)


def calls_of(work: Callable[[], object]) -> int:
    count = 0

    def on_event(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    gc.collect()
    gc.disable()  # finalizers of other tests would be counted
    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
        gc.enable()
    return count


def requests_in(events: Iterator[object]) -> list[RequestReceived]:
    received = list(events)
    assert all(isinstance(each, RequestReceived) for each in received)
    return [each for each in received if isinstance(each, RequestReceived)]


def test_receiving_costs_the_same_with_many_unanswered_requests() -> None:
    server = ServerConnection(announce())
    list(server.receive_data(HEARTBEAT * 10))
    few = calls_of(lambda: list(server.receive_data(HEARTBEAT)))
    list(server.receive_data(HEARTBEAT * 2000))
    assert calls_of(lambda: list(server.receive_data(HEARTBEAT))) == few


def test_client_cost_per_response_is_constant() -> None:
    costs = []
    for unanswered in (10, 2000):
        client = ClientConnection()
        for _ in range(unanswered):
            client.send(HeartbeatRequest(), 4)
        list(client.receive_data(encode_response(HeartbeatResponse(), 4, 0)))
        response = encode_response(HeartbeatResponse(), 4, 1)
        costs.append(calls_of(lambda client=client, response=response: list(client.receive_data(response))))  # type: ignore[misc]
    assert costs[0] == costs[1]


def test_requests_beyond_the_limit_wait_for_a_response() -> None:
    server = ServerConnection(max_unanswered=2)
    data = b"".join(encode_request(HeartbeatRequest(), 4, number) for number in range(4))
    first, second = requests_in(server.receive_data(data))
    assert list(server.receive_data(b"")) == []
    assert server.next_event() is None
    assert server.trailing_data == (data[len(data) // 2 :], True)
    assert server.send(second, HeartbeatResponse()) == b""  # answered, but held back until the first response
    [third] = requests_in(iter(server.next_event, None))
    assert third.header.correlation_id == 2
    server.send(first, HeartbeatResponse())
    [fourth] = requests_in(iter(server.next_event, None))
    server.send(third, HeartbeatResponse())
    [closed] = iter(server.next_event, None)
    assert isinstance(closed, ConnectionClosed)
    assert closed.unanswered == (fourth,)


def test_tokens_do_not_wait_at_the_limit() -> None:
    server = ServerConnection(max_unanswered=1)
    [handshake] = requests_in(server.receive_data(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1)))
    server.send(handshake, SaslHandshakeResponse())
    assert list(server.receive_data(frame(b"a") + frame(b"b"))) == [TokenReceived(b"a"), TokenReceived(b"b")]


@pytest.mark.parametrize(("limit", "shown"), [(0, "0"), (-1, "-1"), ("2", "'2'"), (1.5, "1.5")])
def test_invalid_max_unanswered_is_rejected(limit: int, shown: str) -> None:
    reason = f"max_unanswered must be at least 1 or None, not {shown}"
    with pytest.raises(ValueError, match=f"^{reason}$"):
        ServerConnection(max_unanswered=limit)


def test_unannounced_api_is_not_decoded() -> None:
    server = ServerConnection(announce([ApiKey.METADATA]))
    damaged = frame(encode_request(HeartbeatRequest(), 4, 1)[4:-3])
    reason = "unsupported request at offset 0: HeartbeatRequest v4 is not announced"
    with pytest.raises(RemoteProtocolError, match=f"^{reason}$"):
        list(server.receive_data(damaged))


def test_unannounced_version_of_api_versions_is_not_decoded() -> None:
    server = ServerConnection(announce(release="2.2"))
    header = (18).to_bytes(2, "big") + (3).to_bytes(2, "big") + (7).to_bytes(4, "big") + b"\xff\xff\x00"
    [received] = requests_in(server.receive_data(frame(header + b"damaged")))
    assert not received.is_supported
    assert (received.version, received.response_version, received.header.correlation_id) == (3, 0, 7)
