"""The Wireshark dissector: tshark shows the same fields as the capture reader."""

from __future__ import annotations

import base64
import gzip
import re
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from kafka_messages import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    FetchRequest,
    FetchResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    MetadataRequest,
    MetadataResponse,
    ProduceRequest,
    RawTaggedField,
    Request,
    Response,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from kafka_messages.json import from_json
from kafka_messages.protocol import Api, apis, encode_request, encode_response, frame
from kafka_messages.schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of
from kafka_messages.secrets import is_secret_setting

from kafka_messages_tools.capture import errors_in, open_capture, to_object
from kafka_messages_tools.wireshark import dissector
from tests.support.captures import CAPTURES, captured
from tests.support.packets import Talk, pcap
from tests.support.vectors import committed

SECONDS = 240
SHOW = ("-o", "kafka_messages.show_secrets:TRUE")
Node = ElementTree.Element
needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None,
    reason="tshark is not installed; nox -s tests -- tests/tools has the tests that need it",
)


def test_dissector_contains_every_api() -> None:
    text = dissector()
    names = [name for api in apis() if not api.is_removed for name in (api.request_name, api.response_name) if name]
    assert [name for name in names if f"\n  {name} = [[1\n:" not in text] == []
    assert dissector("invoices", "1-2").startswith("-- Wireshark dissector for the messages of kafka_messages;")
    assert 'local NAME, TITLE, PORTS = "invoices", "Invoices", "1-2"\n' in dissector("invoices", "1-2")


def test_invalid_protocol_name_or_ports_are_rejected() -> None:
    name = "expected a protocol name of lower-case letters, digits, - and _, got 'Kafka Messages'"
    with pytest.raises(ValueError, match=f"^{re.escape(name)}$"):
        dissector("Kafka Messages")
    ports = "expected numbers and ranges separated by commas, such as 9092-9094, got '9092;'"
    with pytest.raises(ValueError, match=f"^{re.escape(ports)}$"):
        dissector(ports="9092;")


def test_dissector_compiles(tmp_path: Path) -> None:
    compiler = next(filter(None, map(shutil.which, ("luac", "luac5.4", "luac5.3", "luac5.2", "luac5.1"))), None)
    if compiler is None:
        pytest.skip("luac is not installed; the tests in tshark load the dissector, too")
    script = tmp_path / "kafka.lua"
    script.write_text(dissector(), encoding="utf-8")
    assert subprocess.run([compiler, "-p", str(script)], capture_output=True, check=False).stderr == b""


def dissected(capture: Path, folder: Path) -> Iterator[Node]:
    """Yield the requests and responses in tshark's XML."""
    script = folder / "kafka.lua"
    script.write_text(dissector(), encoding="utf-8")
    command = ["tshark", "-X", f"lua_script:{script}", *SHOW, "-r", str(capture), "-Y", "kafka_messages", "-T", "pdml"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=SECONDS)
    assert b"Lua" not in done.stderr, done.stderr
    for packet in ElementTree.fromstring(done.stdout).iter("packet"):
        number = next(int(node.get("show", "")) for node in packet.iter("field") if node.get("name") == "frame.number")
        for node in packet.findall("proto[@name='kafka_messages']"):
            node.set("packet", str(number))
            yield node


def compare(capture: Path, folder: Path) -> Counter[str]:
    """Compare every field of every message in tshark and ``capture``; return the number of messages."""
    compared = Counter[str]()
    found: dict[tuple[int, bool, int], list[Node]] = {}
    for node in dissected(capture, folder):
        asks = _shown(node, "is_request") == "1"
        id_ = int(next(each.get("show", "") for each in node.iter("field") if _label(each) == "correlation_id"))
        found.setdefault((int(node.get("packet", "")), asks, id_), []).append(node)
    with open_capture(capture) as opened:
        for exchange in opened:
            shown: Any = to_object(exchange, show_secrets=True)
            api = exchange.api
            assert api is not None
            for side in ("request", "response"):
                if side in shown:
                    node = found[shown[side]["packet"], side == "request", shown["correlation_id"]].pop(0)
                    _compare_side(node, shown, side, api)
                    compared[side] += 1
    assert not any(found.values())
    return compared


