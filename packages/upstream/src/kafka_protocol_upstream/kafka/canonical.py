"""The canonical form of definitions: without Kafka's comments, with this project's descriptions."""

from __future__ import annotations

import json
from collections.abc import Iterator

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

MESSAGE_ORDER = [
    "apiKey",
    "type",
    "listeners",
    "name",
    "validVersions",
    "deprecatedVersions",
    "flexibleVersions",
    "latestVersionUnstable",
    "headerVersions",
    "about",
    "commonStructs",
    "fields",
]
FIELD_ORDER = [
    "name",
    "type",
    "versions",
    "nullableVersions",
    "tag",
    "taggedVersions",
    "default",
    "ignorable",
    "mapKey",
    "entityType",
    "zeroCopy",
    "flexibleVersions",
    "about",
    "fields",
]
WIDTH = 118


def in_order(definition: dict[str, Json], about: dict[str, str]) -> dict[str, Json]:
    """Return a definition in canonical order, with the descriptions in ``about``, by path."""
    if definition.get("validVersions") == "none":  # keep only the identity of a removed API
        keep = ("apiKey", "type", "name", "validVersions")
        definition = {key: definition[key] for key in keep if key in definition}
    return _ordered(definition, MESSAGE_ORDER, "", about)


def descriptions(definition: dict[str, Json]) -> dict[str, str]:
    """Return every description by path: ``""`` for the message, ``/Topics/Name`` for a field, ``/#Common/Name``."""
    return {path: text for path, node in _nodes(definition, "") if isinstance(text := node.get("about"), str)}


def entity_types(definition: dict[str, Json]) -> dict[str, str]:
    """Map each entity type to the type of the first field that has it (of an array, the element type)."""
    found: dict[str, str] = {}
    for _, node in _nodes(definition, ""):
        if isinstance(name := node.get("entityType"), str):
            found.setdefault(name, str(node.get("type")).removeprefix("[]"))
    return found


def _nodes(node: dict[str, Json], path: str) -> Iterator[tuple[str, dict[str, Json]]]:
    yield path, node
    for mark, children in (("#", node.get("commonStructs")), ("", node.get("fields"))):
        for child in _list(children):
            yield from _nodes(child, f"{path}/{mark}{child['name']}")


def _list(value: Json) -> list[dict[str, Json]]:
    if isinstance(value, dict):
        return [value]
    return [child for child in value if isinstance(child, dict)] if isinstance(value, list) else []


def _ordered(node: dict[str, Json], order: list[str], path: str, about: dict[str, str]) -> dict[str, Json]:
    described: dict[str, Json] = {key: value for key, value in node.items() if key != "about"}
    if path in about:
        described["about"] = about[path]
    for key, mark in (("commonStructs", "#"), ("fields", "")):
        if key in described:
            children = _list(described[key])
            described[key] = [_ordered(c, FIELD_ORDER, f"{path}/{mark}{c['name']}", about) for c in children]
    # Unknown properties are kept, at the end, so that the generator rejects them.
    rank = {key: index for index, key in enumerate(order)}
    return dict(sorted(described.items(), key=lambda item: (rank.get(item[0], len(rank)), item[0])))


def render(definition: dict[str, Json]) -> str:
    """Format a definition: one line for each property of the message, and for each field if it fits."""
    lines = [f"  {json.dumps(key)}: {_value(value, 1)}" for key, value in definition.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Json, depth: int) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        indent = "  " * (depth + 1)
        items = (indent + _field(item, depth + 1) for item in _list(value))
        return "[\n" + ",\n".join(items) + "\n" + "  " * depth + "]"
    return json.dumps(value, ensure_ascii=False)


def _field(node: dict[str, Json], depth: int) -> str:
    pieces = [f"{json.dumps(key)}: {_value(value, depth)}" for key, value in node.items()]
    head = ", ".join(piece for piece in pieces if not piece.startswith(('"about"', '"fields"')))
    tail = [piece for piece in pieces if piece.startswith(('"about"', '"fields"'))]
    one_line = "{ " + ", ".join([head, *tail]) + " }"
    if not tail or ("\n" not in one_line and len(one_line) + 2 * depth <= WIDTH):
        return one_line
    indent = "\n" + "  " * depth + "  "
    return "{ " + ("," + indent).join([head, *tail]) + " }"
