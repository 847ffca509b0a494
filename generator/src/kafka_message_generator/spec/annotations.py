"""The annotation files (JSON files beside definitions), and their reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kafka_message_generator.spec import source
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems

SOURCE, ERRORS, ERROR_RESPONSES, ENUMERATIONS = "SOURCE", "errors.json", "error_responses.json", "enumerations.json"
ENTITIES, SETTINGS, SECRETS, DESCRIPTIONS = "entities.json", "settings.json", "secrets.json", "descriptions.json"
ENTITY_TYPES, RESTRICTIONS, KIPS = "entity-types.json", "restrictions.json", "kips.json"


@dataclass(frozen=True)
class Content:
    entry: str
    entries: str = ""  # plural; empty for a file with one object
    is_named: bool = False  # whether each entry has a unique name


ANNOTATIONS = {
    SOURCE: Content(SOURCE),
    ERRORS: Content("error code", "error codes", is_named=True),
    ERROR_RESPONSES: Content("entry", "fields"),
    ENTITIES: Content("entry", "entries"),
    ENTITY_TYPES: Content(ENTITY_TYPES),
    ENUMERATIONS: Content("enumeration", "enumerations", is_named=True),
    SETTINGS: Content("setting", "settings", is_named=True),
    SECRETS: Content(SECRETS),
    DESCRIPTIONS: Content(DESCRIPTIONS),
    RESTRICTIONS: Content("entry", "entries"),
    KIPS: Content("entry", "entries"),
}

T = TypeVar("T")
Parse = Callable[[Properties], T | None]


def read(specs: Path, name: str, problems: Problems, parse: Parse[T]) -> list[T]:
    """Parse the entries of an annotation file, if it exists. Reports invalid entries in ``problems``."""
    path, content = specs / name, ANNOTATIONS[name]
    node = source.load(path, path.as_posix(), problems) if path.exists() else None
    if node is None:
        return []
    if not content.entries:
        return parse_all([node], content.entry, problems, parse)
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of {content.entries}, found {node.kind}")
        return []
    article = "an" if content.entry[0] in "aeiou" else "a"
    names: set[str] = set()

    def parse_named(properties: Properties) -> T | None:
        name = properties.required("name")
        properties.what = f"{content.entry} {name}"
        if name in names:
            problems.error(properties.node.location, f"{properties.what} is listed twice; names must be unique")
        names.add(name)
        return parse(properties)

    return parse_all(node.value, f"{article} {content.entry}", problems, parse_named if content.is_named else parse)


def parse_all(nodes: Iterable[Node], what: str, problems: Problems, parse: Parse[T]) -> list[T]:
    """Parse JSON objects; report unknown properties, and skip objects without a required property."""
    found = []
    for node in nodes:
        try:
            properties = Properties(node, what, problems)
            result = parse(properties)
        except Missing:
            continue
        properties.finish()
        for key, (text, place) in properties.quoted.items():
            problems.warn(place, f"{key} is the string {text!r}; write {text.strip().lower()} without quotes")
        if result is not None:
            found.append(result)
    return found


@dataclass(frozen=True)
class FieldPath:
    """A field path such as ``Upsertions.Salt``, or another string of an annotation, with its location."""

    text: str
    location: Location

    @property
    def names(self) -> list[str]:
        return self.text.split(".")


@dataclass(frozen=True)
class FieldEntry:
    message: str
    location: Location
    fields: tuple[FieldPath, ...]


def field_entry(properties: Properties) -> FieldEntry:
    properties.text("about")
    message = properties.required("message")
    fields = field_paths(properties, "fields")
    if not properties.nodes("fields"):
        properties.problems.error(properties.node.location, f"{properties.what} has no fields; name at least one")
    return FieldEntry(message, properties.places["message"], fields)


def field_paths(properties: Properties, key: str) -> tuple[FieldPath, ...]:
    paths = []
    for each in properties.nodes(key):
        if isinstance(each.value, str):
            paths.append(FieldPath(each.value, each.location))
        else:
            properties.wrong(each, "a field name")
    return tuple(paths)


def field_path(properties: Properties, key: str) -> FieldPath | None:
    text = properties.text(key)
    return None if text is None else FieldPath(text, properties.places[key])