def _compare_side(node: Node, shown: Mapping[str, Any], side: str, api: Api) -> None:
    assert _shown(node, "api") == shown["api"]
    assert int(_shown(node, "api_version")) == shown[side].get("version", shown["api_version"])
    assert int(_shown(node, "frame_size")) == shown[side]["size"]
    if side == "request":
        header = node.find("proto[@showname='header']")
        assert header is not None
        labels = {_label(each): each.get("show") for each in header}
        assert int(labels["request_api_key"] or "") == shown["api_key"]
        assert labels["client_id"] == ("client_id" if shown["client_id"] is None else shown["client_id"])
    body = node.find("proto[@showname='body']")
    assert body is not None, ElementTree.tostring(node)
    descriptor = descriptor_of(api.request_class if side == "request" else api.response_class)
    _compare_struct(
        list(body), shown[side]["body"], descriptor, descriptor.fields, f"{descriptor.name} v{shown['api_version']}"
    )


def _compare_struct(
    nodes: Sequence[Node],
    values: Mapping[str, Any],
    descriptor: MessageDescriptor,
    fields: Sequence[FieldDescriptor],
    path: str,
) -> None:
    known = {field.json_name: field for field in fields}
    unknown = [node for node in nodes if _name(node) == "unknown_tagged_field"]
    rest = {_label(node): node for node in nodes if node not in unknown}
    raw = values.get("_unknownTaggedFields", [])
    tags = [
        (int(node.get("showname", "").split("tag ")[1].split(":")[0]), bytes.fromhex(_value(node))) for node in unknown
    ]
    assert [data for _, data in sorted(tags)] == [base64.b64decode(each["data"]) for each in raw], path
    assert rest.keys() == {known[name].name for name in values if name in known}, path
    for name, field in known.items():
        if name in values:
            _compare_field(rest[field.name], values[name], descriptor, field, f"{path}.{field.name}")


def _compare_field(node: Node, value: Any, descriptor: MessageDescriptor, field: FieldDescriptor, path: str) -> None:
    if value is None:
        assert _name(node) == "null", path
    elif field.is_array:
        assert int(node.get("show", "")) == len(value) == len(node), path
        for index, (inner, element) in enumerate(zip(node, value, strict=True)):
            if field.is_struct:
                _compare_struct(list(inner), element, descriptor, descriptor.structs[field.type], f"{path}[{index}]")
            else:
                assert _scalar(inner, field.type) == element, path
    elif field.is_struct:
        _compare_struct(list(node), value, descriptor, descriptor.structs[field.type], path)
    else:
        assert _scalar(node, field.type) == value, path


def _scalar(node: Node, kind: str) -> object:
    shown = node.get("show", "")
    match kind:
        case "string":
            return bytes.fromhex(_value(node)).decode() if shown else ""
        case "bytes" | "records":
            return base64.b64encode(bytes.fromhex(_value(node))).decode()
        case "uuid":
            return shown
        case "bool":
            return shown in ("1", "True")
        case "float64":
            return struct.unpack(">d", bytes.fromhex(_value(node)))[0]  # its text has only 15 digits
        case _:
            return int(shown)


def _value(node: Node) -> str:
    return "" if "(no bytes)" in node.get("showname", "") else node.get("value", "")


def _name(node: Node) -> str:
    return node.get("name", "").partition(".")[2]


def _label(node: Node) -> str:
    return node.get("showname", "").partition(":")[0].removesuffix(" [truncated]")


def _shown(node: Node, name: str) -> str:
    return next(each.get("show", "") for each in node.iter("field") if _name(each) == name)


