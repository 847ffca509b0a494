"""Changes that the checker of Kafka's generator misjudges (EvolutionVerifier and Unifier, 4.x).

It compares two files field by field, in order, by type text and version ranges.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.compat.findings import CompatFinding
from tests.support.compat_changes import (
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
    "removed version: accepted by its git mode, which swaps old and new": (
        (both(validVersions="1-2"),),
        "VERSION_DROPPED OrderRequest 0",
    ),
    "released version becomes flexible: accepted, flexible versions may grow": (
        (both(flexibleVersions="0+"),),
        "RELEASED_LAYOUT_CHANGED (FLEXIBLE) OrderResponse 0-1 Ids",
    ),
    "removed last field: accepted, no other field follows": (
        (remove("OrderRecord", 1),),
        "RELEASED_LAYOUT_CHANGED (FIELD_REMOVED) OrderRecord 0 Total",
    ),
    "null forbidden in a released version: accepted, a range is compared with itself": (
        (change("OrderRequest", 0, nullableVersions="none"),),
        "RELEASED_LAYOUT_CHANGED (NULLABLE) OrderRequest 1 Customer",
    ),
    "two fields of one type swapped: accepted, names are not compared": (
        (insert("OrderRecord", 1, field("Paid", "int64")), swap("OrderRecord", 1, 2)),
        "RELEASED_LAYOUT_CHANGED (REORDERED) OrderRecord 0 Paid",
    ),
    "changed tag: accepted, tags are not compared": (
        FINDS["TAG_MOVED"],
        "TAG_MOVED OrderRequest Gift",
    ),
    "tag reused after two releases: accepted, only two files are compared": (
        FINDS["TAG_REUSED"],
        "TAG_REUSED OrderRequest Coupon",
    ),
    "changed default: accepted, defaults are not compared": (
        (change("OrderRequest", 1, default="0"),),
        "DEFAULT_CHANGED OrderRequest Amount",
    ),
    "rejected value is now dropped: accepted, ignorable is not compared": (
        (change("OrderRequest", 2, ignorable=False),),
        "IGNORABLE_CHANGED OrderRequest Note",
    ),
    "changed map keys: accepted, keys are not compared": (
        (change_line(1, mapKey=True),),
        "COLLECTION_CHANGED OrderRequest Lines",
    ),
}
"""Incompatible changes that it accepts, with our findings."""

REFUSED: dict[str, tuple[Edit, ...]] = {
    "new version with a new field: rejected by its git mode, which swaps old and new": (
        several(both(validVersions="0-3"), insert("OrderRequest", 2, field("Urgent", "bool", "3+"))),
    ),
    "tagged field in a released version: rejected, against Kafka's own guide": FINDS["TAGGED_FIELD_ADDED"],
    "structs of one number instead of numbers: rejected, the type text differs": (box,),
    "changed encoding in a new version: rejected, the type text differs": (
        several(both(validVersions="0-3"), change("OrderRequest", 1, encoding={"0-2": "fixed32", "3+": "packed32"})),
    ),
}
"""Compatible changes that it refuses."""


def line_of(finding: CompatFinding) -> str:
    reason = f" ({finding.reason})" if finding.reason else ""
    return f"{finding.rule}{reason} {finding.place}"


@pytest.mark.parametrize("case", MISSED)
def test_change_missed_by_kafka_is_reported(case: str, tmp_path: Path) -> None:
    edits, text = MISSED[case]
    assert text in list(map(line_of, findings(tmp_path, *edits)))


@pytest.mark.parametrize("case", REFUSED)
def test_compatible_change_rejected_by_kafka_is_accepted(case: str, tmp_path: Path) -> None:
    assert [line_of(each) for each in findings(tmp_path, *REFUSED[case]) if each.level in ("wire", "behavior")] == []


def test_all_problems_are_reported_in_one_run(tmp_path: Path) -> None:
    wrong = several(change("OrderRequest", 1, type="int64"), remove("OrderRecord", 0), both(flexibleVersions="1+"))
    found = {(each.rule, each.message) for each in findings(tmp_path, wrong) if each.level == "wire"}
    assert found == {
        ("RELEASED_LAYOUT_CHANGED", "OrderRequest"),
        ("RELEASED_LAYOUT_CHANGED", "OrderResponse"),
        ("RELEASED_LAYOUT_CHANGED", "OrderRecord"),
        ("HEADER_VERSION_CHANGED", "OrderRequest"),
        ("HEADER_VERSION_CHANGED", "OrderResponse"),
    }
