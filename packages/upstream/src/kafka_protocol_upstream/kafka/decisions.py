"""Open decisions about a new release, such as missing descriptions and annotations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.store import order
from kafka_message_generator.spec import source
from kafka_message_generator.spec.annotations import ENTITIES, ENTITY_TYPES

SECRET_WORDS = ("password", "secret", "credential", "hmac", "tokenid", "salt", "authbytes", "private")
"""Substrings, in lower case, of names of fields that may be secret."""
_ANNOTATIONS = ("entities.json", "enumerations.json", "secrets.json")
_TESTS = {
    "enumerations.json": "tests/generated/test_enums.py",
    "entities.json": "tests/generated/connection/test_entities.py",
    "entity-types.json": "tests/generated/connection/test_entities.py",
    "secrets.json": "tests/generated/test_secrets.py",
    "error_responses.json": "tests/generated/connection/test_error_response.py",
    "errors.json": "tests/generated/test_enums.py",
    "package.toml": "tests/upstream/test_publish.py",
}
"""Tests that cover the decisions by file; a test of the package covers descriptions."""
_NUMBERS = "int8"
_TEXTS = ("string", "bytes")
_NAMED = ("string", "[]string", "int32", "[]int32", "int64", "[]int64", "uuid", "[]uuid")
"""Types of fields that can identify an entity."""
Json = dict[str, object]


@dataclass(frozen=True)
class Decision:
    """An open decision; ``file`` is relative to the definitions."""

    file: str
    message: str
    path: str
    """Field path, such as ``Topics.Name``; empty if the decision is not about a field."""
    what: str

    @property
    def test(self) -> str:
        """The test that fails, or shows the values to check, until the decision is made."""
        return _TESTS.get(self.file, "tests/generated/test_downgrade.py")

    def __str__(self) -> str:
        place = " ".join(filter(None, (self.message, self.path)))
        return ": ".join(filter(None, (self.file, place, self.what)))


@dataclass(frozen=True)
class _DefinedField:
    path: str
    definition: Json
    siblings: frozenset[str]
    """Lower-case names of the fields in the same struct."""

    @property
    def name(self) -> str:
        return str(self.definition["name"])

    @property
    def type(self) -> str:
        return str(self.definition["type"])


def decisions(specs: Path, history: Path, release: str) -> list[Decision]:
    """Return the open decisions about the definitions of a release in ``specs``.

    These are missing descriptions, missing annotations of new fields, new responses, new entity types, and an outdated
    package version. Raises HistoryError and SpecError.
    """
    before = _before(history, release)
    named = _named_by_definitions(specs)
    known = _decided(specs)
    found = [*_of_the_whole(specs, release, history), *_entity_types(specs, before)]
    for path in sorted(specs.glob("*/*.json")):
        definition, file = _plain(path), path.relative_to(specs).as_posix()
        message = str(definition["name"])
        old = before.get(message)
        found += _undescribed(file, definition)
        if old is None and definition.get("type") == "response" and definition.get("validVersions") != "none":
            what = "a new response: add an entry if error_response() differs from getErrorResponse() of Kafka's class"
            found.append(Decision("error_responses.json", message, "", what))
        for field in _new(definition, old):
            if (message, field.path.lower()) not in known:
                found += _undecided(message, field, named)
    return found


def _before(history: Path, release: str) -> Mapping[str, Json]:
    read = store.read(history)
    older = [name for name in read.names if order(name) < order(release)]
    if not older:
        return {}
    return {name: _plain(each.path) for name, each in read.definitions(older[-1]).items()}


def _plain(path: Path) -> Json:
    problems = source.Problems()
    node = source.load(path, path.as_posix(), problems)
    if node is None or problems.errors:
        raise source.SpecError(problems.errors)
    plain = node.plain()
    return plain if isinstance(plain, dict) else {"entries": plain}


def _of_the_whole(specs: Path, release: str, history: Path) -> Iterator[Decision]:
    version = next((line for line in _lines(specs / "package.toml") if line.startswith("version")), "")
    if version and f'"{release}.' not in version:
        yield Decision("package.toml", "", "", f'the version must start with the Kafka release, such as "{release}.1"')
    errors = specs / "errors.json"
    if errors.exists():
        described = {each["name"] for each in json.loads(errors.read_text(encoding="utf-8")) if each.get("about")}
        for name, lifetime in sorted(store.read_error_codes(history).items()):
            if lifetime.removed is None and name not in described:
                yield Decision(
                    "errors.json",
                    name,
                    "",
                    "an error code without a description (about); nox -s upstream -- enumerations adds new codes",
                )


def _entity_types(specs: Path, before: Mapping[str, Json]) -> Iterator[Decision]:
    path = specs / ENTITY_TYPES
    had = {field.definition.get("entityType") for each in before.values() for field in _fields(each)}
    for name in _plain(path).keys() - had if path.exists() else ():
        what = f"{name}: a new entity type: add it to TYPES in the generator's rules/entities.py, describe it in"
        yield Decision(
            ENTITY_TYPES,
            "",
            "",
            f"{what} indexes.py of packages/pages, and list fields without the annotation in {ENTITIES}",
        )


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _undescribed(file: str, definition: Json) -> Iterator[Decision]:
    if definition.get("validVersions") == "none":
        return
    message = str(definition["name"])
    if not definition.get("about"):
        yield Decision(file, message, "", "a message without a description (about)")
    for field in _fields(definition):
        if not field.definition.get("about"):
            yield Decision(file, message, field.path, "a field without a description (about)")


def _undecided(message: str, field: _DefinedField, named: frozenset[str]) -> Iterator[Decision]:
    if field.type == _NUMBERS:
        what = "an int8 field: add it to an enumeration, or to PLAIN in tests/generated/test_enums.py"
        yield Decision("enumerations.json", message, field.path, what)
    if field.type in _NAMED and "entityType" not in field.definition and field.name in named:
        what = "other fields with this name have an entity type: add one if this field identifies an entity"
        yield Decision("entities.json", message, field.path, what)
    if could_be_secret(field.name, field.type, field.siblings):
        yield Decision(
            "secrets.json", message, field.path, "may be secret: list it under secrets, or under open with the reason"
        )


def could_be_secret(name: str, kind: str, siblings: frozenset[str]) -> bool:
    """Return whether a field may be secret; ``siblings`` are the lower-case names of the fields in its struct."""
    is_setting = name.lower() == "value" and kind == "string" and bool({"name", "key"} & siblings)
    has_secret_word = kind in _TEXTS and any(word in name.lower().replace("_", "") for word in SECRET_WORDS)
    return kind in ("bytes", "records") or is_setting or has_secret_word


def _named_by_definitions(specs: Path) -> frozenset[str]:
    fields = (field for path in specs.glob("*/*.json") for field in _fields(_plain(path)))
    return frozenset(field.name for field in fields if "entityType" in field.definition)


def _decided(specs: Path) -> frozenset[tuple[str, str]]:
    found: set[tuple[str, str]] = set()
    for name in _ANNOTATIONS:
        if (specs / name).exists():
            _collect(_plain(specs / name), found)
    return frozenset(found)


def _collect(value: object, found: set[tuple[str, str]]) -> None:
    if isinstance(value, list):
        for each in value:
            _collect(each, found)
    elif isinstance(value, dict):
        message, fields = value.get("message"), value.get("fields")
        if isinstance(message, str):
            paths = [*(fields if isinstance(fields, list) else ()), value.get("value")]
            found |= {(message, path.lower()) for path in paths if isinstance(path, str)}
        for each in value.values():
            _collect(each, found)


def _new(definition: Json, old: Json | None) -> Iterator[_DefinedField]:
    had = {field.path for field in _fields(old)} if old is not None else set()
    return (field for field in _fields(definition) if field.path not in had)


def _fields(definition: Json) -> list[_DefinedField]:
    common = {str(each["name"]): _children(each) for each in _list(definition.get("commonStructs"))}
    return list(_inside(_children(definition), "", common))


def _inside(fields: list[Json], above: str, common: Mapping[str, list[Json]]) -> Iterator[_DefinedField]:
    siblings = frozenset(str(each["name"]).lower() for each in fields)
    for each in fields:
        path = f"{above}{each['name']}"
        yield _DefinedField(path, each, siblings)
        inner = _children(each) or common.get(str(each["type"]).removeprefix("[]"), [])
        yield from _inside(inner, f"{path}.", common)


def _children(node: Json) -> list[Json]:
    return _list(node.get("fields"))


def _list(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
