"""``descriptions.json``: descriptions of messages and fields that only older releases have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kafka_message_generator.spec.annotations import DESCRIPTIONS, parse_all, read
from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems


@dataclass(frozen=True)
class Description:
    message: str
    field: str  # empty for the message itself
    about: str
    location: Location


def read_descriptions(specs: Path, problems: Problems) -> tuple[Description, ...]:
    return tuple(each for found in read(specs, DESCRIPTIONS, problems, _descriptions) for each in found)


def _descriptions(properties: Properties) -> list[Description]:
    properties.known |= properties.members.keys()
    found: list[Description] = []
    for name, node in properties.members.items():
        what = f"the description of {name}"
        for each in parse_all([node], what, properties.problems, partial(_of_message, name)):
            found += each
    return found


def _of_message(name: str, properties: Properties) -> list[Description]:
    about, fields = properties.text("about"), properties.take("fields")
    found = [Description(name, "", about, properties.places["about"])] if about else []
    if fields is not None and not isinstance(fields.value, dict):
        properties.wrong(fields, "an object of names and strings")
    elif fields is not None and isinstance(fields.value, dict):
        for field, text in fields.value.items():
            if isinstance(text.value, str):
                found.append(Description(name, field, text.value, text.location))
            else:
                properties.wrong(text, "a string")
    return found


def with_descriptions(
    messages: Sequence[Message], descriptions: Sequence[Description], problems: Problems
) -> list[Message]:
    """Add descriptions to messages and fields without ``about``; an unused description is an error."""
    by_message: dict[str, dict[str, Description]] = {}
    for each in descriptions:
        by_message.setdefault(each.message, {})[each.field] = each
    used: set[tuple[str, str]] = set()
    result = [
        _described(message, by_message[message.name], used) if message.name in by_message else message
        for message in messages
    ]
    for each in descriptions:
        if (each.message, each.field) not in used:
            what = f"{each.message}.{each.field}" if each.field else each.message
            problems.error(each.location, f"{what} does not exist, or already has a description; remove this entry")
    return result


def _described(message: Message, known: dict[str, Description], used: set[tuple[str, str]]) -> Message:
    def about(of: str, own: str) -> str:
        if own or of not in known:
            return own
        used.add((message.name, of))
        return known[of].about

    def field(member: Field) -> Field:
        inner = tuple(map(field, member.fields))
        return replace(member, about=about(member.name, member.about), fields=inner)

    structs = tuple(replace(each, fields=tuple(map(field, each.fields))) for each in message.common_structs)
    fields = tuple(map(field, message.fields))
    return replace(message, about=about("", message.about), fields=fields, common_structs=structs)
