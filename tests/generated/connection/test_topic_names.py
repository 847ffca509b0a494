"""ProxyConnection.topic_names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest
from kafka_messages import (
    CreateTopicsRequest,
    CreateTopicsResponse,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    all_messages,
)
from kafka_messages.connection import ProxyConnection, RequestForwarded, ResponseForwarded
from kafka_messages.connection._topic_names import pairs_in
from kafka_messages.protocol import encode_request, encode_response, frame

ZERO = UUID(int=0)
Topic = MetadataResponse.MetadataResponseTopic


def pass_through(proxy: ProxyConnection, request: Any, response: Any, version: int) -> None:
    """Pass a request and its response through a proxy."""
    list(proxy.receive_from_client(encode_request(request, version, 1)))
    list(proxy.receive_from_broker(encode_response(response, version, 1)))


def learn(proxy: ProxyConnection, *topics: MetadataResponse.MetadataResponseTopic, version: int = 13) -> None:
    pass_through(proxy, MetadataRequest(), MetadataResponse(topics=list(topics)), version)


def topic(number: int, name: str | None, error_code: int = 0) -> MetadataResponse.MetadataResponseTopic:
    return Topic(topic_id=UUID(int=number), name=name, error_code=error_code)


def test_names_are_learned_from_responses_of_four_apis() -> None:
    proxy = ProxyConnection()
    assert dict(proxy.topic_names) == {}
    learn(proxy, topic(1, "one"), topic(2, "two"))
    created = CreateTopicsResponse.CreatableTopicResult(name="three", topic_id=UUID(int=3), topic_config_error_code=29)
    pass_through(proxy, CreateTopicsRequest(), CreateTopicsResponse(topics=[created]), 7)
    described = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic(
        name="four", topic_id=UUID(int=4), error_code=0
    )
    pass_through(proxy, DescribeTopicPartitionsRequest(), DescribeTopicPartitionsResponse(topics=[described]), 0)
    names: Mapping[UUID, str] = proxy.topic_names
    assert dict(names) == {UUID(int=1): "one", UUID(int=2): "two", UUID(int=3): "three", UUID(int=4): "four"}
    assert len(names) == 4
    assert names is proxy.topic_names


def test_topics_with_an_error_the_zero_id_or_no_name_are_not_learned() -> None:
    proxy = ProxyConnection()
    learn(proxy, topic(1, "one", error_code=3), topic(0, "zero"), topic(2, ""))
    learn(proxy, topic(3, None), version=12)
    learn(proxy, Topic(name="old"), version=9)
    assert dict(proxy.topic_names) == {}


def test_requests_teach_no_names() -> None:
    proxy = ProxyConnection()
    asked = MetadataRequest.MetadataRequestTopic(topic_id=UUID(int=1), name="one")
    pass_through(proxy, MetadataRequest(topics=[asked]), MetadataResponse(), 13)
    assert dict(proxy.topic_names) == {}


def test_undecoded_responses_teach_no_names() -> None:
    proxy = ProxyConnection(["DeleteTopics"])
    learn(proxy, topic(1, "one"))
    assert dict(proxy.topic_names) == {}


def test_unknown_topic_id_raises_key_error_with_a_remedy() -> None:
    names = ProxyConnection().topic_names
    assert names.get(UUID(int=1)) is None
    assert UUID(int=1) not in names
    with pytest.raises(KeyError) as caught:
        names[UUID(int=1)]
    assert caught.value.args == (
        "the topic id 00000000-0000-0000-0000-000000000001 is unknown: no decoded response had its name; "
        "decode an API such as Metadata, whose responses have names and ids",
    )


def test_topic_names_are_read_only() -> None:
    names: Any = ProxyConnection().topic_names
    with pytest.raises(TypeError):
        names[UUID(int=1)] = "one"


def test_least_recently_learned_names_are_dropped_first() -> None:
    proxy = ProxyConnection(max_topic_names=2)
    learn(proxy, topic(1, "one"), topic(2, "two"))
    learn(proxy, topic(1, "one"), topic(3, "three"))
    assert dict(proxy.topic_names) == {UUID(int=1): "one", UUID(int=3): "three"}
    many = ProxyConnection()
    learn(many, *(topic(number, f"t{number}") for number in range(1, 10_003)))
    assert len(many.topic_names) == 10_000
    assert next(iter(many.topic_names)) == UUID(int=3)
    none = ProxyConnection(max_topic_names=0)
    learn(none, topic(1, "one"))
    assert dict(none.topic_names) == {}


@pytest.mark.parametrize("wrong", [-1, "many", 2**31])
def test_invalid_limit_is_rejected(wrong: Any) -> None:
    text = f"^max_topic_names must be a number, 0 to 2147483647, not {wrong!r}$"
    with pytest.raises(ValueError, match=text):
        ProxyConnection(max_topic_names=wrong)


def deleted(name: str | None = None, number: int = 0, error_code: int = 0) -> DeleteTopicsResponse.DeletableTopicResult:
    return DeleteTopicsResponse.DeletableTopicResult(name=name, topic_id=UUID(int=number), error_code=error_code)


def test_deleted_topics_are_dropped_by_id_or_by_name() -> None:
    proxy = ProxyConnection()
    learn(proxy, *(topic(number, f"t{number}") for number in range(1, 7)), topic(12, "t2"))
    results = [deleted(number=1), deleted("t2"), deleted("t3", 3), deleted("t4", 4, error_code=29), deleted("t9", 9)]
    pass_through(proxy, DeleteTopicsRequest(), DeleteTopicsResponse(responses=results), 6)
    assert dict(proxy.topic_names) == {UUID(int=number): f"t{number}" for number in (4, 5, 6)}
    pass_through(proxy, DeleteTopicsRequest(), DeleteTopicsResponse(responses=[deleted("t5")]), 5)
    assert dict(proxy.topic_names) == {UUID(int=number): f"t{number}" for number in (4, 6)}


def test_topic_created_again_keeps_its_name_after_the_old_id_is_deleted() -> None:
    proxy = ProxyConnection()
    learn(proxy, topic(1, "orders"), topic(2, "orders"))
    pass_through(proxy, DeleteTopicsRequest(), DeleteTopicsResponse(responses=[deleted("orders", 1)]), 6)
    assert dict(proxy.topic_names) == {UUID(int=2): "orders"}
    pass_through(proxy, DeleteTopicsRequest(), DeleteTopicsResponse(responses=[deleted("orders", 1)]), 6)
    assert dict(proxy.topic_names) == {UUID(int=2): "orders"}


def test_validated_topics_are_not_learned() -> None:
    created = CreateTopicsResponse.CreatableTopicResult(name="one", topic_id=UUID(int=1))
    response = CreateTopicsResponse(topics=[created])
    proxy = ProxyConnection()
    pass_through(proxy, CreateTopicsRequest(validate_only=True), response, 7)
    assert dict(proxy.topic_names) == {}
    pass_through(proxy, CreateTopicsRequest(), response, 7)
    assert dict(proxy.topic_names) == {UUID(int=1): "one"}


def test_topics_created_by_an_undecoded_request_are_not_learned() -> None:
    proxy = ProxyConnection()
    created = CreateTopicsResponse.CreatableTopicResult(name="one", topic_id=UUID(int=1))
    request = encode_request(CreateTopicsRequest(), 7, 1, framed=False)
    [event] = proxy.receive_from_client(frame(request[:-1]))  # without the tagged fields of the body
    assert isinstance(event, RequestForwarded)
    assert event.message is None
    [passed] = proxy.receive_from_broker(encode_response(CreateTopicsResponse(topics=[created]), 7, 1))
    assert isinstance(passed, ResponseForwarded)
    assert passed.message == CreateTopicsResponse(topics=[created])
    assert dict(proxy.topic_names) == {}


def test_fetch_by_topic_id_keeps_the_names() -> None:
    proxy = ProxyConnection()
    learn(proxy, topic(1, "orders"))
    kind = FetchResponse.FetchableTopicResponse
    pass_through(proxy, FetchRequest(), FetchResponse(responses=[kind(topic_id=UUID(int=1)), kind(topic_id=ZERO)]), 18)
    assert dict(proxy.topic_names) == {UUID(int=1): "orders"}


def test_every_response_with_name_and_id_in_a_struct_is_learned_from() -> None:
    found = set()
    for info in all_messages():
        cls: Any = info.message_class
        if info.kind == "response" and pairs_in(cls) is not None:
            found.add(info.name)
    assert found == {
        "AlterShareGroupOffsetsResponse",
        "ConsumerGroupDescribeResponse",
        "CreateTopicsResponse",
        "DeleteShareGroupOffsetsResponse",
        "DeleteTopicsResponse",
        "DescribeShareGroupOffsetsResponse",
        "DescribeTopicPartitionsResponse",
        "MetadataResponse",
        "ShareGroupDescribeResponse",
    }
