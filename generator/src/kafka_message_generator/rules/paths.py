"""Resolution of field paths in annotation files."""

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
    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location: ...


def existing(
    entry: FieldAnnotation, paths: Iterable[FieldPath], messages: Messages, problems: Problems
) -> list[FieldPath]:
    """Return the paths that lead to a field; report the others, or an unknown message."""
    if entry.message not in messages:
        problems.error(entry.location, f"unknown message {entry.message!r}; correct or remove it")
        return []
    found = []
    for path in paths:
        if field_at(path, *messages[entry.message]) is None:
            problems.error(path.location, f"{entry.message} has no field {path.text!r}; write for example Topics.Name")
        else:
            found.append(path)
    return found


def field_at(path: FieldPath, message: Message, structs: StructTable) -> Field | None:
    found = list(_fields_on_path(path, message, structs))
    return found[-1] if len(found) == len(path.names) else None


def owner(message: str, path: FieldPath, messages: Messages) -> str:
    """Return the struct that contains the field at a path, or the message."""
    *above, _ = _fields_on_path(path, *messages[message])
    return above[-1].type.name if above else message


def python_path(path: FieldPath) -> str:
    return ".".join(snake_case(name) for name in path.names)


def _fields_on_path(path: FieldPath, message: Message, structs: StructTable) -> Iterator[Field]:
    members = message.fields + message.optional_fields
    for name in path.names:
        found = next((member for member in members if member.name == name), None)
        if found is None:
            return
        yield found
        members = structs[found.type.name].members if found.type.is_struct else ()
