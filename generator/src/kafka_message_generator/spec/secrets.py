"""Readers of ``settings.json`` (Kafka's settings) and ``secrets.json`` (secret fields of messages)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import (
    SECRETS,
    SETTINGS,
    FieldEntry,
    FieldPath,
    field_entry,
    field_path,
    parse_all,
    read,
)
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems

PASSWORD = "PASSWORD"
TYPES = ("BOOLEAN", "CLASS", "DOUBLE", "INT", "LIST", "LONG", PASSWORD, "SHORT", "STRING")  # types of Kafka's ConfigDef
_SETTING = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True)
class KafkaSetting:
    name: str
    type: str


@dataclass(frozen=True)
class SettingEntry:
    """Paths of the fields in a message that contain a setting's name, value and resource type."""

    message: str
    location: Location
    name: FieldPath
    value: FieldPath
    resource_type: FieldPath | None


@dataclass(frozen=True)
class SecretAnnotations:
    """Secret fields, fields with settings, and ``open`` fields, which are reviewed and not secret."""

    secrets: tuple[FieldEntry, ...] = ()
    settings: tuple[SettingEntry, ...] = ()
    open: tuple[FieldEntry, ...] = ()


def read_kafka_settings(specs: Path, problems: Problems) -> tuple[KafkaSetting, ...]:
    return tuple(sorted(read(specs, SETTINGS, problems, _setting), key=lambda setting: setting.name))


def _setting(properties: Properties) -> KafkaSetting:
    name, kind = properties.required("name"), properties.required("type")
    if not _SETTING.fullmatch(name):
        what = f"invalid name {name!r} of a setting; use lower-case letters, digits, dots, dashes and underscores"
        properties.problems.error(properties.places["name"], what)
    if kind not in TYPES:
        what = f"unknown type {kind!r}; use one of {', '.join(TYPES)}"
        properties.problems.error(properties.places["type"], what)
    properties.nodes("of")  # documentation only
    return KafkaSetting(name, kind)


def read_secrets(specs: Path, problems: Problems) -> SecretAnnotations:
    return next(iter(read(specs, SECRETS, problems, _secrets)), SecretAnnotations())


def _secrets(properties: Properties) -> SecretAnnotations:
    problems = properties.problems
    return SecretAnnotations(
        tuple(parse_all(properties.nodes("secrets"), "an entry", problems, field_entry)),
        tuple(parse_all(properties.nodes("settings"), "an entry", problems, _setting_entry)),
        tuple(parse_all(properties.nodes("open"), "an entry", problems, field_entry)),
    )


def _setting_entry(properties: Properties) -> SettingEntry:
    properties.text("about")
    message, name, value = (properties.required(key) for key in ("message", "name", "value"))
    places = properties.places
    return SettingEntry(
        message,
        places["message"],
        FieldPath(name, places["name"]),
        FieldPath(value, places["value"]),
        field_path(properties, "resourceType"),
    )
