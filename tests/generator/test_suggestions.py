"""Suggestions for misspelled words."""

from __future__ import annotations

import time

import pytest

from kafka_message_generator.spec.suggestions import did_you_mean, suggestion
from tests.support.broken.case import KNOWN_OF_FIELDS
from tests.support.specs import field, problems_of, text

TYPES = ("bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "string", "bytes", "records")


@pytest.mark.parametrize(
    ("word", "choice"),
    [
        ("strng", "string"),
        ("String", "string"),
        ("byte", "bytes"),
        ("int23", "int32"),
        ("Bool", "bool"),
        ("int128", None),
        ("uint64", "int64"),
        ("varint", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_misspelled_word_gives_a_suggestion(word: str, choice: str | None) -> None:
    assert suggestion(word, TYPES) == choice
    assert did_you_mean(word, TYPES, "write one of them") == (
        f"did you mean {choice}?" if choice else "write one of them"
    )


def unknown(line: int, path: str, name: str, what: str, word: str) -> str:
    return f"Test.json:{line}: $.{path}: unknown property {name!r} of {what}; did you mean {word}?"


@pytest.mark.parametrize(
    ("definition", "lines"),
    [
        (
            text({"nam": "A", "type": "int32", "versions": "0+"}),
            [unknown(2, "fields[0].nam", "nam", "a field", "name")],
        ),
        (
            text({"nam": "A", "typ": "int32", "Versions": "0+"}),
            [
                unknown(2, "fields[0].Versions", "Versions", "field A", "versions"),
                unknown(2, "fields[0].nam", "nam", "a field", "name"),
                unknown(2, "fields[0].typ", "typ", "field A", "type"),
            ],
        ),
        (text(field("A"), nam="Probe", name=...), [unknown(1, "nam", "nam", "a message", "name")]),
        (
            text(field("A", taggedVersion="2+", tag=0), flexibleVersion="2+", flexibleVersions=...),
            [
                unknown(1, "flexibleVersion", "flexibleVersion", "message Probe", "flexibleVersions"),
                unknown(2, "fields[0].taggedVersion", "taggedVersion", "field A", "taggedVersions"),
            ],
        ),
        (
            text(field("A", comment="x")),
            [
                f"Test.json:2: $.fields[0].comment: unknown property 'comment' of field A; expected one of {KNOWN_OF_FIELDS}"
            ],
        ),
        (
            text(field("A", "sting", tgas=1)),
            [
                f"Test.json:2: $.fields[0].tgas: unknown property 'tgas' of field A; expected one of {KNOWN_OF_FIELDS}",
                "Test.json:2: $.fields[0].type: unknown type 'sting'; did you mean string?",
            ],
        ),
    ],
)
def test_misspelled_property_is_reported_once(definition: str, lines: list[str]) -> None:
    assert problems_of({"Test.json": definition}) == lines


def test_misspelled_nested_structs_are_reported_in_linear_time() -> None:
    inner = field("A", version="0+")
    for number in range(30):
        inner = {**field("A", f"S{number}", version="0+"), "fields": [inner]}
    started = time.process_time()
    assert len(problems_of({"Test.json": text(inner, flexibleVersions="0+")})) == 31
    assert time.process_time() - started < 20
