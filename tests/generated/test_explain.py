"""Explanations: notes from definitions, nested messages, headers, records and faults."""

from __future__ import annotations

import importlib
import sys
import uuid
from pathlib import Path
from types import ModuleType

import pytest
from kafka_messages import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    DecodeError,
    FetchRequest,
    FetchResponse,
    GroupMetadataKey,
    JoinGroupRequest,
    Message,
    MetadataResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    ProduceRequest,
    RawTaggedField,
    SyncGroupRequest,
    TopicRecord,
    UnsupportedVersionError,
    UserScramCredentialRecord,
)
from kafka_messages.explain import Explanation, Span, explain, explain_record, explain_request, explain_response
from kafka_messages.internal_topics import write_coordinator_record, write_metadata_record, write_versioned
from kafka_messages.messages.consumer_protocol_assignment import TopicPartition
from kafka_messages.messages.fetch_response import FetchableTopicResponse, PartitionData
from kafka_messages.messages.join_group_request import JoinGroupRequestProtocol
from kafka_messages.messages.metadata_response import MetadataResponseTopic
from kafka_messages.messages.sync_group_request import SyncGroupRequestAssignment
from kafka_messages.protocol import encode_request, encode_response
from kafka_records import CompressionName, Record, write_batch

from tests.support.cluster import COMMITTED
from tests.support.kafka_protocol import KNOWN_KEYS

ID = uuid.UUID("b7b5e8e4-6ca5-44ad-890d-e5fab4179cbf")
NAME = "t7Xo5GylRK2JDeX6tBecvw"
"""UUID in the form that Kafka prints."""


def leaves_by_path(found: Explanation) -> dict[str, Span]:
    """Return the leaves by path, after checking that they cover the bytes without gaps."""
    at = 0
    for leaf in found.leaves():
        assert leaf.start == at
        at = leaf.end
    assert at == len(found.data)
    return {leaf.path: leaf for leaf in found.leaves()}


def explained_leaves(message: Message, version: int, *, records: bool = False) -> dict[str, Span]:
    return leaves_by_path(explain(message.write(version), type(message), version, records=records))


def test_notes_contain_error_names_defaults_and_lengths() -> None:
    topic = MetadataResponseTopic(error_code=3, name="orders", topic_id=ID)
    found = explain(MetadataResponse(topics=[topic]).write(13), MetadataResponse, 13)
    leaves = leaves_by_path(found)
    assert leaves["topics[0].error_code"].note == "UNKNOWN_TOPIC_OR_PARTITION"
    assert leaves["cluster_id"].note == "= default"
    assert leaves["topics[0].name"].note == "length+1 = 7"
    assert leaves["topics[0].topic_id"].value == ID
    assert NAME in [row["value"] for row in found.rows()]
    assert NAME in found.text()


def test_tagged_fields_are_explained() -> None:
    message = FetchRequest(cluster_id="c", unknown_tagged_fields=(RawTaggedField(900, b"abc"),))
    leaves = explained_leaves(message, 17)
    assert leaves["_tagged_fields"].value in (2, 900)
    assert leaves["cluster_id"].value == "c"
    assert leaves["unknown_tagged_fields[0]"].value == b"abc"
    assert leaves["unknown_tagged_fields[0]"].note == "unknown tagged field, kept"
    counts = [leaf for leaf in explain(message.write(17), FetchRequest, 17).leaves() if leaf.name == "count"]
    assert counts[-1].note == "absent, so at default: replica_state"


def test_timestamps_are_noted_in_utc() -> None:
    leaves = explained_leaves(OffsetCommitValue(offset=1_700_000_000_000, commit_timestamp=1_700_000_000_123), 3)
    assert leaves["commit_timestamp"].note == "2023-11-14T22:13:20.123Z"
    assert leaves["offset"].note == ""