@needs_tshark
@pytest.mark.parametrize("name", CAPTURES)
def test_tshark_agrees_with_capture_of_real_traffic(name: str, tmp_path: Path) -> None:
    capture = tmp_path / name
    capture.write_bytes(gzip.decompress(captured(name).read_bytes()))
    assert (
        compare(capture, tmp_path)
        == {
            "kafka-python.pcap": {"request": 93, "response": 92},
            "librdkafka.pcap": {"request": 47, "response": 47},
            "java.pcapng": {"request": 65, "response": 65},
        }[name]
    )


@needs_tshark
def test_tshark_agrees_with_capture_for_every_api_version(tmp_path: Path) -> None:
    talk = Talk().open()
    number = 0
    for api in apis():
        if api.is_removed or not api.response_name:
            continue
        for version in api.valid_versions:
            asked, responses = (_bodies(name, version) for name in (api.request_name, api.response_name))
            for request, answer in zip_longest(asked, responses):
                number += 1
                head = int(api.key).to_bytes(2, "big") + version.to_bytes(2, "big") + number.to_bytes(4, "big")
                head += b"\0\1c" + b"\0" * (api.request_header_version(version) == 2)
                back = number.to_bytes(4, "big") + b"\0" * (api.response_header_version(version) == 1)
                talk.say(frame(head + (request or asked[0])), size=60000)
                talk.say(frame(back + (answer or responses[0])), from_client=False, size=60000)
    capture = tmp_path / "all.pcap"
    capture.write_bytes(pcap(talk.close().packets()))
    assert compare(capture, tmp_path) == {"request": number, "response": number}
    assert number > 1000


def _bodies(name: str, version: int) -> list[bytes]:
    found = [vector.data for vector in committed()[name] if vector.version == version]
    if name == "ProduceRequest":
        found = [data for data in found if ProduceRequest.read(data, version).acks]
    return found or [ProduceRequest(acks=1).write(version)]


# --- the field with the errors ----------------------------------------------------------------------------------------


def test_every_error_code_field_sets_the_error() -> None:
    classes = [each for api in apis() if api.valid_versions for each in (api.request_class, api.response_class) if each]
    fields = [
        field
        for descriptor in map(descriptor_of, classes)
        for some in (descriptor.fields, *descriptor.structs.values())
        for field in some
    ]
    names = sorted({field.name for field in fields if field.is_error_code})
    text = ", ".join(f'["{name}"] = true' for name in names)
    assert f"\nlocal ERROR_FIELDS = {{ {text} }}\n" in dissector()
    assert [field for field in fields if field.name in names and not field.is_error_code] == []


ADDED = {
    "throttleTimeMs": 0,
    "resultsByTopicV3AndBelow": [
        {"name": "orders", "resultsByPartition": [{"partitionIndex": 0, "partitionErrorCode": 16}]}
    ],
}
"""A response with its error code in a field that is not named ``error_code``."""


def shown(capture: Path, folder: Path, *options: str) -> str:
    """Return the output of tshark with the dissector."""
    script = folder / "kafka.lua"
    script.write_text(dissector(), encoding="utf-8")
    command = ["tshark", "-X", f"lua_script:{script}", "-r", str(capture), *options]
    done = subprocess.run(command, capture_output=True, check=True, timeout=SECONDS, text=True)
    assert "Lua" not in done.stderr, done.stderr
    return done.stdout


def recorded(folder: Path, exchanges: Sequence[tuple[Request[Response], Response, int]]) -> Path:
    """Write a capture of requests and responses, each in a packet of its own."""
    talk = Talk().open()
    for number, (request, response, version) in enumerate(exchanges):
        talk.say(encode_request(request, version, number, "me"))
        talk.say(encode_response(response, version, number), from_client=False)
    capture = folder / "recorded.pcap"
    capture.write_bytes(pcap(talk.close().packets()))
    return capture


