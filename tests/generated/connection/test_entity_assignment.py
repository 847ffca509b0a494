"""Assigning through entities and endpoints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from kafka_messages import (
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataResponse,
)
from kafka_messages.connection import ProxyConnection, endpoints, entities
from kafka_messages.enums import ConfigResourceType
from kafka_messages.protocol import encode_request

Topic = MetadataResponse.MetadataResponseTopic
Coordinator = FindCoordinatorResponse.Coordinator


def broker_config_request(name: str) -> DescribeConfigsRequest:
    resource = DescribeConfigsRequest.DescribeConfigsResource
    return DescribeConfigsRequest(resources=[resource(resource_type=ConfigResourceType.BROKER, resource_name=name)])


@pytest.mark.parametrize("given", [None, "abc", "8", True, 3.0])
def test_assigning_a_non_integer_id_is_rejected(given: Any) -> None:
    message = broker_config_request("7")
    [entity] = entities(message)
    with pytest.raises(TypeError) as raised:
        entity.value = given
    assert str(raised.value) == f"the brokerId at resources[0].resource_name must be of type int, not {given!r}"
    assert message == broker_config_request("7")


@pytest.mark.parametrize("given", [None, 5, b"a", ["a"]])
def test_assigning_a_non_string_name_is_rejected(given: Any) -> None:
    message = MetadataResponse(topics=[Topic(name="a")])
    [entity] = entities(message, "topicName")
    with pytest.raises(TypeError) as raised:
        entity.value = given
    assert str(raised.value) == f"the topicName at topics[0].name must be of type str, not {given!r}"
    assert message.topics[0].name == "a"


def test_assigning_an_equal_id_keeps_its_text() -> None:
    message = broker_config_request("007")
    [entity] = entities(message)
    assert entity.value == 7
    entity.value = entity.value
    assert message == broker_config_request("007")
    entity.value = 8
    assert message == broker_config_request("8")


def test_assigning_an_invalid_address_is_rejected() -> None:
    [endpoint] = endpoints(FindCoordinatorResponse(coordinators=[Coordinator(host="h", port=1)]))
    setting: Any = endpoint
    for given in (None, "9092", True):
        with pytest.raises(TypeError) as raised:
            setting.port = given
        assert str(raised.value) == f"the port at coordinators[0] must be of type int, not {given!r}"
    with pytest.raises(TypeError) as raised:
        setting.host = 5
    assert str(raised.value) == "the host at coordinators[0] must be of type str, not 5"
    assert (endpoint.host, endpoint.port) == ("h", 1)
    [endpoint] = endpoints(FindCoordinatorResponse(host="h", port=1))
    setting = endpoint
    with pytest.raises(TypeError, match=r"^the host of the message must be of type str, not 5$"):
        setting.host = 5
    with pytest.raises(TypeError, match=r"^the port of the message must be of type int, not None$"):
        setting.port = None


def test_assigning_into_a_tuple_is_rejected() -> None:
    groups: Any = ("a", "b")
    message = DescribeGroupsRequest()
    message.groups = groups
    found = list(entities(message))
    assert [each.value for each in found] == ["a", "b"]
    with pytest.raises(TypeError) as raised:
        found[1].value = "c"
    assert str(raised.value) == "groups[1] is in ('a', 'b'), which cannot be changed; use a list"


def test_request_class_is_rejected_as_request() -> None:
    given: Any = FindCoordinatorRequest
    with pytest.raises(TypeError) as raised:
        entities(FindCoordinatorResponse(), request=given)
    assert (
        str(raised.value)
        == "request must be the request of FindCoordinatorResponse, not the class FindCoordinatorRequest"
    )


def test_forwarded_request_is_rejected_with_a_hint() -> None:
    [event] = ProxyConnection().receive_from_client(encode_request(FindCoordinatorRequest(key="g"), 3, 1))
    given: Any = event
    with pytest.raises(TypeError) as raised:
        entities(FindCoordinatorResponse(), request=given)
    shown = f"{repr(event)[:57]}..."
    wanted = f"request must be the request of FindCoordinatorResponse, not {shown}; pass its attribute request"
    assert str(raised.value) == wanted


class Counted(str):
    hashed = 0
    __eq__ = str.__eq__

    def __hash__(self) -> int:
        Counted.hashed += 1
        return str.__hash__(self)


def names_found(names: Iterable[str], message: MetadataResponse) -> list[bool]:
    return [message.topics.find(name) is not None for name in names]


def test_renaming_entities_between_lookups_takes_linear_time() -> None:
    count = 200
    message = MetadataResponse(topics=[Topic(name=Counted(f"t{number}")) for number in range(count)])
    Counted.hashed = 0
    for number, entity in enumerate(entities(message, "topicName")):
        assert message.topics.find(f"t{number}") is not None
        entity.value = Counted(f"x.{entity.value}")
        assert names_found([f"t{number}", f"x.t{number}"], message) == [False, True]
    assert Counted.hashed < 10 * count


def test_renaming_an_entity_to_an_existing_name_updates_find_all() -> None:
    message = MetadataResponse(topics=[Topic(name=name, error_code=at) for at, name in enumerate("abab")])
    assert message.topics.find("b") is message.topics[1]
    first, *_ = entities(message, "topicName")
    first.value = "b"
    assert message.topics.find_all("b") == [message.topics[at] for at in (0, 1, 3)]
    assert message.topics.find_all("a") == [message.topics[2]]
