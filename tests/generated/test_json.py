"""Kafka's JSON form: ``to_json``, ``from_json`` and their errors."""

from __future__ import annotations

import copy
import json
import math
import pickle
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    ApiVersionsRequest,
    ApiVersionsResponse,
    BrokerHeartbeatRequest,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    EncodeError,
    FetchRequest,
    HeartbeatRequest,
    KafkaMessageError,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    ProduceRequest,
    ProducerSnapshot,
    RawTaggedField,
    RegisterBrokerRecord,
    SaslAuthenticateRequest,
    ShareFetchResponse,
    UnsupportedVersionError,
)
from kafka_messages._base.message import Message
from kafka_messages.internal_topics import read_coordinator_record, write_coordinator_record
from kafka_messages.json import JsonError, from_json, parse_uuid, to_json, uuid_text
from kafka_messages.messages.alter_client_quotas_request import EntityData, EntryData, OpData
from kafka_messages.messages.api_versions_response import ApiVersion
from kafka_messages.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicCollection,
    CreatableTopicConfig,
)
from kafka_messages.messages.describe_topic_partitions_request import Cursor
from kafka_messages.messages.fetch_request import FetchPartition, FetchTopic, ReplicaState
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.metadata_response import MetadataResponseTopic
from kafka_messages.messages.produce_request import PartitionProduceData, TopicProduceData
from kafka_messages.messages.register_broker_record import BrokerEndpoint
from kafka_messages.messages.share_fetch_response import PartitionData, ShareFetchableTopicResponse

from tests.support import specs
from tests.support.building import build_package

ID = UUID("c7b0f70a-4fd9-440d-b6f9-dcc8beefe99d")
ID_TEXT = "x7D3Ck_ZRA22-dzIvu_pnQ"


def topics_request() -> CreateTopicsRequest:
    topic = CreatableTopic(
        name="orders",
        num_partitions=1,
        replication_factor=3,
        assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=[1, 2])],
        configs=[CreatableTopicConfig(name="cleanup.policy", value=None)],
    )
    return CreateTopicsRequest(topics=[topic], timeout_ms=5)


TOPICS_JSON: dict[str, Any] = {
    "topics": [
        {
            "name": "orders",
            "numPartitions": 1,
            "replicationFactor": 3,
            "assignments": [{"partitionIndex": 0, "brokerIds": [1, 2]}],
            "configs": [{"name": "cleanup.policy", "value": None}],
        }
    ],
    "timeoutMs": 5,
    "validateOnly": False,
}


def produce_request(records: bytes | None) -> ProduceRequest:
    partition = PartitionProduceData(index=1, records=records)
    return ProduceRequest(acks=-1, topic_data=[TopicProduceData(name="t", partition_data=[partition])])


def partition_json(message: ProduceRequest, **options: Any) -> object:
    written: Any = to_json(message, 12, **options)
    return written["topicData"][0]["partitionData"][0]


# --- writing ----------------------------------------------------------------------------------------------------------


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


# --- reading ----------------------------------------------------------------------------------------------------------


def test_from_json_reads_nested_structs_and_collections() -> None:
    message = from_json(CreateTopicsRequest, TOPICS_JSON, 7)

    assert message == topics_request()
    assert type(message.topics) is CreatableTopicCollection
    topic = message.topics.find("orders")
    assert topic is not None
    assert topic.configs.find("cleanup.policy") == CreatableTopicConfig(name="cleanup.policy", value=None)


def test_keyed_arrays_keep_duplicates_and_order() -> None:
    keys = [ApiVersion(api_key=3, max_version=1), ApiVersion(api_key=1), ApiVersion(api_key=3, max_version=2)]
    message = ApiVersionsResponse(api_keys=keys)

    assert list(from_json(ApiVersionsResponse, to_json(message, 0), 0).api_keys) == keys


