"""Errors and warnings of definitions: a broken definition for each, compared as whole messages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kafka_message_generator
from kafka_message_generator import cli
from kafka_message_generator.render import code
from kafka_message_generator.render.codec import message as codec
from kafka_message_generator.rules import names
from tests.support.broken import CASES
from tests.support.broken.case import KNOWN_OF_FIELDS, Case, common, request, response, sub
from tests.support.building import Workshop, build_package, plan_of, print_module
from tests.support.lines import calls, recording
from tests.support.samples import SAMPLES
from tests.support.specs import field, message, problems_of, text

GENERATOR = Path(kafka_message_generator.__file__).parent
READERS = [GENERATOR / "spec" / f"{name}.py" for name in ("properties", "reader")]
OF_SETTINGS = {
    "headers.py",
    "settings.py",
    "secrets.py",
    "enumerations.py",
    "paths.py",
    "error_responses.py",
    "entities.py",
    "kips.py",  # test_kip_annotations.py
}
OF_SETTINGS |= {"conventions.py", "restrictions.py"}
CHECKED = [*READERS, *(path for path in sorted((GENERATOR / "rules").glob("*.py")) if path.name not in OF_SETTINGS)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_definition_is_reported(case: Case) -> None:
    assert problems_of(case.files) == case.lines


def test_names_of_broken_definitions_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def test_every_definition_problem_has_a_case() -> None:
    with recording(*CHECKED) as lines:
        for case in CASES:
            problems_of(case.files)
    assert lines.missing(calls(CHECKED, "error", "warn", "wrong")) == []


def test_valid_definition_has_no_problems() -> None:
    assert problems_of({"Test.json": text(field("A"))}) == []


@pytest.mark.parametrize(
    ("file", "definition"),
    [
        ("AskRequest.json", text(field("A"), name="AskRequest", type="request")),
        ("AskResponse.json", text(field("A"), name="AskResponse", type="response")),
        ("Test.json", text(field("A"), apiKey=7)),
        ("Other.json", text(field("A"))),
        ("Test.json", text(field("A"), field("B", versions="none"))),
        ("Test.json", text(field("A") | {"versions": 0})),
    ],
)
def test_unusual_valid_definitions_are_accepted(file: str, definition: str) -> None:
    assert problems_of({file: definition}) == []


ODD_NAMES = {
    "two structs, one function": [sub("A", field("X"), type="ABc"), sub("B", field("X", "bool"), type="Abc")],
    "struct and array functions": [sub("A", field("X"), type="[]Topic"), sub("B", field("X"), type="AllTopic")],
    "struct and tag functions": [
        sub("A", field("X", tag=0, taggedVersions="0+"), type="Topic"),
        sub("B", field("X", tag=0, taggedVersions="0+"), type="TagsTopic"),
    ],
    "struct and collection": [sub("A", field("X", mapKey=True), type="[]Sub"), sub("B", type="SubCollection")],
    "Struct": [sub("A", field("X"), type="Struct")],
    "StructBase": [sub("A", field("X"), type="StructBase")],
    "TRUTH": [sub("A", field("X", "bool"), type="TRUTH")],
    "Malformed": [sub("A", field("X", "string", flexibleVersions="none"), type="Malformed")],
    "ZERO_UUID": [sub("A", field("X", "uuid"), type="ZERO_UUID")],
    "UUID without fields": [sub("A", type="UUID"), field("B", "uuid")],
    "self": [field("Self")],
    "type": [field("Type"), field("B", "[]int32")],
}


def bound_names(module: str) -> Iterator[str]:
    """Yield every name bound at the top of a module, with repetitions."""
    for node in ast.parse(module).body:
        if isinstance(node, (ast.ImportFrom, ast.Import)):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("name", ODD_NAMES)
def test_field_names_used_by_the_module_are_rejected_or_work(name: str, tmp_path: Path) -> None:
    definition = text(*ODD_NAMES[name], flexibleVersions="0+")
    if problems_of({"Test.json": definition}):
        return
    bound = list(bound_names(print_module(definition)))
    assert sorted(bound) == sorted(set(bound))
    message_class = build_package(tmp_path, definition).Probe
    for version in range(4):
        assert message_class.read(message_class().write(version), version) == message_class()


def test_imported_names_are_reserved() -> None:
    homes = [*code.HOMES.values(), *code.CHECKED.values()]
    imported = {name for line in homes for name in line.split() if name[0].isupper()}
    assert imported - names.MODULE_NAMES == set()
    assert names.MODULE_NAMES - imported == {"NotImplemented", "TYPE_CHECKING", *names.MESSAGE_CONSTANTS}


def test_message_constants_are_reserved(tmp_path: Path) -> None:
    own = {name for name in dir(build_package(tmp_path, text(flexibleVersions="none")).Probe) if name.isupper()}
    assert {name for name in own if not name.startswith("_")} == set(names.MESSAGE_CONSTANTS)


def test_exported_names_are_reserved(tmp_path: Path) -> None:
    built = build_package(tmp_path, text())
    assert set(built._MODULES) - {"Probe"} == names.PACKAGE_NAMES


def test_message_methods_are_reserved(tmp_path: Path) -> None:
    built = build_package(tmp_path, request(), response())
    own = {name for name in dir(built.AskRequest) if name.islower()}
    members = names.MESSAGE_MEMBERS | names.STRUCT_MEMBERS
    assert {name for name in own if not name.startswith("_")} == members | {"a"}  # its field


def identifiers() -> set[str]:
    found: set[str] = set()
    for sample in SAMPLES.values():
        for node in ast.walk(ast.parse(codec.render(plan_of(sample)))):
            for key in ("id", "arg", "attr", "name"):
                name = getattr(node, key, None)
                found |= {name} if isinstance(name, str) else set()
    return found


def test_unreserved_names_of_generated_modules_are_usable(workshop: Workshop) -> None:
    camel = {"".join(part.capitalize() for part in name.split("_")) for name in identifiers()}
    words = sorted(name for name in camel if re.fullmatch(r"[A-Z][A-Za-z0-9]*", name))
    free = [name for name in words if not problems_of({"Test.json": text(field(name))})]
    assert len(words) - len(free) in range(10, 30)
    # Definitions for which constructors, defaults and readers use names of the module.
    kinds = ("string", "[]int32", "uuid", "bytes", "[]string", "[]uuid", "[]bool")
    users = [
        *(field(f"User{number}", kind) for number, kind in enumerate(kinds)),
        field("UserUid", "uuid", default="x7D3Ck_ZRA22-dzIvu_pnQ"),
        field("UserRatio", "float64", default="Infinity"),
        field("UserLate", "string", "2+", tag=0, taggedVersions="2+", nullableVersions="2+"),
    ]
    inner = [field(name, mapKey=True) for name in free]
    fields = [*(field(name) for name in free), *users]
    message_class = workshop.add(message(*fields, sub("UserKeyed", *inner, *users, type="[]Inner")))
    values = {names.snake_case(name): number for number, name in enumerate(free)}
    whole = message_class(**values)
    element = sys.modules[message_class.__module__].Inner(**values)
    whole.user_keyed.append(element)
    for version in range(4):
        assert message_class.read(whole.write(version), version) == whole
        assert whole.size(version) == len(whole.write(version))
    assert whole.user_keyed.find(**values) is element


UNCHECKED = {
    "request and response differ in versions": {
        "a.json": request(),
        "b.json": text(name="AskResponse", type="response", apiKey=1, validVersions="0-2"),
    },
    "versions outside the struct's": {"a.json": text(sub("A", field("X", versions="0-1"), versions="2+"))},
    "tagged versions outside the message's": {"a.json": text(field("A", tag=0, taggedVersions="9+"))},
    "nullable versions outside the message's": {"a.json": text(field("A", "string", nullableVersions="9+"))},
    "flexible above every valid version": {"a.json": text(flexibleVersions="9+")},
    "deprecated above every valid version": {"a.json": text(deprecatedVersions="7")},
    "map key of a struct that is in no array": {"a.json": text(sub("A", field("X", mapKey=True)))},
}


@pytest.mark.parametrize("slip", UNCHECKED)
def test_mistake_accepted_by_kafka_is_reported(slip: str) -> None:
    assert problems_of(UNCHECKED[slip]) != []


BROKEN = {
    "b/Two.json": text(field("A", default="x"), field("B", nullableVersions="0+"), name="Two"),
    "a/Syntax.json": '{\n"name": "Syntax"\n"type": "data"}',
    "c/Reader.json": text(field("A", comment="x"), name="Reader", apiKey=70000),
    "c/Across.json": text(name="AcrossRequest", type="request", apiKey=3),
    "a/Warned.json": text(field("A", versions="9+", about="Never there."), name="Warned"),
}


def test_one_run_reports_every_problem_of_every_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, contents in BROKEN.items():
        path = Path("specs") / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(contents)
    assert cli.main(["generate", "--specs", "specs", "--output", "out"]) == 1
    unknown = f"unknown property 'comment' of field A; expected one of {KNOWN_OF_FIELDS}"
    number = "use a decimal, 0x hexadecimal or 0 octal number"
    one_way = "list AcrossRequest under one-way, below [protocol] in package.toml"
    remedy = f"define AcrossResponse with the same apiKey, or {one_way}"
    printed = capsys.readouterr()
    assert printed.err.splitlines() == [
        "specs/a/Syntax.json:2: $.name: missing comma after this value; add one",
        f"specs/b/Two.json:2: $.fields[0].default: invalid default 'x' for int32 field A: {number}",
        "specs/b/Two.json:3: $.fields[1].nullableVersions: type int32 cannot be nullable; remove nullableVersions",
        f"specs/c/Across.json:1: $.apiKey: request AcrossRequest with apiKey 3 has no response; {remedy}",
        "specs/c/Reader.json:1: $.apiKey: 70000 is out of range for apiKey, an int16",
        f"specs/c/Reader.json:2: $.fields[0].comment: {unknown}",
        "6 problem(s); nothing was generated",
    ]
    assert printed.out == ""
    assert not Path("out").exists()


def test_warnings_are_printed_and_do_not_stop_generation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("specs").mkdir()
    Path("specs/Warned.json").write_text(BROKEN["a/Warned.json"])
    assert cli.main(["generate", "--specs", "specs", "--output", "out", "--package", "own"]) == 0
    line = "field A has versions 9+, but the message has versions 0-3; the field is never sent"
    assert capsys.readouterr().err.splitlines() == [f"specs/Warned.json:2: $.fields[0].versions: warning: {line}"]
    assert Path("out/MANIFEST").exists()


def test_repeated_problem_is_reported_once() -> None:
    definition = text(field("A", "Com"), field("B", "Com"), commonStructs=[common("Com", field("X", default="x"))])
    assert len(problems_of({"Test.json": definition})) == 1
