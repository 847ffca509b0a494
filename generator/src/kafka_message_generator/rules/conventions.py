"""Warnings about probable mistakes that Kafka's generator accepts; released definitions get none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.source import Location, Problems

_ERROR_CODE, _ERROR_TYPE = "ErrorCode", "int16"


def check(messages: Sequence[Message], problems: Problems) -> None:
    used = [message for message in messages if not message.is_removed]
    for message in used:
        _quoted(message.quoted, problems)
        _file_name(message, problems)
        for member in message.all_fields():
            _quoted(member.quoted, problems)
            _field(member, problems)
    _descriptions(used, problems)


def _quoted(places: Mapping[str, tuple[str, Location]], problems: Problems) -> None:
    for key, (text, location) in places.items():
        problems.warn(location, f"{key} is the string {text!r}; write {text.strip().lower()} without quotes")


def _file_name(message: Message, problems: Problems) -> None:
    name = PurePosixPath(message.location.file).name
    if name != f"{message.name}.json":
        what = f"message {message.name} is defined in {name}"
        problems.warn(message.at("name"), f"{what}; rename the file to {message.name}.json")


def _field(member: Field, problems: Problems) -> None:
    name = member.name
    if name[:1].islower():
        what = f"field {name} starts with a lower-case letter"
        problems.warn(member.at("name"), f"{what}; write {name[:1].upper()}{name[1:]}, as in Kafka's definitions")
    if member.map_key and not member.nullable.empty:
        what = f"field {name} is a nullable key"
        problems.warn(member.at("nullableVersions"), f"{what}; remove nullableVersions or mapKey")
    if name.endswith(_ERROR_CODE) and member.type.name != _ERROR_TYPE:
        what = f"field {name} has type {member.type}, but error codes are {_ERROR_TYPE}"
        problems.warn(member.at("type"), f"{what}; change the type or the name")
    is_none = member.versions.empty and not problems.has_error_at(member.at("versions"))
    if is_none and "versions" in member.places:
        problems.warn(member.at("versions"), f"field {name} has versions none and is never sent")


def _descriptions(messages: Sequence[Message], problems: Problems) -> None:
    missing = [list(_undescribed(message)) for message in messages]
    count = sum(map(len, missing))
    if count and count == sum(len(list(message.all_fields())) for message in messages):
        missing = [[member for members in missing for member in members]]
    for members in filter(None, missing):
        first, number = members[0], len(members)
        others = f" and {number - 1} more field{'s' if number > 2 else ''}" if number > 1 else ""
        what = f"field {first.name}{others} {'have' if others else 'has'} no about"
        problems.warn(first.location, f"{what}; describe {'each' if others else 'it'}")


def _undescribed(message: Message) -> Iterator[Field]:
    return (member for member in message.all_fields() if not member.about.strip())