def test_consumer_assignments_are_decoded() -> None:
    assignment = ConsumerProtocolAssignment(assigned_partitions=[TopicPartition(topic="t", partitions=[4])])
    request = SyncGroupRequest(
        assignments=[
            SyncGroupRequestAssignment(member_id="a", assignment=write_versioned(assignment, 3)),
            SyncGroupRequestAssignment(member_id="b", assignment=b"\0\x09" + assignment.write(3) + b"new"),
            SyncGroupRequestAssignment(member_id="c", assignment=b"\0\x01\xff"),
        ]
    )
    leaves = explained_leaves(request, 5)
    above = "assignments[0].assignment"
    assert leaves[f"{above}.version"].value == 3
    assert leaves[f"{above}.assigned_partitions[0].partitions[0]"].value == 4
    assert leaves["assignments[1].assignment.assigned_partitions[0].topic"].value == "t"
    assert (leaves["assignments[1].assignment"].role, leaves["assignments[1].assignment"].note) == (
        "rest",
        "of a later version",
    )
    reason = "ARRAY(STRUCT): 4 bytes needed"
    assert leaves["assignments[2].assignment"].note.startswith(
        "length+1 = 4, not decoded: no ConsumerProtocolAssignment v1"
    )
    assert leaves["assignments[2].assignment"].value == b"\0\x01\xff"
    assert reason.partition(":")[2].strip() in leaves["assignments[2].assignment"].note


def test_consumer_subscriptions_are_decoded() -> None:
    data = write_versioned(ConsumerProtocolSubscription(topics=["orders"]), 3)
    request = JoinGroupRequest(protocols=[JoinGroupRequestProtocol(name="range", metadata=data)])
    assert explained_leaves(request, 9)["protocols[0].metadata.topics[0]"].value == "orders"


def fetch_response_with(data: bytes) -> FetchResponse:
    return FetchResponse(responses=[FetchableTopicResponse(topic_id=ID, partitions=[PartitionData(records=data)])])


def test_record_batches_are_explained_on_request() -> None:
    record = Record(key=b"k", value=b"paid", timestamp=1_700_000_000_000, headers=(("trace", b"7f"),))
    data = write_batch([record, Record(value=None, timestamp=1_700_000_000_005)], base_offset=40)
    packed = write_batch([record], compression="gzip")
    message = fetch_response_with(data + packed + data[:20])
    assert explained_leaves(message, 17)["responses[0].partitions[0].records"].value == data + packed + data[:20]
    leaves = explained_leaves(message, 17, records=True)
    above = "responses[0].partitions[0].records"
    first = f"{above}.batches[0]"
    assert leaves[f"{first}.base_offset"].value == 40
    assert leaves[f"{first}.crc"].note == "agrees"
    assert leaves[f"{first}.base_timestamp"].note == "2023-11-14T22:13:20.000Z"
    assert leaves[f"{first}.records[0].value"].value == b"paid"
    assert leaves[f"{first}.records[0].headers[0].key"].value == b"trace"
    assert leaves[f"{first}.records[1].offset_delta"].note == "offset 41"
    assert leaves[f"{first}.records[1].value_length"].note == "null"
    assert leaves[f"{above}.batches[1].attributes"].note == "gzip, CreateTime"
    assert leaves[f"{above}.batches[1].records"].note == "gzip, 21 bytes decompressed"
    assert (leaves[above].role, leaves[above].note) == ("rest", "incomplete batch")


@pytest.mark.parametrize("path", sorted((COMMITTED / "logs").glob("*/*.log")), ids=lambda path: path.parent.name)
def test_broker_written_batches_are_explained(path: Path) -> None:
    explained_leaves(fetch_response_with(path.read_bytes()), 17, records=True)


def test_damaged_batches_are_noted() -> None:
    data = bytearray(write_batch([Record(value=b"paid")]))
    data[-1] = 0x7F
    leaves = explained_leaves(fetch_response_with(bytes(data)), 17, records=True)
    above = "responses[0].partitions[0].records.batches[0]"
    assert "checksum mismatch: stored 0x" in leaves[f"{above}.crc"].note
    assert leaves[f"{above}.records"].role == "rest"
    leaves = explained_leaves(fetch_response_with(b"\0" * 30), 17, records=True)
    assert leaves["responses[0].partitions[0].records"].role == "rest"


