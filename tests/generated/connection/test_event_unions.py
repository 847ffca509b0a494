"""The event unions contain exactly the events that occur."""

from __future__ import annotations

from types import UnionType
from typing import get_args

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    HeartbeatRequest,
    HeartbeatResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.connection import (
    ClientConnection,
    ClientEvent,
    ConnectionClosed,
    FromBroker,
    FromClient,
    ProxyConnection,
    RequestReceived,
    ServerConnection,
    ServerEvent,
    announce,
)
from kafka_messages.protocol import encode_request, encode_response


def conversation() -> tuple[list[object], list[object], list[object], list[object]]:
    client, server, proxy = ClientConnection("c"), ServerConnection(announce(release="2.3")), ProxyConnection()
    of_client: list[object] = []
    of_server: list[object] = []
    of_requests: list[object] = []
    of_responses: list[object] = []

    def to_server(data: bytes) -> bytes:
        answer = b""
        for passing in proxy.receive_from_client(data):
            of_requests.append(passing)
            for event in server.receive_data(passing.data):
                of_server.append(event)
                if isinstance(event, RequestReceived):
                    is_first = event.api.name == "ApiVersions"
                    answer += server.send(
                        event, announce(release="2.3") if is_first else SaslHandshakeResponse(mechanisms=["PLAIN"])
                    )
                else:
                    answer += server.send_token(b"welcome")
        return answer

    def to_client(data: bytes) -> None:
        for passing in proxy.receive_from_broker(data):
            of_responses.append(passing)
            of_client.extend(client.receive_data(passing.data))

    asked = client.send(ApiVersionsRequest(client_software_name="c", client_software_version="1"))
    to_client(to_server(asked.data))
    to_client(to_server(of_client[-1].data))  # type: ignore[attr-defined]  # VersionFallback
    to_client(to_server(client.send(SaslHandshakeRequest(mechanism="PLAIN"), 0).data))
    to_client(to_server(client.send_token(b"token")))
    server.end_tokens()
    middle = ProxyConnection()
    first, second = (encode_request(HeartbeatRequest(), 3, number) for number in (1, 2))
    _, passing_second = middle.receive_from_client(first + second)
    assert not isinstance(passing_second, ConnectionClosed)
    middle.answer(passing_second, HeartbeatResponse())  # type: ignore[arg-type]  # a request, as it has read
    of_responses.extend(middle.receive_from_broker(encode_response(HeartbeatResponse(), 3, 1)))
    for side, found in ((client.receive_data, of_client), (server.receive_data, of_server)):
        found.extend(side(b""))
    of_requests.extend(middle.receive_from_client(b""))
    of_responses.extend(middle.receive_from_broker(b""))
    return of_client, of_server, of_requests, of_responses


@pytest.mark.parametrize(
    ("number", "union"),
    list(enumerate([ClientEvent, ServerEvent, FromClient, FromBroker])),
    ids=["ClientEvent", "ServerEvent", "FromClient", "FromBroker"],
)
def test_event_unions_equal_the_occurring_events(number: int, union: UnionType) -> None:
    given = conversation()[number]
    assert all(isinstance(event, union) for event in given)
    assert {type(event) for event in given} == set(get_args(union))
