"""A tag identifies one field forever, across releases without it and renamed structs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_message_generator.compat.definition_sets import baseline
from kafka_message_generator.compat.report import compare
from kafka_message_generator.compat.texts import lines_of
from kafka_message_generator.definitions import set_of_folder

Json = dict[str, object]


def field(name: str, kind: str = "int32", versions: str = "0+", **more: object) -> Json:
    return {"name": name, "type": kind, "versions": versions, **more}


def tagged(name: str, kind: str = "int32", tag: int = 0, **more: object) -> Json:
    return {**field(name, kind), "tag": tag, "taggedVersions": "0+", **more}


X = field("X")


def tag_findings(tmp_path: Path, *releases: list[Json]) -> list[str]:
    """Return the findings about tags in the last list of fields after the earlier ones."""
    sets = []
    for number, fields in enumerate(releases):
        folder = tmp_path / str(number)
        folder.mkdir()
        definition = {"type": "data", "name": "Foo", "validVersions": "0", "flexibleVersions": "0+", "fields": fields}
        (folder / "Foo.json").write_text(json.dumps(definition))
        sets.append(replace(set_of_folder(folder), name=f"release {number}"))
    found = compare(baseline("releases", sets[:-1]), sets[-1]).findings
    return ["\n".join(lines_of(each)).split(": ", 2)[2] for each in found if each.rule in ("TAG_REUSED", "TAG_MOVED")]


def holds(name: str, *fields: Json) -> list[Json]:
    return [field(name, f"[]{name.removesuffix('s')}", fields=list(fields))]


REUSED: dict[str, tuple[list[list[Json]], str]] = {
    "the same type, after a release without it": (
        [[X, tagged("A")], [X], [X, tagged("B")]],
        "Foo B: TAG_REUSED: tag 0 was A (int32), now B (int32)\n    give B a tag that was never used",
    ),
    "the same name with another type, after a release without it": (
        [[X, tagged("A")], [X], [X, tagged("A", "string")]],
        "Foo A: TAG_REUSED: tag 0 was A (int32), now A (string)\n    give A a tag that was never used",
    ),
    "in a renamed struct": (
        [holds("Rows", X, tagged("A")), holds("Rows", X), holds("Lines", X, tagged("B", "string"))],
        "Foo Lines[].B: TAG_REUSED: tag 0 was A (int32), now B (string)\n    give B a tag that was never used",
    ),
    "in a struct renamed twice": (
        [holds("Rows", X, tagged("A")), holds("Lines", X), holds("Items", X), holds("Items", X, tagged("B"))],
        "Foo Items[].B: TAG_REUSED: tag 0 was A (int32), now B (int32)\n    give B a tag that was never used",
    ),
    "moved to the tag of a removed field": (
        [[X, tagged("A"), tagged("B", tag=1)], [X, tagged("C"), tagged("A", tag=1)]],
        "Foo A: TAG_MOVED: A had tag 0, has 1\n    restore tag 0",
    ),
    "moved, in a renamed struct": (
        [holds("Rows", X, tagged("A")), holds("Rows", X), holds("Lines", X, tagged("B"), tagged("A", tag=1))],
        "Foo Lines[].A: TAG_MOVED: Lines[].A had tag 0, has 1\n    restore tag 0\n\n"
        "Foo Lines[].B: TAG_REUSED: tag 0 was A (int32), now B (int32)\n    give B a tag that was never used",
    ),
}
KEPT: dict[str, list[list[Json]]] = {
    "renamed field": [[X, tagged("A")], [X, tagged("B")]],
    "renamed field with its default as a word": [[X, tagged("A", default="0")], [X, tagged("B")]],
    "renamed field with its default in other digits": [
        [X, tagged("A", default="16")],
        [X, tagged("B", default="0x10")],
    ],
    "renamed field and struct type": [
        [X, tagged("S", "Inner", fields=[X])],
        [X, tagged("T", "Other", fields=[X])],
    ],
    "renamed struct with an additional tagged field": [
        [X, tagged("S", "Inner", fields=[X])],
        [X, tagged("T", "Inner", fields=[X, tagged("B")])],
    ],
    "the same field restored": [[X, tagged("A")], [X], [X, tagged("A")]],
    "renamed parent": [holds("Rows", X, tagged("A")), holds("Lines", X, tagged("A"))],
}


@pytest.mark.parametrize("case", REUSED)
def test_reused_tag_is_reported(case: str, tmp_path: Path) -> None:
    releases, text = REUSED[case]
    assert tag_findings(tmp_path, *releases) == text.split("\n\n")


@pytest.mark.parametrize("case", KEPT)
def test_renamed_field_is_not_tag_reuse(case: str, tmp_path: Path) -> None:
    assert tag_findings(tmp_path, *KEPT[case]) == []
