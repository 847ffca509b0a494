"""The package against vectors of Kafka's own classes, current and from an older snapshot."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pytest
from kafka_messages import Message
from kafka_messages.json import from_json, to_json
from kafka_messages.schema import Schema, Struct

from tests.support import vectors
from tests.support.outside import needs
from tests.support.vectors import Vector

MESSAGES = vectors.message_names()
UNKNOWN = "unknown_tagged_fields"


def test_every_version_has_vectors() -> None:
    samples: dict[tuple[str, int], set[str]] = {}
    for vector in chain.from_iterable(vectors.of_every_version().values()):
        samples.setdefault((vector.message, vector.version), set()).add(vector.sample)
    lacking = [
        f"{name} v{version}"
        for name in MESSAGES
        for version, schema in vectors.message_class(name).schemas().items()
        if "default" not in samples.get((name, version), ()) or (schema.names and len(samples[name, version]) == 1)
    ]
    assert not lacking, f"run nox -s upstream -- vectors: {', '.join(lacking)} have no vectors by Kafka's own classes"


def test_every_vector_is_of_a_known_message() -> None:
    known = {(name, version) for name in MESSAGES for version in vectors.message_class(name).schemas()}
    found = {(each.message, each.version) for group in vectors.committed().values() for each in group}
    assert found - known == set()


@pytest.mark.parametrize("name", MESSAGES)
def test_vectors_round_trip_as_bytes(name: str) -> None:
    for vector in vectors.committed()[name]:
        message = vector.cls.read(vector.data, vector.version)
        assert message.write(vector.version) == vector.data, vector
        assert message.size(vector.version) == len(vector.data), vector
        framed = b"\xff\xff" + vector.data + b"\xff"
        assert vector.cls.read_from(framed, 2, vector.version) == (message, 2 + len(vector.data)), vector


@pytest.mark.parametrize("name", MESSAGES)
def test_vectors_round_trip_as_json(name: str) -> None:
    for vector in vectors.committed()[name]:
        version = vector.version
        assert message_from_json_in(vector).write(version) == vector.data, vector
        message = vector.cls.read(vector.data, version)
        as_json = to_json(message, version)
        assert as_json == vector.json_out, vector
        again = from_json(vector.cls, json.loads(json.dumps(as_json)), version)
        assert again == message, vector
        assert again.write(version) == vector.data, vector


@pytest.mark.parametrize("name", MESSAGES)
def test_second_read_equals_the_first(name: str) -> None:
    for vector in vectors.committed()[name]:
        message = vector.cls.read(vector.data, vector.version)
        again = vector.cls.read(message.write(vector.version), vector.version)
        assert again == message, vector
        assert repr(again) == repr(message), vector


@pytest.mark.parametrize("name", MESSAGES)
def test_copies_encode_to_the_same_bytes(name: str) -> None:
    for vector in vectors.committed()[name]:
        message = vector.cls.read(vector.data, vector.version)
        twins: list[Message] = [
            copy.copy(message),
            copy.deepcopy(message),
            pickle.loads(pickle.dumps(message)),
            pickle.loads(pickle.dumps(message, protocol=2)),
            dataclasses.replace(message),  # type: ignore[type-var]  # every message class is a dataclass
        ]
        for twin in twins:
            assert twin == message, vector
            assert twin.write(vector.version) == vector.data, vector
        assert _containers(twins[1]).isdisjoint(_containers(message)), vector


def _containers(value: Any) -> set[int]:
    if dataclasses.is_dataclass(value):
        inner: Iterable[Any] = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, list):
        inner = value
    else:
        return set()
    return {id(value)}.union(*map(_containers, inner))


@pytest.mark.parametrize("name", MESSAGES)
def test_schema_codec_agrees(name: str) -> None:
    for vector in vectors.committed()[name]:
        message = vector.cls.read(vector.data, vector.version)
        schema = vector.cls.schemas()[vector.version]
        struct, end = schema.read(vector.data)
        assert end == len(vector.data), vector
        for value in (struct, message):
            out = bytearray()
            schema.write(out, value)
            assert out == vector.data, vector
            assert schema.size_of(value) == len(vector.data), vector
        assert list(_differences(struct, message)) == [], vector


def _differences(mine: object, theirs: object, path: str = "") -> Iterator[str]:
    if isinstance(mine, Struct):
        if mine.unknown_tagged_fields != getattr(theirs, UNKNOWN, ()):
            yield f"{path}.{UNKNOWN}"
        for name in mine:
            yield from _differences(mine[name], getattr(theirs, name), f"{path}.{name}")
    elif isinstance(mine, list):
        assert isinstance(theirs, list)
        if len(mine) != len(theirs):
            yield f"{path}: {len(mine)} != {len(theirs)} elements"
        for index, pair in enumerate(zip(mine, theirs, strict=False)):
            yield from _differences(*pair, f"{path}[{index}]")
    elif mine != theirs or type(mine) is not type(theirs):
        yield f"{path}: {mine!r} != {theirs!r}"


def test_equal_schemas_are_shared() -> None:
    for name in MESSAGES:
        schemas: Mapping[int, Schema] = vectors.message_class(name).schemas()
        texts = {str(schema) for schema in schemas.values()}
        assert len({id(schema) for schema in schemas.values()}) == len(texts), name


def message_from_json_in(vector: Vector) -> Message:
    """Return the message of ``json_in``, or a new message if the vector has no ``json_in``."""
    if vector.json_in is None:
        return vector.cls()
    return from_json(vector.cls, vector.json_in, vector.version)


# --- the older snapshot -----------------------------------------------------------------------------------------------

RENAMED_MESSAGES = {
    "ListClientMetricsResourcesRequest": "ListConfigResourcesRequest",
    "ListClientMetricsResourcesResponse": "ListConfigResourcesResponse",
}
"""Former names of messages with unchanged bytes."""

RENAMED_FIELDS = {
    "ListConfigResourcesResponse": {"clientMetricsResources": "configResources", "name": "resourceName"},
    "TxnOffsetCommitRequest": {"generationId": "generationIdOrMemberEpoch"},
    "VoteRequest": {
        "candidateEpoch": "replicaEpoch",
        "candidateId": "replicaId",
        "candidateDirectoryId": "replicaDirectoryId",
    },
}
"""Former names of fields with unchanged bytes, by the current message name."""

EARLY_ACCESS = "version 0 was an early form of the share group protocol, removed when its successor came"
UNRELEASED = "the record had another layout before its first release"
TEST_DEFINITION = "a definition of Kafka's own tests, which no released jar holds"

MISSES: dict[str, dict[str, Sequence[int]]] = {
    EARLY_ACCESS: {
        "ShareAcknowledgeRequest": [0],
        "ShareAcknowledgeResponse": [0],
        "ShareFetchRequest": [0],
        "ShareFetchResponse": [0],
        "ShareGroupDescribeRequest": [0],
        "ShareGroupDescribeResponse": [0],
        "ShareGroupHeartbeatRequest": [0],
        "ShareGroupHeartbeatResponse": [0],
    },
    UNRELEASED: {
        "ReadShareGroupStateSummaryResponse": [0],
        "ShareGroupMetadataValue": [0],
        "ShareGroupStatePartitionMetadataValue": [0],
        "ShareSnapshotValue": [0],
        "ShareUpdateValue": [0],
    },
    TEST_DEFINITION: {
        "NullableStructMessage": range(3),
        "SimpleArraysMessage": range(3),
        "SimpleExampleMessage": range(3),
        "SimpleRecordsMessage": range(2),
    },
}
"""Snapshot vectors that cannot pass, by reason, message and version."""


def allowed_misses(name: str) -> dict[int, str]:
    return {version: reason for reason, group in MISSES.items() for version in group.get(name, ())}


needs_snapshot = needs(
    vectors.SNAPSHOT,
    "2,349 encodings by the classes of an older snapshot of Kafka",
    "the folder vectors has those of the release, which every run checks",
)


@needs_snapshot
@pytest.mark.parametrize("name", sorted(vectors.snapshot()))
def test_snapshot_vectors_round_trip(name: str) -> None:
    missed: dict[int, list[str]] = {}
    for vector in vectors.snapshot()[name]:
        problem = _problem(vector)
        if problem is not None:
            missed.setdefault(vector.version, []).append(f"{vector}: {problem}")

    assert {version: missed[version] for version in missed if version not in allowed_misses(name)} == {}
    assert sorted(missed) == sorted(allowed_misses(name)), "MISSES lists a version that passes"


@needs_snapshot
def test_vectors_allowed_to_fail_exist_in_the_snapshot() -> None:
    listed = {name for group in MISSES.values() for name in group}
    assert listed <= vectors.snapshot().keys()
    assert sum(len(group) for group in MISSES.values()) == len(listed), "a message has two reasons"


def _problem(vector: Vector) -> str | None:
    name = RENAMED_MESSAGES.get(vector.message, vector.message)
    if name not in MESSAGES:
        return "there is no such message"
    cls, version = vectors.message_class(name), vector.version
    if name.endswith("Key") and version == cls.API_KEY:
        version = 0  # the version of older coordinator keys is now their API key; the bytes are equal
    if version not in vectors.versions_of(cls):
        return "there is no such version"
    try:
        message = cls.read(vector.data, version)
        assert message.write(version) == vector.data
        assert message.size(version) == len(vector.data)
        names = RENAMED_FIELDS.get(name, {})
        assert to_json(message, version, records="empty") == _renamed(vector.json_out, names)
        described: Any = vector.json_in and _renamed(vector.json_in, names)
        source = cls() if described is None else from_json(cls, described, version)
        assert source.write(version) == vector.data
    except (ValueError, AssertionError) as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return None


def _renamed(value: object, names: Mapping[str, str]) -> object:
    if isinstance(value, Mapping):
        return {names.get(key, key): _renamed(inner, names) for key, inner in value.items()}
    return [_renamed(inner, names) for inner in value] if isinstance(value, list) else value