def test_fields_outside_the_version_get_their_defaults() -> None:
    given = {"replicaId": 1, "maxWaitMs": 2, "minBytes": 3, "maxBytes": 4, "isolationLevel": 1, "topics": []}
    message = from_json(FetchRequest, given, 4)

    assert message == FetchRequest(replica_id=1, max_wait_ms=2, min_bytes=3, max_bytes=4, isolation_level=1)
    assert message.session_epoch == -1
    assert message.replica_state == ReplicaState()


def test_explicit_defaults_of_tagged_fields_are_accepted() -> None:
    given = to_json(FetchRequest(), 17) | {"clusterId": None, "replicaState": {"replicaId": -1, "replicaEpoch": -1}}

    assert from_json(FetchRequest, given, 17).write(17) == FetchRequest().write(17)


def test_nullable_struct_can_be_null() -> None:
    given: dict[str, object] = {"topics": [], "responsePartitionLimit": 1, "cursor": None}
    assert from_json(DescribeTopicPartitionsRequest, given, 0).cursor is None

    given["cursor"] = {"topicName": "t", "partitionIndex": 2}
    assert from_json(DescribeTopicPartitionsRequest, given, 0).cursor == Cursor(topic_name="t", partition_index=2)


def test_integers_are_accepted_for_floats() -> None:
    entry = {"entity": [], "ops": [{"key": "k", "value": 1, "remove": False}]}
    message = from_json(AlterClientQuotasRequest, {"entries": [entry], "validateOnly": False}, 0)

    assert repr(message.entries[0].ops[0].value) == "1.0"


def test_tuples_are_accepted_for_arrays() -> None:
    message = from_json(CreateTopicsRequest, {"topics": (), "timeoutMs": 1, "validateOnly": True}, 2)

    assert message == CreateTopicsRequest(timeout_ms=1, validate_only=True)


@pytest.mark.parametrize("text", [ID_TEXT, ID_TEXT + "==", "x7D3Ck_ZRA22-dzIvu_pnR"])
def test_equivalent_uuid_texts_are_accepted(text: str) -> None:
    """As in Kafka, padding is optional, and the last four bits are ignored."""
    given = {"topics": [{"topicId": text, "name": None}], "allowAutoTopicCreation": True}
    message = from_json(MetadataRequest, given | {"includeTopicAuthorizedOperations": False}, 12)

    assert message.topics == [MetadataRequestTopic(topic_id=ID, name=None)]


# --- refusing ---------------------------------------------------------------------------------------------------------


def topics_json_with(path: str, value: object) -> dict[str, Any]:
    """Return TOPICS_JSON with another value at a dotted path; numbers are indices."""
    result = copy.deepcopy(TOPICS_JSON)
    inner: Any = result
    *outer, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in outer:
        inner = inner[part]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return result


