"""Kafka's JSON form: ``to_json``."""

from __future__ import annotations

import copy
import json
import math
from typing import Any

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    ApiVersionsRequest,
    BrokerHeartbeatRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    EncodeError,
    FetchRequest,
    HeartbeatRequest,
    Message,
    MetadataRequest,
    ProduceRequest,
    ProducerSnapshot,
    RawTaggedField,
    RegisterBrokerRecord,
    SaslAuthenticateRequest,
    UnsupportedVersionError,
)
from kafka_messages.json import from_json, to_json
from kafka_messages.messages.alter_client_quotas_request import EntryData, OpData
from kafka_messages.messages.create_topics_request import CreatableTopic
from kafka_messages.messages.fetch_request import FetchPartition, FetchTopic, ReplicaState
from kafka_messages.messages.metadata_request import MetadataRequestTopic

from tests.support.json_messages import ID, ID_TEXT, TOPICS_JSON, produce_request, topics_request


def partition_json(message: ProduceRequest, **options: Any) -> object:
    written: Any = to_json(message, 12, **options)
    return written["topicData"][0]["partitionData"][0]


def test_nested_structs_and_collections_are_written() -> None:
    written = to_json(topics_request(), 7)

    assert written == TOPICS_JSON
    assert list(written) == ["topics", "timeoutMs", "validateOnly"]
    assert json.loads(json.dumps(written)) == written


def test_only_fields_of_the_version_are_written() -> None:
    message = FetchRequest(replica_id=-1, session_id=4, rack_id="r", topics=[FetchTopic(topic="t")])

    assert to_json(message, 4) == {
        "replicaId": -1,
        "maxWaitMs": 0,
        "minBytes": 0,
        "maxBytes": 2147483647,
        "isolationLevel": 0,
        "topics": [{"topic": "t", "partitions": []}],
    }
    assert {"sessionId", "sessionEpoch", "forgottenTopicsData"} <= to_json(message, 7).keys()
    assert to_json(message, 13)["topics"] == [{"topicId": "AAAAAAAAAAAAAAAAAAAAAA", "partitions": []}]


def test_tagged_fields_at_default_are_omitted() -> None:
    assert "replicaState" not in to_json(FetchRequest(), 17)
    assert "clusterId" not in to_json(FetchRequest(), 17)
    assert BrokerHeartbeatRequest().offline_log_dirs == []
    assert to_json(BrokerHeartbeatRequest(), 2).keys().isdisjoint({"offlineLogDirs", "cordonedLogDirs"})

    state = ReplicaState(replica_id=3)
    assert to_json(FetchRequest(replica_state=state), 17)["replicaState"] == {"replicaId": 3, "replicaEpoch": -1}
    assert to_json(FetchRequest(cluster_id=""), 17)["clusterId"] == ""
    heartbeat = BrokerHeartbeatRequest(offline_log_dirs=[ID], cordoned_log_dirs=[])
    assert to_json(heartbeat, 2)["offlineLogDirs"] == [ID_TEXT]
    assert to_json(heartbeat, 2)["cordonedLogDirs"] == []


