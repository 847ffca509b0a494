"""Checks of ``secrets.json``, and its conversion to Python names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.paths import Messages, existing, field_at, python_path
from kafka_message_generator.rules.structs import StructTable
from kafka_message_generator.spec.annotations import FieldEntry, FieldPath
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.secrets import SecretAnnotations, SettingEntry
from kafka_message_generator.spec.source import Problems

REDACTABLE = ("string", "bytes", "records")
NUMBERS = ("int8", "int16", "int32")


@dataclass(frozen=True)
class Secret:
    """A secret field; ``path`` is its path in Python attributes, such as ``topics.name``."""

    message: str
    path: str


@dataclass(frozen=True)
class ResolvedSetting:
    """Paths of the name, value and resource type of a setting in a message."""

    message: str
    name: str
    value: str
    resource_type: str | None


@dataclass(frozen=True)
class ResolvedSecrets:
    fields: tuple[Secret, ...] = ()
    settings: tuple[ResolvedSetting, ...] = ()


# Secret fields by struct and field: True, or a table for the value of a setting, with the fields of its ``name`` and
# ``resourceType``. ``in`` lists the parent fields with settings, if other fields have the same struct.
SecretFields = Mapping[tuple[str, str], bool | dict[str, object]]


def secret_fields(secrets: ResolvedSecrets, messages: Messages) -> dict[str, SecretFields]:
    found: dict[str, dict[tuple[str, str], bool | dict[str, object]]] = {name: {} for name in messages}
    for field in secrets.fields:
        found[field.message][_owner(field.message, field.path, messages)] = True
    for setting in secrets.settings:
        owner = _owner(setting.message, setting.value, messages)
        setting_names: dict[str, object] = {"name": setting.name.rpartition(".")[2]}
        if setting.resource_type is not None:
            setting_names["resourceType"] = setting.resource_type.rpartition(".")[2]
        values = [each.value for each in secrets.settings if each.message == setting.message]
        inside = {
            path.split(".")[-2] for path in values if _owner(setting.message, path, messages) == owner and "." in path
        }
        if inside < _holders(owner[0], *messages[setting.message]):
            setting_names["in"] = sorted(inside)
        found[setting.message][owner] = setting_names
    return dict(found)


def _holders(struct: str, message: Message, structs: StructTable) -> set[str]:
    members = [message.fields, message.optional_fields, *(each.members for each in structs.values())]
    return {snake_case(member.name) for each in members for member in each if member.type.name == struct}


def _owner(message: str, path: str, messages: Messages) -> tuple[str, str]:
    *above, field = path.split(".")
    body, structs = messages[message]
    struct, members = message, body.fields + body.optional_fields
    for name in above:
        struct = next(member.type.name for member in members if snake_case(member.name) == name)
        members = structs[struct].members
    return struct, field


def resolve(annotations: SecretAnnotations, messages: Messages, problems: Problems) -> ResolvedSecrets:
    """Resolve all entries; the result is valid only if ``problems`` has no errors."""
    seen: set[tuple[str, str]] = set()
    fields, settings = [], []
    for entry in annotations.secrets:
        for path in existing(entry, entry.fields, messages, problems):
            if _has_type(entry, path, REDACTABLE, messages, problems):
                _report_duplicate(entry, path, seen, problems)
                fields.append(Secret(entry.message, python_path(path)))
    for setting in annotations.settings:
        if _is_valid(setting, messages, problems):
            _report_duplicate(setting, setting.value, seen, problems)
            kind = setting.resource_type
            name, value = python_path(setting.name), python_path(setting.value)
            settings.append(ResolvedSetting(setting.message, name, value, None if kind is None else python_path(kind)))
    for entry in annotations.open:
        for path in existing(entry, entry.fields, messages, problems):
            _report_duplicate(entry, path, seen, problems)
    return ResolvedSecrets(
        tuple(sorted(fields, key=lambda each: (each.message, each.path))),
        tuple(sorted(settings, key=lambda each: (each.message, each.value))),
    )


def _is_valid(entry: SettingEntry, messages: Messages, problems: Problems) -> bool:
    paths = [path for path in (entry.name, entry.value, entry.resource_type) if path is not None]
    if len(existing(entry, paths, messages, problems)) < len(paths):
        return False
    struct = entry.value.names[:-1]
    if entry.name.names[:-1] != struct:
        what = f"{entry.name.text} and {entry.value.text} of {entry.message} are in different structs"
        problems.error(entry.name.location, f"{what}; they must be in one struct")
        return False
    texts = [_has_type(entry, path, ("string",), messages, problems) for path in (entry.name, entry.value)]
    if not all(texts):
        return False
    kind = entry.resource_type
    if kind is None:
        return True
    if kind.names[:-1] != struct[: len(kind.names) - 1]:
        what = f"{kind.text} of {entry.message} is not in a struct that contains {entry.value.text}"
        problems.error(kind.location, f"{what}; name a field of that struct or of a parent")
        return False
    return _has_type(entry, kind, NUMBERS, messages, problems)


def _has_type(
    entry: FieldEntry | SettingEntry, path: FieldPath, types: tuple[str, ...], messages: Messages, problems: Problems
) -> bool:
    field = field_at(path, *messages[entry.message])
    assert field is not None
    if str(field.type) not in types:
        what = f"{path.text} of {entry.message} is {field.type}; it must be {' or '.join(types)}"
        problems.error(path.location, what)
        return False
    return True


def _report_duplicate(
    entry: FieldEntry | SettingEntry, path: FieldPath, seen: set[tuple[str, str]], problems: Problems
) -> None:
    if (entry.message, path.text) in seen:
        problems.error(path.location, f"{path.text} of {entry.message} is listed twice; remove one")
    seen.add((entry.message, path.text))