def test_requests_and_responses_are_explained_with_header() -> None:
    request = ApiVersionsRequest(client_software_name="java", client_software_version="4")
    data = encode_request(request, 3, 7, "me")
    leaves = leaves_by_path(explain_request(data, framed=True))
    assert leaves["header.request_api_key"].note == "ApiVersions"
    assert leaves["client_software_name"].value == "java"
    found = explain_request(data[4:] + b"xyz")
    assert (found.error, leaves_by_path(found)["trailing"].note) == (None, "after the message; ignored by brokers")
    answer = encode_response(ApiVersionsResponse(error_code=35), 0, 7, framed=False)
    found = explain_response(answer, ApiVersionsResponse, 3)  # fallback to version 0 (KIP-511)
    assert (found.title, leaves_by_path(found)["error_code"].note) == ("ApiVersionsResponse v0", "UNSUPPORTED_VERSION")


@pytest.mark.parametrize(
    ("data", "framed", "error"),
    [
        (b"\0\x12\0", False, "RequestHeader v0: request_api_version: INT16: 2 bytes needed at offset 2, 1 left"),
        (b"\x03\xe7\0\x01\0\0\0\x05rest", False, f"unknown API key 999; {KNOWN_KEYS}"),
        (b"\0\x12\0\x09\0\0\0\x05\xff\xff\0rest", False, "ApiVersionsRequest has no version 9, only versions 0 to 5"),
        (b"\0\x04\0\x08\0\0\0\x05\xff\xff\0", False, "LeaderAndIsrRequest has no version 8, only versions 0 to 7"),
        (b"\0\0", True, "frame_length: INT32: 4 bytes needed at offset 0, 2 left"),
        (b"\0\0\0\0\0", True, "the frame has 0 bytes, but 1 follow"),
    ],
)
def test_invalid_requests_are_explained_with_error(data: bytes, framed: bool, error: str) -> None:
    found = explain_request(data, framed=framed)
    leaves_by_path(found)
    assert str(found.error) == error
    assert error.rpartition("INT")[2] in list(found.leaves())[-1].note


def test_truncated_frame_is_explained_with_error() -> None:
    data = encode_request(ApiVersionsRequest(client_software_name="java"), 3, 7, "me")
    found = explain_request(data[:-4], framed=True)
    leaves = leaves_by_path(found)
    assert str(found.error) == "the frame has 20 bytes, but 16 follow"
    assert (found.title, leaves["frame_length"].note) == ("ApiVersionsRequest v3", "16 bytes follow")
    assert leaves["header.client_id"].value == "me"
    assert leaves["client_software_name"].note == "COMPACT_STRING: 4 bytes needed at offset 18, 2 left"
    answer = explain_response(encode_response(ApiVersionsResponse(), 0, 7)[:-1], ApiVersionsResponse, 0, framed=True)
    assert str(answer.error) == "the frame has 10 bytes, but 9 follow"
    assert leaves_by_path(answer)["error_code"].value == 0


def test_every_truncation_of_a_request_has_an_error() -> None:
    data = encode_request(ApiVersionsRequest(client_software_name="java"), 3, 7, "me")
    for end in range(len(data)):
        for framed in (False, True):
            found = explain_request(data[:end], framed=framed)
            leaves_by_path(found)
            assert found.error is not None


def test_internal_topic_records_are_explained() -> None:
    key, value = write_coordinator_record(OffsetCommitKey(group="g", topic="t"), OffsetCommitValue(offset=5), 4)
    assert value is not None
    assert leaves_by_path(explain_record(key, OffsetCommitKey))["group"].value == "g"
    assert leaves_by_path(explain_record(value, OffsetCommitValue))["offset"].value == 5
    leaves = leaves_by_path(explain_record(write_metadata_record(TopicRecord(name="t", topic_id=ID), 0), TopicRecord))
    assert [leaves[name].value for name in ("frame_version", "type", "version", "name")] == [1, 2, 0, "t"]
    found = explain_record(key, GroupMetadataKey)
    assert str(found.error) == "expected record type 2 of GroupMetadataKey, got 1"
    found = explain_record(b"\0\x63", OffsetCommitValue)
    assert str(found.error) == "OffsetCommitValue has no version 99, only versions 0 to 4"
    leaves_by_path(found)


