"""Unsupported fields of a version, downgraded copies, and field descriptors."""

from __future__ import annotations

import inspect
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import kafka_messages
import pytest
from kafka_messages import (
    AllocateProducerIdsRequest,
    EncodeError,
    FetchRequest,
    Message,
    MetadataRequest,
    MetadataResponse,
    RawTaggedField,
    SaslHandshakeRequest,
    UnsupportedVersionError,
)
from kafka_messages.messages.fetch_request import FetchPartition, FetchTopic
from kafka_messages.messages.metadata_request import MetadataRequestTopic
from kafka_messages.messages.metadata_response import MetadataResponseTopic
from kafka_messages.schema import FieldDescriptor, UnsupportedField, Versions, descriptor_of, fields_of

from tests.support.random_messages import PACKAGES, Package, messages, random_message, versions_of

NAMES = [(package, name) for package in map(Package, PACKAGES) for name in package.message_names]
TOPIC = UUID(int=7)


def sample_messages(cls: type[Message]) -> Iterator[Message]:
    for version in versions_of(cls):
        yield random_message(cls, version, f"fitting {cls.NAME} {version}")
    yield from messages(cls, cls.HIGHEST_SUPPORTED_VERSION, mixed=1)


@pytest.mark.parametrize(("package", "name"), NAMES, ids=[name for _, name in NAMES])
def test_every_message_can_be_downgraded_to_every_version(package: Package, name: str) -> None:
    cls = package.message(name)
    encode_error = package.module("errors").EncodeError
    everything = (package.descriptor_of(cls).fields, *package.descriptor_of(cls).structs.values())
    has_encodings = any(field.encodings or field.element_encodings for fields in everything for field in fields)
    for message in sample_messages(cls):
        for version in versions_of(cls):
            lost, copy = message.unsupported_fields(version), message.downgraded(version)
            assert copy.unsupported_fields(version) == ()
            assert bool(lost) == (repr(copy) != repr(message)), (version, lost)
            if has_encodings:  # an encoding may be narrower than the type, so the number is invalid
                continue
            data = copy.write(version)
            assert repr(cls.read(data, version)) == repr(copy)
            if any(each.is_refused for each in lost):
                with pytest.raises(encode_error):
                    message.write(version)
            else:
                assert message.write(version) == data


def test_unsupported_fields_are_dropped_or_refused() -> None:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(topic_id=TOPIC, name=None)],
        include_topic_authorized_operations=True,
    )
    assert request.unsupported_fields(13) == ()
    assert request.unsupported_fields(1) == (
        UnsupportedField("topics[0].topic_id", False, "only versions 10+ have this field"),
        UnsupportedField("topics[0].name", True, "not nullable in version 1"),
        UnsupportedField("include_topic_authorized_operations", True, "only versions 8+ have this field"),
    )
    assert [str(each) for each in MetadataRequest(topics=None).unsupported_fields(0)] == [
        "topics: refused, not nullable in version 0"
    ]
    fetch = FetchRequest(topics=[FetchTopic(topic="orders", partitions=[FetchPartition()])])
    assert [str(each) for each in fetch.unsupported_fields(13)] == [
        "topics[0].topic: dropped, only versions 0-12 have this field"
    ]


def test_downgraded_message_is_a_copy() -> None:
    request = MetadataRequest(topics=[MetadataRequestTopic(topic_id=TOPIC, name="orders")])
    before = repr(request)
    copy = request.downgraded(9)
    assert copy == MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
    assert copy.topics is not None
    copy.topics[0].name = "other"
    copy.topics.clear()
    assert repr(request) == before
    assert request.downgraded(13) == request
    assert request.downgraded(13) is not request


def test_unknown_tagged_fields_are_kept_in_flexible_versions() -> None:
    tagged = (RawTaggedField(7, b"x"),)
    request = MetadataRequest(topics=[MetadataRequestTopic(unknown_tagged_fields=tagged)], unknown_tagged_fields=tagged)
    assert request.downgraded(13) == request
    assert [str(each) for each in request.unsupported_fields(8)] == [
        "topics[0].unknown_tagged_fields: refused, version 8 has no tagged fields",
        "unknown_tagged_fields: refused, version 8 has no tagged fields",
    ]
    assert request.downgraded(8) == MetadataRequest(topics=[MetadataRequestTopic()])
    assert [each.path for each in SaslHandshakeRequest(unknown_tagged_fields=tagged).unsupported_fields(0)] == [
        "unknown_tagged_fields"
    ]


WRONG: list[tuple[Any, str]] = [
    ([MetadataRequestTopic(), 7], "MetadataRequest v3: topics[1]: expected MetadataRequestTopic, got int (7)"),
    (7, "MetadataRequest v3: topics: expected list, got int (7)"),
    (["orders"], "MetadataRequest v3: topics[0]: expected MetadataRequestTopic, got str of 6 characters"),
]


@pytest.mark.parametrize(("topics", "text"), WRONG, ids=str)
def test_downgrading_invalid_elements_raises_encode_error(topics: Any, text: str) -> None:
    request = MetadataRequest()
    request.topics = topics
    for action in (request.unsupported_fields, request.downgraded, request.write):
        with pytest.raises(EncodeError) as caught:
            action(3)
        assert str(caught.value) == text


def test_downgrading_to_unsupported_version_raises() -> None:
    request = AllocateProducerIdsRequest()
    for action in (request.unsupported_fields, request.downgraded):
        for version in (-1, 1, "0"):
            with pytest.raises(UnsupportedVersionError) as caught:
                action(version)  # type: ignore[arg-type]
            assert str(caught.value) == f"AllocateProducerIdsRequest has no version {version!r}, only version 0"


