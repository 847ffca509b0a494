"""Enumerations: equal to Kafka's, open to unknown numbers, and available from field descriptors."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages import (
    CreateAclsRequest,
    DescribeTransactionsResponse,
    EndTxnRequest,
    GetTelemetrySubscriptionsResponse,
    ListGroupsRequest,
    MetadataResponse,
    ProduceRequest,
    UpdateMetadataRequest,
    enums,
)
from kafka_messages.enums import (
    ENUMERATIONS,
    Acks,
    AclOperation,
    ApiKey,
    CompressionType,
    ErrorCode,
    GroupState,
    IntegerEnum,
    ListOffsetsTimestamp,
    ReplicaId,
    Special,
    StringEnum,
    TransactionState,
)
from kafka_messages.json import JsonError, from_json, to_json
from kafka_messages.messages.create_acls_request import AclCreation
from kafka_messages.messages.metadata_response import MetadataResponsePartition, MetadataResponseTopic
from kafka_messages.protocol import ApiKey as ApiKeyOfProtocol
from kafka_messages.protocol import ErrorCode as ErrorCodeOfProtocol
from kafka_messages.schema import FieldDescriptor, fields_of

from tests.support import vectors
from tests.support.random_messages import messages, versions_of

SPECS = Path(__file__).parents[2] / "specs" / "kafka"
A_LEVEL = "a level of a feature: each feature counts its own"
PLAIN = {
    "ApiVersionsResponse.finalized_features.max_version_level": A_LEVEL,
    "ApiVersionsResponse.finalized_features.min_version_level": A_LEVEL,
    "FeatureLevelRecord.feature_level": A_LEVEL,
    "UpdateFeaturesRequest.feature_updates.max_version_level": A_LEVEL,
    "SubscriptionInfoData.unique_field": "any number that is another one than in the subscription before",
    "WriteTxnMarkersRequest.markers.transaction_version": "the level of the feature transaction.version",
}
"""Small integer fields that are plain numbers, with the reason."""
LOOKS_LIKE_ONE = re.compile(
    r"(ack|acks|code|kind|level|mechanism|mode|operation|policy|protocol|reason|result|role|source|state|status|type)s?$"
)
"""Typical names of enumerated fields."""


def enumerations() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((SPECS / "enumerations.json").read_text(encoding="utf-8"))
    return [each for each in found if "members" in each]


def nested_fields(fields: tuple[FieldDescriptor, ...], place: str) -> Iterator[tuple[str, FieldDescriptor]]:
    for field in fields:
        yield f"{place}.{field.name}", field
        yield from nested_fields(field.fields, f"{place}.{field.name}")


def all_fields() -> dict[str, FieldDescriptor]:
    names = vectors.message_names()
    return {
        place: field for name in names for place, field in nested_fields(fields_of(getattr(kafka_messages, name)), name)
    }


def test_members_equal_the_enumerations_file() -> None:
    assert set(ENUMERATIONS) == {"ApiKey", "ErrorCode", *(each["name"] for each in enumerations())}
    for each in enumerations():
        of = ENUMERATIONS[each["name"]]
        assert {member.name: member.value for member in of} == {one["name"]: one["value"] for one in each["members"]}
        assert {member.name: member.description for member in of} == {
            one["name"]: one["about"] for one in each["members"]
        }
        texts = isinstance(each["members"][0]["value"], str)
        assert of.__mro__[1] is (StringEnum if texts else Special if each.get("special") else IntegerEnum)
        assert getattr(enums, each["name"]) is of


def test_every_enumeration_has_a_source_and_descriptions() -> None:
    for each in enumerations():
        constants = all("constant" in member or isinstance(member["value"], str) for member in each["members"])
        assert "class" in each or each.get("source") or constants, each["name"]
        for member in each["members"]:
            assert member.get("about", "").endswith("."), (each["name"], member["name"])
    for error in ErrorCode:
        assert error.description.endswith("."), error


def test_every_one_byte_field_has_an_enumeration_or_a_reason() -> None:
    bare = {
        place
        for place, field in all_fields().items()
        if field.enumeration is None
        if field.type == "int8"
        or (field.type in ("int16", "uint16") and LOOKS_LIKE_ONE.search(place.rpartition(".")[2]))
    }
    assert bare == set(PLAIN)


def test_fields_of_older_releases_have_enumerations() -> None:
    found = {place: field.enumeration for place, field in all_fields().items()}
    partition = "topic_states.partition_states"
    assert found["LeaderAndIsrRequest.type"] == found["UpdateMetadataRequest.type"] == "ControlRequestType"
    assert found[f"LeaderAndIsrRequest.{partition}.leader_recovery_state"] == "LeaderRecoveryState"
    assert found[f"LeaderAndIsrRequest.{partition}.leader"] == "TopicStateLeader"
    assert found["UpdateMetadataRequest.ungrouped_partition_states.leader"] == "TopicStateLeader"
    assert found[f"StopReplicaRequest.{partition}.leader_epoch"] == "StopReplicaEpoch"
    assert found["UpdateMetadataRequest.live_brokers.endpoints.security_protocol"] == "SecurityProtocol"
    assert found["AccessControlRecord.operation"] == "AclOperation"
    assert to_json(UpdateMetadataRequest(type=2), 8, names=True)["type"] == "FULL"


def test_enumerations_of_fields_exist() -> None:
    found = {place: field.enumeration for place, field in all_fields().items() if field.enumeration is not None}
    assert set(found.values()) <= set(ENUMERATIONS)
    assert len(found) > 300
    assert found["ProduceRequest.acks"] == "Acks"
    assert found["ListGroupsRequest.states_filter"] == "GroupState"
    assert found["MetadataResponse.topics.partitions.error_code"] == "ErrorCode"
    assert found["ApiVersionsResponse.api_keys.api_key"] == "ApiKey"
    unused = set(ENUMERATIONS) - set(found.values())
    assert unused == {"TimestampType"}  # an attribute bit of record batches


def test_unknown_value_becomes_an_unknown_member() -> None:
    unknown = AclOperation(99)
    assert (unknown.name, unknown.value, unknown == 99, unknown.is_known, unknown.description) == (
        "UNKNOWN_99",
        99,
        True,
        False,
        "",
    )
    assert AclOperation.READ.is_known
    assert ErrorCode(-300).name == "UNKNOWN_MINUS_300"
    assert ReplicaId(7).name == "VALUE_7"
    assert (ReplicaId(-1), ListOffsetsTimestamp(-2)) == (ReplicaId.CONSUMER, ListOffsetsTimestamp.EARLIEST)
    state = GroupState("Half asleep")
    assert (state.name, state, state.is_known, state.description) == ("UNKNOWN_HALF_ASLEEP", "Half asleep", False, "")
    for each in (unknown, state, AclOperation.READ, GroupState.STABLE):
        for twin in (copy.copy(each), copy.deepcopy(each), pickle.loads(pickle.dumps(each))):
            assert (twin, type(twin), twin.name) == (each, type(each), each.name)


@pytest.mark.parametrize(("of", "wrong"), [(AclOperation, "READ"), (AclOperation, None), (GroupState, 3)])
def test_value_of_wrong_type_raises_value_error(of: Any, wrong: object) -> None:
    with pytest.raises(ValueError, match=f"^{wrong!r} is not a valid {of.__name__}$"):
        of(wrong)


def test_members_are_accepted_as_field_values() -> None:
    request = ProduceRequest(acks=Acks.ALL)
    assert request == ProduceRequest(acks=-1)
    assert request.write(9) == ProduceRequest(acks=-1).write(9)
    assert Acks(ProduceRequest.read(request.write(9), 9).acks) is Acks.ALL
    assert ListGroupsRequest(states_filter=[GroupState.STABLE]).write(4) == ListGroupsRequest(
        states_filter=["Stable"]
    ).write(4)


def test_error_codes_have_retriable_and_metadata_flags() -> None:
    error = ErrorCode(6)
    assert error is ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (error.is_retriable, error.needs_metadata) == (True, True)
    assert (
        error.description
        == "The broker is not the leader of the partition or, for requests that any replica can serve, not a replica."
    )
    assert (ErrorCode.CORRUPT_MESSAGE.is_retriable, ErrorCode.CORRUPT_MESSAGE.needs_metadata) == (True, False)
    assert (ErrorCode.INVALID_REQUEST.is_retriable, ErrorCode.INVALID_REQUEST.needs_metadata) == (False, False)
    assert (ErrorCode(9999).is_retriable, ErrorCode(9999).needs_metadata) == (False, False)
    known = json.loads((SPECS / "errors.json").read_text(encoding="utf-8"))
    assert [
        (each.name, each.value, each.is_retriable, each.needs_metadata, each.description) for each in ErrorCode
    ] == [(each["name"], each["code"], each["retriable"], each["refreshMetadata"], each["about"]) for each in known]
    assert all(each.is_retriable for each in ErrorCode if each.needs_metadata)


def test_protocol_reexports_the_same_enum_classes() -> None:
    assert ErrorCodeOfProtocol is ErrorCode
    assert ApiKeyOfProtocol is ApiKey


def test_enum_names_in_json_round_trip() -> None:
    request = CreateAclsRequest(
        creations=[AclCreation(resource_type=2, resource_name="o", principal="User:a", host="*", operation=3)]
    )
    request.creations[0].permission_type = 99
    named = to_json(request, 3, names=True)
    assert named == {
        "creations": [
            {
                "resourceType": "TOPIC",
                "resourceName": "o",
                "resourcePatternType": "LITERAL",
                "principal": "User:a",
                "host": "*",
                "operation": "READ",
                "permissionType": 99,
            }
        ]
    }
    assert from_json(CreateAclsRequest, named, 3, names=True) == request
    assert from_json(CreateAclsRequest, to_json(request, 3), 3, names=True) == request
    assert to_json(EndTxnRequest(committed=True), 3, names=True)["committed"] == "COMMIT"
    accepted = GetTelemetrySubscriptionsResponse(accepted_compression_types=[4, 0, 9])
    assert to_json(accepted, 0, names=True)["acceptedCompressionTypes"] == ["ZSTD", "NONE", 9]
    assert CompressionType(4) is CompressionType.ZSTD


@pytest.mark.parametrize("name", vectors.message_names())
def test_json_with_names_round_trips_every_message(name: str) -> None:
    cls = vectors.message_class(name)
    for version in {versions_of(cls)[0], versions_of(cls)[-1]}:
        for message in messages(cls, version, mixed=1):
            named = to_json(message, version, names=True, unknown_tagged_fields=True)
            assert repr(from_json(cls, named, version, names=True)) == repr(message)


WRONG: list[tuple[object, str]] = [
    ("REED", "AclOperation has no member 'REED'; did you mean READ?"),
    ("read", "AclOperation has no member 'read'; did you mean READ?"),
    ("x" * 100, f"AclOperation has no member {('x' * 100)!r:.57}..."),
    ([3], "expected an integer, got an array"),
]


@pytest.mark.parametrize(("value", "reason"), WRONG, ids=["typo", "small", "long", "array"])
def test_unknown_enum_names_in_json_raise(value: object, reason: str) -> None:
    obj = to_json(CreateAclsRequest(creations=[AclCreation()]), 3)
    obj["creations"][0]["operation"] = value  # type: ignore[index]
    with pytest.raises(JsonError) as caught:
        from_json(CreateAclsRequest, obj, 3, names=True)
    assert str(caught.value) == f"CreateAclsRequest v3: creations[0].operation: {reason}"


@pytest.mark.parametrize("obj", [7, {"creations": 7}, {"creations": [7]}, {"creations": {}}])
def test_malformed_json_raises_the_same_error_with_names(obj: Any) -> None:
    texts = []
    for names in (False, True):
        with pytest.raises(JsonError) as caught:
            from_json(CreateAclsRequest, obj, 3, names=names)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_enum_names_in_json_are_opt_in() -> None:
    obj = {"creations": [], "x": 1}
    assert to_json(CreateAclsRequest(), 3) == {"creations": []}
    named = to_json(MetadataResponse(topics=[TOPIC]), 12, names=True)
    with pytest.raises(JsonError) as caught:
        from_json(MetadataResponse, named, 12)
    assert str(caught.value) == "MetadataResponse v12: controllerId: expected an integer, got a string of 4 characters"
    with pytest.raises(JsonError):
        from_json(CreateAclsRequest, obj, 3, names=True)


TOPIC = MetadataResponseTopic(
    error_code=3, name="orders", partitions=[MetadataResponsePartition(error_code=5, leader_id=-1)]
)


def test_transaction_state_is_a_string_enumeration() -> None:
    field = fields_of(DescribeTransactionsResponse)[1].fields
    assert [each.enumeration for each in field if each.name == "transaction_state"] == ["TransactionState"]
    assert TransactionState("Ongoing") is TransactionState.ONGOING


def test_unknown_enumeration_raises_attribute_error() -> None:
    with pytest.raises(AttributeError) as caught:
        _ = getattr(enums, "AclOperations")  # noqa: B009  # no such name, which mypy reports
    assert str(caught.value) == "module 'kafka_messages.enums' has no attribute 'AclOperations'"
    namespace: dict[str, Any] = {}
    exec("from kafka_messages.enums import *", namespace)
    assert {"AclOperation", "ErrorCode", "ENUMERATIONS"} <= namespace.keys()
    assert {"AclOperation", "ErrorCode", "ENUMERATIONS"} <= set(dir(enums))


def test_enum_tables_are_imported_lazily() -> None:
    script = (
        "import sys, kafka_messages.json, kafka_messages.protocol; from kafka_messages import MetadataResponse;"
        "kafka_messages.json.to_json(MetadataResponse(), 12); kafka_messages.protocol.ErrorCode(3);"
        "print([name for name in sys.modules if name in ('kafka_messages.enums._tables', 'difflib')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_members_are_printed_as_plain_values() -> None:
    request = kafka_messages.ListGroupsRequest(states_filter=[GroupState.STABLE], types_filter=["consumer"])
    assert repr(request) == "ListGroupsRequest(states_filter=['Stable'], types_filter=['consumer'])"
    assert eval(repr(request), vars(kafka_messages)) == request
    found = kafka_messages.FindCoordinatorRequest(key_type=enums.CoordinatorType.TRANSACTION, key="t")
    assert repr(found) == "FindCoordinatorRequest(key='t', key_type=1, coordinator_keys=[])"
    assert eval(repr(found), vars(kafka_messages)) == found