def test_explain_rejects_unsupported_versions_and_types() -> None:
    with pytest.raises(UnsupportedVersionError):
        explain(b"", ApiVersionsRequest, 99)
    with pytest.raises(UnsupportedVersionError):
        explain_response(b"", MetadataResponse, 99)
    with pytest.raises(TypeError):
        explain("00", ApiVersionsRequest, 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [20, 72, 79, 80, 100, 120, 200])
def test_text_lines_fit_the_requested_width(width: int) -> None:
    message = MetadataResponse(topics=[MetadataResponseTopic(name="x" * 200, topic_id=ID)], cluster_id="é\x1b")
    found = explain(message.write(13)[:-5], MetadataResponse, 13)
    lines = found.text(width=width).splitlines()
    assert max(map(len, lines[:-1])) <= max(width, 72)
    assert isinstance(found.error, DecodeError)
    assert str(found.error) in lines[-1]
    assert "\\x1b" in "".join(line.strip() for line in lines)


def test_long_fields_are_abbreviated_unless_whole() -> None:
    data = fetch_response_with(bytes(1000)).write(17)
    found = explain(data, FetchResponse, 17)
    assert "bytes more" in found.text()
    assert len(found.text()) < 5000
    assert "bytes more" not in found.text(whole=True)
    assert len(found.text(whole=True).splitlines()) > 125


COMPRESSED = (Record(key=b"k", value=b"paid" * 20, timestamp=1), Record(value=b"due", timestamp=2))


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_compressed_batches_are_explained(codec: str) -> None:
    if codec != "gzip":
        package = "zstandard" if codec == "zstd" else "cramjam"
        pytest.importorskip(package, reason="the extra compression brings it; nox -s tests has it")
    found = explain(
        fetch_response_with(write_batch(COMPRESSED, compression=codec)).write(17), FetchResponse, 17, records=True
    )
    above = "responses[0].partitions[0].records.batches[0].records"
    leaf = leaves_by_path(found)[above]
    assert leaf.unpacked is not None
    content, top = leaf.unpacked
    inner = list(top.leaves())
    assert [each.start for each in inner] == [0, *(each.end for each in inner[:-1])]
    assert inner[-1].end == len(content)
    values = {each.path: each for each in inner}
    value = values[f"{above}[0].value"]
    assert content[value.start : value.end] == value.value == b"paid" * 20
    assert values[f"{above}[1].offset_delta"].note == "offset 1"
    assert leaf.note == f"{codec}, {len(content)} bytes decompressed"
    text = found.text()
    assert f"in the {len(content)} decompressed bytes" in text
    assert text.count("end of the decompressed data") == 1
    rows = [row for row in found.rows() if row.get("unpacked") == above]
    assert [row["path"] for row in rows] == [each.path for each in inner]
    assert rows[0]["start"] == 0


def test_records_without_kafka_records_are_not_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    records = write_batch([Record(value=b"v")])
    monkeypatch.setitem(sys.modules, "kafka_records", None)
    missing = "not decoded: the distribution kafka-records is not installed"
    produced = ProduceRequest(
        topic_data=[
            ProduceRequest.TopicProduceData(
                name="orders", partition_data=[ProduceRequest.PartitionProduceData(index=0, records=records)]
            )
        ]
    )
    leaf = explained_leaves(produced, 9, records=True)["topic_data[0].partition_data[0].records"]
    assert (leaf.is_secret, leaf.note.split(", ")[-1]) == (False, missing)
    leaf = explained_leaves(fetch_response_with(records), 17, records=True)["responses[0].partitions[0].records"]
    assert (leaf.is_secret, leaf.note.split(", ")[-1]) == (True, missing)


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_compressed_messages_of_old_formats_are_expanded(magic: int, compression: CompressionName) -> None:
    pytest.importorskip("cramjam", reason="the extra compression brings it")
    data = write_batch(COMPRESSED, magic=magic, compression=compression)
    above = "responses[0].partitions[0].records.batches[0].records"
    leaf = explained_leaves(fetch_response_with(data), 11, records=True)[above]
    assert leaf.unpacked is not None
    content, top = leaf.unpacked
    assert leaf.note.endswith(f"{compression}, {len(content)} bytes decompressed")
    leaves = {each.path.removeprefix(above): each for each in top.leaves()}
    names = ["offset", "length", "crc", "magic", "attributes", *["timestamp"] * magic, "key_length", "key"]
    assert [path for path in leaves if path.startswith("[0]")] == [
        f"[0].{name}" for name in (*names, "value_length", "value")
    ]
    assert [leaves[f"[{number}].offset"].note for number in (0, 1)] == ["offset 0", "offset 1"]
    assert [leaves[f"[{number}].value"].value for number in (0, 1)] == [b"paid" * 20, b"due"]
    assert leaves["[1].key_length"].note == "null"
    assert sum(each.end - each.start for each in leaves.values()) == len(content)


