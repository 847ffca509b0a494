"""``explain`` without a message: bare messages, headers, length prefixes, and type and version prefixes in logs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import (
    AlterUserScramCredentialsRequest,
    ApiVersionsRequest,
    ConfigRecord,
    MetadataResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    TopicRecord,
)
from kafka_messages.internal_topics import write_metadata_record, write_versioned
from kafka_messages.messages.metadata_response import MetadataResponseBroker
from kafka_messages.protocol import decode_request, encode_request, encode_response, split_frames

from tests.support.cluster import COMMITTED
from tests.support.command import RunCommand, rows

BROKERS = [MetadataResponseBroker(node_id=1, host="broker-1", port=9092)]
METADATA = MetadataResponse(brokers=BROKERS, cluster_id="4L6g3nShT-eMCtK--X86sw", controller_id=1)


def candidates(output: str) -> list[dict[str, Any]]:
    return [row for row in rows(output) if "message" in row]


def best(run_command: RunCommand, data: bytes) -> tuple[str, str]:
    status, out, _ = run_command("explain", data.hex(), "--in", "hex", "--json")
    assert status == 0
    found = candidates(out)[0]
    return found["message"], found["before"]


@pytest.mark.parametrize("version", [8, 9, 12])
def test_response_with_header_is_detected(version: int, run_command: RunCommand) -> None:
    data = encode_response(METADATA, version, 7)
    assert best(run_command, data) == ("MetadataResponse", "a length and a header")
    assert best(run_command, data[4:]) == ("MetadataResponse", "a header")


def test_reasons_for_a_response_are_listed(run_command: RunCommand) -> None:
    data = encode_response(METADATA, 12, 7)
    _, out, _ = run_command("explain", data.hex(), "--json")
    assert rows(out)[0]["reasons"][:3] == [
        "the length matches the bytes",
        "correlation id 7",
        "reads and writes the same bytes",
    ]


def test_consecutive_frames_are_detected(run_command: RunCommand) -> None:
    frames = encode_response(METADATA, 12, 7) + encode_response(METADATA, 12, 8)
    assert best(run_command, frames) == ("MetadataResponse", "a length and a header")
    asked = encode_request(ApiVersionsRequest(client_software_name="java", client_software_version="1"), 3, 1, "me")
    _, out, _ = run_command("explain", (asked + asked).hex(), "--json")
    assert (rows(out)[0]["message"], rows(out)[0]["reasons"][0]) == ("ApiVersionsRequest", "the first of 2 frames")


def test_log_records_are_detected(run_command: RunCommand) -> None:
    record = write_metadata_record(TopicRecord(name="orders"), 0)
    assert best(run_command, record) == ("TopicRecord", "its type and version")
    key = (1).to_bytes(2, "big") + OffsetCommitKey(group="billing", topic="orders", partition=1).write(0)
    assert best(run_command, key) == ("OffsetCommitKey", "its type")
    value = write_versioned(OffsetCommitValue(offset=3, leader_epoch=4, metadata="from java", commit_timestamp=5), 3)
    _, out, _ = run_command("explain", value.hex(), "--json")
    assert ("OffsetCommitValue", "3", "its version") in [
        (row["message"], row["versions"], row["before"]) for row in candidates(out)
    ]


def conversations() -> Iterator[tuple[str, int, bytes]]:
    """Yield name, version and frame of each response of a real broker that is long enough to identify."""
    for file in sorted((COMMITTED / "traffic").glob("*.request.bin")):
        responses = {
            int.from_bytes(frame[:4], "big"): frame
            for frame in split_frames(file.with_name(file.name.replace("request", "response")).read_bytes())
        }
        for frame in split_frames(file.read_bytes()):
            request = decode_request(frame)
            answer = responses.get(request.header.correlation_id)
            if answer is not None and len(answer) > 60:
                yield request.api.response_name, request.version, len(answer).to_bytes(4, "big") + answer


def test_responses_of_a_real_broker_are_detected(run_command: RunCommand) -> None:
    seen = {(name, version): data for name, version, data in conversations()}
    missed = []
    for (name, version), data in seen.items():
        found = candidates(run_command("explain", data.hex(), "--in", "hex", "--json")[1])
        if not any(row["message"] == name and covers(row["versions"], version) for row in found):
            missed.append(f"{name} v{version}")
    assert len(seen) > 15
    assert missed == []


def covers(versions: str, version: int) -> bool:
    first, _, last = versions.partition("-")
    return int(first) <= version <= int(last or first)


def test_only_the_first_response_is_explained(run_command: RunCommand) -> None:
    data = encode_response(METADATA, 12, 7)
    status, out, err = run_command("explain", (data + data).hex(), "--in", "hex")
    assert (status, err) == (
        0,
        "note: others fit equally well: MetadataResponse v12; specify the message\n"
        f"note: only the first of several frames is explained, {len(data)} of {2 * len(data)} bytes\n",
    )
    assert out.endswith(f"{len(data):04x}  end, {len(data)} bytes\n")


def test_bytes_that_may_be_a_message_with_secrets_are_not_explained(run_command: RunCommand) -> None:
    data = AlterUserScramCredentialsRequest().write(0) + b"\0"
    what = "the bytes may be SaslAuthenticateRequest v2, which can contain secrets"
    note = f"note: {what}: specify the message, or use --show-secrets\n"
    status, out, err = run_command("explain", data.hex(), "--in", "hex", "--json")
    assert (status, err) == (0, note)
    assert candidates(out) == rows(out)
    assert rows(out)[-1]["message"] == "SaslAuthenticateRequest"
    assert len(rows(out)) == 6
    shown = run_command("explain", data.hex(), "--in", "hex", "--json", "--show-secrets")
    equal = "DescribeConfigsRequest v4, MetadataRequest v11-13, StreamsGroupDescribeRequest v1"
    note = f"note: others fit equally well: {equal}; specify the message\n"
    assert (shown[0], shown[1].startswith(out), shown[2]) == (0, True, note)
    assert len(rows(shown[1])) > len(rows(out))


@pytest.mark.parametrize("metadata", ["", "x", "host-1"])
@pytest.mark.parametrize("offset", [0, 17, 2217128, 1 << 40])
@pytest.mark.parametrize("version", [3, 4])
def test_committed_offset_is_explained(version: int, offset: int, metadata: str, run_command: RunCommand) -> None:
    time = 1758335260726
    value = OffsetCommitValue(offset=offset, leader_epoch=7, metadata=metadata, commit_timestamp=time)
    status, out, err = run_command("explain", write_versioned(value, version).hex())
    assert (status, out.startswith(f"OffsetCommitValue v{version} after its version\n")) == (0, True)
    assert f"\n0000  00 0{version}   " in out
    assert "2025-09-20T02:27:40.726Z" in out
    assert "secrets" not in err


def test_first_candidate_of_several_is_called_a_guess(run_command: RunCommand) -> None:
    status, out, err = run_command("explain", "0004000000000021d4a8ffffffff010000019964f2d83600")
    assert (status, err) == (0, "note: OffsetCommitValue is a guess: specify the message if it is another\n")
    assert [line for line in out.splitlines() if line and line[0].isupper()] == [
        "OffsetCommitValue v4 after its version",
        "AllocateProducerIdsResponse v0 after a header",
        "OffsetCommitValue v4",
    ]


def test_other_protocol_is_a_json_line(run_command: RunCommand) -> None:
    reason = "this looks like a TLS alert: one side uses TLS (SSL or SASL_SSL), the other does not"
    line = f'{{"message": null, "reasons": ["{reason}"]}}\n'
    assert run_command("explain", "15030100020228", "--in", "hex", "--json") == (1, line, "")


def test_word_that_is_no_message_and_no_bytes_is_rejected(run_command: RunCommand) -> None:
    says = "kafka-messages: unknown message 'MetadataReqest'; did you mean MetadataRequest?\n"
    assert run_command("explain", "MetadataReqest") == (2, "", says)


def test_guess_that_can_contain_secrets_is_not_explained(run_command: RunCommand) -> None:
    data = ConfigRecord(resource_type=4, resource_name="1", name="sasl.jaas.config", value="swordfish").write(0)[1:]
    note = "the bytes may be EnvelopeRequest v0, which can contain secrets: specify the message, or use --show-secrets"
    out = "EnvelopeRequest v0\n  reads and writes the same bytes\n"
    assert run_command("explain", data.hex()) == (0, out, f"note: {note}\n")
    assert "\n0000  02 31 " in run_command("explain", data.hex(), "--show-secrets")[1]
