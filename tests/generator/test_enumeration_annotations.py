"""``enumerations.json``: errors with locations, and enumerations of generated packages."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator import cli, definitions
from kafka_message_generator.spec.source import SpecError
from tests.support.building import import_package, unique_name, write_specs
from tests.support.lines import calls, recording
from tests.support.specs import field, message

GENERATOR = Path(kafka_message_generator.__file__).parent
PROBE = message(
    field("Kind", "int8"),
    field("Word", "string"),
    field("Flag", "bool"),
    field("Ratio", "float64"),
    field("ErrorCode", "int16"),
    field("Kinds", "[]int16"),
    field("First", "Part"),
    field("Pieces", "[]Part"),
    commonStructs=[{"name": "Part", "versions": "0+", "fields": [field("Kind", "int8")]}],
)
MEMBERS = [{"name": "ON", "value": 1, "about": "Lit."}, {"name": "OFF", "value": 0}]


def lamp(*paths: str, **more: object) -> dict[str, object]:
    fields = {"fields": [{"message": "Probe", "fields": list(paths)}]} if paths else {}
    return {"name": "Lamp", "members": MEMBERS, **fields, **more}


def members(*pairs: tuple[str, object]) -> dict[str, object]:
    return {"name": "Lamp", "members": [{"name": name, "value": value} for name, value in pairs]}


KNOWN = "expected one of about, class, fields, members, name, source, special, value"
BROKEN: list[tuple[object, tuple[str, ...]]] = [
    ({}, ("1: $: expected an array of enumerations, found object",)),
    (["Lamp"], ("1: $[0]: an enumeration must be a JSON object, found string",)),
    ([{"members": MEMBERS}], ("1: $[0]: an enumeration has no name; add it",)),
    ([{"name": "Lamp"}], ("1: $[0]: enumeration Lamp has no members; add them",)),
    ([lamp(), lamp()], ("1: $[1]: enumeration Lamp is listed twice; names must be unique",)),
    ([lamp(kind=1, special="false")], (f"1: $[0].kind: unknown property 'kind' of enumeration Lamp; {KNOWN}",)),
    ([lamp(name="lamp")], ("1: $[0].name: invalid name 'lamp' of an enumeration; write a name like AclOperation",)),
    (
        [lamp(name="IntegerEnum")],
        ("1: $[0].name: IntegerEnum is reserved in the generated package; rename the enumeration",),
    ),
    (
        [lamp(name="ErrorCode")],
        ("1: $[0].name: the members of ErrorCode cannot be listed here; list only its fields",),
    ),
    (
        [lamp(fields=[{"message": "Probe", "fields": [1]}, {"message": "Probe"}, {"fields": ["Kind"]}])],
        (
            "1: $[0].fields[0].fields[0]: expected a field name, found number 1",
            "1: $[0].fields[1]: an entry has no fields; name at least one",
            "1: $[0].fields[2]: an entry has no message; add it",
        ),
    ),
    (
        [{"name": "Lamp", "members": [1, {"value": 1}]}],
        (
            "1: $[0].members[0]: a member must be a JSON object, found number",
            "1: $[0].members[1]: a member has no name; add it",
        ),
    ),
    (
        [members(("on", 1), ("OFF", None))],
        (
            "1: $[0].members[0].name: invalid name 'on' of a member; use capitals, digits and underscores",
            "1: $[0].members[1]: member OFF has no value; add a number or a string",
        ),
    ),
    (
        [members(("ON", 1), ("ON", 2))],
        ("1: $[0]: Lamp has duplicate member ON; names must be unique",),
    ),
    ([members(("ON", 1), ("OFF", 1))], ("1: $[0]: Lamp has value 1 for ON and OFF; remove one",)),
    ([members(("ON", 1), ("OFF", "off"))], ("1: $[0]: Lamp has both numbers and strings; use one type",)),
    ([members(("ON", True))], ("1: $[0].members[0]: member ON has no value; add a number or a string",)),
    (
        [lamp(fields=[{"message": "Prob", "fields": ["Kind"]}])],
        ("1: $[0].fields[0].message: unknown message 'Prob'; correct or remove it",),
    ),
    (
        [lamp("Kinde", "Pieces.Word")],
        (
            "1: $[0].fields[0].fields[0]: Probe has no field 'Kinde'; write for example Topics.Name",
            "1: $[0].fields[0].fields[1]: Probe has no field 'Pieces.Word'; write for example Topics.Name",
        ),
    ),
    (
        [lamp("Word", "Ratio", "First", "Kind")],
        (
            "1: $[0].fields[0].fields[0]: Word of Probe is string; the values of Lamp are numbers",
            "1: $[0].fields[0].fields[1]: Ratio of Probe is float64; the values of Lamp are numbers",
            "1: $[0].fields[0].fields[2]: First of Probe is Part; the values of Lamp are numbers",
        ),
    ),
    (
        [{**members(("HUGE", 128)), "fields": [{"message": "Probe", "fields": ["Kind", "Flag", "Kinds"]}]}],
        (
            "1: $[0].fields[0].fields[0]: Kind of Probe is int8; HUGE of Lamp is 128, out of range",
            "1: $[0].fields[0].fields[1]: Flag of Probe is bool; HUGE of Lamp is 128, out of range",
        ),
    ),
    (
        [{**members(("ON", "on")), "fields": [{"message": "Probe", "fields": ["Kind"]}]}],
        ("1: $[0].fields[0].fields[0]: Kind of Probe is int8; the values of Lamp are strings",),
    ),
    (
        [lamp("Kind", "Kind")],
        ("1: $[0].fields[0].fields[1]: Kind of Probe already has the enumeration Lamp; remove one",),
    ),
    (
        [lamp("First.Kind"), lamp("Pieces.Kind", name="Other")],
        ("1: $[1].fields[0].fields[0]: Pieces.Kind of Probe already has the enumeration Lamp; remove one",),
    ),
]


@pytest.mark.parametrize(("annotations", "lines"), BROKEN, ids=[lines[0].partition(": ")[2] for _, lines in BROKEN])
def test_invalid_enumeration_is_reported_with_its_location(
    annotations: object, lines: tuple[str, ...], tmp_path: Path
) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    path = specs / "enumerations.json"
    path.write_text(json.dumps(annotations))
    with pytest.raises(SpecError) as caught:
        definitions.load(specs)
    assert [str(problem) for problem in caught.value.problems] == [f"{path.as_posix()}:{line}" for line in lines]


def test_unknown_message_is_accepted_when_loading_one_release(tmp_path: Path) -> None:
    specs = write_specs(tmp_path / "specs", PROBE)
    annotations = lamp("Kind") | {"fields": [{"message": each, "fields": ["Kind"]} for each in ("Older", "Probe")]}
    (specs / "enumerations.json").write_text(json.dumps([annotations]))
    (plan,) = definitions.load(specs, more=None).plans
    assert '"enumeration":"Lamp"' in plan.descriptor
    with pytest.raises(SpecError, match="unknown message 'Older'; correct or remove it"):
        definitions.load(specs)


def test_every_enumeration_problem_has_a_case(tmp_path: Path) -> None:
    folders = (
        ("spec", "enumerations.py"),
        ("rules", "enumerations.py"),
        ("spec", "annotations.py"),
        ("rules", "paths.py"),
    )
    files = [GENERATOR.joinpath(*names) for names in folders]
    with recording(*files) as reached:
        for number, (annotations, _) in enumerate(BROKEN):
            specs = write_specs(tmp_path / str(number), PROBE)
            (specs / "enumerations.json").write_text(json.dumps(annotations))
            with pytest.raises(SpecError):
                definitions.load(specs)
    assert reached.missing(calls(files, "error", "warn", "wrong")) == []


def test_generated_package_exports_its_enumerations(tmp_path: Path) -> None:
    specs, name = write_specs(tmp_path / "specs", PROBE), unique_name()
    word = {
        "name": "Word",
        "members": [{"name": "PLEASE", "value": "please"}],
        "fields": [{"message": "Probe", "fields": ["Word"]}],
    }
    size = {**members(("NONE", -1)), "name": "Size", "special": True, "source": "KIP-0", "about": "How much."}
    size["fields"] = [{"message": "Probe", "fields": ["Kinds"]}]
    (specs / "enumerations.json").write_text(json.dumps([lamp("First.Kind", "Pieces.Kind", "Flag"), word, size]))
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 0
    package = import_package(tmp_path / "out" / "src", name)
    enums, form = importlib.import_module(f"{name}.enums"), importlib.import_module(f"{name}.json")
    fields = {
        each.name: each.enumeration for each in importlib.import_module(f"{name}.schema").fields_of(package.Probe)
    }
    assert fields == {
        **dict.fromkeys(("kind", "ratio", "first", "pieces")),
        "word": "Word",
        "flag": "Lamp",
        "error_code": "ErrorCode",
        "kinds": "Size",
    }
    assert list(enums.ENUMERATIONS) == ["ApiKey", "ErrorCode", "Lamp", "Size", "Word"]
    assert [each.name for each in enums.Lamp] == ["OFF", "ON"]
    assert (enums.Lamp.ON.description, enums.Lamp.OFF.description) == ("Lit.", "")
    assert enums.Size.__doc__ == "How much. Source: KIP-0."
    part = sys.modules[package.Probe.__module__].Part
    probe = package.Probe(pieces=[part(kind=1), part(kind=7)], flag=True, kinds=[-1, 5], word="please", error_code=4)
    named = form.to_json(probe, 0, names=True)
    assert named["pieces"] == [{"kind": "ON"}, {"kind": 7}]
    assert named["first"] == {"kind": "OFF"}
    assert (named["flag"], named["kinds"], named["word"], named["errorCode"]) == ("ON", ["NONE", 5], "please", 4)
    again = form.from_json(package.Probe, json.loads(json.dumps(named)), 0, names=True)
    assert again == probe
    assert again.flag is True


def test_missing_enums_component_raises_value_error(tmp_path: Path) -> None:
    specs, name = write_specs(tmp_path / "specs", PROBE), unique_name()
    assert cli.main(["generate", "--specs", str(specs), "--output", str(tmp_path / "out"), "--package", name]) == 0
    package = import_package(tmp_path / "out" / "src", name)
    assert not (tmp_path / "out" / "src" / name / "enums").exists()
    form = importlib.import_module(f"{name}.json")
    with pytest.raises(
        ValueError, match=f"^{name} has no enumerations; generate the package with the component enums$"
    ):
        form.to_json(package.Probe(), 0, names=True)
