"""What fields name where their definitions do not say it, ``entities.json``, and entity types: ``entity-types.json``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.companions import ENTITIES, ENTITY_TYPES, load
from kafka_message_generator.spec.model import ENTITY_TYPES as KNOWN_TYPES
from kafka_message_generator.spec.model import PRIMITIVES
from kafka_message_generator.spec.paths import FieldPath, entry, named_fields
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems


@dataclass(frozen=True)
class Kinds:
    """What fields name: one kind of thing, or one of several that the value of another field tells apart."""

    entity: FieldPath | None
    """The entity type; None where there are several."""
    values: tuple[tuple[FieldPath, str], ...]
    """Code and entity type; other codes name nothing that is known."""
    wildcard: str
    """The text that stands for everything, and so names nothing."""


@dataclass(frozen=True)
class EntityFact:
    """Fields of one message that name something."""

    message: str
    location: Location
    fields: tuple[FieldPath, ...]
    kinds: Kinds
    by: FieldPath | None
    """The field that has the code; None where there is one kind."""
    is_by_request: bool
    """Whether the request has that field, and not the struct itself."""


def read_entities(specs: Path, problems: Problems) -> tuple[EntityFact, ...]:
    """What ``entities.json`` says; nothing when there is no such file."""
    node = load(specs / ENTITIES, problems)
    if node is None:
        return ()
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of entries, found {node.kind}")
        return ()
    return tuple(fact for each in node.value for fact in _facts(each, problems))


def read_entity_types(specs: Path, problems: Problems) -> dict[str, str]:
    """Return the entity types of ``entity-types.json`` with the field type of each; none when there is no such file."""
    node = load(specs / ENTITY_TYPES, problems)
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        problems.error(node.location, f"expected an object of entity type to field type, found {node.kind}")
        return {}
    found = {}
    for name, each in node.value.items():
        if each.value not in PRIMITIVES:
            problems.error(each.location, f"entity type {name} needs a field type; use one of {', '.join(PRIMITIVES)}")
        elif name in KNOWN_TYPES:
            problems.error(each.location, f"entity type {name} is known already; remove it")
        else:
            found[name] = str(each.value)
    return found


def _facts(node: Node, problems: Problems) -> list[EntityFact]:
    try:
        properties = Properties(node, "an entry", problems)
        properties.required("source")  # for readers: where Kafka says so
    except Missing:
        return []
    entity, wildcard, values = properties.text("entity"), properties.text("wildcard"), properties.take("values")
    nodes, places = properties.nodes("fields"), properties.places
    properties.finish()
    if (entity is None) is (values is None):
        problems.error(node.location, f"{properties.what} needs either an entity or values; write one of them")
        return []
    named = None if entity is None else FieldPath(entity, places["entity"])
    kinds = Kinds(named, () if values is None else tuple(_values(values, properties)), wildcard or "")
    facts = [_fact(each, kinds, problems) for each in nodes]
    return [fact for fact in facts if fact is not None]


def _values(node: Node, properties: Properties) -> Iterator[tuple[FieldPath, str]]:
    if not isinstance(node.value, dict):
        properties.wrong(node, "an object of entity types by code")
        return
    for code, each in node.value.items():
        if isinstance(each.value, str):
            yield FieldPath(code, each.location), each.value
        else:
            properties.wrong(each, "an entity type")


def _fact(node: Node, kinds: Kinds, problems: Problems) -> EntityFact | None:
    try:
        properties = entry(node, problems)
        message = properties.required("message")
    except Missing:
        return None
    fields = named_fields(properties)
    by, by_request = properties.text("by"), properties.text("byRequest")
    places = properties.places
    properties.finish()
    given = [key for key, text in (("by", by), ("byRequest", by_request)) if text is not None]
    if len(given) != (kinds.entity is None):
        wanted = "either by or byRequest" if kinds.entity is None else "no by and no byRequest: it has one entity"
        problems.error(node.location, f"{properties.what} needs {wanted}")
        return None
    path = FieldPath(by or by_request or "", places[given[0]]) if given else None
    return EntityFact(message, places["message"], fields, kinds, path, by_request is not None)
