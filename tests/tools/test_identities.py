"""Identity of clients in captures and in the dissector, on definitions of our own with request header 3."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID
from xml.etree import ElementTree

import pytest
from kafka_messages import HeartbeatRequest
from kafka_messages.protocol import encode_request

from kafka_messages_tools.capture import Clients, Exchange, open_capture, to_line, to_object
from kafka_messages_tools.capture.exchange_filter import ExchangeFilter
from kafka_messages_tools.wireshark import dissector
from tests.support import identities
from tests.support.command import RunCommand
from tests.support.identities import INSTANCE, V1, V2, V3
from tests.support.packets import Talk, pcap
from tests.tools.test_wireshark import SECONDS, needs_tshark

INSTANCE_TEXT = "ChssPU5fQGGCc4SVprfI2Q"
"""The client instance id in Kafka's form."""
Sent = Callable[..., Path]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return identities.build(tmp_path_factory.mktemp("identities"))


@pytest.fixture
def sent(own: ModuleType, tmp_path: Path) -> Sent:
    """Write a capture of one client's requests at given versions of Metadata, or of ApiVersions if negative."""

    def written(
        *versions: int,
        skipped: int = 0,
        lost: int = -1,
        client_id: str | None = "me",
        instance_id: UUID | None = INSTANCE,
        size: int = 1400,
    ) -> Path:
        client = own.connection.ClientConnection(client_id, client_instance_id=instance_id)
        software = own.ApiVersionsRequest(client_software_name="guide", client_software_version="1")
        talk = Talk() if skipped else Talk().open()
        for number, version in enumerate(versions):
            request = software if version < 0 else own.MetadataRequest()
            data = client.send(request, abs(version)).data
            response = own.ApiVersionsResponse() if version < 0 else own.MetadataResponse()
            if number == lost:
                talk.next[0] += len(data)
            elif number >= skipped:
                talk.say(data, size=size)
                talk.say(own.protocol.encode_response(response, abs(version), number), from_client=False)
        path = tmp_path / "requests.pcap"
        path.write_bytes(pcap(talk.packets()))
        return path

    return written


def exchanges(path: Path, package: ModuleType) -> list[Exchange]:
    with open_capture(path, package=package.__name__) as capture:
        return list(capture)


def shown(path: Path, package: ModuleType) -> list[tuple[object, object]]:
    """Return client id and client instance id in JSON; ``...`` for an absent key."""
    entries = [to_object(each) for each in exchanges(path, package)]
    return [(each.get("client_id", ...), each.get("client_instance_id", ...)) for each in entries]


@pytest.mark.parametrize("first", [V1, V2])
def test_capture_of_connection_that_starts_with_older_headers(own: ModuleType, sent: Sent, first: int) -> None:
    both = ("me", INSTANCE_TEXT)
    assert shown(sent(first, V3, V3, first), own) == [("me", ...), both, both, both]


def test_capture_of_connection_that_starts_with_v3(own: ModuleType, sent: Sent) -> None:
    found = exchanges(sent(-5, V3, V3), own)
    assert [each.header.client_id for each in found] == ["me", None, None]
    identity = own.connection.ClientIdentity("me", INSTANCE, "guide", "1")
    assert [(each.client_id, each.identity) for each in found] == [("me", identity)] * 3
    assert [to_line(each).split()[5] for each in found] == ["me"] * 3
    assert [ExchangeFilter(clients=frozenset(["me"])).fits(each) for each in found] == [True] * 3
    clients = Clients(package=own.__name__)
    for each in found:
        clients.add(each)
    [client] = clients
    assert (client.client_id, client.software_name, client.software_version) == ("me", "guide", "1")
    assert client.versions == {(18, 5): 1, (3, V3): 2}


def test_capture_that_starts_within_a_connection_reports_the_client_as_unknown(
    own: ModuleType, sent: Sent, run_command: RunCommand
) -> None:
    path = sent(-5, V3, V3, V1, V3, skipped=2)
    assert shown(path, own) == [(..., ...), ("me", ...), ("me", ...)]
    found = exchanges(path, own)
    assert [each.is_client_unknown for each in found] == [True, False, False]
    assert [to_line(each).split()[5] for each in found] == ["?", "me", "me"]
    clients = Clients(package=own.__name__)
    for each in found:
        clients.add(each)
    unknown, known = clients
    assert [(each.client_id, each.is_unknown) for each in (unknown, known)] == [(None, True), ("me", False)]
    assert "client_id" not in unknown.to_object()
    assert known.to_object()["client_id"] == "me"
    _, lines, _ = run_command("capture", str(path), "--clients", "--text", "--package", own.__name__)
    assert lines.startswith("(unknown client): unknown software, at ")


def test_capture_without_the_first_request_reports_the_client_as_unknown(own: ModuleType, sent: Sent) -> None:
    assert shown(sent(-5, V3, V3, lost=0), own) == [(..., ...), (..., ...)]


