"""Secrets in messages: no subcommand prints a secret in any encoding without ``--show-secrets``."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterUserScramCredentialsRequest,
    ConfigRecord,
    CreateDelegationTokenResponse,
    EnvelopeRequest,
    EnvelopeResponse,
    FetchResponse,
    FetchSnapshotResponse,
    IncrementalAlterConfigsRequest,
    Message,
    RawTaggedField,
    Request,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    UserScramCredentialRecord,
)
from kafka_messages.explain import explain, explain_request
from kafka_messages.internal_topics import write_metadata_record
from kafka_messages.json import JsonError, from_json, to_json
from kafka_messages.messages.alter_user_scram_credentials_request import ScramCredentialUpsertion
from kafka_messages.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_messages.messages.fetch_snapshot_response import PartitionSnapshot, TopicSnapshot
from kafka_messages.messages.incremental_alter_configs_request import AlterableConfig, AlterConfigsResource
from kafka_messages.protocol import encode_request
from kafka_records import Record, write_batch

from kafka_messages_tools.command import main
from tests.support.captures import captured

SECRET = b"swordfish-and-chips"
TEXT = SECRET.decode()
CONFIG = AlterConfigsResource(
    resource_type=4,
    resource_name="1",
    configs=[AlterableConfig(name="ssl.key.password", value=TEXT), AlterableConfig(name="acks", value="all")],
)
SCRAM = AlterUserScramCredentialsRequest(
    upsertions=[ScramCredentialUpsertion(name="ada", salt=SECRET, salted_password=SECRET)]
)


CREDENTIAL = UserScramCredentialRecord(name="ada", salt=SECRET, stored_key=SECRET, server_key=SECRET)


def of_kraft(compression: str) -> bytes:
    """Return metadata log batches with the secret in a known and in an unknown record type."""
    values = write_metadata_record(CREDENTIAL, 0), b"\x01\x63\0" + SECRET
    return write_batch([Record(value=value, timestamp=1) for value in values], compression=compression)


def fetched(compression: str, **topic: Any) -> FetchResponse:
    partition = PartitionData(records=of_kraft(compression))
    return FetchResponse(responses=[FetchableTopicResponse(**topic, partitions=[partition])])


SNAPSHOT = FetchSnapshotResponse(
    topics=[
        TopicSnapshot(name="__cluster_metadata", partitions=[PartitionSnapshot(unaligned_records=of_kraft("none"))])
    ]
)


@dataclass(frozen=True)
class Planted:
    """A message that contains the secret."""

    message: Message
    version: int

    @property
    def name(self) -> str:
        return type(self.message).NAME

    def __str__(self) -> str:
        return f"{self.name}-{self.version}"

    @property
    def data(self) -> bytes:
        return self.message.write(self.version)


PLANTED = [
    Planted(SaslAuthenticateRequest(auth_bytes=SECRET), 2),
    Planted(SaslAuthenticateRequest(auth_bytes=b"", unknown_tagged_fields=(RawTaggedField(7, SECRET),)), 2),
    Planted(SCRAM, 0),
    Planted(IncrementalAlterConfigsRequest(resources=[CONFIG]), 1),
    Planted(CreateDelegationTokenResponse(hmac=SECRET), 3),
    Planted(UserScramCredentialRecord(name="ada", salt=SECRET, stored_key=SECRET, server_key=SECRET), 0),
    Planted(EnvelopeRequest(request_data=encode_request(SCRAM, 0, 1, framed=False)), 0),
    Planted(EnvelopeRequest(request_data=SECRET), 0),
    Planted(fetched("none", topic="__cluster_metadata"), 12),
    Planted(fetched("gzip", topic="__cluster_metadata"), 12),
    Planted(fetched("none", topic_id=UUID(int=1)), 16),
    Planted(fetched("gzip", topic_id=UUID(int=1)), 16),
    Planted(SNAPSHOT, 1),
    Planted(EnvelopeResponse(response_data=SECRET), 0),
]


def forms(secret: bytes) -> Iterator[str]:
    """Yield parts of a secret as text, hex, numbers and base64."""
    piece = secret[4:10]
    yield from (piece.decode(), piece.hex(), piece.hex(" "), ", ".join(f"0x{byte:02x}" for byte in piece))
    yield from (base64.b64encode(secret[start:]).decode()[:8] for start in (0, 3, 6))


def assert_redacted(output: str) -> None:
    found = [form for form in forms(SECRET) if form in output]
    assert found == [], output


Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command line and returns all its output."""

    def runs(*words: str) -> str:
        main(words)
        out, err = capsys.readouterr()
        return out + err

    return runs


