"""Warnings about definitions that Kafka's generator accepts, but that are probably mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator import definitions
from tests.support.lines import calls, recording
from tests.support.pages import ROOT
from tests.support.specs import field, text

GENERATOR = Path(kafka_message_generator.__file__).parent
ABOUT = {"about": "A number."}
SOUND = field("A", **ABOUT)
KEY = {**field("Key", "string", nullableVersions="0+", mapKey=True), **ABOUT}
TWICE = text(field("B"), field("C"), name="Two")

SLIPS = {
    "nullable key": (
        {"Probe.json": text({**field("Rows", "[]Row"), **ABOUT, "fields": [KEY]})},
        "Probe.json:2: $.fields[0].fields[0].nullableVersions: warning: field Key is a nullable key; "
        "remove nullableVersions or mapKey",
    ),
    "no about": (
        {"Probe.json": text(SOUND, field("B"))},
        "Probe.json:3: $.fields[1]: warning: field B has no about; describe it",
    ),
    "no about twice": (
        {"Probe.json": text(SOUND), "Two.json": TWICE},
        "Two.json:2: $.fields[0]: warning: field B and 1 more field have no about; describe each",
    ),
    "no about anywhere": (
        {"Probe.json": text(field("A")), "Two.json": TWICE},
        "Probe.json:2: $.fields[0]: warning: field A and 2 more fields have no about; describe each",
    ),
    "apiKey is a string": (
        {"AskRecord.json": text(SOUND, name="AskRecord", type="metadata", apiKey="1")},
        "AskRecord.json:1: $.apiKey: warning: apiKey is the string '1'; write 1 without quotes",
    ),
    "another file name": (
        {"Other.json": text(SOUND)},
        "Other.json:1: $.name: warning: message Probe is defined in Other.json; rename the file to Probe.json",
    ),
    "small letter": (
        {"Probe.json": text(field("numberOfRows", **ABOUT))},
        "Probe.json:2: $.fields[0].name: warning: field numberOfRows starts with a lower-case letter; write NumberOfRows, "
        "as in Kafka's definitions",
    ),
    "error code of another type": (
        {"Probe.json": text(field("ErrorCode", "string", **ABOUT))},
        "Probe.json:2: $.fields[0].type: warning: field ErrorCode has type string, but error codes are int16; "
        "change the type or the name",
    ),
    "boolean is a string": (
        {"Probe.json": text(field("A", ignorable="True", **ABOUT))},
        "Probe.json:2: $.fields[0].ignorable: warning: ignorable is the string 'True'; write true without quotes",
    ),
    "no versions": (
        {"Probe.json": text(SOUND, field("B", versions="none", **ABOUT))},
        "Probe.json:3: $.fields[1].versions: warning: field B has versions none and is never sent",
    ),
}
IMPORTED = '{"release": "3.0.0", "artifacts": {}}'


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, contents in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(contents, encoding="utf-8")
    return folder


def warnings_of(specs: Path) -> list[str]:
    return [str(each).removeprefix(f"{specs.as_posix()}/") for each in definitions.load(specs).warnings]


@pytest.mark.parametrize("slip", SLIPS)
def test_broken_convention_is_a_warning(slip: str, tmp_path: Path) -> None:
    files, line = SLIPS[slip]
    assert warnings_of(written(tmp_path, files)) == [line]


@pytest.mark.parametrize("slip", SLIPS)
def test_released_definitions_have_no_convention_warnings(slip: str, tmp_path: Path) -> None:
    files, _ = SLIPS[slip]
    specs = written(tmp_path, {f"clients/{name}": contents for name, contents in files.items()} | {"SOURCE": IMPORTED})
    assert warnings_of(specs) == []
    assert warnings_of(specs / "clients") == []


def test_source_file_without_artifacts_is_not_an_imported_release(tmp_path: Path) -> None:
    files, line = SLIPS["no about"]
    assert warnings_of(written(tmp_path, {**files, "SOURCE": '{"release": "2.1"}'})) == [line]


def test_every_convention_warning_has_a_case(tmp_path: Path) -> None:
    module = GENERATOR / "rules" / "conventions.py"
    with recording(module) as lines:
        for number, (files, _) in enumerate(SLIPS.values()):
            warnings_of(written(tmp_path / str(number), files))
    assert lines.missing(calls([module], "error", "warn", "wrong")) == []


def test_kafkas_definitions_have_no_warning() -> None:
    assert warnings_of(ROOT / "specs" / "kafka") == []
    assert warnings_of(ROOT / "specs" / "history" / "definitions" / "SubscriptionInfoData" / "3.2.0.json") == []


def test_older_releases_have_no_warnings(tmp_path: Path) -> None:
    new, old = (tmp_path / name for name in ("new", "old"))
    written(new, {"Probe.json": text(SOUND)})
    written(old, {"Gone.json": text(field("old"), name="Gone")})
    assert [plan.name for plan in definitions.load(new, more=[old]).plans] == ["Probe", "Gone"]
    assert definitions.load(new, more=[old]).warnings == ()
