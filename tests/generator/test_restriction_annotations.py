"""``restrictions.json``: errors with locations, and resolved entries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.rules.restrictions import ResolvedRestriction
from kafka_message_generator.spec.source import SpecError
from tests.support.building import write_specs
from tests.support.specs import field, message

FIELDS = [field("Owner", "string", nullableVersions="0+", default="null"), field("Count", "int8")]
ASK = message(
    *FIELDS,
    name="AskRequest",
    type="request",
    apiKey=1,
    listeners=["broker"],
    validVersions="0-5",
    flexibleVersions="none",
)
TELL = message(name="AskResponse", type="response", apiKey=1, validVersions="0-5", flexibleVersions="none")


def one(**entry: object) -> str:
    return json.dumps([{"message": "AskRequest", "versions": "4+", **entry}])


EITHER = "an entry needs either brokersOnly, or feature and level"
BROKEN = [
    ("{}", "1: $: expected an array of entries, found object"),
    ("[0]", "1: $[0]: an entry must be a JSON object, found number"),
    ('[{"versions": "1+"}]', "1: $[0]: an entry has no message; add it"),
    ('[{"message": "AskRequest"}]', "1: $[0]: an entry has no versions; add it"),
    (one(), f"1: $[0]: {EITHER}"),
    (one(feature="f"), f"1: $[0]: {EITHER}"),
    (one(level=2), f"1: $[0]: {EITHER}"),
    (one(brokersOnly=True, feature="f", level=2), f"1: $[0]: {EITHER}"),
    (
        one(brokersOnly=True, why=""),
        "1: $[0].why: unknown property 'why' of an entry; expected one of about, brokersOnly, feature, field, level, message,"
        " source, versions",
    ),
    (
        one(message="AskResponse", brokersOnly=True),
        "1: $[0].message: unknown request 'AskResponse'; correct or remove it",
    ),
    (
        one(versions="9+", brokersOnly=True),
        "1: $[0].message: AskRequest has versions 0-5, none of them in 9+; remove the entry",
    ),
    *(
        (
            one(brokersOnly=True, field=name),
            f"1: $[0].field: AskRequest has no nullable top-level field {name!r}; write it like TransactionalId",
        )
        for name in ("Ownr", "Count")
    ),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_invalid_entry_is_reported_with_its_location(text: str, problem: str, tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL)
    (specs / "restrictions.json").write_text(text)
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    place = f"{(specs / 'restrictions.json').as_posix()}:"
    assert [str(each).removeprefix(place) for each in caught.value.problems][:1] == [problem]


def test_valid_entries_are_resolved_to_fields(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL)
    entries = [
        {"message": "AskRequest", "versions": "4+", "feature": "ask.version", "level": 2, "field": "Owner"},
        {"message": "AskRequest", "versions": "2-3", "brokersOnly": True, "source": "KIP-1", "about": "why"},
    ]
    (specs / "restrictions.json").write_text(json.dumps(entries))
    assert definitions.load(specs).restrictions == (
        ResolvedRestriction("AskRequest", 2, 3, "", 0, ""),
        ResolvedRestriction("AskRequest", 4, 5, "ask.version", 2, "owner"),
    )
