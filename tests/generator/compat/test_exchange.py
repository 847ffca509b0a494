"""Differences between two definitions of a version, and the bytes that demonstrate them."""

from __future__ import annotations

import pytest

from kafka_message_generator.compat.annotated import excerpt, parting
from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.compat.witness import Witness, exchanged, schemas_of_plan, witness
from kafka_message_generator.plan.model import MessagePlan
from tests.support.edits import Json, plan_of


def field(name: str, kind: str = "int32", **more: object) -> Json:
    return {"name": name, "type": kind, "versions": "0+", **more}


def tagged(name: str, kind: str = "int32", **more: object) -> Json:
    return field(name, kind, tag=0, taggedVersions="0+", **more)


def plan(*fields: Json, flexible: str = "0+", valid: str = "0") -> MessagePlan:
    definition: Json = {"type": "data", "name": "Foo", "validVersions": valid, "flexibleVersions": flexible}
    found = plan_of({**definition, "fields": fields})
    assert found is not None
    return found


def sent(data: str, writer: MessagePlan, reader: MessagePlan) -> Witness | None:
    return exchanged(bytes.fromhex(data), *(schemas_of_plan(each.descriptor)[0] for each in (writer, reader)))


INNER = field("S", "Inner", fields=[field("Y"), tagged("A")])


def test_tag_sections_of_nested_structs_are_separate() -> None:
    before, after = plan(field("N", "int16"), INNER, tagged("B", default="7")), plan(field("N", "int16"), INNER)
    assert difference(signature_of(before, 0), signature_of(after, 0)) is None
    assert sent("0000 00000000 00 00", before, after) is None
    assert sent("0000 00000000 00 01 00 04 00000001", before, after) is None


def test_witness_bytes_demonstrate_the_difference() -> None:
    before, after = plan(field("N", "int16"), INNER, tagged("B", default="7")), plan(field("N", "uint16"), INNER)
    found = witness(before, after, 0)
    assert found is not None
    assert (found.data.hex(), found.detail) == ("8000000000000000", "n = -32768 is read as 32768")


def test_difference_in_tagged_struct_names_both_paths() -> None:
    before = plan(tagged("S", "Inner", fields=[field("A", "int16")]))
    after = plan(tagged("S", "Inner", fields=[field("B", "uint16")]))
    found = sent("01 00 03 8000 00", before, after)
    assert found is not None
    assert found.detail == "tag 0: s.a = -32768 is read as s.b = 32768"


def test_omitted_struct_default_is_unchanged_by_nullability() -> None:
    inner = [field("A", "int16")]
    before = plan(tagged("S", "Inner", fields=inner))
    after = plan(tagged("S", "Inner", nullableVersions="0+", fields=inner))
    assert sent("00", before, after) is None
    assert sent("01 00 03 0001 00", before, after) is not None


A, B = field("A"), field("B")
SWAPPED = {
    "an array": (plan(field("Ts", "[]T", fields=[A, B])), plan(field("Us", "[]T", fields=[B, A]))),
    "a struct": (plan(field("S", "T", fields=[A, B])), plan(field("R", "T", fields=[B, A]))),
    "a tagged struct": (plan(tagged("S", "T", fields=[A, B])), plan(tagged("R", "T", fields=[B, A]))),
}


@pytest.mark.parametrize("case", SWAPPED)
def test_swapped_fields_are_reordered_in_renamed_parent(case: str) -> None:
    before, after = SWAPPED[case]
    found = difference(signature_of(before, 0), signature_of(after, 0))
    assert found is not None
    assert found.reason == "REORDERED"
    assert difference(signature_of(before, 0), signature_of(before, 0)) is None


MOVED = {
    "after nested new one": ([A, B], [field("C"), A], "A at position 1", "A at position 2, previously B"),
    "in front of nested new one": ([A, B], [B, field("C")], "B at position 2", "B at position 1, previously A"),
    "in an array": (
        [field("Ts", "[]T", fields=[A, B])],
        [field("Us", "[]T", fields=[field("C"), A])],
        "Ts[].A at position 1",
        "Ts[].A at position 2, previously Ts[].B",
    ),
    "in a tagged struct": (
        [tagged("S", "T", fields=[A, B])],
        [tagged("R", "T", fields=[field("C"), A])],
        "S.A at position 1",
        "S.A at position 2, previously S.B",
    ),
    "with another tag": (
        [tagged("A"), {**tagged("B"), "tag": 1}],
        [tagged("C"), {**tagged("A"), "tag": 1}],
        "A by tag 0",
        "A by tag 1",
    ),
    "by nested tag now": ([A], [field("C"), tagged("A", "string")], "A at position 1", "A by tag 0"),
    "by nested tag before": ([A, tagged("B", "T", fields=[field("X")])], [B], "B by tag 0", "B at position 1"),
    "by nested tag now, as nested struct": (
        [A, B],
        [A, field("C"), tagged("B", "T", fields=[A])],
        "B at position 2",
        "B by tag 0",
    ),
    "nested struct that takes no bytes, by nested tag now": (
        [tagged("S", "T", fields=[field("P", "T2", fields=[A])])],
        [tagged("S", "T", fields=[field("R", "T2", fields=[A]), tagged("P")])],
        "S.P at position 1",
        "S.P by tag 0",
    ),
    "struct, tagged in the new version": (
        [field("S", "[]T", fields=[A])],
        [field("R", "[]T", fields=[A]), tagged("S", "T2", fields=[A])],
        "S at position 1",
        "S by tag 0",
    ),
    "a struct": (
        [field("S", "[]T", fields=[A]), field("R", "[]T2", fields=[A])],
        [field("Q", "[]T", fields=[A]), field("S", "[]T2", fields=[A])],
        "S at position 1",
        "S at position 2, previously R",
    ),
}


