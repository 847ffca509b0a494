"""Reading JSON: ``from_json``, and values that round-trip."""

from __future__ import annotations

from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    ApiVersionsResponse,
    CreateTopicsRequest,
    DescribeTopicPartitionsRequest,
    FetchRequest,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitKey,
    OffsetCommitValue,
    UnsupportedVersionError,
)
from kafka_messages.internal_topics import read_coordinator_record, write_coordinator_record
from kafka_messages.json import from_json, parse_uuid, to_json, uuid_text
from kafka_messages.messages.alter_client_quotas_request import EntityData, EntryData
from kafka_messages.messages.api_versions_response import ApiVersion
from kafka_messages.messages.create_topics_request import CreatableTopicCollection, CreatableTopicConfig
from kafka_messages.messages.describe_topic_partitions_request import Cursor
from kafka_messages.messages.fetch_request import ReplicaState
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.metadata_response import MetadataResponseTopic

from tests.support import specs
from tests.support.building import build_package
from tests.support.json_messages import ID, ID_TEXT, TOPICS_JSON, topics_request


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


def test_fields_missing_in_the_version_get_their_defaults() -> None:
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


def test_collection_with_null_key_round_trips() -> None:
    message = MetadataResponse(topics=[MetadataResponseTopic(name=None, topic_id=ID)])
    again = from_json(MetadataResponse, to_json(message, 12), 12)

    assert again == message
    assert again.topics.find(None) == message.topics[0]


def test_quota_entities_round_trip() -> None:
    entity = [EntityData(entity_type="user", entity_name=None), EntityData(entity_type="user", entity_name="a")]
    message = AlterClientQuotasRequest(entries=[EntryData(entity=entity)])
    assert from_json(AlterClientQuotasRequest, to_json(message, 0), 0) == message


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
    ("text", "error", "expected"),
    [
        ("orders", ValueError, "expected a UUID as 22 characters of URL-safe base64, got a string of 6 characters"),
        (str(ID), ValueError, "expected a UUID as 22 characters of URL-safe base64, got a string of 36 characters"),
        (ID, TypeError, f"expected str, got {ID!r}"),
    ],
)
def test_parse_uuid_rejects_invalid_texts(text: Any, error: type[Exception], expected: str) -> None:
    with pytest.raises(error) as raised:
        parse_uuid(text)
    assert str(raised.value) == expected


def test_uuid_text_rejects_other_types() -> None:
    with pytest.raises(TypeError) as raised:
        uuid_text(ID_TEXT)  # type: ignore[arg-type]
    assert str(raised.value) == f"expected a UUID, got {ID_TEXT!r}"
