"""Rules for the fields that files beside definitions name: they are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from kafka_message_generator.rules.presence import StructTable
from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.paths import FieldPath
from kafka_message_generator.spec.source import Location, Problems

Messages = Mapping[str, tuple[Message, StructTable]]


class Entry(Protocol):
    """What says something of the fields of one message."""

    @property
    def message(self) -> str: ...

    @property
    def location(self) -> Location: ...


def known(entry: Entry, paths: Iterable[FieldPath], messages: Messages, problems: Problems) -> list[FieldPath]:
    """Those paths that lead to a field; all of them are wrong where there is no such message."""
    if entry.message not in messages:
        problems.error(
            entry.location, f"there is no message {entry.message!r} with versions; name one, or leave it out"
        )
        return []
    found = []
    for path in paths:
        if find(entry.message, path, messages) is None:
            problems.error(path.location, f"{entry.message} has no field {path.text!r}; write it like Topics.Name")
        else:
            found.append(path)
    return found


def find(message: str, path: FieldPath, messages: Messages) -> Field | None:
    """The field that a path leads to."""
    found = list(_way(message, path, messages))
    return found[-1] if len(found) == len(path.names) else None


def owner(message: str, path: FieldPath, messages: Messages) -> str:
    """The struct that has the field, or the message itself."""
    *above, _ = _way(message, path, messages)
    return above[-1].type.name if above else message


def _way(message: str, path: FieldPath, messages: Messages) -> Iterator[Field]:
    """The fields on the way to a path, as far as it leads."""
    definition, structs = messages[message]
    members = definition.fields + definition.optional_fields
    for name in path.names:
        found = next((member for member in members if member.name == name), None)
        if found is None:
            return
        yield found
        members = structs[found.type.name].members if found.type.is_struct else ()
