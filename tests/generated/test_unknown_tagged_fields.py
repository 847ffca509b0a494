"""Every message and every nested struct has ``unknown_tagged_fields``."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
from collections.abc import Iterator
from typing import Any

import kafka_messages
import pytest
from kafka_messages import ApiVersionsRequest, DecodeError, EncodeError, Message, RawTaggedField, SaslHandshakeRequest
from kafka_messages.json import JsonError, from_json, to_json
from kafka_messages.messages.offset_delete_request import OffsetDeleteRequestTopic, OffsetDeleteRequestTopicCollection
from kafka_messages.schema.descriptors import descriptor_of

from tests.support import vectors

TAGGED = (RawTaggedField(7, b"x"), RawTaggedField(70000, b""))


def structs_of(message: type[Message]) -> Iterator[type[Any]]:
    yield message
    module = importlib.import_module(message.__module__)
    yield from (getattr(module, name) for name in descriptor_of(message).structs if hasattr(module, name))


@pytest.mark.parametrize("name", vectors.message_names())
def test_every_struct_has_unknown_tagged_fields(name: str) -> None:
    message = vectors.message_class(name)
    descriptor = descriptor_of(message)
    is_secret = any(field.secret for fields in (descriptor.fields, *descriptor.structs.values()) for field in fields)
    printed = repr("(redacted)") if is_secret else repr(TAGGED)
    for cls in structs_of(message):
        plain, tagged = cls(), cls(unknown_tagged_fields=TAGGED)
        assert (plain.unknown_tagged_fields, tagged.unknown_tagged_fields) == ((), TAGGED)
        assert plain != tagged
        assert plain == cls(unknown_tagged_fields=())
        assert "unknown_tagged_fields" not in repr(plain)
        assert repr(tagged).endswith(f"unknown_tagged_fields={printed})")
        assert dataclasses.fields(cls)[-1].name == "unknown_tagged_fields"
        assert dataclasses.asdict(tagged)["unknown_tagged_fields"] == TAGGED
        assert dataclasses.replace(plain, unknown_tagged_fields=TAGGED) == tagged
        for twin in (copy.copy(tagged), copy.deepcopy(tagged), pickle.loads(pickle.dumps(tagged))):
            assert twin == tagged


@pytest.mark.parametrize("name", vectors.message_names())
def test_inflexible_versions_reject_unknown_tagged_fields(name: str) -> None:
    cls: Any = vectors.message_class(name)
    message = cls(unknown_tagged_fields=TAGGED)
    for version in vectors.versions_of(cls):
        if version >= cls.LOWEST_FLEXIBLE_VERSION:
            continue
        text = f"{name} v{version}: unknown_tagged_fields: is set, but this version does not support tagged fields"
        for action in (message.write, message.size, lambda each: to_json(message, each)):
            with pytest.raises(EncodeError) as caught:
                action(version)
            assert str(caught.value) == text


@pytest.mark.parametrize("name", vectors.message_names())
def test_decoded_messages_have_unknown_tagged_fields(name: str) -> None:
    for vector in vectors.committed()[name]:
        assert isinstance(vector.cls.read(vector.data, vector.version).unknown_tagged_fields, tuple)


def test_struct_in_inflexible_message_rejects_unknown_tagged_fields() -> None:
    topics = OffsetDeleteRequestTopicCollection([OffsetDeleteRequestTopic(unknown_tagged_fields=TAGGED)])
    message = kafka_messages.OffsetDeleteRequest(group_id="g", topics=topics)
    text = "OffsetDeleteRequest v0: topics[0].unknown_tagged_fields: is set, but this version does not support tagged fields"
    for action in (message.write, message.size):
        with pytest.raises(EncodeError) as caught:
            action(0)
        assert str(caught.value) == text


def test_json_of_inflexible_version_rejects_unknown_tagged_fields() -> None:
    given = {"mechanism": "PLAIN", "_unknownTaggedFields": [{"tag": 7, "data": "eA=="}]}
    with pytest.raises(JsonError) as caught:
        from_json(SaslHandshakeRequest, given, 1)
    assert str(caught.value) == "SaslHandshakeRequest v1: _unknownTaggedFields: version 1 has no tagged fields"


def test_tags_have_at_most_32_bits() -> None:
    found = ApiVersionsRequest.read(bytes.fromhex("010101 ffffffff0f 00"), 3)
    assert found.unknown_tagged_fields == (RawTaggedField((1 << 32) - 1, b""),)
    for tag in ("8080808010", "ffffffff1f", "8080808020"):
        with pytest.raises(DecodeError) as caught:
            ApiVersionsRequest.read(bytes.fromhex(f"010101 {tag} 00"), 3)
        assert str(caught.value) == (
            "ApiVersionsRequest v3: _tagged_fields: UNSIGNED_VARINT at offset 3 has more than 32 bits"
        )
