"""Changes that the checker of Kafka's generator misjudges (EvolutionVerifier and Unifier, 4.x).

It compares two files field by field, in order, by type text and version ranges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.compat.findings import Finding
from tests.generator.compat.test_rules_of_change import (
    FINDS,
    Edit,
    both,
    box,
    change,
    change_line,
    field,
    findings,
    insert,
    remove,
    several,
    swap,
)

MISSED: dict[str, tuple[tuple[Edit, ...], str]] = {
    "a version is gone: passed in its form for git, where old and new change places": (
        (both(validVersions="1-2"),),
        "VERSION_DROPPED OrderRequest 0",
    ),
    "a released version becomes flexible: passed, since flexible versions may grow": (
        (both(flexibleVersions="0+"),),
        "RELEASED_LAYOUT_CHANGED (FLEXIBLE) OrderResponse 0-1 Ids",
    ),
    "the last field is gone: passed, since nothing stands in its place": (
        (remove("OrderRecord", 1),),
        "RELEASED_LAYOUT_CHANGED (FIELD_REMOVED) OrderRecord 0 Total",
    ),
    "null is forbidden in a released version: passed, since a range is compared with itself": (
        (change("OrderRequest", 0, nullableVersions="none"),),
        "RELEASED_LAYOUT_CHANGED (NULLABLE) OrderRequest 1 Customer",
    ),
    "two fields of one type change places: passed, since names are not compared": (
        (insert("OrderRecord", 1, field("Paid", "int64")), swap("OrderRecord", 1, 2)),
        "RELEASED_LAYOUT_CHANGED (REORDERED) OrderRecord 0 Paid",
    ),
    "a field gets another tag: passed, since tags are not compared": (
        FINDS["TAG_MOVED"],
        "TAG_MOVED OrderRequest Gift",
    ),
    "a tag of two releases ago stands for another field: passed, since it sees two files": (
        FINDS["TAG_REUSED"],
        "TAG_REUSED OrderRequest Coupon",
    ),
    "a default is another one: passed, since defaults are not compared": (
        (change("OrderRequest", 1, default="0"),),
        "DEFAULT_CHANGED OrderRequest Amount",
    ),
    "a value that was refused is dropped: passed, since ignorable is not compared": (
        (change("OrderRequest", 2, ignorable=False),),
        "IGNORABLE_CHANGED OrderRequest Note",
    ),
    "an array has other keys: passed, since keys are not compared": (
        (change_line(1, mapKey=True),),
        "COLLECTION_CHANGED OrderRequest Lines",
    ),
}
"""Incompatible changes that it accepts, with our findings."""

REFUSED: dict[str, tuple[Edit, ...]] = {
    "a new version with a new field: refused in its form for git, where old and new change places": (
        several(both(validVersions="0-3"), insert("OrderRequest", 2, field("Urgent", "bool", "3+"))),
    ),
    "a tagged field in a released version: refused, against Kafka's own guide": FINDS["TAGGED_FIELD_ADDED"],
    "structs of one number for numbers: refused, since the text of the type is another one": (box,),
    "another encoding in a new version: refused likewise": (
        several(both(validVersions="0-3"), change("OrderRequest", 1, encoding={"0-2": "fixed32", "3+": "packed32"})),
    ),
}
"""Compatible changes that it refuses."""


def formatted(finding: Finding) -> str:
    reason = f" ({finding.reason})" if finding.reason else ""
    return f"{finding.rule}{reason} {finding.place}"


@pytest.mark.parametrize("case", MISSED)
def test_what_it_passes_is_found(case: str, tmp_path: Path) -> None:
    edits, text = MISSED[case]
    assert text in list(map(formatted, findings(tmp_path, *edits)))


@pytest.mark.parametrize("case", REFUSED)
def test_what_it_refuses_is_passed(case: str, tmp_path: Path) -> None:
    assert [formatted(each) for each in findings(tmp_path, *REFUSED[case]) if each.level in ("wire", "behaviour")] == []


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    wrong = several(change("OrderRequest", 1, type="int64"), remove("OrderRecord", 0), both(flexibleVersions="1+"))
    found = {(each.rule, each.message) for each in findings(tmp_path, wrong) if each.level == "wire"}
    assert found == {
        ("RELEASED_LAYOUT_CHANGED", "OrderRequest"),
        ("RELEASED_LAYOUT_CHANGED", "OrderResponse"),
        ("RELEASED_LAYOUT_CHANGED", "OrderRecord"),
        ("HEADER_VERSION_CHANGED", "OrderRequest"),
        ("HEADER_VERSION_CHANGED", "OrderResponse"),
    }
