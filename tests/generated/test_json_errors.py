"""Invalid JSON: the path and the reason of each error of ``from_json``."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    CreateTopicsRequest,
    FetchRequest,
    HeartbeatRequest,
    KafkaMessageError,
    Message,
    MetadataRequest,
    ProduceRequest,
    RegisterBrokerRecord,
    SaslAuthenticateRequest,
    ShareFetchResponse,
)
from kafka_messages.json import JsonError, from_json, to_json
from kafka_messages.messages.register_broker_record import BrokerEndpoint
from kafka_messages.messages.share_fetch_response import PartitionData, ShareFetchableTopicResponse

from tests.support.json_messages import ID, ID_TEXT, TOPICS_JSON, produce_request, topics_request


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


def test_size_of_records_without_the_records_is_rejected() -> None:
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
