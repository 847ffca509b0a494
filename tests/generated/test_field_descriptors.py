"""Field descriptors beyond the layout: entities, error codes and endpoints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import kafka_messages
import pytest
from kafka_messages import Message
from kafka_messages.schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of

from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.model import Message as Definition
from kafka_message_generator.spec.source import Problems

SPECS = Path(__file__).parents[2] / "specs" / "kafka"


@cache
def definitions() -> dict[str, Definition]:
    found = {}
    for path in sorted(SPECS.rglob("*.json")):
        if path.parent != SPECS:  # annotation files of the release
            node = source.load(path, path.name, Problems())
            assert node is not None
            message = reader.read_message(node, Problems())
            assert message is not None
            found[message.name] = message
    return {name: message for name, message in found.items() if not message.is_removed}


@cache
def descriptors() -> dict[str, MessageDescriptor]:
    classes: dict[str, type[Message]] = {name: getattr(kafka_messages, name) for name in definitions()}
    return {name: descriptor_of(message) for name, message in classes.items()}


def fields() -> Iterator[tuple[str, FieldDescriptor]]:
    for message in descriptors().values():
        for struct, members in {**message.structs, message.name: message.fields}.items():
            yield from ((f"{message.name}.{struct}", member) for member in members)


def test_entity_types_equal_the_definitions() -> None:
    defined = Counter(
        (message.name, field.entity_type)
        for message in definitions().values()
        for field in message.all_fields()
        if field.entity_type != "unknown"
    )
    carried = Counter(
        (struct.partition(".")[0], field.entity_type) for struct, field in fields() if field.entity_type is not None
    )
    older = {("AlterPartitionRequest", "topicName"): 1, ("AlterPartitionResponse", "topicName"): 1}
    assert carried == defined + Counter(older)
    by_type: Counter[str] = Counter()
    for (_, kind), count in carried.items():
        by_type[str(kind)] += count
    known = {"topicName": 90, "brokerId": 83, "groupId": 32, "producerId": 17, "transactionalId": 11}
    assert Counter(known) <= by_type  # later releases have more


def test_metadata_fields_have_their_entity_types() -> None:
    metadata = {
        field.name: field.entity_type for field in descriptors()["MetadataResponse"].structs["MetadataResponseTopic"]
    }
    assert (metadata["name"], metadata["error_code"]) == ("topicName", None)
    broker = {
        field.name: field.entity_type for field in descriptors()["MetadataResponse"].structs["MetadataResponseBroker"]
    }
    assert broker["node_id"] == "brokerId"


def test_every_error_code_field_is_recognized() -> None:
    found = [(struct, field.name) for struct, field in fields() if field.is_error_code]
    assert len(found) >= 122
    assert ("MetadataResponse.MetadataResponseTopic", "error_code") in found
    others = {field.name for _, field in fields() if "error" in field.name and field.type == "int16"}
    assert others == {name for _, name in found}


def test_structs_with_host_and_port_are_endpoints() -> None:
    found = {(name, struct) for name, message in descriptors().items() for struct in message.endpoints()}
    assert len(found) >= 27
    assert ("MetadataResponse", "MetadataResponseBroker") in found
    assert descriptors()["DescribeGroupsResponse"].endpoints() == ()
    with_host = {struct for struct, field in fields() if field.name == "host"}
    with_port = {struct for struct, field in fields() if field.name == "port"}
    assert {f"{name}.{struct}" for name, struct in found} == with_host & with_port


def test_struct_field_has_no_default_value() -> None:
    (field,) = (each for each in descriptors()["UpdateRaftVoterResponse"].fields if each.name == "current_leader")
    with pytest.raises(LookupError) as caught:
        field.default()
    assert str(caught.value) == "the default of a struct field is its struct with every field at its default"
