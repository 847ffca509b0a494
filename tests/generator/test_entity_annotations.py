"""``entities.json``: errors with locations, and resolved entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_message_generator import definitions
from kafka_message_generator.rules.entities import EntityField
from kafka_message_generator.spec.source import SpecError
from tests.support.building import write_specs
from tests.support.specs import field, message

THING = [
    field("Kind", "int8"),
    field("Name", "string"),
    field("Owner", "string", entityType="groupId"),
    field("Sort", "string"),
    field("Label", "string"),
]
ASK = message(
    field("Mode", "int16"),
    field("Text", "string"),
    field("Things", "[]Thing"),
    field("More", "[]Thing"),
    commonStructs=[{"name": "Thing", "versions": "0+", "fields": THING}],
    name="AskRequest",
    type="request",
    apiKey=1,
    listeners=["broker"],
)
TELL = message(field("Keys", "[]string"), field("Count", "int32"), name="AskResponse", type="response", apiKey=1)


def one(*fields: dict[str, Any], **entry: object) -> str:
    return json.dumps([{"source": "KIP-1", "fields": fields, **entry}])


def of(message: str, *names: object, **more: object) -> dict[str, Any]:
    return {"message": message, "fields": names, **more}


BY = {"values": {"1": "topicName"}}
TYPES = (
    "brokerId, clientId, clientMetrics, clusterId, delegationToken, groupId, principal, producerId, rack, shareKey, "
    "topicName, transactionalId, user"
)
BROKEN = [
    ("{}", "1: $: expected an array of entries, found object"),
    ("[0]", "1: $[0]: an entry must be a JSON object, found number"),
    ('[{"entity": "topicName"}]', "1: $[0]: an entry has no source; add it"),
    (one(), "1: $[0]: an entry needs either entity or values; write one of them"),
    (one(entity="topicName", **BY), "1: $[0]: an entry needs either entity or values; write one of them"),
    (one(entity="topicName", why=""), "1: $[0].why: unknown property 'why' of an entry; expected one of "
     "entity, fields, source, values, wildcard"),
    (one(values=[]), "1: $[0].values: expected an object from value to entity type, found array []"),
    (one(values={"1": 2}), "1: $[0].values.1: expected an entity type, found number 2"),
    (one({"fields": ["Text"]}, entity="topicName"), "1: $[0].fields[0]: an entry has no message; add it"),
    (one(of("AskRequest"), entity="topicName"), "1: $[0].fields[0]: an entry has no fields; name at least one"),
    (one(of("AskRequest", 1), entity="topicName"),
     "1: $[0].fields[0].fields[0]: expected a field name, found number 1"),
    (one(of("AskRequest", "Text", by="Mode"), entity="topicName"),
     "1: $[0].fields[0]: an entry needs no by or byRequest, because entity fixes the type"),
    (one(of("AskRequest", "Text"), **BY), "1: $[0].fields[0]: an entry needs either by or byRequest"),
    (one(of("AskRequest", "Text", by="Mode", byRequest="Mode"), **BY),
     "1: $[0].fields[0]: an entry needs either by or byRequest"),
    (one(of("Ask", "Text"), entity="topicName"),
     "1: $[0].fields[0].message: unknown message 'Ask'; correct or remove it"),
    (one(of("AskRequest", "Txt"), entity="topicName"),
     "1: $[0].fields[0].fields[0]: AskRequest has no field 'Txt'; write for example Topics.Name"),
    (one(of("AskRequest", "Text"), entity="topicname"),
     "1: $[0].entity: unknown entity type 'topicname'; did you mean topicName?"),
    (one(of("AskRequest", "Text"), entity="x"), f"1: $[0].entity: unknown entity type 'x'; use one of {TYPES}"),
    (one(of("AskRequest", "Mode"), entity="topicName"),
     "1: $[0].entity: Mode is int16, but a topicName is string; change one of the two"),
    (one(of("AskRequest", "Mode"), entity="brokerId"),
     "1: $[0].entity: Mode is int16, but a brokerId is int32 or string; change one of the two"),
    (one(of("AskRequest", "Things.Owner"), entity="groupId"),
     "1: $[0].fields[0].fields[0]: the definition already has groupId as the entity type of "
     "Things.Owner of AskRequest; remove the entry"),
    (one(of("AskRequest", "Text", "Text"), entity="topicName"),
     "1: $[0].fields[0].fields[1]: Text of AskRequest is listed twice; remove one"),
    (one(of("AskRequest", "Things.Name"), entity="topicName")[:-1] + ", "
     + one(of("AskRequest", "More.Name"), entity="user")[1:],
     "1: $[1].fields[0].fields[0]: More.Name of AskRequest is the same field as Things.Name, which has a different "
     "entry; make both equal"),
    (one(of("AskRequest", "Text", by="Kind"), **BY),
     "1: $[0].fields[0].by: AskRequest has no field 'Kind'; write for example Topics.Name"),
    (one(of("AskRequest", "Text", byRequest="Mode"), **BY),
     "1: $[0].fields[0].byRequest: the request of AskRequest has no field 'Mode'; write for example Topics.Name"),
    (one(of("AskRequest", "Things.Name", by="Mode"), **BY), "1: $[0].fields[0].by: Mode of AskRequest is in another "
     "struct; name a field in the struct of the entity, or at the top level of the request"),
    (one(of("AskResponse", "Keys", byRequest="Things.Kind"), **BY), "1: $[0].fields[0].byRequest: Things.Kind of AskRequest "
     "is in another struct; name a field in the struct of the entity, or at the top level of the request"),
    (one(of("AskResponse", "Keys", byRequest="Things"), **BY),
     "1: $[0].fields[0].byRequest: Things of AskRequest is []Thing; it must be a number or a string"),
    (one(of("AskRequest", "Things.Name", by="Things.Kind"), values={"128": "topicName"}),
     "1: $[0].values.128: Things.Kind of AskRequest is int8 and cannot be '128'; write a number in its range"),
    (one(of("AskRequest", "Text", by="Mode"), values={"one": "topicName"}),
     "1: $[0].values.one: Mode of AskRequest is int16 and cannot be 'one'; write a number in its range"),
    (one(of("AskRequest", "Text", by="Mode"), values={"1": "topic"}),
     f"1: $[0].values.1: unknown entity type 'topic'; use one of {TYPES}"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_invalid_entry_is_reported_with_its_location(text: str, problem: str, tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL)
    (specs / "entities.json").write_text(text)
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    place = f"{(specs / 'entities.json').as_posix()}:"
    assert [str(each).removeprefix(place) for each in caught.value.problems][:1] == [problem]


def test_valid_entries_are_resolved_to_fields(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", ASK, TELL)
    things = of("AskRequest", "Things.Name", by="Things.Kind")
    annotations = [
        {"source": "a", "values": {"0": "topicName", "7": "principal"}, "wildcard": "*",
         "fields": [things, things | {"fields": ["More.Name"], "by": "More.Kind"}]},
        {"source": "b", "values": {"2": "groupId"}, "fields": [of("AskResponse", "Keys", byRequest="Mode", about="why")]},
        {"source": "d", "values": {"user": "user"}, "fields": [of("AskRequest", "More.Label", by="More.Sort")]},
        {"source": "c", "entity": "brokerId", "fields": [of("AskResponse", "Count"), of("AskRequest", "Text")]},
    ]  # fmt: skip
    (specs / "entities.json").write_text(json.dumps(annotations))
    assert definitions.load(specs).entities == (
        EntityField("AskRequest", "AskRequest", "text", "brokerId"),
        EntityField("AskRequest", "Thing", "label", "", "", "sort", (("user", "user"),)),
        EntityField("AskRequest", "Thing", "name", "", "", "kind", ((0, "topicName"), (7, "principal")), "*"),
        EntityField("AskResponse", "AskResponse", "count", "brokerId"),
        EntityField("AskResponse", "AskResponse", "keys", "", "AskRequest", "mode", ((2, "groupId"),)),
    )


@pytest.mark.parametrize(
    ("types", "text"),
    [
        (
            {"order": "number"},
            "entity type order needs a field type; use one of bool, int8, int16, uint16, int32, uint32, int64, float64, "
            "uuid, string, bytes, records",
        ),
        ({"topicName": "string"}, "entity type topicName is predefined; remove it"),
    ],
)
def test_invalid_entity_types_are_rejected(types: dict[str, str], text: str, tmp_path: Path) -> None:
    specs = write_specs(tmp_path, message(field("A"), name="Probe"))
    (specs / "entity-types.json").write_text(json.dumps(types))
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    assert [each.message for each in caught.value.problems] == [text]