def test_fields_of_returns_field_descriptors() -> None:
    topics = fields_of(MetadataRequest)[0]
    assert (topics.name, topics.json_name, topics.type, topics.is_array) == (
        "topics",
        "topics",
        "MetadataRequestTopic",
        True,
    )
    assert (topics.versions.notation, topics.nullable.notation, topics.ignorable, topics.tag) == (
        "0+",
        "1+",
        False,
        None,
    )
    assert 1 in topics.nullable
    assert 0 not in topics.nullable
    topic_id, name = topics.fields
    assert (topic_id.name, topic_id.type, topic_id.default(), topic_id.ignorable) == (
        "topic_id",
        "uuid",
        UUID(int=0),
        True,
    )
    assert (name.entity_type, name.versions.notation, name.nullable.notation) == ("topicName", "0+", "10+")
    assert name.about == "Name of the topic, null when it is looked up by id."
    assert fields_of(MetadataRequestTopic) == topics.fields
    cluster = next(field for field in fields_of(FetchRequest) if field.name == "cluster_id")
    assert (cluster.tag, cluster.tagged.notation, cluster.nullable.notation, cluster.default()) == (
        0,
        "12+",
        "12+",
        None,
    )


def test_field_descriptions_exist_with_stripped_docstrings() -> None:
    code = (
        "from kafka_messages import HeartbeatRequest; from kafka_messages.schema import fields_of;"
        "print(HeartbeatRequest.write.__doc__, fields_of(HeartbeatRequest)[0].about)"
    )
    environment = {"PYTHONPATH": str(Path(kafka_messages.__file__).parents[1])}
    for options, text in (([], False), (["-OO"], True)):
        done = subprocess.run([sys.executable, *options, "-c", code], capture_output=True, text=True, env=environment)
        assert done.stdout.endswith(" Group the member belongs to.\n"), done.stderr
        assert done.stdout.startswith("None ") is text


@pytest.mark.parametrize(("package", "name"), NAMES, ids=[name for _, name in NAMES])
def test_fields_of_equals_the_names_of_every_class(package: Package, name: str) -> None:
    cls = package.message(name)
    fields = package.module("schema").fields_of

    def check(owner: Any) -> None:
        found: tuple[FieldDescriptor, ...] = fields(owner)
        assert (*(field.name for field in found), "unknown_tagged_fields") == owner._names
        for field in found:
            if field.is_struct and hasattr(sys.modules[cls.__module__], field.type):
                inner = getattr(sys.modules[cls.__module__], field.type)
                assert fields(inner) == field.fields
                check(inner)

    check(cls)
    assert fields(type("Mine", (cls,), {})) == fields(cls)


def test_fields_of_rejects_other_classes() -> None:
    wrong: Any = int
    with pytest.raises(TypeError) as caught:
        fields_of(wrong)
    assert str(caught.value) == "expected the class of a message or of a struct inside one, got <class 'int'>"


@pytest.mark.parametrize(
    ("versions", "text"),
    [(Versions(0, 32767), "0+"), (Versions(3, 3), "3"), (Versions(3, 5), "3-5"), (Versions(0, -1), "none")],
)
def test_version_notation_round_trips(versions: Versions, text: str) -> None:
    assert versions.notation == text
    assert Versions.parse(text) == versions


def test_every_field_has_a_description() -> None:
    bare = []
    for name in Package("kafka_messages").message_names:
        descriptor = descriptor_of(Package("kafka_messages").message(name))
        for struct, fields in {name: descriptor.fields, **descriptor.structs}.items():
            bare += [f"{struct}.{field.name}" for field in fields if not field.about.endswith((".", ")"))]
    assert bare == []


def test_docstrings_contain_field_descriptions() -> None:
    assert inspect.getdoc(MetadataRequestTopic) == (
        "One topic to describe; null asks for all topics, and an empty list for none (in version 0 for all).\n"
        "\n"
        "Fields:\n"
        "    topic_id: uuid, versions 10+, since Kafka 2.8.0\n"
        "        Id of the topic, all zero when it is looked up by name.\n"
        "    name: string, versions 0+, null in versions 10+\n"
        "        Name of the topic, null when it is looked up by id."
    )
    text = pydoc.plain(pydoc.render_doc(FetchRequest))
    assert "cluster_id: string, versions 12+, null in versions 12+, tag 0 in versions 12+, since Kafka 2.7.0\n" in text
    assert MetadataRequest().__doc__ == MetadataRequest.__doc__
    assert (
        "Request, API key 3, versions 0-13, flexible from 9. Since Kafka 2.2.0 or before.\n"
        "\n"
        "Releases of Kafka:\n"
        "    versions 0-7: since 2.2.0 or before\n"
        "    version 8: since 2.3.0\n"
        "    version 9: since 2.4.0\n"
        "    versions 10-11: since 2.8.0\n"
        "    version 12: since 3.1.0\n"
        "    version 13: since 4.0.0\n"
        "\n"
        "Fields:\n"
        "    topics: "
    ) in (MetadataRequest.__doc__ or "")


def test_every_field_is_in_the_docstring() -> None:
    for cls in (MetadataResponse, MetadataResponseTopic, FetchRequest):
        doc = cls.__doc__ or ""
        assert all(f"\n    {field.name}: " in doc for field in fields_of(cls))
    assert descriptor_of(FetchRequest).name == "FetchRequest"
