"""Each compatibility rule: a change that it reports, and a similar one that it accepts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_message_generator.compat.compare import REASONS
from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline
from kafka_message_generator.compat.findings import RULES, Finding
from kafka_message_generator.compat.report import compare
from kafka_message_generator.compat.texts import lines_of
from kafka_message_generator.definitions import set_of_folder

Json = dict[str, object]
Edit = Callable[[dict[str, Json]], None]


def field(name: str, kind: str, versions: str = "0+", **more: object) -> Json:
    return {"name": name, "type": kind, "versions": versions, **more}


def definitions() -> dict[str, Json]:
    """Return a request, its response and a record that cover all rules."""
    request = {
        "apiKey": 7,
        "type": "request",
        "name": "OrderRequest",
        "listeners": ["broker", "controller"],
        "validVersions": "0-2",
        "flexibleVersions": "2+",
        "fields": [
            field("Customer", "string", nullableVersions="1+"),
            field("Amount", "int32", default="-1"),
            field("Note", "string", "1+", ignorable=True),
            field(
                "Lines",
                "[]OrderLine",
                fields=[field("Sku", "int32", mapKey=True), field("Count", "int16", entityType="unknown")],
            ),
            field("Gift", "bool", "2+", tag=0, taggedVersions="2+"),
        ],
    }
    response = {
        "apiKey": 7,
        "type": "response",
        "name": "OrderResponse",
        "validVersions": "0-2",
        "flexibleVersions": "2+",
        "fields": [field("ErrorCode", "int16"), field("Ids", "[]int64")],
    }
    record = {
        "apiKey": 3,
        "type": "metadata",
        "name": "OrderRecord",
        "validVersions": "0",
        "flexibleVersions": "none",
        "fields": [field("Ids", "[]int64"), field("Total", "int64")],
    }
    return {str(each["name"]): each for each in (request, response, record)}


def side(folder: Path, found: Mapping[str, Json], name: str) -> DefinitionSet:
    for message, definition in found.items():
        (folder / f"{message}.json").write_text(json.dumps(definition))
    return replace(set_of_folder(folder), name=name)


def findings(tmp_path: Path, *edits: Edit) -> list[Finding]:
    """Apply the edits in sequence; return the findings of the last against the earlier ones as releases."""
    found, sides = definitions(), []
    for number, edit in enumerate((lambda _: None, *edits)):
        edit(found)
        folder = tmp_path / str(number)
        folder.mkdir()
        sides.append(side(folder, found, f"release {number}"))
    return list(compare(baseline("releases", sides[:-1]), sides[-1]).findings)


def fields_of(found: dict[str, Json], name: str) -> list[Json]:
    fields = found[name]["fields"]
    assert isinstance(fields, list)
    return fields


def change(message: str, index: int, **more: object) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        fields_of(found, message)[index] |= more

    return edit


def change_line(index: int, **more: object) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        lines = fields_of(found, "OrderRequest")[3]["fields"]
        assert isinstance(lines, list)
        lines[index] |= more

    return edit


def message(name: str, **more: object) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        found[name] |= more

    return edit


def both(**more: object) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        found["OrderRequest"] |= more
        found["OrderResponse"] |= more

    return edit


def insert(name: str, index: int, new: Json) -> Edit:
    return lambda found: fields_of(found, name).insert(index, new)


def remove(name: str, index: int) -> Edit:
    return lambda found: fields_of(found, name).__delitem__(index)


def swap(name: str, one: int, two: int) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        fields = fields_of(found, name)
        fields[one], fields[two] = fields[two], fields[one]

    return edit


def box(found: dict[str, Json]) -> None:
    """Change an array of numbers into one of structs with a number: the same bytes without tag sections."""
    ids = fields_of(found, "OrderRecord")[0]
    ids |= {"type": "[]Id", "fields": [field("Value", "int64")]}


def renamed(found: dict[str, Json]) -> None:
    found["PurchaseRecord"] = {**found.pop("OrderRecord"), "name": "PurchaseRecord"}


def other(found: dict[str, Json]) -> None:
    found["PurchaseRecord"] = {**found.pop("OrderRecord"), "name": "PurchaseRecord", "fields": [field("Id", "uuid")]}


def several(*edits: Edit) -> Edit:
    def edit(found: dict[str, Json]) -> None:
        for each in edits:
            each(found)

    return edit


def place(*inside: Json) -> Json:
    fields = [field("Row", "int32", "2+"), *inside]
    return field("Place", "Place", "2+", tag=1, taggedVersions="2+", fields=fields)


def place_of(found: dict[str, Json]) -> list[Json]:
    fields = fields_of(found, "OrderRequest")[5]["fields"]
    assert isinstance(fields, list)
    return fields


CASES: dict[str, tuple[tuple[Edit, ...], str]] = {
    "RELEASED_LAYOUT_CHANGED FIELD_ADDED": (
        (insert("OrderRequest", 2, field("Urgent", "bool")),),
        """OrderRequest 0 Urgent: RELEASED_LAYOUT_CHANGED (FIELD_ADDED): was Lines: [int32, int16]; is Urgent: bool
    new code, old bytes: fails: lines: INT32: 4 bytes needed at offset 7, 3 left
        00 00 00 00 00 00 00 00 00 00
        written by old code:
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  end
        read by new code:
          0002  00 00 00 00  amount  0  INT32
          0006  00           urgent  false  BOOLEAN
          0007  00 00 00     lines   INT32: 4 bytes needed at offset 7, 3 left
          000a  end
    old code, new bytes: fails: 1 byte left after the message, at offset 10
        00 00 00 00 00 00 00 00 00 00 00
        written by new code:
          0002  00 00 00 00  amount       0  INT32
          0006  00           urgent       false  BOOLEAN
          0007  00 00 00 00  lines.count  0  INT32
          000b  end
        read by old code:
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  00                        1 byte(s) left after the message, at offset 10
          000b  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
    "RELEASED_LAYOUT_CHANGED NULLABLE": (
        (change("OrderRequest", 0, nullableVersions="0+"),),
        """OrderRequest 0 Customer: RELEASED_LAYOUT_CHANGED (NULLABLE): was Customer: string; is Customer: string?
    new code, old bytes: proved to read identically
    old code, new bytes: fails: customer: unexpected null at offset 0 in this version
        ff ff 00 00 00 00 00 00 00 00
        written by new code:
          0000  ff ff        customer     null  NULLABLE_STRING
          0002  00 00 00 00  amount       0  INT32
          0006  00 00 00 00  lines.count  0  INT32
          000a  end
        read by old code:
          0000  ff ff                    customer  unexpected null at offset 0 in this version
          0002  00 00 00 00 00 00 00 00            not read
          000a  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
    "RELEASED_LAYOUT_CHANGED REORDERED": (
        (lambda found: insert("OrderRecord", 1, field("Paid", "int64"))(found), swap("OrderRecord", 1, 2)),
        """OrderRecord 0 Paid: RELEASED_LAYOUT_CHANGED (REORDERED): was Paid precedes Total; is Total before Paid
    new code, old bytes: reads differently: paid = 0 is read as 1
        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01
        written by old code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  paid       0  INT64
          000c  00 00 00 00 00 00 00 01  total      1  INT64
          0014  end
        read by new code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  total      0  INT64
          000c  00 00 00 00 00 00 00 01  paid       1  INT64
          0014  end
    old code, new bytes: reads differently: total = 0 is read as 1
        00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01
        written by new code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  total      0  INT64
          000c  00 00 00 00 00 00 00 01  paid       1  INT64
          0014  end
        read by old code:
          0000  00 00 00 00              ids.count  0  INT32
          0004  00 00 00 00 00 00 00 00  paid       0  INT64
          000c  00 00 00 00 00 00 00 01  total      1  INT64
          0014  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED inside a tagged struct": (
        (
            insert("OrderRequest", 5, place(field("Shelf", "int32", "2+", tag=0, taggedVersions="2+", default="5"))),
            lambda found: place_of(found)[1].update(default="6"),
        ),
        """OrderRequest 2 Place.Shelf: TAGGED_DEFAULT_CHANGED: was 5 where tag 0 is absent; is 6 where tag 0 is absent
    new code, old bytes: reads differently: tag 0: place.shelf = 5 is read as 6
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, place = Struct(row=0, shelf=5)
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, place = Struct(row=0, shelf=6)
          0008  end
    old code, new bytes: reads differently: tag 0: place.shelf = 6 is read as 5
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, place = Struct(row=0, shelf=6)
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, place = Struct(row=0, shelf=5)
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED to minus zero": (
        (
            insert("OrderRequest", 5, field("Weight", "float64", "2+", tag=1, taggedVersions="2+")),
            change("OrderRequest", 5, default="-0.0"),
        ),
        """OrderRequest 2 Weight: TAGGED_DEFAULT_CHANGED: was 0.0 where tag 1 is absent; is -0.0 where tag 1 is absent
    new code, old bytes: reads differently: tag 1: weight = 0.0 is read as -0.0
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, weight = 0.0
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, weight = -0.0
          0008  end
    old code, new bytes: reads differently: tag 1: weight = -0.0 is read as 0.0
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, weight = -0.0
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false, weight = 0.0
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "RELEASED_LAYOUT_CHANGED TAG_REFUSED": (
        (both(flexibleVersions="1+"), change("OrderRequest", 4, versions="1+", taggedVersions="1+")),
        """OrderRequest 1 Gift: RELEASED_LAYOUT_CHANGED (TAG_REFUSED): was tag 0 of other versions, rejected; is tag 0, Gift
    new code, old bytes: proved to read identically
    old code, new bytes: fails: tag 0 at offset 8 is not valid in this version
        01 00 00 00 00 01 01 01 00 01 01
        written by new code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  gift                  0  TAG_AND_SIZE  tagged field
          000a  01     gift                  true  BOOLEAN
          000b  end
        read by old code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01                        tag 0 at offset 8 is not valid in this version
          000a  01                           not read
          000b  end
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "RELEASED_LAYOUT_CHANGED TAG_REFUSED, reversed": (
        (
            several(both(flexibleVersions="1+"), change("OrderRequest", 4, versions="1+", taggedVersions="1+")),
            change("OrderRequest", 4, versions="2+", taggedVersions="2+"),
        ),
        """OrderRequest 1 Gift: RELEASED_LAYOUT_CHANGED (TAG_REFUSED): was tag 0, Gift; is tag 0 of other versions, rejected
    new code, old bytes: fails: tag 0 at offset 8 is not valid in this version
        01 00 00 00 00 01 01 01 00 01 01
        written by old code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01  gift                  0  TAG_AND_SIZE  tagged field
          000a  01     gift                  true  BOOLEAN
          000b  end
        read by new code:
          0007  01     _tagged_fields.count  1  UNSIGNED_VARINT
          0008  00 01                        tag 0 at offset 8 is not valid in this version
          000a  01                           not read
          000b  end
    old code, new bytes: proved to read identically
    keep the released versions unchanged; make the change in a new version (released in release 1)""",
    ),
    "TAGGED_DEFAULT_CHANGED": (
        (change("OrderRequest", 4, default="true"),),
        """OrderRequest 2 Gift: TAGGED_DEFAULT_CHANGED: was false where tag 0 is absent; is true where tag 0 is absent
    new code, old bytes: reads differently: tag 0: gift = false is read as true
        00 00 00 00 00 01 01 00
        written by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false
          0008  end
        read by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = true
          0008  end
    old code, new bytes: reads differently: tag 0: gift = true is read as false
        00 00 00 00 00 01 01 00
        written by new code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = true
          0008  end
        read by old code:
          0006  01  lines.count           0  UNSIGNED_VARINT  count+1 = 1
          0007  00  _tagged_fields.count  0  UNSIGNED_VARINT  not there, so gift = false
          0008  end
    keep the released versions unchanged; make the change in a new version (released in release 0)""",
    ),
}


def twice(**more: object) -> Edit:
    """Return an edit to two structs with a field of the same name, changed in the second one."""

    def edit(found: dict[str, Json]) -> None:
        one, two = field("Name", "string"), field("Name", "string", **more)
        found["OrderRecord"]["fields"] = [
            field("Ones", "[]One", fields=[one]),
            field("Twos", "[]Two", fields=[two]),
        ]

    return edit


def test_same_field_name_in_two_structs_is_distinguished(tmp_path: Path) -> None:
    found = findings(
        tmp_path, twice(), several(message("OrderRecord", validVersions="0-1"), twice(nullableVersions="1+"))
    )
    assert formatted(found, "PYTHON_TYPE_CHANGED") == [
        "OrderRecord Twos[].Name: PYTHON_TYPE_CHANGED: the type was str, is str | None\n    keep it"
    ]


def test_changed_element_type_changes_the_json_type(tmp_path: Path) -> None:
    assert formatted(findings(tmp_path, box), "JSON_TYPE_CHANGED") == [
        "OrderRecord Ids: JSON_TYPE_CHANGED: the value in JSON was an array, each a number, is an array, each an object\n"
        "    keep it"
    ]


def without_key(found: dict[str, Json]) -> None:
    del found["OrderRecord"]["apiKey"]
    found["OrderRecord"]["type"] = "data"


def test_removed_api_key_is_reported(tmp_path: Path) -> None:
    assert formatted(findings(tmp_path, without_key), "API_KEY_CHANGED") == [
        "OrderRecord: API_KEY_CHANGED: had apiKey 3, has none\n    keep the key"
    ]


def kept_as(kind: str) -> Edit:
    """Return an edit that adds a metadata record, or a coordinator's key and value."""

    def edit(found: dict[str, Json]) -> None:
        common: Json = {"apiKey": 4, "validVersions": "0", "flexibleVersions": "none", "fields": [field("Id", "int32")]}
        found["StockValue"] = {**common, "name": "StockValue", "type": kind}
        if kind != "metadata":
            found["StockKey"] = {**common, "name": "StockKey", "type": "coordinator-key"}

    return edit


def test_changed_message_type_is_reported_at_its_type(tmp_path: Path) -> None:
    found = findings(tmp_path, kept_as("metadata"), kept_as("coordinator-value"))
    assert formatted(found, "MESSAGE_TYPE_CHANGED") == [
        "StockValue: MESSAGE_TYPE_CHANGED: was of type metadata, is of type coordinator-value\n    keep the type"
    ]
    assert [each.location.path for each in found if each.rule == "MESSAGE_TYPE_CHANGED"] == ["$.type"]


def formatted(found: list[Finding], rule: str) -> list[str]:
    return ["\n".join(lines_of(each)).split(": ", 2)[2] for each in found if each.rule == rule]


@pytest.mark.parametrize("name", CASES)
def test_finding_has_the_expected_text(name: str, tmp_path: Path) -> None:
    edits, text = CASES[name]
    assert text in formatted(findings(tmp_path, *edits), name.split()[0])


FINDS: dict[str, tuple[Edit, ...]] = {
    "RELEASED_LAYOUT_CHANGED": (change("OrderRequest", 1, type="int64"),),
    "TAGGED_DEFAULT_CHANGED": (change("OrderRequest", 4, default="true"),),
    "TAG_REUSED": (
        remove("OrderRequest", 4),
        insert("OrderRequest", 4, field("Coupon", "string", "2+", tag=0, taggedVersions="2+")),
    ),
    "TAG_MOVED": (
        insert("OrderRequest", 5, field("Coupon", "string", "2+", tag=1, taggedVersions="2+")),
        lambda found: (change("OrderRequest", 4, tag=1)(found), change("OrderRequest", 5, tag=0)(found))[0],
    ),
    "HEADER_VERSION_CHANGED": (both(flexibleVersions="1+"),),
    "API_KEY_CHANGED": (both(apiKey=8),),
    "MESSAGE_TYPE_CHANGED": (kept_as("metadata"), kept_as("coordinator-value")),
    "API_KEY_REUSED": (other,),
    "MESSAGE_RENAMED": (renamed,),
    "DEFAULT_CHANGED": (change("OrderRequest", 1, default="0"),),
    "IGNORABLE_CHANGED": (change("OrderRequest", 2, ignorable=False),),
    "JSON_NAME_CHANGED": (change("OrderRequest", 1, name="Sum"),),
    "JSON_TYPE_CHANGED": (change("OrderRequest", 1, type="string", default="a"),),
    "FIELD_RENAMED": (change("OrderRequest", 1, name="Sum"),),
    "FIELD_GONE": (remove("OrderRequest", 2),),
    "PYTHON_TYPE_CHANGED": (change("OrderRequest", 0, nullableVersions="none"),),
    "CLASS_MOVED": (change("OrderRequest", 3, type="[]Line"),),
    "COLLECTION_CHANGED": (change_line(1, mapKey=True),),
    "MESSAGE_REMOVED": (lambda found: message("OrderRecord", validVersions="none")(found),),
    "VERSION_DROPPED": (both(validVersions="1-2"),),
    "VERSION_SKIPPED": (both(validVersions="4-5"),),
    "LISTENER_REMOVED": (message("OrderRequest", listeners=["broker"]),),
    "UNSTABLE_RELEASED": (
        message("OrderRequest", latestVersionUnstable=True),
        message("OrderRequest", latestVersionUnstable=False),
    ),
    "TAGGED_FIELD_ADDED": (insert("OrderRequest", 5, field("Coupon", "string", "2+", tag=1, taggedVersions="2+")),),
    "TAGGED_FIELD_REMOVED": (remove("OrderRequest", 4),),
    "VERSION_WITHOUT_CHANGE": (both(validVersions="0-3"),),
    "ENTITY_TYPE_CHANGED": (change("OrderRequest", 0, entityType="topicName"),),
}
"""Changes that each rule reports."""


@pytest.mark.parametrize("rule", RULES)
def test_rule_reports_its_change(rule: str, tmp_path: Path) -> None:
    assert rule in {each.rule for each in findings(tmp_path, *FINDS[rule])}


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
def test_allowed_change_has_no_wire_or_behaviour_finding(name: str, tmp_path: Path) -> None:
    assert [each.rule for each in findings(tmp_path, *PASSES[name]) if each.level in ("wire", "behaviour")] == []


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
