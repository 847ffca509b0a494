"""errors, endpoints and entities of any message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import kafka_messages
import pytest
from kafka_messages import (
    DescribeGroupsRequest,
    EncodeError,
    FindCoordinatorResponse,
    LeaderAndIsrRequest,
    MetadataResponse,
    ProduceResponse,
    RawTaggedField,
    TxnOffsetCommitRequest,
    UpdateMetadataRequest,
)
from kafka_messages.connection import endpoints, entities, error_codes, errors
from kafka_messages.json import to_json
from kafka_messages.protocol import ErrorCode, apis
from kafka_messages.schema.descriptors import descriptor_of

from tests.support.random_messages import messages

METADATA = MetadataResponse(
    brokers=[MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=9092, rack="r")],
    controller_id=1,
    topics=[
        MetadataResponse.MetadataResponseTopic(
            name="orders",
            error_code=5,
            partitions=[
                MetadataResponse.MetadataResponsePartition(error_code=9, leader_id=2, replica_nodes=[2, 3]),
            ],
        ),
        MetadataResponse.MetadataResponseTopic(name=None),
    ],
)


def test_errors_are_found_with_their_paths() -> None:
    found = [(error.path, error.code, error.message) for error in errors(METADATA)]
    assert found == [
        ("topics[0].error_code", ErrorCode.LEADER_NOT_AVAILABLE, None),
        ("topics[0].partitions[0].error_code", ErrorCode.REPLICA_NOT_AVAILABLE, None),
    ]
    partition = ProduceResponse.PartitionProduceResponse(index=1, error_code=2, error_message="bad")
    topic = ProduceResponse.TopicProduceResponse(name="t", partition_responses=[partition])
    [error] = errors(ProduceResponse(responses=[topic]))
    assert (error.path, error.code, error.message) == (
        "responses[0].partition_responses[0].error_code",
        ErrorCode.CORRUPT_MESSAGE,
        "bad",
    )
    assert list(errors(MetadataResponse())) == []


def test_unknown_error_code_is_found() -> None:
    [error] = errors(MetadataResponse(error_code=999))
    assert (error.path, int(error.code), error.code.name) == ("error_code", 999, "UNKNOWN_999")


def test_endpoints_can_be_rewritten() -> None:
    unknown = (RawTaggedField(99, b"x"),)
    broker = MetadataResponse.MetadataResponseBroker(node_id=1, host="a", port=1, unknown_tagged_fields=unknown)
    response = MetadataResponse(brokers=[broker], unknown_tagged_fields=unknown)
    [endpoint] = endpoints(response)
    assert (endpoint.path, endpoint.host, endpoint.port) == ("brokers[0]", "a", 1)
    assert repr(endpoint) == "<Endpoint brokers[0]: a:1>"
    endpoint.host, endpoint.port = "proxy", 2
    changed = MetadataResponse.read(response.write(12), 12)
    [again] = changed.brokers
    assert (again.host, again.port, again.unknown_tagged_fields) == ("proxy", 2, unknown)
    assert changed.unknown_tagged_fields == unknown


def test_empty_host_is_not_an_endpoint() -> None:
    assert list(endpoints(FindCoordinatorResponse(host="", port=-1))) == []
    [own] = endpoints(FindCoordinatorResponse(host="a", port=1))
    assert own.path == ""


@pytest.mark.parametrize("version", range(6))
def test_endpoints_in_controller_requests_can_be_rewritten(version: int) -> None:
    leader = LeaderAndIsrRequest.LeaderAndIsrLiveLeader(broker_id=1, host_name="a", port=1)
    place = UpdateMetadataRequest.UpdateMetadataEndpoint(host="a", port=1)
    own = {"endpoints": [place]} if version else {"v0_host": "a", "v0_port": 1}
    update = UpdateMetadataRequest(live_brokers=[UpdateMetadataRequest.UpdateMetadataBroker(id=1, **own)])
    for message in (LeaderAndIsrRequest(live_leaders=[leader]), update):
        for endpoint in endpoints(message):
            assert repr(endpoint) == f"<Endpoint {endpoint.path}: a:1>"
            endpoint.host, endpoint.port = "proxy", 2
        again = type(message).read(message.write(version), version)
        assert [(each.host, each.port) for each in endpoints(again)] == [("proxy", 2)]


def addresses(value: Any) -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        if value.get("host") and "port" in value:
            yield value["host"], value["port"]
        for inner in value.values():
            yield from addresses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from addresses(inner)


def test_all_endpoints_are_found() -> None:
    found = 0
    for api in apis():
        if api.is_removed:
            continue
        version = api.valid_versions.highest
        for cls in (api.request_class, api.response_class):
            for message in messages(cls, version, mixed=1):
                iterated = list(endpoints(message))
                assert [(each.host, each.port) for each in iterated] == list(addresses(to_json(message, version)))
                for endpoint in iterated:
                    endpoint.host, endpoint.port = "there", 1
                found += len(iterated)
                assert {(each.host, each.port) for each in endpoints(message)} <= {("there", 1)}
                assert descriptor_of(cls).endpoints() or not iterated
    assert found > 30


def test_entities_are_found_by_type() -> None:
    found = [(each.path, each.type, each.value) for each in entities(METADATA)]
    assert found == [
        ("controller_id", "brokerId", 1),
        ("brokers[0].node_id", "brokerId", 1),
        ("brokers[0].rack", "rack", "r"),
        ("topics[0].name", "topicName", "orders"),
        ("topics[0].partitions[0].leader_id", "brokerId", 2),
        ("topics[0].partitions[0].replica_nodes[0]", "brokerId", 2),
        ("topics[0].partitions[0].replica_nodes[1]", "brokerId", 3),
    ]
    assert [each.value for each in entities(METADATA, "topicName")] == ["orders"]
    request = TxnOffsetCommitRequest(transactional_id="t", group_id="g", producer_id=7)
    assert [(each.type, each.value) for each in entities(request)] == [
        ("transactionalId", "t"),
        ("groupId", "g"),
        ("producerId", 7),
    ]


def test_entities_can_be_rewritten() -> None:
    request = DescribeGroupsRequest(groups=["a", "b"])
    for entity in entities(request, "groupId"):
        entity.value = f"tenant.{entity.value}"
    assert request.groups == ["tenant.a", "tenant.b"]
    response = MetadataResponse(topics=[MetadataResponse.MetadataResponseTopic(name="orders")])
    assert response.topics.find("orders")
    [topic] = entities(response, "topicName")
    assert repr(topic) == "<Entity topics[0].name: topicName 'orders'>"
    topic.value = "tenant.orders"
    assert response.topics.find("orders") is None
    assert response.topics.find("tenant.orders") is response.topics[0]


def test_iterators_accept_messages_of_every_kind() -> None:
    for name in ("PartitionRecord", "OffsetCommitValue", "RequestHeader", "RegisterBrokerRecord"):
        message = getattr(kafka_messages, name)()
        assert list(errors(message)) == []
        assert list(endpoints(message)) == []
        list(entities(message))


@pytest.mark.parametrize(
    ("topics", "reason"),
    [
        (["orders"], "topics[0]: expected MetadataResponseTopic, got str of 6 characters"),
        ("orders", "topics: expected list, got str of 6 characters"),
        (
            [MetadataResponse.MetadataResponseTopic(partitions=[None])],  # type: ignore[list-item]  # what is refused
            "topics[0].partitions[0]: expected MetadataResponsePartition, got None",
        ),
    ],
)
def test_messages_with_invalid_elements_raise_encode_error(topics: Any, reason: str) -> None:
    response = MetadataResponse()
    response.topics = topics
    for iterate in (errors, error_codes, entities):
        with pytest.raises(EncodeError) as caught:
            list(iterate(response))
        assert str(caught.value) == f"MetadataResponse: {reason}"
    response = MetadataResponse()
    response.brokers = ["a:1"]  # type: ignore[assignment]  # what is refused
    with pytest.raises(EncodeError) as caught:
        list(endpoints(response))
    assert str(caught.value) == "MetadataResponse: brokers[0]: expected MetadataResponseBroker, got str of 3 characters"


def test_values_of_wrong_type_raise() -> None:
    response = MetadataResponse(error_code="broken")  # type: ignore[arg-type]
    with pytest.raises(
        EncodeError, match=r"^MetadataResponse: error_code: expected an error code, got str of 6 characters$"
    ):
        list(errors(response))
    request = DescribeGroupsRequest()
    request.groups = 5  # type: ignore[assignment]
    with pytest.raises(EncodeError, match=r"^DescribeGroupsRequest: groups: expected list, got int \(5\)$"):
        list(entities(request))
    for iterate in (errors, error_codes, endpoints, entities):
        with pytest.raises(TypeError, match=r"^expected a message, got 'orders'$"):
            list(iterate("orders"))  # type: ignore[arg-type]


def test_unknown_entity_type_is_rejected_with_suggestion() -> None:
    with pytest.raises(ValueError, match=r"^unknown entity type 'topicNames'; did you mean 'topicName'\?$"):
        entities(METADATA, "topicNames")  # type: ignore[arg-type]
    words = (
        "brokerId clientId clientMetrics clusterId delegationToken groupId principal producerId rack shareKey topicName"
    )
    choices = ", ".join(map(repr, [*words.split(), "transactionalId", "user"]))
    with pytest.raises(ValueError, match=rf"^unknown entity type 'x'; known types are {choices}$"):
        entities(METADATA, "x")  # type: ignore[arg-type]