@pytest.mark.parametrize(
    ("message", "version", "key", "expected"),
    [
        (HeartbeatRequest(group_id='é"\n'), 4, "groupId", 'é"\n'),
        (HeartbeatRequest(generation_id=-(2**31)), 4, "generationId", -(2**31)),
        (HeartbeatRequest(group_instance_id=None), 4, "groupInstanceId", None),
        (RegisterBrokerRecord(broker_epoch=2**63 - 1), 4, "brokerEpoch", 2**63 - 1),
        (RegisterBrokerRecord(incarnation_id=ID), 4, "incarnationId", ID_TEXT),
        (RegisterBrokerRecord(fenced=False), 4, "fenced", False),
        (SaslAuthenticateRequest(auth_bytes=b"\xff\xfe"), 2, "authBytes", "//4="),
        (SaslAuthenticateRequest(auth_bytes=b""), 2, "authBytes", ""),
        (ProducerSnapshot(crc=2**32 - 1), 1, "crc", 2**32 - 1),
        (MetadataRequest(topics=None), 12, "topics", None),
        (DescribeTopicPartitionsRequest(cursor=None), 0, "cursor", None),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_scalars_round_trip(message: Message, version: int, key: str, expected: object) -> None:
    written = to_json(message, version)

    assert written[key] == expected
    assert type(written[key]) is type(expected)
    assert from_json(type(message), written, version) == message


@pytest.mark.parametrize("value", [1.0, -0.0, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan])
def test_floats_round_trip(value: float) -> None:
    message = AlterClientQuotasRequest(entries=[EntryData(ops=[OpData(key="k", value=value)])])
    written: Any = to_json(message, 1)

    assert repr(written["entries"][0]["ops"][0]["value"]) == repr(value)
    again = from_json(AlterClientQuotasRequest, json.loads(json.dumps(written)), 1)
    assert again.write(1) == message.write(1)


def test_bytearray_and_integer_float_are_written() -> None:
    sasl = SaslAuthenticateRequest(auth_bytes=bytearray(b"ab"))  # type: ignore[arg-type]  # works, though not typed
    assert to_json(sasl, 2) == {"authBytes": "YWI="}

    quota = AlterClientQuotasRequest(entries=[EntryData(ops=[OpData(value=3)])])
    written: Any = to_json(quota, 1)
    assert repr(written["entries"][0]["ops"][0]["value"]) == "3.0"


def test_records_round_trip_as_base64() -> None:
    message = produce_request(b"\x00\xff")

    assert partition_json(message) == {"index": 1, "records": "AP8="}
    assert from_json(ProduceRequest, to_json(message, 12), 12) == message


def test_records_can_be_written_like_kafka() -> None:
    """Kafka's converters lose records: an empty text, or only their size."""
    message = produce_request(b"\x00\xff\x00")

    assert partition_json(message, records="empty") == {"index": 1, "records": ""}
    assert partition_json(message, records="size") == {"index": 1, "recordsSizeInBytes": 3}


@pytest.mark.parametrize("form", ["data", "empty", "size"])
def test_null_records_are_written_as_null(form: str) -> None:
    assert partition_json(produce_request(None), records=form) == {"index": 1, "records": None}
    assert partition_json(produce_request(b""), records=form) in (
        {"index": 1, "records": ""},
        {"index": 1, "recordsSizeInBytes": 0},
    )


def test_unknown_records_option_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"^records must be one of 'data', 'size', 'empty', not 'bytes'$"):
        to_json(ProduceRequest(), 12, records="bytes")  # type: ignore[arg-type]  # that is the point


def test_unknown_tagged_fields_are_opt_in() -> None:
    raw = (RawTaggedField(900, b"\x01\x02"), RawTaggedField(7, b""))
    topic = MetadataRequestTopic(name="t", unknown_tagged_fields=raw[:1])
    message = MetadataRequest(topics=[topic], unknown_tagged_fields=raw)
    without = to_json(message, 12)
    written = to_json(message, 12, unknown_tagged_fields=True)

    assert from_json(MetadataRequest, without, 12) == MetadataRequest(topics=[MetadataRequestTopic(name="t")])
    assert written["_unknownTaggedFields"] == [{"tag": 900, "data": "AQI="}, {"tag": 7, "data": ""}]
    assert written["topics"] == [
        {
            "topicId": "AAAAAAAAAAAAAAAAAAAAAA",
            "name": "t",
            "_unknownTaggedFields": [{"tag": 900, "data": "AQI="}],
        }
    ]
    assert from_json(MetadataRequest, json.loads(json.dumps(written)), 12) == message


def test_absent_unknown_tagged_fields_have_no_key() -> None:
    message = topics_request()

    assert to_json(message, 7, unknown_tagged_fields=True) == to_json(message, 7)
    assert to_json(message, 2, unknown_tagged_fields=True) == to_json(message, 2)


def test_to_json_does_not_modify_the_message() -> None:
    message = FetchRequest.read(FetchRequest(replica_id=1).write(14), 14)
    twin = copy.deepcopy(message)
    to_json(message, 14)

    assert message == twin
    assert message.write(14) == twin.write(14)


@pytest.mark.parametrize(
    ("message", "version", "text"),
    [
        (
            CreateTopicsRequest(topics=[CreatableTopic(name="a"), CreatableTopic(replication_factor=40000)]),
            7,
            "CreateTopicsRequest v7: topics[1].replication_factor: 40000 is out of range for INT16, -32768 to 32767",
        ),
        (
            MetadataRequest(topics=None),
            0,
            "MetadataRequest v0: topics: must not be None in this version",
        ),
        (
            HeartbeatRequest(group_instance_id="i"),
            2,
            "HeartbeatRequest v2: group_instance_id: is set, but is not supported by version 2",
        ),
        (
            ApiVersionsRequest(unknown_tagged_fields=(RawTaggedField(1, b""),)),
            2,
            "ApiVersionsRequest v2: unknown_tagged_fields: is set, but this version does not support tagged fields",
        ),
    ],
    ids=["range", "null", "version", "tags"],
)
def test_invalid_message_raises_encode_error(message: Message, version: int, text: str) -> None:
    with pytest.raises(EncodeError) as caught:
        to_json(message, version)

    assert str(caught.value) == text


def test_unsupported_version_raises() -> None:
    text = r"^HeartbeatRequest has no version 5, only versions 0 to 4$"
    with pytest.raises(UnsupportedVersionError, match=text):
        to_json(HeartbeatRequest(), 5)
    with pytest.raises(UnsupportedVersionError, match=text):
        from_json(HeartbeatRequest, {}, 5)


def test_only_nested_fields_of_the_version_are_written() -> None:
    partition = FetchPartition(partition=1, replica_directory_id=ID)
    message = FetchRequest(topics=[FetchTopic(partitions=[partition])])
    new, old = to_json(message, 17)["topics"], to_json(message, 16)["topics"]
    common = {"partition": 1, "currentLeaderEpoch": -1, "fetchOffset": 0, "lastFetchedEpoch": -1}
    common |= {"logStartOffset": -1, "partitionMaxBytes": 0}

    nowhere = "AAAAAAAAAAAAAAAAAAAAAA"
    assert old == [{"topicId": nowhere, "partitions": [common]}]
    assert new == [{"topicId": nowhere, "partitions": [common | {"replicaDirectoryId": ID_TEXT}]}]