def test_client_without_client_id_is_not_unknown(own: ModuleType, sent: Sent) -> None:
    found = exchanges(sent(V1, V3, V3, client_id=None), own)
    assert [(each.client_id, each.is_client_unknown) for each in found] == [(None, False)] * 3
    assert shown(sent(V1, V2, skipped=1, client_id=None), own) == [(None, ...)]


def test_unprintable_client_id_of_an_undecodable_request_is_not_remembered(tmp_path: Path) -> None:
    broken = b"\0\x0a\0\0\0\0\0\1\0\5a\0b\1c\0\xff"  # FindCoordinator
    talk = Talk().open().say(len(broken).to_bytes(4, "big") + broken)
    talk.say(encode_request(HeartbeatRequest(), 4, 2))
    path = tmp_path / "broken.pcap"
    path.write_bytes(pcap(talk.close().packets()))
    with open_capture(path, ports=[9092]) as capture:
        assert [each.client_id for each in capture] == ["a\0b\1c", None]


# --- the dissector ----------------------------------------------------------------------------------------------------


def generated(path: Path, package: ModuleType, *options: str) -> Iterator[dict[str, Any]]:
    """Yield the fields with the identity that tshark shows outside header and body of each request."""
    script = path.with_suffix(".lua")
    script.write_text(dissector(package=package.__name__), encoding="utf-8")
    command = ["tshark", "-X", f"lua_script:{script}", "-r", str(path), "-Y", f"{package.__name__}.is_request == 1"]
    done = subprocess.run([*command, *options, "-T", "pdml"], capture_output=True, check=True, timeout=SECONDS)
    assert b"Lua" not in done.stderr, done.stderr
    for node in ElementTree.fromstring(done.stdout).iter("proto"):
        if node.get("name") == package.__name__ and node.find("proto[@showname='header']") is not None:
            fields = {str(each.get("name")).partition(".")[2]: each.get("show") for each in node.findall("field")}
            yield {name: value for name, value in fields.items() if name.startswith("client_")}


@needs_tshark
@pytest.mark.parametrize("first", [V1, V2])
def test_dissector_shows_the_identity_after_older_headers(own: ModuleType, sent: Sent, first: int) -> None:
    found = list(generated(sent(first, V3, V3, first, -3, first), own))
    instance = {"client_instance_id": INSTANCE_TEXT}
    software = {"client_software_name": "guide", "client_software_version": "1"}
    both = {"client_id": "me", **instance}
    assert found == [{}, {}, both, instance, instance, instance | software]


@needs_tshark
def test_dissector_shows_the_identity_of_a_connection_that_starts_with_v3(own: ModuleType, sent: Sent) -> None:
    found = list(generated(sent(-5, V3, V3), own))
    software = {"client_software_name": "guide", "client_software_version": "1"}
    known = {"client_id": "me", "client_instance_id": INSTANCE_TEXT, **software}
    assert found == [{}, known, known]


@needs_tshark
def test_dissector_shows_the_client_as_unknown_within_a_connection(own: ModuleType, sent: Sent) -> None:
    found = list(generated(sent(-5, V3, V3, V1, V3, skipped=2), own))
    assert found == [{"client_unknown": "1"}, {}, {"client_id": "me"}]


@needs_tshark
@pytest.mark.parametrize("size", [1400, 7], ids=["whole requests", "small segments"])
def test_client_without_ids_is_not_unknown(own: ModuleType, sent: Sent, size: int) -> None:
    path = sent(V3, V3, client_id=None, instance_id=None, size=size)
    assert [(each.client_id, each.is_client_unknown) for each in exchanges(path, own)] == [(None, False)] * 2
    assert list(generated(path, own)) == [{}, {}]
    assert list(generated(path, own, "-2")) == [{}, {}]


@needs_tshark
@pytest.mark.parametrize("versions", [(V3, V3, V3), (V1, -5, V3)])
def test_client_of_a_lost_first_request_is_unknown(own: ModuleType, sent: Sent, versions: tuple[int, ...]) -> None:
    path = sent(*versions, lost=0, client_id=None, instance_id=None)
    is_unknown = [each.is_client_unknown for each in exchanges(path, own)]
    software = {"client_software_name": "guide", "client_software_version": "1"} if -5 in versions else {}
    expected = [{"client_unknown": "1"} if unknown else {} for unknown in is_unknown]
    assert list(generated(path, own)) == [expected[0], expected[1] | software]


def test_dissector_of_this_release_knows_no_header_that_omits_ids(own: ModuleType) -> None:
    assert "\nlocal OMITS_IDS_FROM = math.huge\n" in dissector()
    assert "\nlocal OMITS_IDS_FROM = 3\n" in dissector(package=own.__name__)
