"""The plan: golden files of operations by struct and version."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.plan.model import Array, MessagePlan
from tests.support.building import plan_of
from tests.support.goldens import GOLDENS, matches_golden, stale_goldens
from tests.support.specs import field, message, optional

FOLDER = GOLDENS / "plans"

PLANS = {
    # Adjacent fixed-width fields form one operation; variable-width fields separate operations.
    "fixed_runs": message(
        *(field(f"F{kind}", kind) for kind in ("bool", "int8", "int16", "uint16", "int32", "uint32")),
        field("Text", "string"),
        *(field(f"G{kind}", kind) for kind in ("int64", "float64", "uuid")),
        field("Since1", "int8", "1+"),
        field("Blob", "bytes"),
        field("Last", "int8"),
    ),
    # Fixed-width fields around a field form one operation in versions without this field.
    "run_with_a_gap": message(
        field("A", "int8"), field("B", "string", "1-2"), field("C", "int16"), flexibleVersions="none"
    ),
    # Equal versions share a layout, even if they are not adjacent.
    "shared_layouts": message(
        field("A"), field("Old", versions="1-2"), validVersions="0-5", flexibleVersions="none", name="Shared"
    ),
    # The message changes with each version; its struct has one layout.
    "struct_shared_by_versions": message(
        field("Part", "Part", fields=[field("X", "int8"), field("Y", "string", "0+")]),
        field("New1", versions="1+"),
        field("New2", versions="2+"),
        flexibleVersions="none",
    ),
    # Fields that a layout lacks: rejected on write, or dropped if ignorable.
    "absent_fields": message(
        field("Kept", versions="1+"),
        field("Dropped", versions="1+", ignorable=True),
        field("Never", versions="none"),
        field("Later", versions="9+"),
        flexibleVersions="none",
    ),
    # A regular field that becomes tagged, a new tagged field, and a tagged field of a later version.
    "tags_entering_later": message(
        field("Mixed", versions="0+", tag=2, taggedVersions="3+"),
        field("New", "string", "2+", tag=0, taggedVersions="2+", ignorable=True),
        field("Ahead", "bool", "5+", tag=1, taggedVersions="5+"),
        validVersions="1-3",
    ),
    # Every kind of value in a tag section, in the order of tags.
    "tag_section": message(
        field("Structs", "[]Deep", tag=4, taggedVersions="0+", fields=[field("X", "int8")]),
        field("Struct", "Single", tag=3, taggedVersions="0+", nullableVersions="0+", fields=[field("X", "int8")]),
        field("Numbers", "[]int32", tag=2, taggedVersions="0+", nullableVersions="0+"),
        field("Blob", "bytes", tag=1, taggedVersions="0+"),
        field("Fixed", "uuid", tag=0, taggedVersions="0+"),
        flexibleVersions="0+",
    ),
    # Nullability by version, for every nullable type.
    "nullable_per_version": message(
        *(
            field(name, kind, nullableVersions=versions)
            for name, kind, versions in (
                ("Text", "string", "1+"),
                ("Blob", "bytes", "2+"),
                ("Batch", "records", "1-2"),
                ("Numbers", "[]int64", "3+"),
                ("Names", "[]string", "0-1"),
            )
        ),
        field("Part", "Part", nullableVersions="1+", fields=[field("X", "string", nullableVersions="2+")]),
        flexibleVersions="3+",
    ),
    # Client id of request headers: a classic string in flexible versions.
    "flexible_versions_of_a_field": message(
        field("Inherited", "string"),
        field("Never", "string", flexibleVersions="none", nullableVersions="0+"),
        field("Later", "bytes", flexibleVersions="3+"),
        flexibleVersions="1+",
    ),
    # Common structs are planned once, in order of dependencies.
    "common_structs": message(
        field("One", "Outer"),
        field("Many", "[]Outer", "1+"),
        field("Direct", "[]Inner"),
        commonStructs=[
            {"name": "Outer", "versions": "0+", "fields": [field("Inner", "Inner"), field("N", versions="2+")]},
            {"name": "Inner", "versions": "0+", "fields": [field("X", "int8")]},
            {"name": "Unused", "versions": "0+", "fields": [field("X", "int8")]},
        ],
    ),
    # Keys do not change the layout.
    "map_keys": message(
        field(
            "Topics",
            "[]Topic",
            fields=[
                field("Name", "string", mapKey=True),
                field("Partition", mapKey=True, versions="1+"),
                field("Data", "bytes"),
            ],
        ),
    ),
    # Elements without bytes: the size of the data does not limit their number.
    "empty_structs": message(
        field("Nothing", "[]Empty", fields=[]),
        field("Single", "Nested", fields=[field("Inside", "Other", fields=[])]),
        flexibleVersions="2+",
    ),
    "no_fields": message(),
    # The proposals: integers that are packed in some versions, alone and in arrays.
    "integer_encodings": message(
        field("A", "int64", encoding={"0": "fixed64", "1": "fixed32", "2": "packed64", "3+": "upacked16"}),
        field("B", "int32", encoding="packed32"),
        field("C", "int16", encoding="fixed16"),
        field("Many", "[]int32", elementEncoding={"0-1": "fixed16", "2+": "upacked32"}),
        field("T", "int32", "2+", tag=0, taggedVersions="2+", encoding="packed32"),
    ),
    # The proposals: tag and size of a tagged field in one number.
    "interleaved_tags": message(
        field("A", "string", "2+", tag=0, taggedVersions="2+"), taggedFieldFormat="interleaved"
    ),
    # The proposals: a buffer of optional fields at the start of every struct, in the classic encoding.
    "optional_fields": message(
        field("A"),
        field("Part", "Part", fields=[field("X")], optionalFields=[optional("Y", "string", "0x10", nullable=True)]),
        flexibleVersions="none",
        versionsWithOptional="2+",
        optionalFields=[
            optional("Late", "[]int32", "0x00ff"),
            optional("Early", "Part2", "0x0001", nullable=True, default="null", fields=[field("Z", "bytes", "2+")]),
        ],
    ),
}


@pytest.mark.parametrize("name", PLANS)
def test_plan_matches_golden(name: str) -> None:
    matches_golden(FOLDER / f"{name}.txt", str(plan_of(PLANS[name])))


def test_every_golden_plan_is_used() -> None:
    assert stale_goldens(FOLDER, (f"{name}.txt" for name in PLANS)) == []


@pytest.fixture(scope="module")
def plans() -> dict[str, MessagePlan]:
    return {name: plan_of(definition) for name, definition in PLANS.items()}


def test_each_version_has_one_layout(plans: dict[str, MessagePlan]) -> None:
    for plan in plans.values():
        versions = sorted(version for layout in plan.body.layouts for version in layout.versions)
        assert versions == list(plan.valid)


def test_equal_layouts_are_shared(plans: dict[str, MessagePlan]) -> None:
    for plan in plans.values():
        for struct in plan.structs:
            operations = [layout.operations for layout in struct.layouts]
            assert len(set(operations)) == len(operations)


def test_structs_follow_the_structs_that_they_contain(plans: dict[str, MessagePlan]) -> None:
    assert [struct.name for struct in plans["common_structs"].structs] == ["Inner", "Outer", "Probe"]
    for plan in plans.values():
        names = [struct.name for struct in plan.structs]
        for struct in plan.structs:
            for each in struct.fields:
                assert not each.is_struct or names.index(each.type) < names.index(struct.name)


def test_struct_usage_as_field_or_element_is_recorded(plans: dict[str, MessagePlan]) -> None:
    plan = plans["common_structs"]
    outer, inner = plan.struct("Outer"), plan.struct("Inner")
    assert set(outer.singles) == set(outer.arrays) == {0, 2}
    assert set(inner.singles) == set(inner.arrays) == {0, 2}
    topics = plans["map_keys"].struct("Topic")
    assert (set(topics.singles), set(topics.arrays)) == (set(), {0, 1, 2})


def test_arrays_of_structs_with_map_keys_are_collections(plans: dict[str, MessagePlan]) -> None:
    plan = plans["map_keys"]
    assert [key.name for key in plan.struct("Topic").keys] == ["name", "partition"]
    assert plan.body.field("topics").collection
    assert not plans["common_structs"].body.field("many").collection


def test_arrays_of_empty_elements_are_recorded(plans: dict[str, MessagePlan]) -> None:
    by_version = {}
    for layout in plans["empty_structs"].body.layouts:
        array = layout.operations[0]
        assert isinstance(array, Array)
        by_version[layout.ref.version] = array.empty_elements
    assert by_version == {0: True, 2: False}


@pytest.mark.parametrize(
    ("kind", "versions", "nullable", "default", "is_nullable"),
    [
        ("string", "0+", "none", "", False),
        ("string", "0+", "1+", "", True),
        ("string", "0+", "9+", "", False),
        ("string", "2+", "0-1", "", False),
        ("string", "9+", "9+", "null", True),
        ("[]int32", "0+", "3+", "", True),
    ],
)
def test_field_is_nullable_if_any_version_allows_null(
    kind: str, versions: str, nullable: str, default: str, is_nullable: bool
) -> None:
    plan = plan_of(message(field("A", kind, versions, nullableVersions=nullable, default=default)))
    assert plan.body.field("a").nullable is is_nullable


@pytest.mark.parametrize(
    ("versions", "shown"),
    [("0+", "0+"), ("2-3", "2-3"), ("2-9", "2-9"), ("0-1", "0-1"), ("9+", "9+"), ("none", "none")],
)
def test_field_versions_keep_their_notation(versions: str, shown: str) -> None:
    assert str(plan_of(message(field("A", versions=versions))).body.field("a").versions) == shown


def test_goldens_are_written_only_with_update_goldens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    golden = tmp_path / "sub" / "new.txt"
    monkeypatch.delenv("UPDATE_GOLDENS", raising=False)
    with pytest.raises(pytest.fail.Exception, match="UPDATE_GOLDENS=1"):
        matches_golden(golden, "text\n")
    assert not golden.parent.exists()
    monkeypatch.setenv("UPDATE_GOLDENS", "1")
    with pytest.raises(pytest.skip.Exception, match=r"new\.txt was written"):
        matches_golden(golden, "text\n")
    monkeypatch.delenv("UPDATE_GOLDENS")
    matches_golden(golden, "text\n")
    with pytest.raises(pytest.fail.Exception, match=r"-text\n\+other"):
        matches_golden(golden, "other\n")
    with pytest.raises(pytest.fail.Exception, match="only line ends differ"):
        matches_golden(golden, "text")
    assert golden.read_bytes() == b"text\n"
    assert stale_goldens(golden.parent, []) == ["new.txt"]
