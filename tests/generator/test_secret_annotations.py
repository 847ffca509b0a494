"""``settings.json`` and ``secrets.json``: errors with locations."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator import cli, definitions
from kafka_message_generator.spec.source import SpecError
from tests.support.building import import_package, unique_name, write_specs
from tests.support.lines import calls, recording
from tests.support.specs import field, message

GENERATOR = Path(kafka_message_generator.__file__).parent
CONFIG = [field("Name", "string"), field("Value", "string", nullableVersions="0+"), field("Count")]
PROBE = message(
    field("Key", "bytes"),
    field("Pieces", "[]bytes"),
    field("Kind", "int8"),
    field("Configs", "[]Config", fields=CONFIG),
    field("Other", "Other", fields=[field("Kind", "int8"), field("Name", "string")]),
)


def one(**entry: object) -> str:
    return json.dumps({"secrets": [entry]})


def setting(name: str, value: str, **more: object) -> str:
    return json.dumps({"settings": [{"message": "Probe", "name": name, "value": value, **more}]})


TYPES = "BOOLEAN, CLASS, DOUBLE, INT, LIST, LONG, PASSWORD, SHORT, STRING"
NAMES = "use lower-case letters, digits, dots, dashes and underscores"
BROKEN: list[tuple[str, str, tuple[str, ...]]] = [
    ("settings.json", "{}", ("1: $: expected an array of settings, found object",)),
    ("settings.json", "[0]", ("1: $[0]: a setting must be a JSON object, found number",)),
    ("settings.json", '[{"type": "INT"}]', ("1: $[0]: a setting has no name; add it",)),
    ("settings.json", '[{"name": "a.b"}]', ("1: $[0]: setting a.b has no type; add it",)),
    (
        "settings.json",
        '[{"name": "A b", "type": "INT"},\n {"name": "c", "type": "int", "doc": ""}]',
        (
            f"1: $[0].name: invalid name 'A b' of a setting; {NAMES}",
            "2: $[1].doc: unknown property 'doc' of setting c; expected one of name, of, type",
            f"2: $[1].type: unknown type 'int'; use one of {TYPES}",
        ),
    ),
    (
        "settings.json",
        '[{"name": "a", "type": "INT"}, {"name": "a", "type": "PASSWORD"}]',
        ("1: $[1]: setting a is listed twice; names must be unique",),
    ),
    ("secrets.json", "[]", ("1: $: secrets.json must be a JSON object, found array",)),
    (
        "secrets.json",
        '{"fields": []}',
        ("1: $.fields: unknown property 'fields' of secrets.json; expected one of open, secrets, settings",),
    ),
    ("secrets.json", '{"secrets": ["Probe"]}', ("1: $.secrets[0]: an entry must be a JSON object, found string",)),
    ("secrets.json", one(fields=["Key"]), ("1: $.secrets[0]: an entry has no message; add it",)),
    ("secrets.json", one(message="Probe"), ("1: $.secrets[0]: an entry has no fields; name at least one",)),
    (
        "secrets.json",
        one(message="Probe", fields=[1], why="x"),
        (
            "1: $.secrets[0].fields[0]: expected a field name, found number 1",
            "1: $.secrets[0].why: unknown property 'why' of an entry; expected one of about, fields, message",
        ),
    ),
    (
        "secrets.json",
        '{"settings": [{"message": "Probe", "name": "Configs.Name"}]}',
        ("1: $.settings[0]: an entry has no value; add it",),
    ),
    (
        "secrets.json",
        one(message="Prob", fields=["Key"]),
        ("1: $.secrets[0].message: unknown message 'Prob'; correct or remove it",),
    ),
    (
        "secrets.json",
        one(message="Gone", fields=["Key"]),
        ("1: $.secrets[0].message: unknown message 'Gone'; correct or remove it",),
    ),
    (
        "secrets.json",
        '{"open": [{"message": "Probe",\n "fields": ["key", "Configs.Key",\n "Key.Name"]}]}',
        (
            "2: $.open[0].fields[0]: Probe has no field 'key'; write for example Topics.Name",
            "2: $.open[0].fields[1]: Probe has no field 'Configs.Key'; write for example Topics.Name",
            "3: $.open[0].fields[2]: Probe has no field 'Key.Name'; write for example Topics.Name",
        ),
    ),
    (
        "secrets.json",
        one(message="Probe", fields=["Kind", "Pieces", "Other"]),
        (
            "1: $.secrets[0].fields[0]: Kind of Probe is int8; it must be string or bytes or records",
            "1: $.secrets[0].fields[1]: Pieces of Probe is []bytes; it must be string or bytes or records",
            "1: $.secrets[0].fields[2]: Other of Probe is Other; it must be string or bytes or records",
        ),
    ),
    (
        "secrets.json",
        json.dumps(
            {"secrets": [{"message": "Probe", "fields": ["Key"]}], "open": [{"message": "Probe", "fields": ["Key"]}]}
        ),
        ("1: $.open[0].fields[0]: Key of Probe is listed twice; remove one",),
    ),
    (
        "secrets.json",
        setting("Other.Name", "Configs.Value"),
        (
            "1: $.settings[0].name: Other.Name and Configs.Value of Probe are in different structs; "
            "they must be in one struct",
        ),
    ),
    (
        "secrets.json",
        setting("Configs.Name", "Configs.Count"),
        ("1: $.settings[0].value: Configs.Count of Probe is int32; it must be string",),
    ),
    (
        "secrets.json",
        setting("Configs.Name", "Configs.Value", resourceType="Other.Kind"),
        (
            "1: $.settings[0].resourceType: Other.Kind of Probe is not in a struct that contains Configs.Value; "
            "name a field of that struct or of a parent",
        ),
    ),
    (
        "secrets.json",
        setting("Configs.Name", "Configs.Value", resourceType="Key"),
        ("1: $.settings[0].resourceType: Key of Probe is bytes; it must be int8 or int16 or int32",),
    ),
]
IDS = [f"{name} {number}" for number, (name, _, _) in enumerate(BROKEN)]


def written(folder: Path, name: str, text: str) -> Path:
    specs = write_specs(folder / "specs", PROBE, message(name="Gone", validVersions="none", flexibleVersions="none"))
    (specs / name).write_text(text)
    return specs


@pytest.mark.parametrize(("name", "text", "lines"), BROKEN, ids=IDS)
def test_invalid_annotation_is_reported_with_its_location(
    name: str, text: str, lines: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = written(tmp_path, name, text)
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out")]) == 1
    last = f"{len(lines)} problem(s); nothing was generated"
    assert capsys.readouterr().err.splitlines() == [*(f"{specs / name}:{line}" for line in lines), last]
    assert not (tmp_path / "out").exists()


def test_every_secret_annotation_problem_has_a_case(tmp_path: Path) -> None:
    files = [GENERATOR / "spec" / "secrets.py", GENERATOR / "rules" / "secrets.py"]
    with recording(*files) as reached:
        for number, (name, text, _) in enumerate(BROKEN):
            with pytest.raises(SpecError):
                definitions.load(written(tmp_path / str(number), name, text))
    assert reached.missing(calls(files, "error", "warn", "wrong")) == []


def test_secrets_of_own_definitions_are_redacted(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    (specs / "settings.json").write_text(
        '[{"name": "acme.color", "type": "STRING"}, {"name": "acme.pin", "type": "PASSWORD"}]'
    )
    entry = {"message": "Probe", "name": "Configs.Name", "value": "Configs.Value", "resourceType": "Kind"}
    secret = {"message": "Probe", "fields": ["Key", "Other.Name"], "about": "why"}
    (specs / "secrets.json").write_text(json.dumps({"secrets": [secret], "settings": [entry]}))
    name = unique_name()
    arguments = ["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]
    assert cli.main(arguments) == 0
    package = import_package(tmp_path / "out" / "src", name)
    secrets, module = (importlib.import_module(f"{name}.{each}") for each in ("secrets", "messages.probe"))
    configs = [module.Config(name=each, value="1234") for each in ("acme.color", "acme.pin", "log.dirs")]
    probe = package.Probe(key=b"1234", configs=configs, other=module.Other(name="1234", kind=3))
    copy = secrets.redacted(probe)
    assert (copy.key, copy.other.name, copy.other.kind) == (b"(redacted)", "(redacted)", 3)
    assert [each.value for each in copy.configs] == ["1234", "(redacted)", "(redacted)"]
    assert probe.key == b"1234"
