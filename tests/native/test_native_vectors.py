"""The native core against the pure code, on vectors of Kafka's classes and messages of specs/proposals."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from tests.support import vectors
from tests.support.implementations import declined, opened, pure
from tests.support.random_messages import Package, messages, versions_of

core: Any = pytest.importorskip("kafka_messages_native")
MESSAGES = vectors.message_names()
PROPOSALS = Package("kafka_messages_proposals")
INPUTS: tuple[Callable[[bytes], Any], ...] = (bytes, bytearray, memoryview, lambda data: memoryview(b"x" + data)[1:])


@pytest.mark.parametrize("name", MESSAGES)
def test_vectors_are_read_like_the_pure_code(name: str) -> None:
    cls = vectors.message_class(name)
    with pure():
        wanted = [cls.read(vector.data, vector.version) for vector in vectors.committed()[name]]
    before = declined(cls)
    for vector, message in zip(vectors.committed()[name], wanted, strict=True):
        framed, end = b"\xff\xff" + vector.data + b"\xff", 2 + len(vector.data)
        for convert in INPUTS:
            read = cls.read(convert(vector.data), vector.version)
            assert read == message, vector
            assert repr(read) == repr(message), vector
            assert cls.read_from(convert(framed), 2, vector.version) == (message, end), vector
    assert declined(cls) == before


@pytest.mark.parametrize("name", MESSAGES)
def test_vectors_are_written_like_the_pure_code(name: str) -> None:
    cls = vectors.message_class(name)
    with pure():
        wanted = [cls.read(vector.data, vector.version) for vector in vectors.committed()[name]]
    before = declined(cls)
    for vector, message in zip(vectors.committed()[name], wanted, strict=True):
        read = cls.read(vector.data, vector.version)
        pickled = [pickle.loads(pickle.dumps(read, protocol)) for protocol in (2, pickle.HIGHEST_PROTOCOL)]
        for each in (message, read, copy.copy(read), copy.deepcopy(read), *pickled):
            assert each.write(vector.version) == vector.data, vector
            assert each.size(vector.version) == len(vector.data), vector
            assert repr(each) == repr(message), vector
    assert declined(cls) == before


def test_every_plan_is_accepted() -> None:
    for name in MESSAGES:
        assert type(opened(vectors.message_class(name))) is core.Plan
    for name in PROPOSALS.message_names:
        assert type(opened(PROPOSALS.message(name))) is core.Plan


@cache
def unsupported(plan: str) -> dict[int, bool]:
    """Return for each version of a plan whether the core leaves it to the pure code."""
    layouts: list[bool] = []
    versions: dict[int, bool] = {}
    for line in plan.splitlines()[1:]:
        if line.startswith(":"):
            versions.clear()
            continue
        ranges, *words = line.split(" ")
        inner = [layouts[int(place)] for word in words for place in re.findall("@([0-9]+)", word)]
        tags = sum(bool(re.match("[0-9]+=", word)) for word in words)
        layouts.append(any(inner) or ";;" in words or "&" in words or tags > 64)
        for lowest, _, highest in (part.partition("-") for part in ranges.split(",")):
            versions |= dict.fromkeys(range(int(lowest), int(highest or lowest) + 1), layouts[-1])
    return versions


@pytest.mark.parametrize("name", PROPOSALS.message_names)
def test_messages_with_proposed_encodings_match_the_pure_code(name: str) -> None:
    cls = PROPOSALS.message(name)
    plan = next(base._plan for base in cls.__mro__ if "_plan" in vars(base))
    for version in versions_of(cls):
        before = declined(cls)
        drawn = list(messages(cls, version, mixed=6))
        for message in drawn:
            data = message.write(version)
            assert data == cls.write.__wrapped__(message, version)
            assert message.size(version) == len(data)
            assert repr(cls.read(data, version)) == repr(cls.read.__wrapped__(data, version))
            assert cls.read_from(b"x" + data, 1, version)[1] == 1 + len(data)
        more = 4 * len(drawn) if unsupported(plan)[version] else 0
        assert declined(cls) == before + more


def test_only_listed_versions_are_left_to_the_pure_code() -> None:
    names = {}
    for name in PROPOSALS.message_names:
        plan = next(base._plan for base in PROPOSALS.message(name).__mro__ if "_plan" in vars(base))
        if found := [version for version, is_pure in unsupported(plan).items() if is_pure]:
            names[name] = found
    assert names == {
        "FooRequest": [9],
        "FooResponse": [9],
        "InterleavedTags": [0, 1],
        "OptionalTypes": [1],
        "TaggedTypes": [1, 2],
    }
    plans = [
        vars(base)["_plan"]
        for name in MESSAGES
        for base in vectors.message_class(name).__mro__
        if "_plan" in vars(base)
    ]
    assert not any(any(unsupported(plan).values()) for plan in plans)
