"""Spans of Kafka's vectors and of damaged bytes: leaves cover all bytes and agree with the codec."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from kafka_messages import DecodeError, Message
from kafka_messages.explain import Explanation, Span, explain

from tests.generated.test_damaged_bytes import CHANGES
from tests.support import vectors
from tests.support.vectors import Vector

MESSAGES = vectors.message_names()
SEED = 14


def value_at(message: object, path: str) -> Any:
    found: Any = message
    for name, index in re.findall(r"(\w+)|\[(\d+)\]", path):
        found = getattr(found, name) if name else found[int(index)]
    return found


def assert_tiles(found: Explanation) -> list[Span]:
    """Return the leaves; assert that siblings are adjacent at every level."""
    at = 0
    leaves = list(found.leaves())
    for leaf in leaves:
        assert (leaf.start, leaf.end >= leaf.start) == (at, True), leaf
        at = leaf.end
    assert at == len(found.data)
    for span in found.root.all():
        if span.children:
            assert (span.children[0].start, span.children[-1].end) == (span.start, span.end), span
    return leaves


def assert_values(message: Message, leaves: list[Span]) -> None:
    for leaf in leaves:
        if leaf.role == "value" and "unknown_tagged_fields" not in leaf.path:
            expected = value_at(message, leaf.path)
            assert leaf.value == expected or (leaf.value != leaf.value and expected != expected), leaf


def leaves_without_nested(found: Explanation) -> list[Span]:
    """Return the leaves without opening fields that contain other messages."""
    for span in found.root.all():
        if span.role == "opened":
            span.role, span.children = "value", []
    return list(found.leaves())


@pytest.mark.parametrize("name", MESSAGES)
def test_spans_of_every_vector_cover_all_bytes(name: str) -> None:
    for vector in vectors.committed()[name]:
        found = explain(vector.data, vector.cls, vector.version)
        assert found.error is None, vector
        leaves = assert_tiles(found)
        assert {leaf.role for leaf in leaves if leaf.end > leaf.start} <= {"value", "length"}
        assert_values(vector.cls.read(vector.data, vector.version), leaves_without_nested(found))


def damaged_bytes(vector: Vector, draw: random.Random) -> bytes:
    at = draw.randrange(len(vector.data))
    if draw.random() < 0.2:
        return vector.data[:at]
    return vector.data[:at] + draw.choice(CHANGES) + vector.data[at + draw.choice((0, 1, 1, 1, 2)) :]


def assert_stops_where_read_stops(vector: Vector, data: bytes) -> None:
    """Assert that text, path and offset equal those of ``read``, with one fault leaf at the offset."""
    found = explain(data, vector.cls, vector.version)
    leaves = assert_tiles(found)
    faults = [leaf for leaf in leaves if leaf.role == "fault"]
    message, error = read_or_error(vector, data)
    if error is None:
        assert message is not None
        assert (found.error, faults) == (None, [])
        assert_values(message, leaves_without_nested(found))
    else:
        assert (type(found.error), str(found.error)) == (DecodeError, str(error))
        assert [(fault.note, fault.path) for fault in faults] == [(error.reason, error.path)]
        assert faults[0].start <= error.offset <= faults[0].end


def read_or_error(vector: Vector, data: bytes) -> tuple[Message | None, DecodeError | None]:
    try:
        return vector.cls.read(data, vector.version), None
    except DecodeError as error:
        return None, error


@pytest.mark.parametrize("name", MESSAGES)
def test_spans_of_damaged_vectors_stop_where_read_stops(name: str) -> None:
    draw = random.Random(f"{SEED} {name}")
    some = [vector for vector in vectors.committed()[name] if vector.data]
    for _ in range(24 if some else 0):
        vector = draw.choice(some)
        assert_stops_where_read_stops(vector, damaged_bytes(vector, draw))


def check_damaged_vectors(count: int, seed: int) -> int:
    """Check ``count`` damaged vectors of any message; return how many failed to decode."""
    draw = random.Random(seed)
    every = [vector for some in vectors.committed().values() for vector in some if vector.data]
    failed = 0
    for _ in range(count):
        vector = draw.choice(every)
        data = damaged_bytes(vector, draw)
        assert_stops_where_read_stops(vector, data)
        failed += explain(data, vector.cls, vector.version).error is not None
    return failed


if __name__ == "__main__":
    import sys

    print(check_damaged_vectors(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else SEED))
