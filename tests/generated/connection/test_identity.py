"""Identity of a client, on definitions of our own with request header 3."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ControlledShutdownRequest,
    HeartbeatRequest,
    MetadataRequest,
    RawTaggedField,
    RequestHeader,
)
from kafka_messages.connection import (
    ClientConnection,
    ClientIdentity,
    ProxyConnection,
    RequestForwarded,
    RequestReceived,
    ServerConnection,
    VersionFallback,
    announce,
)
from kafka_messages.protocol import Versions, encode_request, frame

from tests.support import identities
from tests.support.identities import INSTANCE, V1, V2, V3

OTHER = UUID(int=7)
ZERO = UUID(int=0)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return identities.build(tmp_path_factory.mktemp("identities"))


@pytest.fixture(scope="module")
def framed(own: ModuleType) -> Callable[..., bytes]:
    """Encode a MetadataRequest with the ids in its header."""

    def written(version: int, number: int, client_id: str | None = None, instance: UUID = ZERO) -> bytes:
        header = own.RequestHeader(
            request_api_key=3,
            request_api_version=version,
            correlation_id=number,
            client_id=client_id,
            client_instance_id=instance,
        )
        api = own.protocol.api("Metadata")
        data: bytes = own.protocol.DecodedRequest(header, api, version, own.MetadataRequest()).encode()
        return data

    return written


def named(own: ModuleType, **more: object) -> Any:
    return own.connection.ClientIdentity(**more)


# --- clients ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [V1, V2])
def test_client_sends_ids_in_first_v3_request_after_older_headers(own: ModuleType, first: int) -> None:
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    assert client.identity == named(own)
    headers = []
    for version in (first, V3, V3, first):
        sent = client.send(own.MetadataRequest(), version)
        headers.append(own.protocol.decode_request(sent.data[4:]).header)
    assert [(each.client_id, each.client_instance_id) for each in headers] == [
        *(("me", ZERO), ("me", INSTANCE), (None, ZERO), ("me", ZERO))
    ]
    assert client.identity == named(own, client_id="me", client_instance_id=INSTANCE)


def test_client_that_starts_with_v3_sends_ids_once(own: ModuleType) -> None:
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    asked = own.ApiVersionsRequest(client_software_name="guide", client_software_version="1")
    headers = [
        own.protocol.decode_request(client.send(each, version).data[4:]).header
        for each, version in ((asked, 5), (own.MetadataRequest(), V3), (own.ProduceRequest(acks=0), V3))
    ]
    found = [(each.client_id, each.client_instance_id) for each in headers]
    assert found == [("me", INSTANCE), (None, ZERO), (None, ZERO)]
    assert client.identity == named(
        own, client_id="me", client_instance_id=INSTANCE, software_name="guide", software_version="1"
    )


def test_request_that_cannot_be_encoded_announces_nothing(own: ModuleType) -> None:
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    with pytest.raises(own.EncodeError):
        client.send(own.MetadataRequest(topics=[own.MetadataRequest.MetadataRequestTopic(name=5)]), V3)
    assert client.identity == named(own)
    header = own.protocol.decode_request(client.send(own.MetadataRequest(), V3).data[4:]).header
    assert (header.client_id, header.client_instance_id, header.correlation_id) == ("me", INSTANCE, 0)


@pytest.mark.parametrize(("highest", "resent"), [(4, ("me", ZERO)), (5, ("me", ZERO))])
def test_resent_request_has_the_ids_of_the_rejected_one(
    own: ModuleType, highest: int, resent: tuple[str | None, UUID]
) -> None:
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    sent = client.send(own.ApiVersionsRequest(client_software_name="guide", client_software_version="1"))
    assert sent.version == 5
    key = own.ApiVersionsResponse.ApiVersion(api_key=18, min_version=0, max_version=highest)
    refused = own.protocol.encode_response(own.ApiVersionsResponse(error_code=35, api_keys=[key]), 0, 0)
    [event] = client.receive_data(refused)
    assert type(event) is own.connection.VersionFallback
    header = own.protocol.decode_request(event.data[4:]).header
    assert (header.client_id, header.client_instance_id) == resent
    # The broker may not have understood the rejected header, so the next one has the ids again.
    header = own.protocol.decode_request(client.send(own.MetadataRequest(), V3).data[4:]).header
    assert (header.client_id, header.client_instance_id) == ("me", INSTANCE)


def test_changed_client_id_is_sent_again(own: ModuleType) -> None:
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    client.send(own.MetadataRequest(), V3)
    client.client_id = "you"
    header = own.protocol.decode_request(client.send(own.MetadataRequest(), V3).data[4:]).header
    assert (header.client_id, header.client_instance_id) == ("you", INSTANCE)
    assert client.identity == named(own, client_id="you", client_instance_id=INSTANCE)


@pytest.mark.parametrize("given", ["x", ZERO])
def test_invalid_client_instance_id_is_rejected(given: Any) -> None:
    text = f"client_instance_id must be a UUID except zero, or None, not {given!r}"
    with pytest.raises(TypeError, match=f"^{re.escape(text)}$"):
        ClientConnection(client_instance_id=given)


def test_headers_of_this_release_have_no_client_instance_id() -> None:
    client, without = ClientConnection("me", client_instance_id=INSTANCE), ClientConnection("me")
    for _ in range(2):
        assert client.send(MetadataRequest(), 13).data == without.send(MetadataRequest(), 13).data
    assert client.identity == ClientIdentity("me")


def test_older_api_versions_request_announces_no_software() -> None:
    client = ClientConnection("me")
    asked = ApiVersionsRequest(client_software_name="guide", client_software_version="1")
    client.send(asked, 2)
    assert client.identity == ClientIdentity("me")
    client.send(asked, 3)
    assert client.identity == ClientIdentity("me", None, "guide", "1")


@pytest.mark.parametrize(("highest", "software"), [(0, ()), (2, ()), (3, ("guide", "1"))])
def test_fallback_reports_only_software_that_the_broker_reads(highest: int, software: tuple[str, ...]) -> None:
    client, server = ClientConnection("me"), ServerConnection(announce(versions={"ApiVersions": Versions(0, highest)}))
    sent = client.send(ApiVersionsRequest(client_software_name="guide", client_software_version="1"))
    assert client.identity == ClientIdentity("me", None, "guide", "1")
    [rejected] = server.receive_data(sent.data)
    assert isinstance(rejected, RequestReceived)
    [event] = client.receive_data(server.send(rejected, announce(versions={"ApiVersions": Versions(0, highest)})))
    assert isinstance(event, VersionFallback)
    assert event.sent.version == highest
    [read] = server.receive_data(event.data)
    assert isinstance(read, RequestReceived)
    assert client.identity == server.identity == read.identity == ClientIdentity("me", None, *software)


# --- servers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [V1, V2])
def test_server_remembers_identity_of_connection_that_starts_with_older_headers(
    own: ModuleType, framed: Callable[..., bytes], first: int
) -> None:
    server = own.connection.ServerConnection()
    assert server.identity == named(own)
    data = framed(first, 1, "me") + framed(V3, 2, "me", INSTANCE) + framed(V3, 3) + framed(first, 4)
    found = [event.identity for event in server.receive_data(data)]
    both = named(own, client_id="me", client_instance_id=INSTANCE)
    assert found == [named(own, client_id="me"), both, both, both]
    assert found[1] is found[2] is found[3] is server.identity


def test_server_remembers_identity_of_connection_that_starts_with_v3(
    own: ModuleType, framed: Callable[..., bytes]
) -> None:
    server = own.connection.ServerConnection()
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    asked = own.ApiVersionsRequest(client_software_name="guide", client_software_version="1")
    data = client.send(asked).data + client.send(own.MetadataRequest(), V3).data
    found = [event.identity for event in server.receive_data(data + framed(V1, 3, "you"))]
    software = {"client_instance_id": INSTANCE, "software_name": "guide", "software_version": "1"}
    assert found == [named(own, client_id=name, **software) for name in ("me", "me", "you")]
    assert server.identity is found[2]


def test_rejected_api_versions_request_reports_the_client_id() -> None:
    server = ServerConnection()
    [event] = server.receive_data(frame(b"\0\x12\0\x63\0\0\0\1\0\2me\0\x05name"))
    assert isinstance(event, RequestReceived)
    assert event.is_supported is False
    assert server.identity == ClientIdentity("me")


def test_null_client_id_is_unknown() -> None:
    server = ServerConnection()
    [event] = server.receive_data(encode_request(MetadataRequest(), 13, 1))
    assert isinstance(event, RequestReceived)
    assert event.identity == ClientIdentity() == ClientIdentity(None, None, None, None)


def test_header_without_client_id_field_keeps_the_client_id() -> None:
    identity = ClientIdentity("me")
    header = RequestHeader(request_api_key=ControlledShutdownRequest.API_KEY, request_api_version=0)
    assert header.client_id == ""
    assert identity.after(header) is identity
    assert identity.after(RequestHeader(request_api_key=3, request_api_version=1)) == ClientIdentity("")


# --- proxies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decode", [None, []])
@pytest.mark.parametrize("first", [V1, V2])
def test_proxy_remembers_identity_of_connection_that_starts_with_older_headers(
    own: ModuleType, framed: Callable[..., bytes], first: int, decode: list[str] | None
) -> None:
    proxy = own.connection.ProxyConnection(decode)
    assert proxy.identity == named(own)
    frames = [framed(first, 1, "me"), framed(first, 2, "me"), framed(V3, 3, "me", INSTANCE)]
    frames += [framed(V3, 4), framed(V3, 5), framed(V3, 6), framed(first, 7, "me"), framed(first, 8)]
    found = list(proxy.receive_from_client(b"".join(frames)))
    assert [event.data for event in found] == frames
    both = named(own, client_id="me", client_instance_id=INSTANCE)
    assert [event.identity for event in found] == [named(own, client_id="me")] * 2 + [both] * 6
    ids = [event.header.client_id for event in found]
    assert ids == ["me", "me", "me", None, None, None, "me", None]
    assert [each.correlation_id for each in (event.header for event in found)] == list(range(1, 9))
    assert proxy.unanswered == tuple(found)
    compared = [False, decode == [], False, False, decode == [], decode == [], False, False]
    assert [event._is_unread for event in found] == compared


@pytest.mark.parametrize("decode", [None, []])
def test_proxy_remembers_identity_of_connection_that_starts_with_v3(own: ModuleType, decode: list[str] | None) -> None:
    proxy = own.connection.ProxyConnection(decode)
    client = own.connection.ClientConnection("me", client_instance_id=INSTANCE)
    asked = own.ApiVersionsRequest(client_software_name="guide", client_software_version="1")
    data = client.send(asked).data
    for _ in range(3):
        data += client.send(own.MetadataRequest(), V3).data + client.send(own.ProduceRequest(acks=1), V3).data
    data += client.send(own.ProduceRequest(acks=0), V3).data
    found = list(proxy.receive_from_client(data))
    wanted = named(own, client_id="me", client_instance_id=INSTANCE, software_name="guide", software_version="1")
    assert [event.identity for event in found] == [wanted] * 8
    assert [event.expects_response for event in found] == [True] * 7 + [False]
    assert b"".join(event.data for event in found) == data


def identities_in(proxy: ProxyConnection, data: bytes) -> list[ClientIdentity]:
    events = list(proxy.receive_from_client(data))
    found = [event.identity for event in events if isinstance(event, RequestForwarded)]
    assert len(found) == len(events)
    return found


def test_undecoded_requests_with_another_client_id_change_the_identity() -> None:
    proxy = ProxyConnection([])
    names = ["a", "a", "b", "b", "a", None, None, "a", "b"]
    data = b"".join(encode_request(HeartbeatRequest(), 4, number, name) for number, name in enumerate(names))
    found = [identity.client_id for identity in identities_in(proxy, data)]
    assert found == ["a", "a", "b", "b", "a", "a", "a", "a", "b"]


def test_identity_of_unknown_apis_and_versions() -> None:
    proxy = ProxyConnection([])
    data = frame(b"\x03\xe8\0\0\0\0\0\1\0\2mebody") + frame(b"\0\3\0\x63\0\0\0\2\0\2me\0body")
    found = identities_in(proxy, data)
    assert found == [ClientIdentity(), ClientIdentity("me")]


def test_long_headers_are_not_kept_for_comparison() -> None:
    proxy = ProxyConnection([])
    header = RequestHeader(
        request_api_key=12,
        request_api_version=4,
        client_id="me",
        unknown_tagged_fields=(RawTaggedField(9, bytes(40_000)),),
    )
    data = frame(header.write(2) + HeartbeatRequest().write(4))
    assert identities_in(proxy, 2 * data) == [ClientIdentity("me")] * 2
    assert proxy._rests == {}


def test_omitted_ids_are_recognized_by_the_header(own: ModuleType, framed: Callable[..., bytes]) -> None:
    frames = [framed(V1, 1), framed(V2, 1), framed(V3, 1), framed(V3, 1, "me"), framed(V3, 1, None, OTHER)]
    headers = [own.protocol.decode_request(each[4:]).header for each in frames]
    found = [own.connection.omits_identity(header) for header in headers]
    assert found == [False, False, True, False, False]
    unknown = own.RequestHeader(request_api_key=999, request_api_version=V3, client_id=None)
    assert own.connection.omits_identity(unknown) is False