@needs_tshark
@pytest.mark.parametrize("name", CAPTURES)
def test_error_selects_the_errors_of_real_traffic(name: str, tmp_path: Path) -> None:
    capture = tmp_path / name
    capture.write_bytes(gzip.decompress(captured(name).read_bytes()))
    found = shown(capture, tmp_path, "-Y", "kafka_messages.error", "-T", "fields", "-e", "frame.number").split()
    with open_capture(capture) as opened:
        failed = [each for each in opened if each.response is not None and any(errors_in(each.response.message))]
    packets = {each.response_frame.packet for each in failed if each.response_frame is not None}
    assert [int(each) for each in found] == sorted(packets) != []


@needs_tshark
def test_error_is_set_once_for_each_nonzero_code_at_any_depth(tmp_path: Path) -> None:
    topic = MetadataResponse.MetadataResponseTopic
    partitions = [MetadataResponse.MetadataResponsePartition(error_code=code) for code in (0, 9, 9)]
    good, bad = topic(name="good"), topic(name="bad", error_code=3)
    answers = [[good, bad], [good], [good, topic(name="bad", error_code=-1, partitions=partitions), bad]]
    added = from_json(AddPartitionsToTxnResponse, ADDED, 3)
    capture = recorded(
        tmp_path,
        [
            *((MetadataRequest(), MetadataResponse(topics=topics), 12) for topics in answers),
            (AddPartitionsToTxnRequest(), added, 3),
        ],
    )
    fields = ("-T", "fields", "-e", "kafka_messages.error")
    of_responses = ("-Y", "kafka_messages.is_request == 0")
    assert shown(capture, tmp_path, *of_responses, *fields).splitlines() == ["3", "", "-1,9,9,3", "16"]
    for filter_, wanted in (("error == 3", ["3", "-1,9,9,3"]), ("error == 0", []), ("error != 3", ["16"])):
        assert shown(capture, tmp_path, "-Y", f"kafka_messages.{filter_}", *fields).splitlines() == wanted, filter_
    text = shown(capture, tmp_path, "-V", "-Y", "kafka_messages.error == 16")
    assert "[error: COORDINATOR_NOT_AVAILABLE (15)]" not in text
    assert "[error: NOT_COORDINATOR (16)]" in text


# --- secrets ----------------------------------------------------------------------------------------------------------

WORD = "swordfish"
_ENTRY = IncrementalAlterConfigsRequest.AlterableConfig


def config(name: str, value: str | None, resource_type: int = 4) -> IncrementalAlterConfigsRequest.AlterConfigsResource:
    kind = IncrementalAlterConfigsRequest.AlterConfigsResource
    return kind(resource_type=resource_type, resource_name="1", configs=[_ENTRY(name=name, value=value)])


def fetched(topic: str) -> FetchResponse:
    partition = FetchResponse.PartitionData(records=WORD.encode())
    return FetchResponse(responses=[FetchResponse.FetchableTopicResponse(topic=topic, partitions=[partition])])


def redacted_in(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.endswith("(redacted)")]


@needs_tshark
def test_secrets_are_redacted_unless_the_preference_says_otherwise(tmp_path: Path) -> None:
    raw = RawTaggedField(77, WORD.encode())
    scram = AlterUserScramCredentialsRequest.ScramCredentialUpsertion
    capture = recorded(
        tmp_path,
        [
            (
                SaslAuthenticateRequest(auth_bytes=b"\0ann\0" + WORD.encode()),
                SaslAuthenticateResponse(auth_bytes=WORD.encode(), unknown_tagged_fields=(raw,)),
                2,
            ),
            (
                AlterUserScramCredentialsRequest(
                    upsertions=[scram(name="ann", salt=b"", salted_password=WORD.encode())]
                ),
                AlterUserScramCredentialsResponse(),
                0,
            ),
            (FetchRequest(), fetched("__cluster_metadata"), 12),
        ],
    )
    hidden = shown(capture, tmp_path, "-V")
    assert redacted_in(hidden) == [
        "auth_bytes: (redacted)",
        "auth_bytes: (redacted)",
        "unknown tagged field: tag 77: (redacted)",
        "salted_password: (redacted)",
        "records: (redacted)",
    ]
    assert WORD.encode().hex() not in hidden
    assert "name: ann" in hidden
    shows = shown(capture, tmp_path, *SHOW, "-V")
    assert redacted_in(shows) == []
    assert shows.count(WORD.encode().hex()) == 5
    names = shown(capture, tmp_path, "-Y", "kafka_messages.redacted", "-T", "fields", "-e", "kafka_messages.redacted")
    assert names.split() == ["auth_bytes", "auth_bytes,unknown_tagged_field", "salted_password", "records"]


