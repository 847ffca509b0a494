"""Facts of a Kafka release beside definitions: ``SOURCE``, which names the release, and ``errors.json``.

Those about secrets, ``settings.json`` and ``secrets.json``, are read by ``secrets``, ``error_responses.json`` by
``error_responses``, ``entities.json`` and ``entity-types.json`` by ``entities``, ``enumerations.json`` by ``enumerations``,
``descriptions.json`` by ``descriptions``, and ``restrictions.json`` by ``restrictions``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec import source
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Node, Problems

SOURCE, ERRORS, ERROR_RESPONSES, ENUMERATIONS = "SOURCE", "errors.json", "error_responses.json", "enumerations.json"
ENTITIES, SETTINGS, SECRETS, DESCRIPTIONS = "entities.json", "settings.json", "secrets.json", "descriptions.json"
ENTITY_TYPES, RESTRICTIONS = "entity-types.json", "restrictions.json"
COMPANIONS = (
    SOURCE,
    ERRORS,
    ERROR_RESPONSES,
    ENTITIES,
    ENTITY_TYPES,
    ENUMERATIONS,
    SETTINGS,
    SECRETS,
    DESCRIPTIONS,
    RESTRICTIONS,
)
"""Facts of a release that are no definitions."""
_RELEASE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})*(-?rc[0-9]{1,9})?")
_ERROR_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class ErrorCode:
    """One of Kafka's error codes: a fact of the release, kept in ``errors.json`` beside the definitions."""

    name: str
    code: int
    retriable: bool
    refresh: bool = False
    """Whether metadata has to be asked for again first."""
    about: str = ""


def read_release(specs: Path, problems: Problems) -> str | None:
    """The Kafka release that ``SOURCE`` names; None when there is no such file, or it names none."""
    node = load(specs / SOURCE, problems)
    if node is None:
        return None
    try:
        properties = Properties(node, SOURCE, problems)
        release = properties.required("release")
    except Missing:
        return None
    if not _RELEASE.fullmatch(release):
        what = f"release {release!r} cannot be the version of a package; write for example 4.4.0 or 4.4.0-rc1"
        problems.error(properties.places["release"], what)
        return None
    return release


def read_error_codes(specs: Path, problems: Problems) -> tuple[ErrorCode, ...]:
    """The error codes by number; none when there is no ``errors.json``."""
    node = load(specs / ERRORS, problems)
    if node is None:
        return ()
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of error codes, found {node.kind}")
        return ()
    codes: dict[int, ErrorCode] = {}
    names: dict[str, ErrorCode] = {}
    for each in node.value:
        code = _error_code(each, problems)
        if code is None:
            continue
        if names.setdefault(code.name, code) is not code:
            problems.error(each.location, f"error code {code.name} is there twice; names must be unique")
        elif (earlier := codes.setdefault(code.code, code)) is not code:
            what = f"error code {code.name} has code {code.code}, which is already {earlier.name}'s"
            problems.error(each.location, f"{what}; each needs its own")
    return tuple(code for _, code in sorted(codes.items()))


def _error_code(node: Node, problems: Problems) -> ErrorCode | None:
    try:
        properties = Properties(node, "an error code", problems)
        name = properties.required("name")
    except Missing:
        return None
    properties.what = f"error code {name}"
    if not _ERROR_NAME.fullmatch(name):
        what = f"invalid name {name!r} of an error code; use capitals, digits and underscores"
        problems.error(properties.places["name"], what)
    code = properties.integer("code", 16)
    if code is None and "code" not in properties.places:
        problems.error(node.location, f"{properties.what} has no code; add its number")
    retriable = properties.take("retriable")
    if retriable is None:
        problems.error(node.location, f"{properties.what} has no retriable; add true or false")
    elif not isinstance(retriable.value, bool):
        properties.wrong(retriable, "true or false")
    refresh, about = properties.boolean("refreshMetadata"), properties.text("about")
    properties.finish()
    if code is None or retriable is None:
        return None
    return ErrorCode(name, code, retriable.value is True, refresh, about or "")


def load(path: Path, problems: Problems) -> Node | None:
    """What such a file says; None when there is none, or it is no JSON."""
    return source.load(path, path.as_posix(), problems) if path.exists() else None
