"""Rules that fail some elements of a request: each element is answered once, and the broker gets the others."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    LeaveGroupRequest,
    LeaveGroupResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from kafka_messages.connection import ClientIdentity, ErrorCodePlace, error_codes, error_response
from kafka_messages.protocol import Api, DecodedRequest, ErrorCode, apis, decode_request, encode_request
from kafka_messages.schema import FieldDescriptor, descriptor_of
from kafka_messages_testkit import Exchange, KafkaCluster, Trigger
from kafka_messages_testkit._faults import respond
from kafka_messages_testkit._rule import Frequency, Rules
from kafka_messages_testkit._selectors import Received, Selectors

from tests.support.testkit_broker import asked

pytestmark = pytest.mark.filterwarnings("ignore:Kafka never returns")
ERROR = ErrorCode.COORDINATOR_NOT_AVAILABLE
IDS = (UUID(int=7), UUID(int=8))
NAMES = {IDS[0]: "topic0", IDS[1]: "topic1"}
SELECTORS: tuple[dict[str, Any], ...] = (
    {"topic": "topic0"},
    {"topic": "topic1", "partition": 1},
    {"topic_id": IDS[1]},
    {"group": "group0"},
    {"group": "group1", "topic": "topic0"},
)
# The response names no topic or names each one once, while the request may repeat it.
OTHERS = ("AlterReplicaLogDirs", "CreateAcls", "DescribeLogDirs")


def doubled(kind: Any, fields: tuple[FieldDescriptor, ...], root: Any, number: int = 0) -> Any:
    """Return a struct with two different elements in each array."""
    made = kind()
    for field in fields:
        if field.is_struct:
            inner = getattr(root, field.type)
            values = [doubled(inner, field.fields, root, each) for each in (0, 1)]
        else:
            values = [value(field, each) for each in (0, 1)]
        setattr(made, field.name, values if field.is_array else values[number])
    return made


def value(field: FieldDescriptor, number: int) -> Any:
    if field.name in ("acks", "resource_type"):
        return {"acks": 1, "resource_type": 2}[field.name]  # topics
    if field.type == "string":
        is_topic = field.entity_type == "topicName" or field.name == "resource_name"
        return f"{'topic' if is_topic else 'group' if field.entity_type == 'groupId' else 'text'}{number}"
    values: dict[str, Any] = {"uuid": IDS[number], "bytes": b"", "records": b"", "bool": False, "float64": 0.5}
    return values.get(field.type, number)


def request_of(api: Api) -> DecodedRequest:
    """Return a request of the last version, with what this version has."""
    version, kind = api.stable_versions.highest, api.request_class
    message = doubled(kind, descriptor_of(kind).fields, kind)
    return decode_request(encode_request(message.downgraded(version), version, 1)[4:])


def places(message: Any, version: int) -> Counter[Any]:
    found = error_codes(message, version=version)
    return Counter((each.topic, each.topic_id, each.partition, each.group, each.code) for each in found)


def failed(found: Counter[Any]) -> dict[Any, int]:
    return {each: count for each, count in found.items() if each[-1]}


def can_fail(api: Api) -> bool:
    return bool(not api.is_removed and api.response_name and api.stable_versions and api.name not in OTHERS)


@pytest.mark.parametrize("api", [each for each in apis() if can_fail(each)], ids=lambda each: each.name)
def test_each_element_is_answered_once(api: Api) -> None:
    request = request_of(api)
    for given in SELECTORS:
        try:
            selectors, rules = Selectors(request.api.request_class, **given), Rules()
            Trigger(rules, selectors, Frequency(times=None), False).fail(ERROR)
        except ValueError:
            continue  # the API has no such elements
        received = Received(request, 1, None, NAMES)
        if selectors.match(received) and selectors.is_partial(received):
            check(rules, received, given)


def check(rules: Rules, received: Received, given: dict[str, Any]) -> None:
    def is_selected(place: ErrorCodePlace) -> bool:
        topic = place.topic or NAMES.get(place.topic_id or UUID(int=0))
        has = {"topic": topic, "topic_id": place.topic_id, "partition": place.partition, "group": place.group}
        return all(has[name] == value or (name == "group" and place.group is None) for name, value in given.items())

    def is_other(place: ErrorCodePlace) -> bool:
        return not is_selected(place)

    async def broker(message: Any) -> Any:
        reached.append(message)
        return error_response(replace(request, message=message), ERROR, where=lambda place: False)

    request, reached = received.request, list[Any]()
    exchange = Exchange(1, ClientIdentity(None, None, None), request, ("", 0), ("", 0), 0.0)
    response = asyncio.run(respond(rules, exchange, received, broker))
    version = request.version
    assert places(response, version) == places(error_response(request, ERROR, where=is_selected), version)
    [left] = reached
    others = places(error_response(replace(request, message=left), ERROR, where=lambda place: True), version)
    expected = places(error_response(request, ERROR, where=is_other), version)
    assert failed(others) == failed(expected)


def test_a_failed_topic_is_not_created() -> None:
    kind = CreateTopicsRequest
    config = kind.CreatableTopicConfig(name="retention.ms", value="1")
    topics = [kind.CreatableTopic(name=name, num_partitions=1, configs=[config]) for name in ("a", "b")]
    topics[0].replication_factor = topics[1].replication_factor = 1
    with KafkaCluster() as cluster:
        cluster.on(kind, topic="a").fail(ErrorCode.REQUEST_TIMED_OUT)
        [response] = asked(cluster.bootstrap_servers, kind(topics=topics))
        assert {each.name: each.error_code for each in response.topics} == {"a": 7, "b": 0}
        assert cluster.records("b") == []
        with pytest.raises(ValueError, match=r"^topic 'a' does not exist$"):
            cluster.records("a")


def test_a_failed_topic_is_not_deleted() -> None:
    with KafkaCluster(topics={"a": 1, "b": 1}) as cluster:
        cluster.on(DeleteTopicsRequest, topic="a").fail(ErrorCode.REQUEST_TIMED_OUT)
        [response] = asked(cluster.bootstrap_servers, DeleteTopicsRequest(topic_names=["a", "b"]), version=5)
        assert {each.name: each.error_code for each in response.responses} == {"a": 7, "b": 0}
        assert cluster.records("a") == []


@pytest.mark.parametrize("applied", [False, True])
def test_a_topic_that_is_named_by_id_is_answered_once(applied: bool) -> None:
    kind = OffsetCommitRequest
    with KafkaCluster(topics={"a": 2}) as cluster:
        [metadata] = asked(cluster.bootstrap_servers, MetadataRequest(topics=None))
        parts = [kind.OffsetCommitRequestPartition(partition_index=index, committed_offset=5) for index in (0, 1)]
        topic = kind.OffsetCommitRequestTopic(topic_id=metadata.topics[0].topic_id, partitions=parts)
        cluster.on(kind, topic="a", partition=0).fail(ERROR, applied)
        [response] = asked(cluster.bootstrap_servers, kind(group_id="g", topics=[topic]), version=10)
        part = OffsetCommitResponse.OffsetCommitResponsePartition
        [found] = response.topics
        assert found.topic_id == topic.topic_id
        assert sorted(found.partitions, key=lambda each: each.partition_index) == [
            part(partition_index=0, error_code=ERROR),
            part(partition_index=1),
        ]
        assert cluster.committed("g") == {("a", 0): 5, ("a", 1): 5} if applied else {("a", 1): 5}


def test_a_topic_whose_id_only_the_broker_knows_is_answered_once() -> None:
    with KafkaCluster(topics={"a": 1, "b": 1}) as cluster:
        cluster.on(MetadataRequest, topic="a").fail(ErrorCode.LEADER_NOT_AVAILABLE, applied=True)
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in ("a", "b")]
        [response] = asked(cluster.bootstrap_servers, MetadataRequest(topics=topics))
    assert isinstance(response, MetadataResponse)
    codes = [(each.name, each.error_code, [part.error_code for part in each.partitions]) for each in response.topics]
    assert codes == [("a", 5, [0]), ("b", 0, [0])]


@pytest.mark.parametrize("applied", [False, True])
def test_the_whole_request_fails_if_no_element_has_the_topic(applied: bool) -> None:
    with KafkaCluster(topics={"a": 1}) as cluster:
        cluster.on(ConsumerGroupHeartbeatRequest, topic="a").fail(ERROR, applied)
        request = ConsumerGroupHeartbeatRequest(
            group_id="g", member_id="m", rebalance_timeout_ms=1000, topic_partitions=[], subscribed_topic_names=["a"]
        )
        [response] = asked(cluster.bootstrap_servers, request)
    assert isinstance(response, ConsumerGroupHeartbeatResponse)
    assert (response.error_code, response.member_epoch) == (ERROR, 2 if applied else 0)


def test_an_applied_failure_without_selectors_is_set_where_kafka_sets_it() -> None:
    member = LeaveGroupRequest.MemberIdentity(member_id="unknown")
    with KafkaCluster() as cluster:
        cluster.on(LeaveGroupRequest).fail(ErrorCode.NOT_COORDINATOR, applied=True)
        [response] = asked(cluster.bootstrap_servers, LeaveGroupRequest(group_id="g", members=[member]))
    left = LeaveGroupResponse.MemberResponse(
        member_id="unknown", group_instance_id=None, error_code=ErrorCode.UNKNOWN_MEMBER_ID
    )
    assert response == LeaveGroupResponse(error_code=ErrorCode.NOT_COORDINATOR, members=[left])
