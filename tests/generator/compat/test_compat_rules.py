"""Each compatibility rule: a change that it reports, and a similar one that it accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_message_generator.compat.compare import REASONS
from kafka_message_generator.compat.findings import RULES
from tests.support.compat_changes import (
    FINDS,
    Edit,
    Json,
    both,
    box,
    change,
    change_line,
    field,
    findings,
    insert,
    message,
    other,
    place,
    place_of,
    remove,
    renamed,
    several,
    swap,
    without_key,
)


@pytest.mark.parametrize("rule", RULES)
def test_rule_reports_its_change(rule: str, tmp_path: Path) -> None:
    assert rule in {each.rule for each in findings(tmp_path, *FINDS[rule])}


@pytest.mark.parametrize("version", range(3))
@pytest.mark.parametrize(("name", "classic", "flexible"), [("OrderRequest", 1, 2), ("OrderResponse", 0, 1)])
def test_changed_headers_from_a_version_on_are_reported(
    name: str, classic: int, flexible: int, version: int, tmp_path: Path
) -> None:
    before = [classic, classic, flexible]
    after = [header + (number >= version) * 2 for number, header in enumerate(before)]
    changed: dict[tuple[str, str], tuple[int, ...]] = {}
    for number in range(version, 3):
        pair = str(before[number]), str(after[number])
        changed[pair] = (*changed.get(pair, ()), number)
    ranges = {"2+": after[2], "0": after[0], "1": after[1]}
    found = findings(tmp_path, message(name, headerVersions=ranges))
    assert [(each.rule, each.message, each.versions, each.before, each.after) for each in found] == [
        ("HEADER_VERSION_CHANGED", name, versions, *pair) for pair, versions in changed.items()
    ]


UNSTABLE = several(both(validVersions="0-3"), message("OrderRequest", latestVersionUnstable=True))
SPARES: dict[str, tuple[Edit, ...]] = {
    "RELEASED_LAYOUT_CHANGED": (change("OrderRequest", 1, default="0"),),
    "TAGGED_DEFAULT_CHANGED": (change("OrderRequest", 1, default="0"),),
    "TAG_REUSED": (change("OrderRequest", 4, name="Present"),),
    "TAG_MOVED": (insert("OrderRequest", 5, field("Coupon", "string", "2+", tag=1, taggedVersions="2+")),),
    "HEADER_VERSION_CHANGED": (both(validVersions="0-3"),),
    "API_KEY_CHANGED": (renamed,),
    "MESSAGE_TYPE_CHANGED": (without_key,),
    "API_KEY_REUSED": (renamed,),
    "MESSAGE_RENAMED": (other,),
    "DEFAULT_CHANGED": (change_line(1, default="0x0"),),
    "IGNORABLE_CHANGED": (change("OrderRequest", 1, ignorable=True),),
    "JSON_NAME_CHANGED": (change("OrderRequest", 3, type="[]Line"),),
    "JSON_TYPE_CHANGED": (change("OrderRequest", 1, type="int16"),),
    "FIELD_RENAMED": (remove("OrderRequest", 2),),
    "FIELD_GONE": (change("OrderRequest", 1, name="Sum"),),
    "PYTHON_TYPE_CHANGED": (change("OrderRequest", 1, type="int64"),),
    "CLASS_MOVED": (change("OrderRequest", 3, name="Rows"),),
    "COLLECTION_CHANGED": (change_line(1, name="Number"),),
    "MESSAGE_REMOVED": (renamed,),
    "VERSION_DROPPED": (both(validVersions="0-3"),),
    "VERSION_SKIPPED": (both(validVersions="0-3"),),
    "LISTENER_REMOVED": (message("OrderRequest", listeners=["controller", "broker", "zkBroker"]),),
    "UNSTABLE_RELEASED": (UNSTABLE, change("OrderRequest", 1, about="How much.")),
    "TAGGED_FIELD_ADDED": (
        several(both(validVersions="0-3"), insert("OrderRequest", 2, field("Urgent", "bool", "3+"))),
    ),
    "TAGGED_FIELD_REMOVED": (change("OrderRequest", 4, name="Present"),),
    "VERSION_WITHOUT_CHANGE": (
        several(
            both(validVersions="0-3"),
            insert("OrderRequest", 2, field("Urgent", "bool", "3+")),
            insert("OrderResponse", 2, field("Urgent", "bool", "3+")),
        ),
    ),
    "ENTITY_TYPE_CHANGED": (change_line(1, name="Number"),),
}
"""Similar changes that each rule must not report."""


@pytest.mark.parametrize("rule", RULES)
def test_rule_accepts_a_similar_change(rule: str, tmp_path: Path) -> None:
    assert rule not in {each.rule for each in findings(tmp_path, *SPARES[rule])}


REASONED: dict[str, tuple[Edit, ...]] = {
    "FIELD_ADDED": (insert("OrderRequest", 2, field("Urgent", "bool")),),
    "FIELD_REMOVED": (remove("OrderRecord", 1),),
    "REPLACED": (change("OrderRequest", 1, name="Sum", type="string", default="a"),),
    "REORDERED": (swap("OrderRecord", 0, 1),),
    "TYPE": (change("OrderRequest", 1, type="string", default="a"),),
    "WIDTH": (change("OrderRequest", 1, type="int64"),),
    "ENCODING": (change("OrderRequest", 1, encoding={"0+": "packed32"}),),
    "NULLABLE": (change("OrderRequest", 0, nullableVersions="none"),),
    "FLEXIBLE": (both(flexibleVersions="0+"),),
    "PRESENCE": (
        insert("OrderRecord", 2, field("Place", "Place", fields=[field("Row", "int32")])),
        change("OrderRecord", 2, nullableVersions="0+"),
    ),
    "SECTION": (message("OrderRecord", flexibleVersions="0+"), message("OrderRecord", taggedFieldFormat="interleaved")),
    "TAG_REFUSED": (
        both(flexibleVersions="1+"),
        change("OrderRequest", 4, versions="1+", taggedVersions="1+"),
    ),
    "TAGGED_VALUE": (change("OrderRequest", 4, type="int8"),),
    "TAGGED_DEFAULT": (change("OrderRequest", 4, default="true"),),
}
"""A change for each reason of a layout difference."""


@pytest.mark.parametrize("reason", REASONS)
def test_layout_change_reason_has_a_witness(reason: str, tmp_path: Path) -> None:
    found = [each for each in findings(tmp_path, *REASONED[reason]) if each.new_reads_old is not None]
    rule = "TAGGED_DEFAULT_CHANGED" if reason == "TAGGED_DEFAULT" else "RELEASED_LAYOUT_CHANGED"
    assert (rule, "" if reason == "TAGGED_DEFAULT" else reason) in {(each.rule, each.reason) for each in found}
    for each in found:
        for direction in (each.new_reads_old, each.old_reads_new):
            assert direction is not None
            assert direction.breaks is None or direction.witness is not None


PASSES: dict[str, tuple[Edit, ...]] = {
    "a tagged field inside a tagged struct": (
        insert("OrderRequest", 5, place()),
        lambda found: place_of(found).append(field("Shelf", "int32", "2+", tag=0, taggedVersions="2+", default="5")),
    ),
    "a removed tagged field inside a tagged struct": (
        insert("OrderRequest", 5, place(field("Shelf", "int32", "2+", tag=0, taggedVersions="2+", default="5"))),
        lambda found: place_of(found).__delitem__(1),
    ),
    "a new field in a new version": (
        lambda found: (
            both(validVersions="0-3")(found),
            insert("OrderRequest", 2, field("Urgent", "bool", "3+"))(found),
        )[0],
    ),
    "null in a new version": (
        lambda found: (both(validVersions="0-3")(found), change("OrderResponse", 1, nullableVersions="3+")(found))[0],
    ),
    "an array of structs for an array of values": (box,),
    "a tagged field in a released version": FINDS["TAGGED_FIELD_ADDED"],
    "a removed tagged field": FINDS["TAGGED_FIELD_REMOVED"],
    "another description": (change("OrderRequest", 1, about="How much."),),
    "another encoding in a new version": (
        lambda found: (
            both(validVersions="0-3")(found),
            change("OrderRequest", 1, encoding={"0-2": "fixed32", "3+": "packed32"})(found),
        )[0],
    ),
}


@pytest.mark.parametrize("name", PASSES)
def test_allowed_change_has_no_wire_or_behavior_finding(name: str, tmp_path: Path) -> None:
    assert [each.rule for each in findings(tmp_path, *PASSES[name]) if each.level in ("wire", "behavior")] == []


def test_unchanged_definitions_have_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, lambda found: None) == []


def test_change_of_unstable_version_is_accepted(tmp_path: Path) -> None:
    def unstable(found: dict[str, Json]) -> None:
        both(validVersions="0-3")(found)
        message("OrderRequest", latestVersionUnstable=True)(found)

    found = findings(tmp_path, unstable, insert("OrderRequest", 2, field("Urgent", "bool", "3+")))
    assert [each for each in found if each.level == "wire"] == []


def test_reuse_of_tag_removed_in_an_earlier_release_is_reported(tmp_path: Path) -> None:
    edits = FINDS["TAG_REUSED"]
    found = findings(tmp_path, *edits)
    assert [(each.rule, each.since) for each in found if each.level == "wire"] == [("TAG_REUSED", "release 0")]
