"""Generated code against the schema codec, JSON form and copies, on random messages of every version.

RANDOM_SEED=7 selects another set of messages.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from kafka_messages import Message
from kafka_messages.schema.descriptors import FieldDescriptor

from tests.support.random_messages import PACKAGES, Package, messages, package_of, versions_of

SEED = int(os.environ.get("RANDOM_SEED", "0"))
ALL = [pytest.param(package, name, id=name) for package in map(Package, PACKAGES) for name in package.message_names]


def sample_messages(package: Package, name: str) -> Iterator[tuple[Message, int]]:
    cls = package.message(name)
    for version in versions_of(cls):
        for message in messages(cls, version, SEED, mixed=6):
            yield message, version


@pytest.mark.parametrize(("package", "name"), ALL)
def test_codecs_agree(package: Package, name: str) -> None:
    for message, version in sample_messages(package, name):
        data = message.write(version)
        assert message.size(version) == len(data)
        assert type(message).read(data, version) == message
        framed = b"\xff\xff" + data + b"\xff"
        assert type(message).read_from(framed, 2, version) == (message, 2 + len(data))

        schema = type(message).schemas()[version]
        struct, end = schema.read(data)
        assert end == len(data)
        for value in (message, struct):
            out = bytearray()
            schema.write(out, value)
            assert bytes(out) == data
            assert schema.size_of(value) == len(data)
            schema.validate(value)
        again, after = schema.read(framed, 2)
        assert (repr(again), after) == (repr(struct), end + 2)  # as text, because one NaN does not equal another


@pytest.mark.parametrize(("package", "name"), ALL)
def test_json_round_trips_to_the_same_message(package: Package, name: str) -> None:
    codec = package.module("json")
    for message, version in sample_messages(package, name):
        form = json.loads(json.dumps(codec.to_json(message, version, unknown_tagged_fields=True)))
        again = codec.from_json(type(message), form, version)
        assert again == message
        assert again.write(version) == message.write(version)


@pytest.mark.parametrize(("package", "name"), ALL)
def test_copies_are_equal(package: Package, name: str) -> None:
    for message, version in sample_messages(package, name):
        data = message.write(version)
        for original in (message, type(message).read(data, version)):
            for twin in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
                assert twin == message
                assert twin.write(version) == data


def fields_of(message: Any, version: int) -> Iterator[tuple[FieldDescriptor, Any]]:
    """Yield every field that a version of a message has, nested structs included, with its value."""
    descriptor = package_of(type(message)).descriptor_of(type(message))

    def traverse(struct: Any, fields: tuple[FieldDescriptor, ...]) -> Iterator[tuple[FieldDescriptor, Any]]:
        for field in fields:
            if version in field.versions:
                value = getattr(struct, field.name)
                yield field, value
                if field.is_struct and value is not None:
                    for inner in value if field.is_array else [value]:
                        yield from traverse(inner, descriptor.structs[field.type])

    return traverse(message, descriptor.fields)


@pytest.mark.parametrize(("package", "name"), ALL)
def test_random_messages_fill_every_field(package: Package, name: str) -> None:
    cls = package.message(name)
    for version in versions_of(cls):
        full, nulls = messages(cls, version, mixed=0)
        for field, value in fields_of(full, version):
            assert value is not None
            is_filled = not field.is_array and not field.is_struct and field.type in ("string", "bytes", "records")
            if field.is_array or is_filled:
                assert len(value), field.name
        for field, value in fields_of(nulls, version):
            assert (value is None) == (version in field.nullable), field.name


def test_random_messages_are_reproducible_by_seed() -> None:
    cls = Package("kafka_messages").message("MetadataResponse")
    first, second = ([each.write(13) for each in messages(cls, 13, seed=3)] for _ in range(2))
    assert first == second
    assert first != [each.write(13) for each in messages(cls, 13, seed=4)]


@pytest.mark.parametrize("package", [*map(Package, PACKAGES)], ids=PACKAGES)
def test_random_messages_have_duplicate_keys_and_unknown_fields(package: Package) -> None:
    repeated = unknown = 0
    for name in package.message_names:
        for message, version in sample_messages(package, name):
            unknown += bool(getattr(message, "unknown_tagged_fields", ()))
            for _, value in fields_of(message, version):
                if hasattr(value, "find_all"):
                    keys = [value._key(element) for element in value]
                    repeated += len(keys) > len(set(keys))
    assert repeated > 0
    assert unknown > 0