def json_error_text(cls: type[Message], given: Any, version: int, **options: Any) -> str:
    with pytest.raises(JsonError) as caught:
        from_json(cls, given, version, **options)
    assert caught.value.message == cls.NAME
    assert caught.value.version == version
    return str(caught.value)


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("timeoutMs", ..., "timeoutMs: is missing, but version 7 has this field"),
        ("topics.0.configs.0.value", ..., "topics[0].configs[0].value: is missing, but version 7 has this field"),
        ("timeoutMs", "5", "timeoutMs: expected an integer, got a string of 1 character"),
        ("timeoutMs", 5.0, "timeoutMs: expected an integer, got 5.0"),
        ("timeoutMs", True, "timeoutMs: expected an integer, got true"),
        ("timeoutMs", [], "timeoutMs: expected an integer, got an array"),
        ("timeoutMs", {}, "timeoutMs: expected an integer, got an object"),
        ("timeoutMs", b"5", "timeoutMs: expected an integer, got 1 byte"),
        ("timeoutMs", None, "timeoutMs: must not be null in this version"),
        ("timeoutMs", 2**31, "timeoutMs: 2147483648 is out of range for INT32, -2147483648 to 2147483647"),
        ("validateOnly", 0, "validateOnly: expected true or false, got 0"),
        ("validateOnly", "true", "validateOnly: expected true or false, got a string of 4 characters"),
        ("topics", {}, "topics: expected an array, got an object"),
        ("topics", "orders", "topics: expected an array, got a string of 6 characters"),
        ("topics", None, "topics: must not be null in this version"),
        ("topics.0", [], "topics[0]: expected an object, got an array"),
        ("topics.0", None, "topics[0]: expected an object, got null"),
        ("topics.0.name", 3, "topics[0].name: expected a string, got 3"),
        ("topics.0.name", None, "topics[0].name: must not be null in this version"),
        ("topics.0.name", "é" * 16384, "topics[0].name: has 32768 bytes of UTF-8, at most 32767 allowed"),
        (
            "topics.0.name",
            "a\ud800",
            "topics[0].name: cannot be encoded as UTF-8: surrogates not allowed at character 1",
        ),
        (
            "topics.0.replicationFactor",
            -32769,
            "topics[0].replicationFactor: -32769 is out of range for INT16, -32768 to 32767",
        ),
        (
            "topics.0.assignments.0.brokerIds.1",
            None,
            "topics[0].assignments[0].brokerIds[1]: expected an integer, got null",
        ),
        ("timeout_ms", 5, "timeout_ms: unknown key; did you mean 'timeoutMs'?"),
        ("topics.0.configs.0.Value", "x", "topics[0].configs[0].Value: unknown key; did you mean 'value'?"),
        ("timeoutMs", "x" * 99, "timeoutMs: expected an integer, got a string of 99 characters"),
    ],
)
def test_wrong_json_raises_with_path(path: str, value: object, text: str) -> None:
    assert json_error_text(CreateTopicsRequest, topics_json_with(path, value), 7) == f"CreateTopicsRequest v7: {text}"


@pytest.mark.parametrize(("given", "shown"), [([], "an array"), (None, "null"), ("{}", "a string of 2 characters")])
def test_json_other_than_an_object_is_rejected(given: object, shown: str) -> None:
    assert json_error_text(HeartbeatRequest, given, 0) == f"HeartbeatRequest v0: expected an object, got {shown}"


def json_description(value: object) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    return f"a string of {len(value)} character{'s' * (len(value) != 1)}"


@pytest.mark.parametrize(
    "text",
    ["YQ", "YQ=", "YQ===", "Y", "Y-_=", "YQ==YQ==", " YQ==", "YQ==\n", "é", 5, "YWJ=j", "=YQ="],
)
def test_invalid_base64_is_rejected(text: object) -> None:
    expected = f"SaslAuthenticateRequest v2: authBytes: expected bytes as base64, got {json_description(text)}"
    assert json_error_text(SaslAuthenticateRequest, {"authBytes": text}, 2) == expected


@pytest.mark.parametrize(
    "text",
    ["", "x7D3Ck", ID_TEXT + "A", ID_TEXT + "AA", "x7D3Ck/ZRA22+dzIvu/pnQ", str(ID), 7, "é" * 9, "é" + ID_TEXT[1:]],
)
def test_invalid_uuid_is_rejected(text: object) -> None:
    given = {"topics": [{"topicId": text, "name": None}], "allowAutoTopicCreation": True}
    expected = f"topics[0].topicId: expected a UUID as 22 characters of URL-safe base64, got {json_description(text)}"
    assert json_error_text(MetadataRequest, given, 12) == f"MetadataRequest v12: {expected}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.5", "expected a number, got a string of 3 characters"),
        (True, "expected a number, got true"),
        (2**1024, f"{str(2**1024)[:57]}... is out of range for FLOAT64"),
        (None, "must not be null in this version"),
    ],
)
def test_invalid_float_is_rejected(value: object, text: str) -> None:
    given = {"entries": [{"entity": [], "ops": [{"key": "k", "value": value, "remove": False}]}], "validateOnly": False}
    assert (
        json_error_text(AlterClientQuotasRequest, given, 1)
        == f"AlterClientQuotasRequest v1: entries[0].ops[0].value: {text}"
    )


