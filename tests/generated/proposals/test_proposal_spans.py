"""Spans in the proposed wire formats: integer encodings, interleaved tags, optional fields."""

from __future__ import annotations

import random

import pytest
from kafka_messages import Message

from tests.generated.test_damaged_bytes import CHANGES
from tests.support.random_messages import Package, messages, versions_of

PACKAGE = Package("kafka_messages_proposals")
NAMES = PACKAGE.message_names
EXPLAIN = PACKAGE.module("explain")


def assert_agrees(cls: type[Message], version: int, data: bytes) -> None:
    """Assert that leaves cover the bytes, and that the tree ends at the offset and with the error of ``read``."""
    found = EXPLAIN.explain(data, cls, version)
    at = 0
    for leaf in found.leaves():
        assert leaf.start == at
        at = leaf.end
    assert at == len(data)
    assert found.text()
    try:
        cls.read(data, version)
    except PACKAGE.module("errors").DecodeError as error:
        failure = str(error)
    else:
        failure = "None"
    assert str(found.error) == failure


@pytest.mark.parametrize("name", NAMES)
def test_spans_of_random_messages_agree_with_read(name: str) -> None:
    cls = PACKAGE.message(name)
    draw = random.Random(f"14 {name}")
    for version in versions_of(cls):
        for message in messages(cls, version, 14):
            data = message.write(version)
            assert_agrees(cls, version, data)
            for _ in range(6 if data else 0):
                at = draw.randrange(len(data))
                assert_agrees(cls, version, data[:at])
                assert_agrees(cls, version, data[:at] + draw.choice(CHANGES) + data[at + draw.choice((0, 1, 2)) :])


def test_encoded_integers_have_type_and_value() -> None:
    message = PACKAGE.message("AllEncodings")()
    found = EXPLAIN.explain(message.write(0), type(message), 0)
    types = {leaf.type for leaf in found.leaves() if leaf.role == "value"}
    assert {"PACKED16", "VARINT", "VARLONG", "UPACKED16", "UPACKED32", "UPACKED64"} <= types
    for leaf in found.leaves():
        if leaf.role == "value" and "[" not in leaf.path and "." not in leaf.path:
            assert leaf.value == getattr(message, leaf.path)


def test_optional_fields_are_explained() -> None:
    message = PACKAGE.message("OptionalTypes")()
    version = max(versions_of(type(message)))
    found = EXPLAIN.explain(message.write(version), type(message), version)
    assert "end" in {leaf.name for leaf in found.leaves()}
    assert "_optional_fields" in found.text()
