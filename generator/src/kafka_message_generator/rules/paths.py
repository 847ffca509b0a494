"""Rules for the fields that files beside definitions name, by the names on the way to them: they are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.structs import StructTable
from kafka_message_generator.spec.annotations import FieldPath
from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.source import Location, Problems

Messages = Mapping[str, tuple[Message, StructTable]]


class FieldAnnotation(Protocol):
    """What says something of the fields of one message."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location: ...


def existing(
    entry: FieldAnnotation, paths: Iterable[FieldPath], messages: Messages, problems: Problems
) -> list[FieldPath]:
    """Those paths that lead to a field; all of them are wrong where there is no such message."""
    if entry.message not in messages:
        problems.error(
            entry.location, f"there is no message {entry.message!r} with versions; name one, or leave it out"
        )
        return []
    found = []
    for path in paths:
        if field_at(path, *messages[entry.message]) is None:
            problems.error(path.location, f"{entry.message} has no field {path.text!r}; write it like Topics.Name")
        else:
            found.append(path)
    return found


def field_at(path: FieldPath, message: Message, structs: StructTable) -> Field | None:
    """The field that a path leads to; None if there is none."""
    found = list(_fields_on_path(path, message, structs))
    return found[-1] if len(found) == len(path.names) else None


def owner(message: str, path: FieldPath, messages: Messages) -> str:
    """The struct that has the field, or the message itself."""
    *above, _ = _fields_on_path(path, *messages[message])
    return above[-1].type.name if above else message


def python_path(path: FieldPath) -> str:
    """The path with the names that the fields have in Python."""
    return ".".join(snake_case(name) for name in path.names)


def _fields_on_path(path: FieldPath, message: Message, structs: StructTable) -> Iterator[Field]:
    """The fields on the way to a path, as far as it leads."""
    members = message.fields + message.optional_fields
    for name in path.names:
        found = next((member for member in members if member.name == name), None)
        if found is None:
            return
        yield found
        members = structs[found.type.name].members if found.type.is_struct else ()