@pytest.mark.parametrize("case", MOVED)
def test_field_that_moved_to_another_position_or_tag_is_reordered(case: str) -> None:
    fields, others, wrote, reads = MOVED[case]
    before, after = plan(*fields), plan(*others)
    found = difference(signature_of(before, 0), signature_of(after, 0))
    assert found is not None
    assert (found.reason, found.wrote, found.reads) == ("REORDERED", wrote, reads)
    shown_by = witness(before, after, 0)
    assert shown_by is not None
    assert shown_by.outcome == "reads differently"


@pytest.mark.parametrize("case", SWAPPED)
def test_swapped_fields_have_a_witness(case: str) -> None:
    found = witness(*SWAPPED[case], 0)
    assert found is not None
    assert found.outcome == "reads differently"


KEPT = {
    "renamed field": ([A, B], [A, field("C")]),
    "all fields renamed": ([A, B], [field("C"), field("D")]),
    "renamed field in a renamed struct": (
        [field("Ts", "[]T", fields=[A, B])],
        [field("Us", "[]T", fields=[A, field("C")])],
    ),
    "NaN default": (
        [tagged("A", "float64", default="NaN")],
        [tagged("B", "float64", default="NaN")],
    ),
}


@pytest.mark.parametrize("case", KEPT)
def test_renamed_fields_at_equal_positions_are_equal(case: str) -> None:
    before, after = (plan(*fields) for fields in KEPT[case])
    assert difference(signature_of(before, 0), signature_of(after, 0)) is None
    assert witness(before, after, 0) is None


def test_omitted_tags_with_swapped_names_are_read_differently() -> None:
    before = plan(tagged("A", default="1"), {**tagged("B", default="2"), "tag": 1})
    after = plan(tagged("C", default="1"), {**tagged("A", default="2"), "tag": 1})
    found = witness(before, after, 0)
    assert found is not None
    assert (found.data.hex(), found.detail) == ("00", "a = 1 is read as 2")
    assert parting(found.written, found.read) == 0
    assert [row.note for row in (*found.written, *found.read)] == [
        "absent, so a = 1, b = 2",
        "absent, so c = 1, a = 2",
    ]


def described(before: MessagePlan, after: MessagePlan) -> tuple[str, str, str]:
    found = difference(signature_of(before, 0), signature_of(after, 0))
    assert found is not None
    return found.reason, found.wrote, found.reads


def test_difference_describes_both_sides() -> None:
    null, text = (tagged("A", "string", nullableVersions="0+", default=default) for default in ("null", ""))
    never = tagged("A", "string")
    assert described(plan(null), plan(text)) == (
        "TAGGED_DEFAULT",
        "null where tag 0 is absent",
        '"" where tag 0 is absent',
    )
    assert described(plan(text), plan(never)) == (
        "TAGGED_VALUE",
        "tag 0: A: compact string?",
        "tag 0: A: compact string",
    )
    assert described(plan(A, B), plan(A, field("C", "int64"))) == ("REPLACED", "B: int32", "C: int64")


def test_nesting_fields_in_a_struct_keeps_the_layout() -> None:
    before, after = (plan(*fields, flexible="none") for fields in ([A, B], [field("S", "T", fields=[A, B])]))
    assert difference(signature_of(before, 0), signature_of(after, 0)) is None
    assert witness(before, after, 0) is None


def test_struct_without_fields_is_not_read_as_null() -> None:
    before, after = (
        plan(field("Ts", "[]T", fields=[each]), flexible="none", valid="0-1") for each in ({**A, "versions": "1+"}, A)
    )
    found = witness(before, after, 0)
    assert found is not None
    assert list(excerpt(found.written, 1)) == [
        "0000  00 00 00 01  ts.count  1  INT32",
        "0004               ts[0]     STRUCT",
        "0004  end",
    ]
