"""Error code fields, and errors for parts of a request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    AlterConfigsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeGroupsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    OffsetCommitRequest,
    ProduceRequest,
    ProduceResponse,
    UnsupportedVersionError,
)
from kafka_messages.connection import ErrorCodePlace, error_codes, error_response, errors
from kafka_messages.enums import ConfigResourceType
from kafka_messages.protocol import ErrorCode, apis
from kafka_messages.schema import FieldDescriptor, descriptor_of

from tests.support.random_messages import messages, versions_of

TOPIC = UUID(int=7)
SOME = ErrorCode.NOT_LEADER_OR_FOLLOWER
NOT_NAMED = {
    "DeleteAcls": {"filter_results[].matching_acls[].error_code"},
    "DescribeLogDirs": {"results[].error_code"},
    "DescribeTopicPartitions": {"topics[].partitions[].error_code"},
    "Metadata": {"topics[].partitions[].error_code"},
}
"""Error codes about items that the request does not name, so that error responses have no elements for them."""


def produce_response() -> ProduceResponse:
    kind = ProduceResponse.PartitionProduceResponse
    partitions = [kind(index=0), kind(index=1, error_code=2, error_message="bad")]
    topic = ProduceResponse.TopicProduceResponse(name="orders", topic_id=TOPIC, partition_responses=partitions)
    return ProduceResponse(responses=[topic])


def test_every_error_code_is_found_and_can_be_set() -> None:
    response = produce_response()
    first, second = error_codes(response)
    assert (first.path, first.code, first.message) == (
        "responses[0].partition_responses[0].error_code",
        ErrorCode.NONE,
        None,
    )
    assert (first.topic, first.topic_id, first.partition, first.group) == ("orders", TOPIC, 0, None)
    assert (second.partition, second.code, second.message) == (1, ErrorCode.CORRUPT_MESSAGE, "bad")
    first.code, first.message, second.code, second.message = SOME, "moved", ErrorCode.NONE, None
    again = ProduceResponse.read(response.write(9), 9)
    found = [(each.error_code, each.error_message) for each in again.responses[0].partition_responses]
    assert found == [(6, "moved"), (0, None)]
    assert repr(first) == "<ErrorCodePlace responses[0].partition_responses[0].error_code: NOT_LEADER_OR_FOLLOWER>"


def test_error_codes_have_topic_partition_and_group() -> None:
    metadata = MetadataResponse(
        topics=[
            MetadataResponse.MetadataResponseTopic(name="a", partitions=[MetadataResponse.MetadataResponsePartition()])
        ]
    )
    assert [(each.path, each.topic, each.partition) for each in error_codes(metadata)] == [
        ("error_code", None, None),
        ("topics[0].error_code", "a", None),
        ("topics[0].partitions[0].error_code", "a", 0),
    ]
    groups = DescribeGroupsResponse(groups=[DescribeGroupsResponse.DescribedGroup(group_id="g")])
    assert [(each.group, each.topic) for each in error_codes(groups)] == [("g", None)]
    kind = AlterConfigsResponse.AlterConfigsResourceResponse
    configs = AlterConfigsResponse(
        responses=[
            kind(resource_type=ConfigResourceType.TOPIC, resource_name="a"),
            kind(resource_type=ConfigResourceType.BROKER, resource_name="1"),
        ]
    )
    assert [each.topic for each in error_codes(configs)] == ["a", None]


def test_error_codes_are_limited_to_the_version() -> None:
    response = MetadataResponse()
    assert [each.path for each in error_codes(response, version=12)] == []
    assert [each.path for each in error_codes(response, version=13)] == ["error_code"]
    with pytest.raises(UnsupportedVersionError, match=r"^MetadataResponse has no version 99, only versions 0 to 13$"):
        error_codes(response, version=99)
    partition = ProduceResponse.PartitionProduceResponse(error_message="bad")
    old = ProduceResponse(responses=[ProduceResponse.TopicProduceResponse(partition_responses=[partition])])
    [place] = error_codes(old, version=7)
    assert (place.has_message, place.message, place.topic_id) == (False, None, None)


WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("code", "x", TypeError, "the error code at error_code must be of type int, not 'x'"),
    ("code", True, TypeError, "the error code at error_code must be of type int, not True"),
    ("code", 1 << 15, ValueError, "the error code at error_code must be an int16, not 32768"),
    ("message", "x", AttributeError, "there is no error message field at error_code"),
]


@pytest.mark.parametrize(("name", "value", "kind", "text"), WRONG)
def test_assigning_invalid_error_codes_raises(name: str, value: Any, kind: type[Exception], text: str) -> None:
    response = MetadataResponse(error_code=7)
    [place] = error_codes(response)
    with pytest.raises(kind) as caught:
        setattr(place, name, value)
    assert str(caught.value) == text
    assert response == MetadataResponse(error_code=7)
    [_, second] = error_codes(produce_response())
    with pytest.raises(TypeError) as wrong:
        second.message = 5  # type: ignore[assignment]
    what = "the error message at responses[0].partition_responses[1].error_code must be of type str or None, not 5"
    assert str(wrong.value) == what


def named_requests() -> Iterator[tuple[Any, int]]:
    produce, fetch, commit = ProduceRequest, FetchRequest, OffsetCommitRequest
    ids = {"a": UUID(int=1), "b": UUID(int=2)}
    for version in versions_of(produce):
        data = [
            produce.TopicProduceData(
                name=name, topic_id=ids[name], partition_data=[produce.PartitionProduceData(index=n) for n in (0, 1)]
            )
            for name in ids
        ]
        yield produce(acks=1, topic_data=data), version
    for version in versions_of(fetch):
        topics = [
            fetch.FetchTopic(
                topic=name, topic_id=ids[name], partitions=[fetch.FetchPartition(partition=n) for n in (0, 1)]
            )
            for name in ids
        ]
        yield fetch(topics=topics), version
    for version in versions_of(commit):
        partitions = [commit.OffsetCommitRequestPartition(partition_index=n) for n in (0, 1)]
        committed = [
            commit.OffsetCommitRequestTopic(name=name, topic_id=ids[name], partitions=partitions) for name in ids
        ]
        yield commit(group_id="g", topics=committed), version


@pytest.mark.parametrize(("request_", "version"), list(named_requests()), ids=lambda each: getattr(each, "NAME", each))
def test_error_response_sets_the_code_of_one_partition(request_: Any, version: int) -> None:
    def is_wanted(place: ErrorCodePlace) -> bool:
        return place.partition == 1 and (place.topic == "b" or place.topic_id == UUID(int=2))

    response = error_response(request_, SOME, "moved", version=version, where=is_wanted)
    again = type(response).read(response.write(version), version)
    assert again == response
    places = [each for each in error_codes(again, version=version) if each.partition is not None]
    assert [each.code for each in places] == [0, 0, 0, SOME]
    assert [each.message for each in places if each.has_message] == ([None] * 3 + ["moved"]) * places[0].has_message
    assert [each.code for each in errors(again)] == [SOME]


def test_error_response_sets_the_code_of_the_selected_topics() -> None:
    deleted = error_response(
        DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name=name) for name in "ab"]),
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        version=6,
        where=lambda place: place.topic == "b",
    )
    assert isinstance(deleted, DeleteTopicsResponse)
    assert [(each.name, each.error_code, each.error_message) for each in deleted.responses] == [
        ("a", 0, None),
        ("b", 29, None),
    ]
    asked = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=name) for name in "ab"])
    for version in versions_of(MetadataRequest):
        response = error_response(asked, 3, version=version, where=lambda place: place.topic == "a")
        assert isinstance(response, MetadataResponse)
        assert [(each.name, each.error_code) for each in response.topics] == [("a", 3), ("b", 0)]
        assert response.error_code == 0


def test_error_response_sets_the_top_level_code_of_a_fetch() -> None:
    asked = FetchRequest(topics=[FetchRequest.FetchTopic(topic_id=TOPIC, partitions=[FetchRequest.FetchPartition()])])
    response = error_response(asked, 71, version=16, where=lambda place: place.partition is None)
    assert isinstance(response, FetchResponse)
    assert [(each.path, each.code) for each in errors(response)] == [("error_code", ErrorCode(71))]
    assert [each.path for each in error_codes(response)] == ["error_code", "responses[0].partitions[0].error_code"]


def places_of(fields: tuple[FieldDescriptor, ...], version: int, above: str = "") -> Iterator[str]:
    for field in fields:
        if version in field.versions:
            path = f"{above}{field.name}"
            yield from [path] if field.is_error_code else []
            yield from places_of(field.fields, version, f"{path}{'[]' if field.is_array else ''}.")


@pytest.mark.parametrize("api", [each for each in apis() if each.response_name and each.valid_versions], ids=str)
def test_where_is_called_for_every_error_code(api: Any) -> None:
    descriptor = descriptor_of(api.response_class)
    for version in versions_of(api.request_class):
        asked: Any = next(messages(api.request_class, version, mixed=0))
        seen: list[str] = []

        def look(place: ErrorCodePlace, seen: list[str] = seen) -> bool:
            seen.append(place.path)
            return True

        full = error_response(asked, 3, version=version, where=look)
        empty = error_response(asked, 3, "no", version=version, where=lambda place: False)
        assert list(errors(empty)) == []
        for response in (full, empty):
            assert type(response).read(response.write(version), version) == response
        found = {re.sub(r"\[\d+\]", "[]", each) for each in seen}
        assert set(places_of(descriptor.fields, version)) - found == NOT_NAMED.get(api.name, set()) & set(
            places_of(descriptor.fields, version)
        )
