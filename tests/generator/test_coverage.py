"""Coverage of the generator: the definitions in specs/ reach every line that generates code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import kafka_message_generator.plan
import kafka_message_generator.render
from kafka_message_generator import definitions
from kafka_message_generator.definitions import Definitions
from kafka_message_generator.plan.model import Array, LayoutRef, MessagePlan, Operation, OptionalBuffer, TaggedFields
from kafka_message_generator.render import environment, package
from kafka_message_generator.render.availability import availability_of
from kafka_message_generator.render.codec import message as codec
from kafka_message_generator.render.identity import identity_of
from kafka_message_generator.spec.model import ENCODED_TYPES, FIXED_WIDTHS, VARIABLE_TYPES
from tests.support.lines import lines_of_functions, recording
from tests.support.templates import Branches

ROOT = Path(__file__).parents[2]
PROPOSALS, KAFKA = ROOT / "specs" / "proposals", ROOT / "specs" / "kafka"
RENDER = Path(kafka_message_generator.render.__file__).parent
PRINTER = [
    *sorted((RENDER / "codec").glob("*.py")),
    *(RENDER / f"{name}.py" for name in ("literals", "naming", "prose")),
    Path(kafka_message_generator.plan.__file__).parent / "builder.py",
]
"""Files that determine the generated code of a message."""
OF_PACKAGES = ("README.md", "__init__.py", *(name for _, name in package.TABLES), "pyproject.toml")
"""Files printed once per package."""


@pytest.fixture(scope="module")
def proposals() -> Definitions:
    return definitions.load(PROPOSALS)


def test_every_line_of_the_renderer_runs() -> None:
    with recording(*PRINTER) as lines:
        for plan in definitions.load(PROPOSALS).plans:
            codec.render(plan)
    assert lines.missing(lines_of_functions(PRINTER)) == []


def test_every_branch_of_every_template_is_taken(
    proposals: Definitions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    branches = Branches(environment.ENVIRONMENT)
    branches.install(monkeypatch)
    branches.load_all()
    for plan in proposals.plans:
        codec.render(plan)
    # A package of records has no APIs; a removed API has no messages; Kafka's package has both.
    records, removed = tmp_path / "records", tmp_path / "removed"
    for folder, files in ((records, [PROPOSALS / "NothingKey.json"]), (removed, removed_apis())):
        folder.mkdir()
        for file in files:
            shutil.copy(file, folder)
    (records / "package.toml").write_text('[package]\nimport-name = "few"\nurls = { Source = "https://example.org" }\n')
    members = [{"name": "ONE", "value": 1, "about": "Just one."}, {"name": "TWO", "value": 2}]
    (records / "enumerations.json").write_text(json.dumps([{"name": "Few", "members": members}]))
    (records / "errors.json").write_text(json.dumps([{"name": "NONE", "code": 0, "retriable": False}]))
    for specs in (KAFKA, PROPOSALS, records, removed):
        loaded = proposals if specs is PROPOSALS else definitions.load(specs)
        identity = identity_of(loaded, None if specs in (KAFKA, records) else "reached")
        for name in OF_PACKAGES:
            package._template(name, identity, loaded, availability_of(loaded))
    assert "\n".join(branches.missing) == ""


def removed_apis() -> list[Path]:
    files = sorted((KAFKA / "clients").glob("*.json"))
    return [file for file in files if '"validVersions": "none"' in file.read_text(encoding="utf-8")]


def operations_of(plan: MessagePlan) -> list[tuple[Operation, str]]:
    """Return every operation of a plan with its section, which is "" outside of sections."""
    found: list[tuple[Operation, str]] = []
    for operation in [each for struct in plan.structs for layout in struct.layouts for each in layout.operations]:
        found.append((operation, ""))
        if isinstance(operation, (TaggedFields, OptionalBuffer)):
            section = type(operation).__name__
            found += [(tagged.payload, section) for tagged in operation.fields]
    return found


def test_every_type_occurs_in_every_form_and_place(proposals: Definitions) -> None:
    seen: set[tuple[str, str, str]] = set()
    for message in proposals.messages:
        for version in message.valid:
            for field in message.all_fields():
                if version in field.versions:
                    form = "compact" if version in message.flexible_at(field) else "classic"
                    place = "optional" if field.is_optional else "tagged" if version in field.tagged else "regular"
                    null = ", nullable" if version in field.nullable else ""
                    kind = "[]Struct" if field.type.is_array and field.type.is_struct else str(field.type)
                    seen.add(
                        ("Struct" if field.type.is_struct and not field.type.is_array else kind, form, place + null)
                    )
    elements = [*FIXED_WIDTHS, "string", "bytes"]
    arrays = [f"[]{name}" for name in elements]
    can_be_null = [*VARIABLE_TYPES, *arrays, "Struct", "[]Struct"]
    can_be_tagged = [*elements, *arrays, "Struct"]
    wanted = {(kind, form, "regular") for kind in [*can_be_null, *FIXED_WIDTHS] for form in ("classic", "compact")}
    wanted |= {(kind, form, "regular, nullable") for kind in can_be_null for form in ("classic", "compact")}
    wanted |= {(kind, "compact", "tagged") for kind in [*can_be_tagged, "[]Struct"]}
    wanted |= {(kind, "compact", "tagged, nullable") for kind in can_be_null if kind != "records"}
    wanted |= {(kind, "classic", "optional") for kind in can_be_tagged}
    wanted |= {(kind, "classic", "optional, nullable") for kind in can_be_tagged if kind in can_be_null}
    assert wanted - seen == set()


def test_every_encoding_occurs_in_every_form(proposals: Definitions) -> None:
    seen = {
        (field.type.name, encoding.name, field.type.is_array, version in message.flexible)
        for message in proposals.messages
        for field in message.all_fields()
        for encoding in field.encodings or field.element_encodings
        for version in encoding.versions.intersect(message.valid)
    }
    wanted = {
        (name, f"{form}{width}", is_array, is_flexible)
        for name, bits in ENCODED_TYPES.items()
        for width in (16, 32, 64)
        if width <= bits
        for form in ("fixed", "packed", "upacked")
        for is_array in (False, True)
        for is_flexible in (False, True)
    }
    assert wanted - seen == set()


def test_every_operation_of_the_plan_is_used(proposals: Definitions) -> None:
    operations = [each for plan in proposals.plans for each in operations_of(plan)]
    kinds = {type(operation).__name__ for operation, _ in operations}
    assert kinds == {kind.__name__ for kind in Operation.__args__}
    assert {section for _, section in operations} == {"", "TaggedFields", "OptionalBuffer"}
    assert {op.interleaved for op, _ in operations if isinstance(op, TaggedFields)} == {False, True}
    elements = {type(op.element).__name__ for op, _ in operations if isinstance(op, Array)}
    assert elements == {"str", "PackedElement", LayoutRef.__name__}
