"""Rules for the versions in which a struct is there at all, and its fields with it."""

from __future__ import annotations

from kafka_message_generator.spec.model import Field, Message, Struct
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import Versions

StructTable = dict[str, Struct]
"""Every struct of a message by name, inline and common."""


def check(message: Message, table: StructTable, problems: Problems) -> None:
    """A struct field that can never be present is a slip, for its class would not be printed; others are a warning."""
    present = _present(message, table)
    _check_body("the message", message.fields + message.optional_fields, present[message.name], message, problems)
    for name, struct in table.items():
        _check_body(f"struct {name}", struct.members, present.get(name, set()), message, problems)


def _present(message: Message, table: StructTable) -> dict[str, set[int]]:
    """The versions of the message in which each struct is somewhere in it."""
    present = {message.name: set(message.valid)}
    waiting: list[tuple[str, tuple[Field, ...]]] = [(message.name, message.fields + message.optional_fields)]
    while waiting:
        owner, members = waiting.pop()
        for member in members:
            if member.type.name not in table:
                continue
            known = present.setdefault(member.type.name, set())
            more = {version for version in present[owner] if version in member.versions} - known
            if more:
                known |= more
                waiting.append((member.type.name, table[member.type.name].members))
    return present


def _check_body(
    owner: str, members: tuple[Field, ...], present: set[int], message: Message, problems: Problems
) -> None:
    if not present:
        return  # the field that holds it, or that it is never used, is reported
    versions = Versions(min(present), max(present))
    for member in members:
        if any(version in member.versions for version in present) or problems.has_error_at(member.at("versions")):
            continue
        if member.type.is_struct:
            is_reported = member.is_optional and member.versions.empty  # the message has no versionsWithOptional
            if not is_reported:
                what = f"field {member.name} has versions {member.versions}, none of them in its parent's {versions}"
                problems.error(member.at("versions"), what)
        elif not member.versions.intersect(message.valid).empty:  # else reported with the field
            what = f"field {member.name} has versions {member.versions}, but {owner} has {versions}"
            problems.warn(member.at("versions"), f"{what}; it is never sent")