@pytest.mark.parametrize(("value", "text"), [(-1, "-1"), (65536, "65536")])
def test_unsigned_integer_out_of_range_is_rejected(value: int, text: str) -> None:
    broker = RegisterBrokerRecord(end_points=[BrokerEndpoint(name="a", host="h", port=1)])
    given: Any = to_json(broker, 4)
    given["endPoints"][0]["port"] = value
    expected = f"RegisterBrokerRecord v4: endPoints[0].port: {text} is out of range for UINT16, 0 to 65535"
    assert json_error_text(RegisterBrokerRecord, given, 4) == expected


def test_null_is_rejected_where_not_nullable() -> None:
    expected = "MetadataRequest v0: topics: must not be null in this version"
    assert json_error_text(MetadataRequest, {"topics": None}, 0) == expected
    assert from_json(MetadataRequest, {"topics": None}, 1).topics is None


def test_field_of_another_version_is_rejected() -> None:
    given = {"groupId": "g", "generationId": 1, "memberId": "m", "groupInstanceId": "i"}
    expected = "HeartbeatRequest v2: groupInstanceId: is not supported by version 2"

    assert json_error_text(HeartbeatRequest, given, 2) == expected
    assert json_error_text(HeartbeatRequest, given, 2, ignore_unknown=True) == expected
    assert from_json(HeartbeatRequest, given, 3).group_instance_id == "i"


def test_unknown_keys_are_rejected_unless_ignored() -> None:
    given = topics_json_with("topics.0.comment", "mine") | {"comment": {"at": "top"}}
    expected = "CreateTopicsRequest v7: topics[0].comment: unknown key"

    assert json_error_text(CreateTopicsRequest, given, 7) == expected
    assert from_json(CreateTopicsRequest, given, 7, ignore_unknown=True) == topics_request()


def test_records_size_alone_is_rejected() -> None:
    written = to_json(produce_request(b"abc"), 12, records="size")
    expected = (
        "ProduceRequest v12: topicData[0].partitionData[0].records: is missing, but version 12 has this field; "
        "the bytes cannot be restored from recordsSizeInBytes"
    )
    assert json_error_text(ProduceRequest, written, 12) == expected
    assert json_error_text(ProduceRequest, written, 12, ignore_unknown=True) == expected


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ({}, ": expected an array, got an object"),
        ([5], '[0]: expected an object with "tag" and "data", got 5'),
        ([{"tag": 1}], '[0]: expected an object with "tag" and "data", got an object'),
        ([{"tag": "1", "data": ""}], "[0]: expected an integer, got a string of 1 character"),
        ([{"tag": 9, "data": None}], "[0]: expected bytes as base64, got null"),
        ([{"tag": -1, "data": ""}], "[0]: -1 is out of range for UNSIGNED_VARINT, 0 to 4294967295"),
        ([{"tag": 2**32, "data": ""}], "[0]: 4294967296 is out of range for UNSIGNED_VARINT, 0 to 4294967295"),
        ([{"tag": 9, "data": ""}, {"tag": 9, "data": ""}], "[1]: duplicate tag 9"),
        ([{"tag": 1, "data": ""}], "[0]: tag 1 is a field of the definition"),
    ],
)
def test_invalid_unknown_tagged_fields_are_rejected(raw: object, text: str) -> None:
    given = to_json(FetchRequest(), 17) | {"_unknownTaggedFields": raw}
    assert json_error_text(FetchRequest, given, 17) == f"FetchRequest v17: _unknownTaggedFields{text}"


