"""Open decisions about a new release, such as missing descriptions and annotations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.compat import store
from kafka_message_generator.compat.definition_sets import members_of, set_of_files, set_of_release
from kafka_message_generator.compat.store import order
from kafka_message_generator.spec import source
from kafka_message_generator.spec.annotations import ENTITIES, ENTITY_TYPES
from kafka_message_generator.spec.model import RESPONSE, UNKNOWN_ENTITY, Field, Message

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


def decisions(specs: Path, history: Path, release: str) -> list[Decision]:
    """Return the open decisions about the definitions of a release in ``specs``.

    These are missing descriptions, missing annotations of new fields, new responses, new entity types, and an outdated
    package version. Raises HistoryError and SpecError.
    """
    before, now = _before(history, release), set_of_files(specs, sorted(specs.glob("*/*.json")))
    named = frozenset(
        field.name for name in now.messages for _, field in now.members(name) if field.entity_type != UNKNOWN_ENTITY
    )
    known = _decided(specs)
    found = [*_of_the_whole(specs, release, history), *_entity_types(specs, before)]
    for name, message in now.messages.items():
        file, members = f"{now.folders[name]}/{name}.json", dict(now.members(name))
        found += _undescribed(file, message, members)
        if name not in before and message.kind == RESPONSE and not message.is_removed:
            what = "a new response: add an entry if error_response() differs from getErrorResponse() of Kafka's class"
            found.append(Decision("error_responses.json", name, "", what))
        had = {path for path, _ in members_of(before[name])} if name in before else set()
        for path, field in members.items():
            if path not in had and (name, _plain_path(path).lower()) not in known:
                found += _undecided(name, path, field, members, named)
    return found


def _before(history: Path, release: str) -> Mapping[str, Message]:
    older = [name for name in store.read(history).names if order(name) < order(release)]
    return set_of_release(history, older[-1]).messages if older else {}


def _plain_path(path: str) -> str:
    return path.replace("[]", "")


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


def _entity_types(specs: Path, before: Mapping[str, Message]) -> Iterator[Decision]:
    path = specs / ENTITY_TYPES
    had = {field.entity_type for message in before.values() for _, field in members_of(message)}
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


def _undescribed(file: str, message: Message, members: Mapping[str, Field]) -> Iterator[Decision]:
    if message.is_removed:
        return
    if not message.about:
        yield Decision(file, message.name, "", "a message without a description (about)")
    for path, field in members.items():
        if not field.about:
            yield Decision(file, message.name, _plain_path(path), "a field without a description (about)")


def _undecided(
    message: str, path: str, field: Field, members: Mapping[str, Field], named: frozenset[str]
) -> Iterator[Decision]:
    place, kind = _plain_path(path), str(field.type)
    if kind == _NUMBERS:
        what = "an int8 field: add it to an enumeration, or to PLAIN in tests/generated/test_enums.py"
        yield Decision("enumerations.json", message, place, what)
    if kind in _NAMED and field.entity_type == UNKNOWN_ENTITY and field.name in named:
        what = "other fields with this name have an entity type: add one if this field identifies an entity"
        yield Decision("entities.json", message, place, what)
    holder = path.rpartition(".")[0]
    siblings = frozenset(each.name.lower() for other, each in members.items() if other.rpartition(".")[0] == holder)
    if could_be_secret(field.name, kind, siblings):
        what = "may be secret: list it under secrets, or under open with the reason"
        yield Decision("secrets.json", message, place, what)


def could_be_secret(name: str, kind: str, siblings: frozenset[str]) -> bool:
    """Return whether a field may be secret; ``siblings`` are the lower-case names of the fields in its struct."""
    is_setting = name.lower() == "value" and kind == "string" and bool({"name", "key"} & siblings)
    has_secret_word = kind in _TEXTS and any(word in name.lower().replace("_", "") for word in SECRET_WORDS)
    return kind in ("bytes", "records") or is_setting or has_secret_word


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