def lines_with_bytes(planted: Planted) -> Iterator[Sequence[str]]:
    """Yield command lines that print the message: complete, truncated, and with a damaged byte."""
    data = planted.data
    kind = "--header" if planted.name.endswith("Record") else ""
    whole = write_metadata_record(planted.message, planted.version) if kind else data
    for each in ("--text", "--json"):
        yield "explain", planted.name, str(planted.version), data.hex(), each, "--all"
        yield "explain", planted.name, str(planted.version), data.hex(), each, "--all", "--records"
        yield "decode", planted.name, str(planted.version), data.hex(), each
        yield "explain", data.hex(), each
        other = data.replace(SECRET, b"another-one-of-this"[: len(SECRET)])
        yield "diff", planted.name, str(planted.version), data.hex(), other.hex(), each
        if kind:
            yield "explain", planted.name, whole.hex(), "--header", each
            yield "decode", planted.name, whole.hex(), "--header", each
        for end in range(1, len(data), 3):
            yield "explain", planted.name, str(planted.version), data[:end].hex(), each, "--in", "hex"
        for at in range(0, len(data), 5):
            broken = data[:at] + b"\xff" + data[at + 1 :]
            yield "explain", planted.name, str(planted.version), broken.hex(), each, "--in", "hex"
            if "Fetch" in planted.name:
                yield "explain", planted.name, str(planted.version), broken.hex(), each, "--in", "hex", "--records"


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_subcommands_redact_secrets(planted: Planted, run: Run) -> None:
    for line in lines_with_bytes(planted):
        if line[1] != planted.data.hex() or planted is PLANTED[0]:
            assert_redacted(run(*line))


@pytest.mark.parametrize("planted", [each for each in PLANTED if each.name.endswith("Request")], ids=str)
def test_truncated_requests_without_a_message_are_redacted(planted: Planted, run: Run) -> None:
    assert isinstance(planted.message, Request)
    frame = encode_request(planted.message, planted.version, 7, "me")
    for data in (frame, frame[4:]):
        for end in (-1, -2, -5):
            printed = run("explain", data[:end].hex(), "--in", "hex", "--all")
            assert_redacted(printed)
            assert printed.startswith(f"{planted.name} v{planted.version} after a ")


@pytest.mark.parametrize("planted", PLANTED, ids=str)
def test_show_secrets_prints_the_secret(planted: Planted, run: Run) -> None:
    line = ("explain", planted.name, str(planted.version), planted.data.hex(), "--json", "--show-secrets", "--records")
    assert SECRET.hex() in run(*line).replace(" ", "")


def test_request_of_unknown_version_is_redacted(run: Run) -> None:
    data = bytearray(encode_request(SaslAuthenticateRequest(auth_bytes=SECRET), 2, 7))
    for key, version in ((36, 9), (36, 99), (999, 2)):
        data[4:8] = key.to_bytes(2, "big") + version.to_bytes(2, "big")
        for form in ("--text", "--json"):
            printed = run("explain", "--frame", data.hex(), form)
            assert_redacted(printed)
            assert "no version" in printed or "unknown API key 999" in printed
        assert_redacted(run("decode", "--frame", data.hex()))


WHY = "redacted, may be secret: --show-secrets shows it"
AUTHENTICATE = SaslAuthenticateRequest(auth_bytes=SECRET).write(2)
HEADER = "0024 0002 00000007"
DAMAGED = {
    "client id too long": bytes.fromhex(f"{HEADER} 7fff 6d65 00") + AUTHENTICATE,
    "client id takes in the body": bytes.fromhex(f"{HEADER} 0012 6d65 00") + AUTHENTICATE,
    "client id of negative length": bytes.fromhex(f"{HEADER} fffe 6d65 00") + AUTHENTICATE,
    "client id not UTF-8": bytes.fromhex(f"{HEADER} 0002 ff65 00") + AUTHENTICATE,
    "count of tags": bytes.fromhex(f"{HEADER} 0002 6d65 05") + AUTHENTICATE,
    "length of a tag": bytes.fromhex(f"{HEADER} 0002 6d65 01 07 7f") + AUTHENTICATE,
    "a tag that takes in the body": bytes.fromhex(f"{HEADER} 0002 6d65 01 07 0a") + AUTHENTICATE,
    "a token of PLAIN": b"\0ada\0" + SECRET,
    "a token of PLAIN with a short name": b"\0A\0" + SECRET,
    "the first bytes of a token": b"\0A\0" + SECRET[4:8],
    "a token of another mechanism": SECRET,
}
"""Requests with unreadable headers, and SASL tokens, which have no header."""