def test_unknown_tagged_fields_in_inflexible_version_are_rejected() -> None:
    given = {"groupId": "g", "generationId": 1, "memberId": "m", "_unknownTaggedFields": []}
    expected = "HeartbeatRequest v0: _unknownTaggedFields: version 0 has no tagged fields"
    assert json_error_text(HeartbeatRequest, given, 0) == expected


def test_json_error_has_path_and_reason() -> None:
    with pytest.raises(JsonError) as caught:
        from_json(CreateTopicsRequest, topics_json_with("topics.0.name", 3), 7)
    error = caught.value

    assert isinstance(error, ValueError)
    assert isinstance(error, KafkaMessageError)
    assert error.path == "topics[0].name"
    assert error.reason == "expected a string, got 3"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_collection_with_null_key_round_trips() -> None:
    message = MetadataResponse(topics=[MetadataResponseTopic(name=None, topic_id=ID)])
    again = from_json(MetadataResponse, to_json(message, 12), 12)

    assert again == message
    assert again.topics.find(None) == message.topics[0]


def test_null_for_non_nullable_records_is_rejected() -> None:
    partition = PartitionData(records=b"")
    message = ShareFetchResponse(responses=[ShareFetchableTopicResponse(partitions=[partition])])
    written: Any = to_json(message, 1)
    written["responses"][0]["partitions"][0]["records"] = None
    expected = "responses[0].partitions[0].records: must not be null in this version"
    assert json_error_text(ShareFetchResponse, written, 1) == f"ShareFetchResponse v1: {expected}"


def test_errors_replace_unprintable_integers() -> None:
    given = {"groupId": "g", "generationId": 10**5000, "memberId": "m"}
    text = json_error_text(HeartbeatRequest, given, 0)
    expected = "generationId: an unprintable int is out of range for INT32, -2147483648 to 2147483647"
    assert text == f"HeartbeatRequest v0: {expected}"


def test_quota_entities_round_trip() -> None:
    entity = [EntityData(entity_type="user", entity_name=None), EntityData(entity_type="user", entity_name="a")]
    message = AlterClientQuotasRequest(entries=[EntryData(entity=entity)])
    assert from_json(AlterClientQuotasRequest, to_json(message, 0), 0) == message


def test_only_nested_fields_of_the_version_are_written() -> None:
    partition = FetchPartition(partition=1, replica_directory_id=ID)
    message = FetchRequest(topics=[FetchTopic(partitions=[partition])])
    new, old = to_json(message, 17)["topics"], to_json(message, 16)["topics"]
    common = {"partition": 1, "currentLeaderEpoch": -1, "fetchOffset": 0, "lastFetchedEpoch": -1}
    common |= {"logStartOffset": -1, "partitionMaxBytes": 0}

    nowhere = "AAAAAAAAAAAAAAAAAAAAAA"
    assert old == [{"topicId": nowhere, "partitions": [common]}]
    assert new == [{"topicId": nowhere, "partitions": [common | {"replicaDirectoryId": ID_TEXT}]}]


# --- forms that no message of Kafka has -------------------------------------------------------------------------------

SCALARS = ("bool", "int8", "uint16", "uint32", "int64", "float64", "uuid", "string", "bytes")
OWN = (
    specs.message(*(specs.field(f"Some{name.capitalize()}", f"[]{name}", nullableVersions="0+") for name in SCALARS)),
    {
        "name": "Optional",
        "type": "data",
        "validVersions": "0",
        "flexibleVersions": "none",
        "versionsWithOptional": "0+",
        "fields": [specs.field("Plain")],
        "optionalFields": [{"name": "Extra", "type": "string", "tag": "0x0001", "nullable": True}],
    },
)


@pytest.fixture(scope="module")
def own_package(tmp_path_factory: pytest.TempPathFactory) -> Any:
    package: Any = build_package(tmp_path_factory.mktemp("own"), *OWN)
    import_module(f"{package.__name__}.json")
    return package


