"""What is secret, as two files beside the definitions say it: ``settings.json`` and ``secrets.json``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.companions import SECRETS, SETTINGS, load
from kafka_message_generator.spec.paths import FieldEntry, FieldPath, entry, read_fields
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems

PASSWORD = "PASSWORD"
TYPES = ("BOOLEAN", "CLASS", "DOUBLE", "INT", "LIST", "LONG", PASSWORD, "SHORT", "STRING")
"""The types that Kafka's ConfigDef has."""
_SETTING = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True)
class KnownSetting:
    """A setting of Kafka as Kafka defines it: a fact of the release, kept in ``settings.json``."""

    name: str
    type: str


@dataclass(frozen=True)
class SettingEntry:
    """Fields of one message that hold a setting's name and value, and what it is a setting of."""

    message: str
    location: Location
    name: FieldPath
    value: FieldPath
    resource_type: FieldPath | None


@dataclass(frozen=True)
class SecretFacts:
    """What ``secrets.json`` says; ``open`` are fields that somebody looked at and found to be no secret."""

    secrets: tuple[FieldEntry, ...] = ()
    settings: tuple[SettingEntry, ...] = ()
    open: tuple[FieldEntry, ...] = ()


def read_settings(specs: Path, problems: Problems) -> tuple[KnownSetting, ...]:
    """The settings by name; none when there is no ``settings.json``."""
    node = load(specs / SETTINGS, problems)
    if node is None:
        return ()
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of settings, found {node.kind}")
        return ()
    found: dict[str, KnownSetting] = {}
    for each in node.value:
        setting = _setting(each, problems)
        if setting is not None and found.setdefault(setting.name, setting) is not setting:
            problems.error(each.location, f"setting {setting.name} is there twice; names must be unique")
    return tuple(setting for _, setting in sorted(found.items()))


def _setting(node: Node, problems: Problems) -> KnownSetting | None:
    try:
        properties = Properties(node, "a setting", problems)
        name = properties.required("name")
        properties.what = f"setting {name}"
        kind = properties.required("type")
    except Missing:
        return None
    if not _SETTING.fullmatch(name):
        what = f"invalid name {name!r} of a setting; use small letters, digits, dots, dashes and underscores"
        problems.error(properties.places["name"], what)
    if kind not in TYPES:
        problems.error(properties.places["type"], f"unknown type {kind!r}; use one of {', '.join(TYPES)}")
    properties.nodes("of")  # for readers: what has this setting
    properties.finish()
    return KnownSetting(name, kind)


def read_secrets(specs: Path, problems: Problems) -> SecretFacts:
    """What is secret in messages; nothing when there is no ``secrets.json``."""
    node = load(specs / SECRETS, problems)
    if node is None:
        return SecretFacts()
    try:
        properties = Properties(node, SECRETS, problems)
    except Missing:
        return SecretFacts()
    secrets = [read_fields(each, problems) for each in properties.nodes("secrets")]
    settings = [_setting_entry(each, problems) for each in properties.nodes("settings")]
    opened = [read_fields(each, problems) for each in properties.nodes("open")]
    properties.finish()
    return SecretFacts(
        tuple(each for each in secrets if each),
        tuple(each for each in settings if each),
        tuple(each for each in opened if each),
    )


def _setting_entry(node: Node, problems: Problems) -> SettingEntry | None:
    try:
        properties = entry(node, problems)
        message, name, value = (properties.required(key) for key in ("message", "name", "value"))
    except Missing:
        return None
    places = properties.places
    kind = properties.text("resourceType")
    properties.finish()
    return SettingEntry(
        message,
        places["message"],
        FieldPath(name, places["name"]),
        FieldPath(value, places["value"]),
        None if kind is None else FieldPath(kind, places["resourceType"]),
    )