SETTINGS = (
    "log.retention.ms",
    "SSL.KEY.Password",
    "ssl.keystore.password",
    "listener.name.a.ssl.key.password",
    "listener.name.a.ssl.protocol",
    "listener.name.a.scram-sha-256.sasl.login.class",
    "listener.name.a.plain.connections.max.reauth.ms",
    "listener.name.a.plain.log.retention.ms",
    "listener.name.a",
    "plugin.token",
    "",
)


@needs_tshark
def test_values_of_configs_are_redacted_by_their_names(tmp_path: Path) -> None:
    named = [config(name, f"{WORD}-{number}", kind) for kind in (4, 8) for number, name in enumerate(SETTINGS)]
    request = IncrementalAlterConfigsRequest(
        resources=[*named, config("plugin.token", ""), config("plugin.token", None)]
    )
    capture = recorded(tmp_path, [(request, IncrementalAlterConfigsResponse(), 1)])
    text = shown(capture, tmp_path, "-V", "-Y", "kafka_messages.is_request == 1")
    values = re.findall(r"^ +value: (.*)$", text, re.MULTILINE)
    wanted = [
        "(redacted)" if is_secret_setting(name, kind) else f"{WORD}-{number}"
        for kind in (4, 8)
        for number, name in enumerate(SETTINGS)
    ]
    assert values == [*wanted, "", "null"]
    assert wanted.count("(redacted)") == 7


@needs_tshark
def test_records_of_other_topics_are_shown(tmp_path: Path) -> None:
    text = shown(recorded(tmp_path, [(FetchRequest(), fetched("orders"), 12)]), tmp_path, "-V")
    assert redacted_in(text) == []
    assert WORD.encode().hex() in text


@needs_tshark
def test_bytes_that_are_not_decoded_are_redacted(tmp_path: Path) -> None:
    talk = Talk().open()
    talk.say(encode_request(SaslHandshakeRequest(mechanism="PLAIN"), 0, 1, "me"))
    talk.say(encode_response(SaslHandshakeResponse(), 0, 1), from_client=False)
    talk.say(frame(b"\0ann\0" + WORD.encode()))
    talk.say(frame(WORD.encode()), from_client=False)
    capture = tmp_path / "token.pcap"
    capture.write_bytes(pcap(talk.close().packets()))
    text = shown(capture, tmp_path, "-V")
    assert redacted_in(text) == [
        "not a known request: 14 bytes: (redacted)",
        "the request is not known: 9 bytes: (redacted)",
    ]
    assert WORD.encode().hex() not in text
    assert shown(capture, tmp_path, *SHOW, "-V").count(WORD.encode().hex()) == 2


@needs_tshark
def test_damaged_messages_with_secrets_are_redacted(tmp_path: Path) -> None:
    token = SaslAuthenticateResponse(error_message="a", auth_bytes=WORD.encode())
    capture = recorded(tmp_path, [(SaslAuthenticateRequest(), token, 0), (FetchRequest(), fetched("orders"), 12)])
    data = capture.read_bytes()
    assert data.count(b"\0\1a") == 1
    capture.write_bytes(data.replace(b"\0\1a", b"\0\7a"))  # its text goes on into the token
    text = shown(capture, tmp_path, "-V")
    assert redacted_in(text)[-1:] == ["SaslAuthenticateResponse: (redacted)"]
    assert WORD[:3] not in text
