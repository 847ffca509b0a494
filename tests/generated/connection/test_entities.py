"""Entities whose type comes from entities.json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from kafka_messages import (
    AlterClientQuotasRequest,
    AlterConfigsRequest,
    AlterConfigsResponse,
    AlterUserScramCredentialsResponse,
    ConsumerProtocolSubscription,
    CreateAclsRequest,
    CreateDelegationTokenRequest,
    DelegationTokenRecord,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    MetadataRequest,
    OffsetFetchRequest,
    QuorumStateData,
    ReadShareGroupStateRequest,
    ShareFetchResponse,
    StreamsGroupTopologyValue,
    TransactionLogValue,
)
from kafka_messages.connection import entities
from kafka_messages.enums import ConfigResourceType, CoordinatorType, PatternType, ResourceType
from kafka_messages.protocol import decode_request, encode_request
from kafka_messages.schema.descriptors import descriptor_of

from tests.support.pages import ROOT

CONFIGS: list[tuple[type[Any], str, str]] = [
    (AlterConfigsRequest, "resources", "AlterConfigsResource"),
    (AlterConfigsResponse, "responses", "AlterConfigsResourceResponse"),
    (DescribeConfigsRequest, "resources", "DescribeConfigsResource"),
    (DescribeConfigsResponse, "results", "DescribeConfigsResult"),
    (IncrementalAlterConfigsRequest, "resources", "AlterConfigsResource"),
    (IncrementalAlterConfigsResponse, "responses", "AlterConfigsResourceResponse"),
]


def with_changed_entities(message: Any, *types: Any, **request: Any) -> Any:
    for entity in entities(message, *types, **request):
        entity.value = entity.value + 100 if isinstance(entity.value, int) else f"ann.{entity.value}"
    version = descriptor_of(type(message)).valid.highest
    return type(message).read(message.write(version), version)


@pytest.mark.parametrize(("cls", "array", "struct"), CONFIGS, ids=lambda value: getattr(value, "__name__", value))
def test_config_resources_are_entities_of_their_type(cls: type[Any], array: str, struct: str) -> None:
    names = {
        ConfigResourceType.TOPIC: ("orders", "topicName", "orders", "ann.orders"),
        ConfigResourceType.BROKER: ("1", "brokerId", 1, "101"),
        ConfigResourceType.BROKER_LOGGER: ("2", "brokerId", 2, "102"),
        ConfigResourceType.CLIENT_METRICS: ("m", "clientMetrics", "m", "ann.m"),
        ConfigResourceType.GROUP: ("g", "groupId", "g", "ann.g"),
    }
    rows: list[tuple[int, str]] = [(int(code), each[0]) for code, each in names.items()]
    rows += [(77, "unknown"), (ConfigResourceType.UNKNOWN, "none"), (4, ""), (4, "all"), (2, "")]
    message = cls(**{array: [getattr(cls, struct)(resource_type=code, resource_name=name) for code, name in rows]})
    found = [(each.path, each.type, each.value) for each in entities(message)]
    assert found == [(f"{array}[{n}].resource_name", each[1], each[2]) for n, each in enumerate(names.values())]
    after = [(each.resource_type, each.resource_name) for each in getattr(with_changed_entities(message), array)]
    assert after == [(int(code), each[3]) for code, each in names.items()] + rows[len(names) :]


def acl_messages() -> dict[str, Any]:
    rows = [(code, f"r{code}") for code in range(9)] + [(2, "*")]
    creation, entry = CreateAclsRequest.AclCreation, DescribeAclsResponse.DescribeAclsResource
    deleted, each = DeleteAclsResponse.DeleteAclsMatchingAcl, PatternType.PREFIXED
    wanted = DeleteAclsRequest.DeleteAclsFilter
    acls = [deleted(resource_type=code, resource_name=name, pattern_type=each) for code, name in rows]
    return {
        "create": CreateAclsRequest(
            creations=[creation(resource_type=c, resource_name=n, resource_pattern_type=each) for c, n in rows]
        ),
        "described": DescribeAclsResponse(
            resources=[entry(resource_type=c, resource_name=n, pattern_type=each) for c, n in rows]
        ),
        "delete": DeleteAclsRequest(
            filters=[wanted(resource_type_filter=c, resource_name_filter=n, pattern_type_filter=each) for c, n in rows]
        ),
        "deleted": DeleteAclsResponse(filter_results=[DeleteAclsResponse.DeleteAclsFilterResult(matching_acls=acls)]),
    }


@pytest.mark.parametrize("name", ["create", "described", "delete", "deleted"])
def test_acl_resources_are_entities_of_their_type(name: str) -> None:
    message = acl_messages()[name]
    kinds = {
        ResourceType.TOPIC: "topicName",
        ResourceType.GROUP: "groupId",
        ResourceType.TRANSACTIONAL_ID: "transactionalId",
        ResourceType.DELEGATION_TOKEN: "delegationToken",
        ResourceType.USER: "principal",
    }
    assert [(each.type, each.value) for each in entities(message)] == [(k, f"r{c}") for c, k in kinds.items()]
    after = repr(with_changed_entities(message))
    for code in range(9):
        assert (f"'ann.r{code}'" in after) == (code in kinds) == (f"'r{code}'" not in after)
    assert "'*'" in after
    assert "'ann.*'" not in after


def test_acl_filters_and_principals_are_entities() -> None:
    request = DescribeAclsRequest(
        resource_type_filter=ResourceType.GROUP,
        resource_name_filter="g",
        principal_filter="User:ann",
        pattern_type_filter=3,
    )
    assert [(each.path, each.type, each.value) for each in entities(request)] == [
        ("resource_name_filter", "groupId", "g"),
        ("principal_filter", "principal", "User:ann"),
    ]
    assert with_changed_entities(request, "groupId").resource_name_filter == "ann.g"
    assert list(entities(DescribeAclsRequest(resource_type_filter=2, resource_name_filter=None))) == []


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (CoordinatorType.GROUP, "groupId"),
        (CoordinatorType.TRANSACTION, "transactionalId"),
        (CoordinatorType.SHARE, "shareKey"),
        (9, None),
    ],
)
def test_coordinator_keys_are_entities_of_their_type(code: int, kind: str | None) -> None:
    request = FindCoordinatorRequest(key_type=code, coordinator_keys=["a", "b"])
    found = [(each.path, each.type, each.value) for each in entities(request)]
    assert found == [(f"coordinator_keys[{n}]", kind, key) for n, key in enumerate("ab") if kind]
    asked = with_changed_entities(request)
    assert asked.coordinator_keys == (["ann.a", "ann.b"] if kind else ["a", "b"])

    coordinators = [FindCoordinatorResponse.Coordinator(key=key, host="h", port=1) for key in asked.coordinator_keys]
    response = FindCoordinatorResponse(coordinators=coordinators)
    assert [each.type for each in entities(response)] == ["brokerId"] * 3
    decoded = decode_request(encode_request(asked, 6, 1)[4:])
    for given in (asked, decoded):
        keys = [(each.type, each.value) for each in entities(response, request=given) if each.type != "brokerId"]
        assert keys == [(kind, key) for key in asked.coordinator_keys if kind]
    for entity in entities(response, "groupId", "transactionalId", "shareKey", request=decoded):
        entity.value = str(entity.value).removeprefix("ann.")
    assert [each.key for each in FindCoordinatorResponse.read(response.write(6), 6).coordinators] == ["a", "b"]


def test_single_coordinator_key_is_an_entity() -> None:
    request = FindCoordinatorRequest(key="t", key_type=1)
    assert [(each.path, each.type) for each in entities(request)] == [("key", "transactionalId")]
    for entity in entities(FindCoordinatorRequest.read(FindCoordinatorRequest(key="g").write(0), 0)):
        assert (entity.type, entity.value) == ("groupId", "g")


def test_request_that_does_not_match_the_response_is_rejected() -> None:
    for given in (MetadataRequest(), FindCoordinatorResponse()):
        with pytest.raises(TypeError) as caught:
            entities(FindCoordinatorResponse(), request=given)
        text = repr(given)
        shown = text if len(text) <= 60 else text[:57] + "..."
        assert str(caught.value) == f"{shown} is not the request of FindCoordinatorResponse"


def test_empty_string_is_not_an_entity() -> None:
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id="g")
    for entity in entities(request := OffsetFetchRequest(groups=[group]), "groupId"):
        entity.value = f"ann.{entity.value}"
    assert [each.group_id for each in OffsetFetchRequest.read(request.write(9), 9).groups] == ["ann.g"]


def test_names_without_entity_type_in_the_definition_are_entities() -> None:
    assert with_changed_entities(ReadShareGroupStateRequest(group_id="g")).group_id == "ann.g"
    assert with_changed_entities(ConsumerProtocolSubscription(topics=["a", "b"])).topics == ["ann.a", "ann.b"]
    info, part = StreamsGroupTopologyValue.TopicInfo, StreamsGroupTopologyValue.Subtopology
    topology = StreamsGroupTopologyValue(
        subtopologies=[part(source_topics=["s"], state_changelog_topics=[info(name="c")])]
    )
    assert [(each.path, each.value) for each in entities(topology, "topicName")] == [
        ("subtopologies[0].source_topics[0]", "s"),
        ("subtopologies[0].state_changelog_topics[0].name", "c"),
    ]
    partitions = TransactionLogValue.PartitionsSchema(topic="t", partition_ids=[0])
    value = TransactionLogValue(producer_id=5, transaction_partitions=[partitions])
    assert ("transaction_partitions[0].topic", "topicName") in [(each.path, each.type) for each in entities(value)]
    leader = ShareFetchResponse.LeaderIdAndEpoch(leader_id=3)
    data = ShareFetchResponse.PartitionData(current_leader=leader)
    response = ShareFetchResponse(responses=[ShareFetchResponse.ShareFetchableTopicResponse(partitions=[data])])
    assert [each.value for each in entities(response, "brokerId")] == [3]


def test_users_and_principals_are_entities() -> None:
    answer = AlterUserScramCredentialsResponse.AlterUserScramCredentialsResult(user="ann")
    assert (
        with_changed_entities(AlterUserScramCredentialsResponse(results=[answer]), "user").results[0].user == "ann.ann"
    )

    renewer = CreateDelegationTokenRequest.CreatableRenewers
    asked = CreateDelegationTokenRequest(
        owner_principal_type="User",
        owner_principal_name="ann",
        renewers=[
            renewer(principal_type="User", principal_name="bob"),
            renewer(principal_type="Team", principal_name="c"),
        ],
    )
    found = [(each.path, each.type, each.value) for each in entities(asked)]
    assert found == [("owner_principal_name", "user", "ann"), ("renewers[0].principal_name", "user", "bob")]

    stored = DelegationTokenRecord(owner="User:ann", requester="User:bob", renewers=["User:c", "User:*"], token_id="t")
    assert [(each.path, each.type) for each in entities(stored)] == [
        ("owner", "principal"),
        ("requester", "principal"),
        ("renewers[0]", "principal"),
        ("token_id", "delegationToken"),
    ]


def test_wildcard_principal_is_not_an_entity() -> None:
    creation = CreateAclsRequest.AclCreation
    request = CreateAclsRequest(creations=[creation(principal="User:*"), creation(principal="User:ann")])
    assert [each.value for each in entities(request, "principal")] == ["User:ann"]


def test_quota_entities_are_found_by_type() -> None:
    part = AlterClientQuotasRequest.EntityData
    rows = [("user", "ann"), ("client-id", "shop"), ("ip", "10.0.0.1"), ("user", None), ("planet", "mars")]
    entry = AlterClientQuotasRequest.EntryData(entity=[part(entity_type=t, entity_name=n) for t, n in rows])
    request = AlterClientQuotasRequest(entries=[entry])
    assert [(each.type, each.value) for each in entities(request)] == [("user", "ann"), ("clientId", "shop")]
    after = [each.entity_name for each in with_changed_entities(request).entries[0].entity]
    assert after == ["ann.ann", "ann.shop", "10.0.0.1", None, "mars"]


def test_negative_ids_are_not_entities() -> None:
    state = QuorumStateData(leader_id=-1, voted_id=2, current_voters=[QuorumStateData.Voter(voter_id=0)])
    assert [(each.path, each.value) for each in entities(state)] == [("voted_id", 2), ("current_voters[0].voter_id", 0)]
    assert list(entities(TransactionLogValue(producer_id=-1, previous_producer_id=-1, next_producer_id=-1))) == []


def test_codes_of_entity_types_equal_the_enumerations() -> None:
    text = (ROOT / "specs" / "kafka" / "entities.json").read_text(encoding="utf-8")
    annotations = json.loads("\n".join(line for line in text.splitlines() if not line.startswith("//")))
    coordinators, configs, acls = (
        each["values"] for each in annotations if "values" in each and "user" not in each["values"].values()
    )
    named = {"groupId": "GROUP", "topicName": "TOPIC", "clientMetrics": "CLIENT_METRICS", "shareKey": "SHARE"}
    named |= {"delegationToken": "DELEGATION_TOKEN", "principal": "USER"}
    for values, kind, others in (
        (coordinators, CoordinatorType, {"1": "TRANSACTION"}),
        (configs, ConfigResourceType, {"4": "BROKER", "8": "BROKER_LOGGER"}),
        (acls, ResourceType, {"5": "TRANSACTIONAL_ID"}),
    ):
        found: dict[str, str] = {code: kind(int(code)).name for code in values}
        assert found == {code: others.get(code, named.get(entity, "")) for code, entity in values.items()}
        known = {int(each) for each in kind if each.name not in ("UNKNOWN", "ANY", "CLUSTER")}
        assert known == set(map(int, values))
