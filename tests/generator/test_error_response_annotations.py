"""``error_responses.json``: errors with locations, and resolved entries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.rules.error_responses import ErrorResponseRule
from kafka_message_generator.spec.source import SpecError
from tests.support.building import write_specs
from tests.support.specs import field, message

ASK = message(
    field("Things", "[]Thing", fields=[field("Name", "string")]),
    name="AskRequest",
    type="request",
    apiKey=1,
    listeners=["broker"],
)
THING_FIELDS = [field("Name", "string"), field("ErrorCode", "int16"), field("Data", "records", nullableVersions="0+")]
TELL = message(
    field("Things", "[]Told", fields=THING_FIELDS),
    field("Text", "string", nullableVersions="1+"),
    field("Count", "int8"),
    name="AskResponse",
    type="response",
    apiKey=1,
)
PROBE = message(field("Key", "string"))


def one(**entry: object) -> str:
    return json.dumps([{"message": "AskResponse", **entry}])


BROKEN = [
    ("{}", "1: $: expected an array of fields, found object"),
    ("[0]", "1: $[0]: an entry must be a JSON object, found number"),
    ('[{"field": "Count"}]', "1: $[0]: an entry has no message; add it"),
    (one(value="1"), "1: $[0]: an entry has no field; add it"),
    (one(field="Count"), "1: $[0]: an entry needs either a value or from; write one of them"),
    (one(field="Count", value="1", **{"from": []}), "1: $[0]: an entry needs either a value or from; write one of them"),
    (one(field="Count", **{"from": [1]}), "1: $[0].from[0]: expected a field name, found number 1"),
    (one(field="Count", value="1", why=""), "1: $[0].why: unknown property 'why' of an entry; expected one of "
     "about, field, from, message, value, versions"),
    (one(field="Count", value="1", versions="x"), "1: $[0].versions: 'x' is not a version range; "
     "write none, N, N-M or N+ (for example 0-3 or 2+)"),
    (one(field="Cnt", value="1"), "1: $[0].field: AskResponse has no field 'Cnt'; write for example Topics.Name"),
    (one(field="Count", value="300"), "1: $[0].value: Count of AskResponse: out of range for int8; use -128 to 127"),
    (one(field="Text", value="null"), "1: $[0].value: Text of AskResponse: null is not a valid default: not all "
     "versions of this field are nullable (nullableVersions are 1+, versions 0+)"),
    (one(field="Things", value=""), "1: $[0].value: Things of AskResponse has this default already: an "
     "empty array; remove the entry"),
    (one(field="Things", **{"from": "Thing"}),
     "1: $[0].from: AskRequest has no field 'Thing'; write for example Topics.Name"),
    ('[{"message": "Probe", "field": "Key", "value": "x"}]',
     "1: $[0].message: unknown response 'Probe'; correct or remove it"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_invalid_entry_is_reported_with_its_location(text: str, problem: str, tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL, PROBE)
    (specs / "error_responses.json").write_text(text)
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    place = f"{(specs / 'error_responses.json').as_posix()}:"
    assert [str(each).removeprefix(place) for each in caught.value.problems][:1] == [problem]


def test_valid_entries_are_resolved_to_fields(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL, PROBE)
    annotations: list[dict[str, object]] = [
        {"field": "Things", "from": ["Things"]},
        {"field": "Things.Data", "value": ""},
        {"field": "Count", "value": "-1", "about": "why"},
        {"field": "Text", "versions": "1+", "value": "null"},
    ]
    (specs / "error_responses.json").write_text(
        json.dumps([{"message": "AskResponse", **annotation} for annotation in annotations])
    )
    assert definitions.load(specs).error_responses == (
        ErrorResponseRule("AskResponse", "count", 0, 32767, None, -1),
        ErrorResponseRule("AskResponse", "text", 1, 32767, None, None),
        ErrorResponseRule("AskResponse", "things", 0, 32767, ("things",), None),
        ErrorResponseRule("AskResponse", "things.data", 0, 32767, None, b""),
    )