def test_metadata_records_in_old_formats_are_redacted() -> None:
    secret = UserScramCredentialRecord(name="me", mechanism=1, salt=b"salted", stored_key=b"stored", server_key=b"s")
    records = write_batch([Record(value=write_metadata_record(secret, 0))], magic=1, compression="gzip")
    topic = FetchableTopicResponse(topic="__cluster_metadata", partitions=[PartitionData(records=records)])
    found = explain(FetchResponse(responses=[topic]).write(11), FetchResponse, 11, records=True)
    assert b"stored".hex() not in "".join(str(row["hex"]) for row in found.rows())
    assert "stored_key" in found.text()
    assert b"stored".hex() in "".join(str(row["hex"]) for row in found.rows(show_secrets=True))


def test_missing_codec_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("zstandard", reason="the extra compression brings it")
    data = fetch_response_with(write_batch(COMPRESSED, compression="zstd")).write(17)
    engines = importlib.import_module("kafka_records.engines")

    def absent(name: str) -> ModuleType:
        raise ImportError(name)

    compression = importlib.import_module("kafka_records.compression")
    codecs = compression.Codecs(engines.Installed(absent))
    monkeypatch.setattr("kafka_records.contents.codecs", lambda: codecs)
    leaf = leaves_by_path(explain(data, FetchResponse, 17, records=True))[
        "responses[0].partitions[0].records.batches[0].records"
    ]
    assert leaf.unpacked is None
    assert leaf.note == (
        "zstd, not decoded: zstd needs the package zstandard, which is not installed: " "pip install zstandard"
    )


def test_decompression_bomb_is_not_decoded() -> None:
    bomb = write_batch([Record(value=b"\0" * (5 << 20))], compression="gzip")
    above = "responses[0].partitions[0].records.batches[0].records"
    leaf = explained_leaves(fetch_response_with(bomb), 17, records=True)[above]
    assert leaf.unpacked is None
    assert leaf.note.endswith("the gzip data decompresses to more than 4194304 bytes (max_batch_bytes)")
    many = write_batch([Record(value=b"") for _ in range(10_002)], compression="gzip")
    leaf = explained_leaves(fetch_response_with(many), 17, records=True)[above]
    assert leaf.unpacked is not None
    last = list(leaf.unpacked[1].leaves())[-1]
    assert (last.role, last.note) == ("rest", "2 more records")


def test_damaged_compressed_records_are_noted() -> None:
    batch = bytearray(write_batch(COMPRESSED, compression="gzip"))
    batch[-12] ^= 0xFF
    leaf = explained_leaves(fetch_response_with(bytes(batch)), 17, records=True)[
        "responses[0].partitions[0].records.batches[0].records"
    ]
    assert leaf.unpacked is None
    assert "not decoded: batch at byte 0: the gzip data is damaged" in leaf.note


@pytest.mark.parametrize("token", [b"\0admin\0secret", b"n,,n=user,r=abcdefgh"])
def test_unknown_header_may_be_a_sasl_token(token: bytes) -> None:
    found = explain_request(token)
    assert str(found.error) == "unknown request header; this may be a SASL token"
    assert token.hex() not in found.text()