def test_arrays_of_every_type_round_trip(own_package: Any) -> None:
    given = {
        "someBool": [True, False],
        "someInt8": [-128, 127],
        "someUint16": [0, 65535],
        "someUint32": [0, 4294967295],
        "someInt64": [-(2**63), 2**63 - 1],
        "someFloat64": [0.5, -0.0],
        "someUuid": [ID_TEXT, "AAAAAAAAAAAAAAAAAAAAAA"],
        "someString": ["", "é"],
        "someBytes": ["", "//4="],
    }
    for version in (0, 3):
        for obj in (given, dict.fromkeys(given)):
            data = own_package.json.from_json(own_package.Probe, obj, version).write(version)
            assert own_package.json.to_json(own_package.Probe.read(data, version), version) == obj


def test_optional_fields_round_trip(own_package: Any) -> None:
    assert own_package.json.to_json(own_package.Optional(plain=1), 0) == {"plain": 1}
    assert own_package.json.from_json(own_package.Optional, {"plain": 1}, 0) == own_package.Optional(plain=1)

    given = {"plain": 1, "extra": None, "_unknownTaggedFields": [{"tag": 2, "data": "YQ=="}]}
    message = own_package.Optional.read(own_package.json.from_json(own_package.Optional, given, 0).write(0), 0)
    assert own_package.json.to_json(message, 0, unknown_tagged_fields=True) == given

    empty = given | {"_unknownTaggedFields": [{"tag": 2, "data": ""}]}
    with pytest.raises(own_package.json.JsonError) as caught:
        own_package.json.from_json(own_package.Optional, empty, 0)
    reason = "optional field 2 has no bytes; a length of 0 would end the buffer"
    assert str(caught.value) == f"Optional v0: _unknownTaggedFields[0]: {reason}"


def test_coordinator_record_round_trips_at_its_versions() -> None:
    key, value = OffsetCommitKey(group="g", topic="t", partition=2), OffsetCommitValue(offset=5, topic_id=ID)
    record = read_coordinator_record("__consumer_offsets", *write_coordinator_record(key, value, 4))
    assert (record.type, record.key_version, record.value_version) == (1, 0, 4)
    obj = {"group": "g", "topic": "t", "partition": 2}
    for version in (record.key_version, record.type):
        assert to_json(record.key, version) == obj
        assert from_json(OffsetCommitKey, obj, version) == key
    assert record.value is not None
    assert record.value_version is not None
    assert from_json(OffsetCommitValue, to_json(record.value, record.value_version), record.value_version) == value


def test_unsupported_versions_of_keys_and_values_raise() -> None:
    with pytest.raises(UnsupportedVersionError) as raised:
        to_json(OffsetCommitKey(), 3)
    assert str(raised.value) == "OffsetCommitKey has no version 3, only version 0"
    with pytest.raises(UnsupportedVersionError) as raised:
        from_json(OffsetCommitValue, {}, 9)
    assert str(raised.value) == "OffsetCommitValue has no version 9, only versions 0 to 4"


def test_uuid_text_round_trips() -> None:
    assert uuid_text(ID) == ID_TEXT
    assert parse_uuid(ID_TEXT) == ID
    assert (uuid_text(UUID(int=0)), parse_uuid("A" * 22)) == ("A" * 22, UUID(int=0))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("orders", ValueError, "expected a UUID as 22 characters of URL-safe base64, got a string of 6 characters"),
        (str(ID), ValueError, "expected a UUID as 22 characters of URL-safe base64, got a string of 36 characters"),
        (ID, TypeError, f"expected str, got {ID!r}"),
    ],
)
def test_parse_uuid_rejects_invalid_texts(text: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as raised:
        parse_uuid(text)
    assert str(raised.value) == said


def test_uuid_text_rejects_other_types() -> None:
    with pytest.raises(TypeError) as raised:
        uuid_text(ID_TEXT)  # type: ignore[arg-type]
    assert str(raised.value) == f"expected a UUID, got {ID_TEXT!r}"
