"""What a reader makes of a writer's bytes, on which every verdict rests: values are compared where they stand."""

from __future__ import annotations

import pytest

from kafka_message_generator.layouts.atoms import layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.layouts.witness import Witness, exchanged, schemas_of_plan, witness
from kafka_message_generator.plan.model import MessagePlan
from tests.support.edits import Json, plan_of


def field(name: str, kind: str = "int32", **more: object) -> Json:
    return {"name": name, "type": kind, "versions": "0+", **more}


def tagged(name: str, kind: str = "int32", **more: object) -> Json:
    return field(name, kind, tag=0, taggedVersions="0+", **more)


def plan(*fields: Json) -> MessagePlan:
    found = plan_of({"type": "data", "name": "Foo", "validVersions": "0", "flexibleVersions": "0+", "fields": fields})
    assert found is not None
    return found


def sent(data: str, writer: MessagePlan, reader: MessagePlan) -> Witness | None:
    return exchanged(bytes.fromhex(data), *(schemas_of_plan(each.facts)[0] for each in (writer, reader)))


INNER = field("S", "Inner", fields=[field("Y"), tagged("A")])


def test_the_sections_of_a_struct_and_of_what_holds_it_are_two() -> None:
    """They may stand side by side: a tag of one is not to be taken for the same tag of the other."""
    before, after = plan(field("N", "int16"), INNER, tagged("B", default="7")), plan(field("N", "int16"), INNER)
    assert difference(layout_of(before, 0), layout_of(after, 0)) is None
    assert sent("0000 00000000 00 00", before, after) is None
    assert sent("0000 00000000 00 01 00 04 00000001", before, after) is None


def test_the_bytes_that_are_shown_show_what_differs() -> None:
    """Bytes whose difference is another one than the finding's send its reader to the wrong field."""
    before, after = plan(field("N", "int16"), INNER, tagged("B", default="7")), plan(field("N", "uint16"), INNER)
    shown = witness(before, after, 0)
    assert shown is not None
    assert (shown.data.hex(), shown.detail) == ("8000000000000000", "n = -32768 is read as 32768")


def test_values_in_a_tagged_struct_are_compared_where_they_stand() -> None:
    """Their names may differ, too."""
    before = plan(tagged("S", "Inner", fields=[field("A", "int16")]))
    after = plan(tagged("S", "Inner", fields=[field("B", "uint16")]))
    shown = sent("01 00 03 8000 00", before, after)
    assert shown is not None
    assert shown.detail == "tag 0 behind value 0.a = -32768 is read as tag 0 behind value 0.b = 32768"


def test_a_default_that_is_left_out_is_the_same_where_null_may_stand() -> None:
    """It takes no bytes, so a presence in front of it is none: what differs are other bytes."""
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
def test_fields_that_change_places_are_found_under_another_name_of_what_holds_them(case: str) -> None:
    """Two things that happen at once hide each other: each value would be taken for the other one."""
    before, after = SWAPPED[case]
    found = difference(layout_of(before, 0), layout_of(after, 0))
    assert found is not None
    assert found.reason == "REORDERED"
    assert difference(layout_of(before, 0), layout_of(before, 0)) is None
