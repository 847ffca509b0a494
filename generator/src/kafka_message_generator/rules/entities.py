"""Checks of ``entities.json``, and its conversion to Python names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafka_message_generator.rules.enumerations import NUMBER_RANGES
from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.paths import Messages, existing, field_at, owner
from kafka_message_generator.spec.annotations import FieldPath
from kafka_message_generator.spec.entities import EntityAnnotation
from kafka_message_generator.spec.model import ENTITY_TYPES, REQUEST, RESPONSE, Field
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.suggestions import did_you_mean

Types = Mapping[str, tuple[str, ...]]
# Field types of each entity type.
TYPES: Types = {
    **{name: (kind,) for name, kind in ENTITY_TYPES.items() if kind is not None},
    "brokerId": ("int32", "string"),
    "clientId": ("string",),
    "clientMetrics": ("string",),
    "clusterId": ("string",),
    "delegationToken": ("string",),
    "principal": ("string",),
    "rack": ("string",),
    "shareKey": ("string",),
    "user": ("string",),
}


@dataclass(frozen=True)
class EntityField:
    """The entity type of a field: fixed, or selected by the value of another field."""

    message: str
    struct: str  # struct with the field, or the message itself
    field: str
    entity: str  # empty if ``by`` selects the type
    request: str = ""  # request with the field ``by``; empty if ``by`` is in ``struct``
    by: str = ""
    # Pairs of a value of ``by`` and its entity type.
    types: tuple[tuple[int | str, str], ...] = ()
    wildcard: str = ""

    @property
    def entities(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.entity,) if self.entity else (entity for _, entity in self.types)))

    @property
    def codes(self) -> dict[int | str, str]:
        return dict(self.types)


TOPIC_ID = "topicId"  # derived from the field name, not annotated


def entity_fields(
    message: str, structs: Mapping[str, Sequence[Mapping[str, Any]]], named: Iterable[EntityField]
) -> dict[tuple[str, str], EntityField]:
    """Return the entity types of a message's fields, by struct and field."""
    found = {(each.struct, each.field): each for each in named if each.message == message}
    for struct, fields in structs.items():
        for field in fields:
            name, kind = field["name"], field["type"].removeprefix("[]")
            if "entityType" in field:
                found[struct, name] = EntityField(message, struct, name, field["entityType"])
            elif kind == "uuid" and name in ("topic_id", "topic_ids"):
                found[struct, name] = EntityField(message, struct, name, TOPIC_ID)
    return found


def resolve(
    annotations: tuple[EntityAnnotation, ...],
    messages: Messages,
    problems: Problems,
    more: Mapping[str, str] = MappingProxyType({}),
) -> tuple[EntityField, ...]:
    """Resolve all entries; the result is valid only if ``problems`` has no errors.

    ``more`` maps additional entity types to their field types.
    """
    types = {**TYPES, **{name: (kind,) for name, kind in more.items()}}
    found: dict[tuple[str, str, str], tuple[EntityField, set[str]]] = {}
    for annotation in annotations:
        for path in existing(annotation, annotation.fields, messages, problems):
            named = _entity_field(annotation, path, messages, types, problems)
            earlier, paths = found.setdefault((named.message, named.struct, named.field), (named, set()))
            what = f"{path.text} of {annotation.message}"
            if path.text in paths:
                problems.error(path.location, f"{what} is listed twice; remove one")
            elif earlier != named:
                what += f" is the same field as {min(paths)}, which has a different entry"
                problems.error(path.location, f"{what}; make both equal")
            paths.add(path.text)
    return tuple(named for _, (named, _) in sorted(found.items(), key=lambda each: each[0]))


def _entity_field(
    annotation: EntityAnnotation, path: FieldPath, messages: Messages, known_types: Types, problems: Problems
) -> EntityField:
    field = field_at(path, *messages[annotation.message])
    assert field is not None
    kinds = annotation.kinds
    if field.entity_type != "unknown":
        what = (
            f"the definition already has {field.entity_type} as the entity type of {path.text} of {annotation.message}"
        )
        problems.error(path.location, f"{what}; remove the entry")
    if kinds.entity is not None:
        _check_type(kinds.entity, kinds.entity.text, path.text, field, known_types, problems)
    for code, entity in kinds.values:
        _check_type(code, entity, path.text, field, known_types, problems)
    place = (annotation.message, owner(annotation.message, path, messages), snake_case(field.name))
    if annotation.by is None:
        return EntityField(*place, kinds.entity.text if kinds.entity else "", wildcard=kinds.wildcard)
    request = _request(annotation.message, messages) if annotation.is_by_request else ""
    types = _codes(annotation, annotation.by, request, path, messages, problems)
    return EntityField(*place, "", request, snake_case(annotation.by.names[-1]), types, kinds.wildcard)


def _request(response: str, messages: Messages) -> str:
    answered, _ = messages[response]
    requests = (
        name for name, (each, _) in messages.items() if each.kind == REQUEST and each.api_key == answered.api_key
    )
    return next(requests, "") if answered.kind == RESPONSE else ""


def _codes(
    annotation: EntityAnnotation, by: FieldPath, request: str, path: FieldPath, messages: Messages, problems: Problems
) -> tuple[tuple[int | str, str], ...]:
    message = request if annotation.is_by_request else annotation.message
    field = field_at(by, *messages[message]) if message else None
    if field is None:
        name = message or f"the request of {annotation.message}"
        problems.error(by.location, f"{name} has no field {by.text!r}; write for example Topics.Name")
        return ()
    if by.names[:-1] != ([] if annotation.is_by_request else path.names[:-1]):
        remedy = "name a field in the struct of the entity, or at the top level of the request"
        problems.error(by.location, f"{by.text} of {message} is in another struct; {remedy}")
    if str(field.type) == "string":
        return tuple((code.text, entity) for code, entity in annotation.kinds.values)
    if str(field.type) not in NUMBER_RANGES:
        problems.error(by.location, f"{by.text} of {message} is {field.type}; it must be a number or a string")
        return ()
    lowest, highest = NUMBER_RANGES[str(field.type)]
    found: list[tuple[int | str, str]] = []
    for code, entity in annotation.kinds.values:
        text = code.text
        if text.isascii() and text.isdigit() and lowest <= int(text) <= highest:
            found.append((int(text), entity))
        else:
            what = f"{by.text} of {message} is {field.type} and cannot be {text!r}; write a number in its range"
            problems.error(code.location, what)
    return tuple(found)


def _check_type(place: FieldPath, entity: str, path: str, field: Field, types: Types, problems: Problems) -> None:
    if entity not in types:
        advice = did_you_mean(entity, types, f"use one of {', '.join(sorted(types))}")
        problems.error(place.location, f"unknown entity type {entity!r}; {advice}")
    elif field.type.name not in types[entity]:
        needed = " or ".join(types[entity])
        problems.error(place.location, f"{path} is {field.type}, but a {entity} is {needed}; change one of the two")
