"""Explanations of messages with more fields than the limit: the rest is one span; faults are still found."""

from __future__ import annotations

import pytest
from kafka_messages import (
    AlterUserScramCredentialsRequest,
    ConsumerProtocolSubscription,
    DecodeError,
    JoinGroupResponse,
    MetadataRequest,
    ProduceRequest,
)
from kafka_messages.explain import explain
from kafka_messages.messages.alter_user_scram_credentials_request import ScramCredentialDeletion
from kafka_messages.messages.join_group_response import JoinGroupResponseMember
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_messages.schema import spans
from kafka_records import Record, write_batch

from kafka_messages_tools.command import main

TOPICS = 300
# Bytes of a record batch without records.
HEADER = 61
DATA = MetadataRequest(topics=[MetadataRequestTopic(name=f"topic-{number}") for number in range(TOPICS)]).write(9)


def test_elements_beyond_the_limit_are_one_span() -> None:
    found = explain(DATA, MetadataRequest, 9, limit=101)
    leaves = list(found.leaves())
    assert [leaf.start for leaf in leaves] == [0, *(leaf.end for leaf in leaves[:-1])]
    assert leaves[-1].end == len(DATA)
    assert found.error is None
    (rest,) = (leaf for leaf in leaves if leaf.role == "rest")
    assert (rest.path, rest.note) == ("topics", "250 more elements")
    assert [leaf.path for leaf in leaves[-4:-1]] == [
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
    ]
    assert "not read: 250 more elements" in found.text(width=140)


def test_faults_beyond_the_limit_are_found() -> None:
    data = DATA.replace(b"\x0atopic-299", b"\x0a\xffopic-299")
    with pytest.raises(DecodeError) as caught:
        MetadataRequest.read(data, 9)
    found = explain(data, MetadataRequest, 9, limit=101)
    assert str(found.error) == str(caught.value)
    assert next(leaf.note for leaf in found.leaves() if leaf.role == "rest") == "249 more elements"
    assert [leaf.path for leaf in found.leaves() if leaf.role == "fault"] == ["topics[299].name"]


def test_secrets_beyond_the_limit_are_redacted() -> None:
    deletions = [ScramCredentialDeletion(name=f"user-{number}") for number in range(100)]
    data = AlterUserScramCredentialsRequest(deletions=deletions).write(0)
    found = explain(data, AlterUserScramCredentialsRequest, 0, limit=101)
    (rest,) = (row for row in found.rows() if row["role"] == "rest")
    assert (rest["hex"], rest["value"]) == (None, "(redacted)")


def test_differences_beyond_the_span_limit_are_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "MOST_LEAVES", 101)
    other = DATA.replace(b"topic-299", b"other-299")
    assert main(["diff", "MetadataRequest", "9", DATA.hex(), other.hex(), "--text", "--color", "never"]) == 1
    assert capsys.readouterr().out == "topics, rest\n  - 250 more elements\n  + 250 more elements\n"


def test_limit_argument_is_applied() -> None:
    found = explain(DATA, MetadataRequest, 9, limit=20)
    assert [leaf.note for leaf in found.leaves() if leaf.role == "rest"] == ["290 more elements"]
    assert found.error is None


def test_nested_messages_share_the_limit() -> None:
    inside = b"\0\1" + ConsumerProtocolSubscription(topics=[f"t{number}" for number in range(100)]).write(1)
    members = [JoinGroupResponseMember(member_id=f"m{number}", metadata=inside) for number in range(50)]
    found = explain(JoinGroupResponse(members=members).write(5), JoinGroupResponse, 5, limit=300)
    leaves = list(found.leaves())
    assert sum(leaf.note.endswith("more elements") for leaf in leaves) == 49
    assert len(leaves) < 800  # without sharing there would be more than 5000
    assert found.error is None


def test_records_share_the_limit() -> None:
    batch = write_batch([Record(value=b"x", timestamp=1) for _ in range(10)])
    data = ProduceRequest(
        topic_data=[TopicProduceData(name="t", partition_data=[PartitionProduceData(records=batch * 40)])]
    ).write(9)
    found = explain(data, ProduceRequest, 9, records=True, limit=250)
    notes = [leaf.note for leaf in found.leaves() if leaf.role == "rest"]
    assert notes[-1] == "more batches"
    assert sum(1 for _ in found.leaves()) < 400


def test_batches_without_records_share_the_limit() -> None:
    """Log compaction keeps the header of a producer's last batch when all its records are removed."""
    full = write_batch([Record()])
    empty = full[:8] + (HEADER - 12).to_bytes(4, "big") + full[12 : HEADER - 4] + bytes(4)
    data = ProduceRequest(
        topic_data=[TopicProduceData(name="t", partition_data=[PartitionProduceData(records=empty * 40)])]
    ).write(9)
    found = explain(data, ProduceRequest, 9, records=True, limit=250)
    assert [leaf.note for leaf in found.leaves() if leaf.role == "rest"] == ["more batches"]
    assert sum(leaf.path.endswith(".count") for leaf in found.leaves()) == 15