@pytest.mark.parametrize("form", ["--text", "--json"])
@pytest.mark.parametrize("damage", DAMAGED)
def test_body_after_damaged_header_is_redacted(damage: str, form: str, run: Run) -> None:
    data = DAMAGED[damage]
    printed = " ".join(run("explain", "--header", data.hex(), form, "--all", "--in", "hex", "--width", "200").split())
    assert_redacted(printed)
    assert SECRET[4:7].hex() not in printed.replace(" ", "")
    assert_redacted(run("explain", data.hex(), form, "--all", "--in", "hex"))
    assert WHY in printed or damage.endswith("the body")


@pytest.mark.parametrize("form", ["--text", "--json"])
@pytest.mark.parametrize("length", [-1, -(1 << 31), 0, 5])
def test_frame_with_wrong_length_is_redacted(length: int, form: str, run: Run) -> None:
    request = bytes.fromhex(f"{HEADER} 0002 6d65 00") + AUTHENTICATE
    printed = run("explain", "--frame", (length.to_bytes(4, "big", signed=True) + request).hex(), form, "--all")
    assert_redacted(printed)
    found = explain_request(length.to_bytes(4, "big", signed=True) + request, framed=True)
    assert_redacted(found.text(whole=True))
    assert_redacted(json.dumps(list(found.rows())))
    assert list(found.rows())[-1]["note"] == f"the frame has {length} bytes, but {len(request)} follow; {WHY}"


@pytest.mark.parametrize("form", ["--text", "--json"])
@pytest.mark.parametrize("header", ["00000007 7f", "00000007 01 00 7f", "00000007 01 00 0a", "000007"])
def test_body_after_damaged_response_header_is_redacted(header: str, form: str, run: Run) -> None:
    data = bytes.fromhex(header) + SaslAuthenticateResponse(auth_bytes=SECRET).write(2)
    assert_redacted(run("explain", "SaslAuthenticateResponse", "2", "--header", data.hex(), form, "--all"))


@pytest.mark.parametrize("form", ["--text", "--json"])
def test_record_of_unexpected_type_is_redacted(form: str, run: Run) -> None:
    record = write_metadata_record(CREDENTIAL, 0)
    others = [record[:1] + b"\x63" + record[2:], record[:2] + b"\x63" + record[3:], b"\xff" * 6 + record, SECRET]
    for name, data in [("TopicRecord", record), *(("UserScramCredentialRecord", each) for each in others)]:
        printed = " ".join(run("explain", name, "--header", data.hex(), form, "--all", "--width", "200").split())
        assert_redacted(printed)
        assert WHY in printed


def test_damaged_header_without_secrets_is_printed(run: Run) -> None:
    printed = run("explain", "--header", "0003 000c 00000007 7fff 6d65 00 7075626c6963", "--json")
    assert "client_id" in printed
    assert "7075626c6963" in printed


def test_truncated_request_is_redacted(run: Run) -> None:
    data = encode_request(SCRAM, 0, 7)
    printed = ""
    for end in range(4, len(data)):
        printed = run("explain", "--frame", data[:end].hex(), "--in", "hex", "--text", "--all")
        assert_redacted(printed)
        assert f"the frame has {len(data) - 4} bytes, but {end - 4} follow" in printed
    assert "·" in printed


