"""Compiled traversals, compared with a generic one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from kafka_messages import EncodeError, FetchResponse, Message, MetadataResponse
from kafka_messages.connection import EntityType, endpoints, entities, error_codes, errors
from kafka_messages.schema.descriptors import class_in, descriptor_of

from tests.support import traversals as slow
from tests.support.random_messages import messages, versions_of
from tests.support.vectors import committed, message_class, message_names


def sample_messages(name: str) -> list[Message]:
    cls = message_class(name)
    found = [vector.cls.read(vector.data, vector.version) for vector in committed().get(name, ())]
    return [*found, *messages(cls, cls.HIGHEST_SUPPORTED_VERSION, mixed=1)]


def lists_in(message: Message) -> Iterator[tuple[Any, str]]:
    for _, _, struct, fields in slow.structs(message):
        yield from ((struct, field.name) for field in fields if field.is_array and getattr(struct, field.name))


@pytest.mark.parametrize("name", message_names())
def test_compiled_traversals_equal_the_generic_traversal(name: str) -> None:
    descriptor = descriptor_of(message_class(name))
    for message in sample_messages(name):
        before = repr(message)
        assert [(each.path, each.code, each.message) for each in errors(message)] == slow.errors(message)
        assert [(each.path, each.host, each.port) for each in endpoints(message)] == slow.endpoints(message)
        for types in ((), *((each,) for each in get_args(EntityType)), ("topicName", "brokerId")):
            found = [(each.path, each.type, each.value) for each in entities(message, *types)]
            assert found == slow.entities(message, *types)
        for version in (None, *versions_of(type(message))):
            places = [(each.path, each.code, each.message) for each in error_codes(message, version=version)]
            wanted = slow.error_codes(message, version)
            assert [place[:2] for place in places] == [place[:2] for place in wanted]
            assert version is not None or places == wanted
        assert repr(message) == before
        assert descriptor.name == name


@pytest.mark.parametrize("name", message_names())
def test_downgrades_equal_those_of_the_generic_traversal(name: str) -> None:
    for message in sample_messages(name):
        before = repr(message)
        for version in versions_of(type(message)):
            assert [
                (each.path, each.is_refused, each.reason) for each in message.unsupported_fields(version)
            ] == slow.unsupported_fields(message, version)
            copy = message.downgraded(version)
            assert repr(copy) == repr(slow.downgraded(message, version))
            assert type(copy) is type(message)
        same = message.downgraded(type(message).HIGHEST_SUPPORTED_VERSION)
        for struct, array in [*lists_in(same)]:
            assert type(getattr(struct, array)) in (list, type(getattr(type(struct)(), array)))
            getattr(struct, array).clear()
        assert repr(message) == before


@pytest.mark.parametrize("name", message_names())
def test_values_assigned_through_iterators_are_stored(name: str) -> None:
    for message in sample_messages(name):
        for place in error_codes(message):
            place.code = 7
        assert [code for _, code, _ in slow.error_codes(message)] == [7] * len(slow.error_codes(message))
        for endpoint in endpoints(message):
            endpoint.host, endpoint.port = "there", 1
        assert {found[1:] for found in slow.endpoints(message)} <= {("there", 1)}
        wanted = [(path, kind, 5 if isinstance(value, int) else "new") for path, kind, value in slow.entities(message)]
        for entity in entities(message):
            entity.value = 5 if isinstance(entity.value, int) else "new"
        assert slow.entities(message) == wanted


@pytest.mark.parametrize("name", [name for name in message_names() if descriptor_of(message_class(name)).structs])
def test_invalid_array_element_is_reported_with_its_path(name: str) -> None:
    cls = message_class(name)
    array = next((each for each in descriptor_of(cls).fields if each.is_struct and each.is_array), None)
    if array is None:
        return
    message: Any = cls()
    setattr(message, array.name, [class_in(cls, array.type)(), 7])
    version = min(array.versions.highest, cls.HIGHEST_SUPPORTED_VERSION)
    with pytest.raises(EncodeError) as caught:
        message.downgraded(version)
    assert str(caught.value) == f"{name} v{version}: {array.name}[1]: expected {array.type}, got int (7)"
    rich = next(messages(cls, version, mixed=0))
    for traverse, found in ((errors, slow.errors), (endpoints, slow.endpoints), (entities, slow.entities)):
        reason = encode_error_text(traverse, message)
        if any(each[0].startswith(f"{array.name}[") for each in found(rich)):
            assert reason == f"{name}: {array.name}[1]: expected {array.type}, got int (7)"
        else:
            assert reason in (None, f"{name}: {array.name}[1]: expected {array.type}, got int (7)")


def encode_error_text(traverse: Any, message: Message) -> str | None:
    try:
        list(traverse(message))
    except EncodeError as error:
        return str(error)
    return None


def test_traversals_skip_unrelated_fields() -> None:
    response: Any = MetadataResponse(brokers=[MetadataResponse.MetadataResponseBroker(host="a", port=1)])
    response.topics = 7
    assert [each.host for each in endpoints(response)] == ["a"]
    response.brokers, response.topics = 7, []
    assert list(entities(response, "topicName")) == []


def test_traversals_do_not_create_lazy_defaults() -> None:
    partition = FetchResponse.PartitionData()
    response = FetchResponse(responses=[FetchResponse.FetchableTopicResponse(partitions=[partition])])
    for traverse in (errors, endpoints, entities):
        assert list(traverse(response)) == []
    response.downgraded(12)
    assert (partition._current_leader, partition._snapshot_id) == (None, None)
