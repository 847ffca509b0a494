"""Changes of three definitions, and the findings of the compatibility check for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline
from kafka_message_generator.compat.findings import CompatFinding
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


def definition_set(folder: Path, found: Mapping[str, Json], name: str) -> DefinitionSet:
    for message, definition in found.items():
        (folder / f"{message}.json").write_text(json.dumps(definition))
    return replace(set_of_folder(folder), name=name)


def findings(tmp_path: Path, *edits: Edit) -> list[CompatFinding]:
    """Apply the edits in sequence; return the findings of the last against the earlier ones as releases."""
    found, sets = definitions(), []
    for number, edit in enumerate((lambda _: None, *edits)):
        edit(found)
        folder = tmp_path / str(number)
        folder.mkdir()
        sets.append(definition_set(folder, found, f"release {number}"))
    return list(compare(baseline("releases", sets[:-1]), sets[-1]).findings)


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
    return lambda found: fields_of(found, name).insert(index, deepcopy(new))


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


def without_key(found: dict[str, Json]) -> None:
    del found["OrderRecord"]["apiKey"]
    found["OrderRecord"]["type"] = "data"


def kept_as(kind: str) -> Edit:
    """Return an edit that adds a metadata record, or a coordinator's key and value."""

    def edit(found: dict[str, Json]) -> None:
        common: Json = {"apiKey": 4, "validVersions": "0", "flexibleVersions": "none", "fields": [field("Id", "int32")]}
        found["StockValue"] = {**common, "name": "StockValue", "type": kind}
        if kind != "metadata":
            found["StockKey"] = {**common, "name": "StockKey", "type": "coordinator-key"}

    return edit


def formatted(found: list[CompatFinding], rule: str) -> list[str]:
    return ["\n".join(lines_of(each)).split(": ", 2)[2] for each in found if each.rule == rule]


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
