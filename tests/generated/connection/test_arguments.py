"""Invalid arguments raise errors that name the expected type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from kafka_messages import ApiVersionsRequest, HeartbeatRequest, MetadataRequest
from kafka_messages.connection import ClientConnection, ProxyConnection, ServerConnection, announce
from kafka_messages.testing import random_messages
from kafka_records import with_base_offset

client: Callable[..., Any] = ClientConnection
server: Callable[..., Any] = ServerConnection
proxy: Callable[..., Any] = ProxyConnection
announcing: Callable[..., Any] = announce
at_offset: Callable[..., Any] = with_base_offset
drawn: Callable[..., Any] = random_messages
TEXT = "text must be 'strict' or 'surrogateescape', not "
BYTES = "data must be bytes-like, not "
LISTENER = "listener must be 'broker' or 'controller', not "


@pytest.mark.parametrize(
    ("use", "error", "expected"),
    [
        (lambda: client(5), TypeError, "client_id must be a str or None, not 5"),
        (lambda: client(b"me"), TypeError, "client_id must be a str or None, not b'me'"),
        (lambda: client(versions={}), TypeError, "versions must be BrokerVersions or None, not {}"),
        (lambda: client(text="x"), ValueError, f"{TEXT}'x'"),
        (lambda: client(text=None), ValueError, f"{TEXT}None"),
        (lambda: server(text=None), ValueError, f"{TEXT}None"),
        (lambda: server(text=["strict"]), ValueError, f"{TEXT}['strict']"),
        (lambda: server({}), TypeError, "announced must be an ApiVersionsResponse or None, not {}"),
        (
            lambda: server(HeartbeatRequest(group_id="g")),
            TypeError,
            f"announced must be an ApiVersionsResponse or None, not {repr(HeartbeatRequest(group_id='g'))[:57]}...",
        ),
        (lambda: proxy(decode=5), TypeError, "decode must be a list of APIs, not 5"),
        (lambda: client().receive_data(None), TypeError, f"{BYTES}NoneType"),
        (lambda: client().receive_data("abc"), TypeError, f"{BYTES}str"),
        (lambda: server().receive_data([1, 2]), TypeError, f"{BYTES}list"),
        (lambda: proxy().receive_from_client(5), TypeError, f"{BYTES}int"),
        (lambda: client().send(None), TypeError, "expected a request, got None"),
        (lambda: announcing(["Fetch"], listener="nonsense"), ValueError, f"{LISTENER}'nonsense'"),
        (lambda: announcing(["Fetch"], listener=5), ValueError, f"{LISTENER}5"),
        (lambda: announcing(5), TypeError, "apis must be a list of APIs, not 5"),
        (lambda: at_offset(None, 3), TypeError, "batch must be bytes-like, not NoneType"),
        (lambda: at_offset("batch", 3), TypeError, "batch must be bytes-like, not str"),
        (
            lambda: next(drawn("HeartbeatRequest", 4)),
            TypeError,
            "expected a message class, got 'HeartbeatRequest'",
        ),
    ],
)
def test_wrong_arguments_raise_with_the_expected_type(
    use: Callable[[], object], error: type[Exception], expected: str
) -> None:
    with pytest.raises(error) as raised:
        use()
    assert (type(raised.value), str(raised.value)) == (error, expected)


@pytest.mark.parametrize("version", [None, 12])
def test_sending_a_request_class_is_rejected(version: int | None) -> None:
    connection = client()
    with pytest.raises(TypeError) as raised:
        connection.send(MetadataRequest, version)
    assert str(raised.value) == "expected a request, got the class MetadataRequest"
    assert connection.send(ApiVersionsRequest()).correlation_id == 0


def test_rejected_data_is_not_buffered() -> None:
    connection = server()
    for given in (None, "abc", ""):
        with pytest.raises(TypeError):
            connection.receive_data(given)
    assert connection.trailing_data == (b"", False)


@pytest.mark.parametrize("listener", ["broker", "controller"])
def test_listener_does_not_change_the_given_apis(listener: str) -> None:
    assert announce(["Fetch"], listener=listener) == announce(["Fetch"])
