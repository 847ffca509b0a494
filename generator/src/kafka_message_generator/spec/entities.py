"""Readers of ``entities.json`` (entity types of fields) and ``entity-types.json`` (new entity types)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import (
    ENTITIES,
    ENTITY_TYPES,
    FieldPath,
    field_entry,
    field_path,
    parse_all,
    read,
)
from kafka_message_generator.spec.model import ENTITY_TYPES as KNOWN_TYPES
from kafka_message_generator.spec.model import PRIMITIVES
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Node, Problems


@dataclass(frozen=True)
class Kinds:
    """The entity type of some fields: fixed, or selected by the value of another field."""

    entity: FieldPath | None  # None if another field selects the type
    values: tuple[tuple[FieldPath, str], ...]  # pairs of that field's value and an entity type
    wildcard: str  # value that matches every entity, such as ``*``


@dataclass(frozen=True)
class EntityAnnotation:
    """Fields of one message that contain names or ids of entities."""

    message: str
    location: Location
    fields: tuple[FieldPath, ...]
    kinds: Kinds
    by: FieldPath | None  # field whose value selects the entity type; None if the type is fixed
    is_by_request: bool  # whether ``by`` is a field of the request


def read_entities(specs: Path, problems: Problems) -> tuple[EntityAnnotation, ...]:
    return tuple(
        annotation for annotations in read(specs, ENTITIES, problems, _annotations) for annotation in annotations
    )


def read_entity_types(specs: Path, problems: Problems) -> dict[str, str]:
    return {name: kind for types in read(specs, ENTITY_TYPES, problems, _types) for name, kind in types.items()}


def _types(properties: Properties) -> dict[str, str]:
    properties.known |= properties.members.keys()
    problems, found = properties.problems, {}
    for name, each in properties.members.items():
        if each.value not in PRIMITIVES:
            problems.error(each.location, f"entity type {name} needs a field type; use one of {', '.join(PRIMITIVES)}")
        elif name in KNOWN_TYPES:
            problems.error(each.location, f"entity type {name} is predefined; remove it")
        else:
            found[name] = str(each.value)
    return found


def _annotations(properties: Properties) -> list[EntityAnnotation]:
    properties.required("source")  # documentation only
    entity, wildcard = field_path(properties, "entity"), properties.text("wildcard") or ""
    values, nodes, problems = properties.take("values"), properties.nodes("fields"), properties.problems
    if (entity is None) is (values is None):
        what = f"{properties.what} needs either entity or values; write one of them"
        problems.error(properties.node.location, what)
        return []
    kinds = Kinds(entity, () if values is None else tuple(_values(values, properties)), wildcard)
    return parse_all(nodes, properties.what, problems, lambda inner: _annotation(inner, kinds))


def _values(node: Node, properties: Properties) -> Iterator[tuple[FieldPath, str]]:
    if not isinstance(node.value, dict):
        properties.wrong(node, "an object from value to entity type")
        return
    for code, each in node.value.items():
        if isinstance(each.value, str):
            yield FieldPath(code, each.location), each.value
        else:
            properties.wrong(each, "an entity type")


def _annotation(properties: Properties, kinds: Kinds) -> EntityAnnotation | None:
    entry = field_entry(properties)
    given = [(key, path) for key in ("by", "byRequest") if (path := field_path(properties, key)) is not None]
    if len(given) != (kinds.entity is None):
        wanted = (
            "either by or byRequest" if kinds.entity is None else "no by or byRequest, because entity fixes the type"
        )
        properties.problems.error(properties.node.location, f"{properties.what} needs {wanted}")
        return None
    key, path = given[0] if given else ("", None)
    return EntityAnnotation(entry.message, entry.location, entry.fields, kinds, path, key == "byRequest")