def test_metadata_log_records_are_redacted(run: Run, tmp_path: Path) -> None:
    record = PLANTED[5].message
    values = [write_metadata_record(record, 0), b"\x01\x63\0" + SECRET, b"\x01\x0b\0" + SECRET]
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    file = folder / "00000000000000000000.log"
    file.write_bytes(write_batch([Record(value=value, timestamp=1) for value in values]))
    for form in ("--text", "--json"):
        printed = run("log", str(file), form)
        assert_redacted(printed)
        assert printed.count("(redacted)") >= 5
    assert base64.b64encode(SECRET).decode() in run("log", str(file), "--show-secrets")


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("name", ["copied.log", "orders-0/00000000000000000000.log", "copied.checkpoint"])
def test_renamed_metadata_log_is_redacted(name: str, compression: str, run: Run, tmp_path: Path) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(of_kraft(compression))
    for form in ("--text", "--json"):
        printed = run("log", str(file), form)
        assert_redacted(printed)
        assert '"UserScramCredentialRecord"' in printed
        if not name.endswith(".checkpoint"):
            assert "redacted, may be a metadata record; use --topic, or --show-secrets" in printed
    assert base64.b64encode(SECRET).decode() in run("log", str(file), "--show-secrets")


def test_records_of_a_named_topic_are_printed(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "copied.log"
    file.write_bytes(write_batch([Record(value=b"\x01plain", timestamp=1), Record(value=b"text", timestamp=1)]))
    assert '"\\u0001plain"' in run("log", str(file), "--topic", "orders", "--json")
    printed = run("log", str(file), "--json")
    assert "plain" not in printed
    assert '"text"' in printed


@pytest.mark.parametrize("frame", [1, 2, 7])
def test_metadata_record_of_unknown_frame_version_is_redacted(frame: int, run: Run, tmp_path: Path) -> None:
    value = bytes([frame]) + write_metadata_record(ConfigRecord(name="ssl.key.password", value=TEXT), 0)[1:]
    file = tmp_path / "copied.log"
    file.write_bytes(write_batch([Record(value=value, timestamp=1)]))
    for form in ("--text", "--json"):
        printed = run("log", str(file), form)
        assert_redacted(printed)
        assert TEXT not in printed
    assert TEXT in run("log", str(file), "--topic", "orders")


def test_redacted_bytes_in_json_are_not_base64(run: Run) -> None:
    message = SaslAuthenticateRequest(auth_bytes=SECRET)
    printed = json.loads(run("decode", "SaslAuthenticateRequest", "2", message.write(2).hex()))
    assert printed == {"authBytes": "(redacted)"}
    with pytest.raises(JsonError, match=r"^SaslAuthenticateRequest v2: authBytes: expected bytes as base64, "):
        from_json(SaslAuthenticateRequest, printed, 2)
    captured_ = run("capture", str(captured("kafka-python.pcap")), "--api", "SaslAuthenticate", "--json")
    assert '"authBytes": "(redacted)"' in captured_
    assert base64.b64encode(b"(redacted)").decode() not in captured_


def test_empty_secret_is_printed(run: Run) -> None:
    words = ("SaslAuthenticateRequest", "2", SaslAuthenticateRequest(auth_bytes=b"").write(2).hex(), "--in", "hex")
    assert json.loads(run("decode", *words)) == {"authBytes": ""}
    assert json.loads(run("explain", *words, "--json").splitlines()[0])["hex"] == "01"


def test_encode_of_invalid_base64_reports_the_error(run: Run) -> None:
    value = to_json(PLANTED[0].message, 2) | {"authBytes": TEXT + "!"}
    printed = run("encode", "SaslAuthenticateRequest", "2", json.dumps(value))
    assert "authBytes: expected bytes as base64" in printed


def test_explained_tree_keeps_secret_values() -> None:
    found = explain(PLANTED[0].data, SaslAuthenticateRequest, 2)
    assert [(leaf.path, leaf.value) for leaf in found.leaves() if leaf.is_secret] == [("auth_bytes", SECRET)]
    assert "(redacted)" in found.text()
    assert_redacted(found.text())


def test_settings_without_secrets_are_printed() -> None:
    text = explain(PLANTED[3].data, IncrementalAlterConfigsRequest, 1).text()
    assert '"all"' in text
    assert '"ssl.key.password"' in text
    message = PLANTED[6].message
    assert isinstance(message, EnvelopeRequest)
    envelope = explain_request(encode_request(message, 0, 1, framed=False)).text()
    assert '"ada"' in envelope
