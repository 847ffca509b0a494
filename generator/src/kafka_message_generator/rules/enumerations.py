"""Checks of the fields that ``enumerations.json`` names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.paths import Messages, existing, field_at, owner
from kafka_message_generator.spec.enumerations import ERROR_CODE, Enumeration
from kafka_message_generator.spec.model import INTEGERS, Field
from kafka_message_generator.spec.source import Problems

# Minimum and maximum of each numeric type.
NUMBER_RANGES = {"bool": (0, 1)} | {name: each.range for name, each in INTEGERS.items()}

EnumerationFields = dict[tuple[str, str], str]  # enumeration by struct and Python name of the field


def resolve(
    enumerations: Sequence[Enumeration], messages: Messages, problems: Problems
) -> Mapping[str, EnumerationFields]:
    """Return the enumeration fields of each message; the result is valid only if ``problems`` has no errors."""
    found: dict[str, EnumerationFields] = {name: _error_codes(name, messages) for name in messages}
    listed: dict[tuple[str, str, str], tuple[str, set[str]]] = {}  # enumeration and paths by field
    for one in enumerations:
        for entry in one.fields:
            for path in existing(entry, entry.fields, messages, problems):
                field = field_at(path, *messages[entry.message])
                assert field is not None
                what = _type_problem(one, field)
                place = (entry.message, owner(entry.message, path, messages), snake_case(field.name))
                if what:
                    problems.error(path.location, f"{path.text} of {entry.message} is {field.type}; {what}")
                earlier, paths = listed.setdefault(place, (one.name, set()))
                if earlier != one.name or path.text in paths:
                    problems.error(
                        path.location,
                        f"{path.text} of {entry.message} already has the enumeration {earlier}; remove one",
                    )
                paths.add(path.text)
                found.setdefault(entry.message, {})[place[1:]] = one.name
    return found


def without_older(enumerations: Sequence[Enumeration], messages: Messages) -> tuple[Enumeration, ...]:
    return tuple(
        replace(one, fields=tuple(entry for entry in one.fields if entry.message in messages)) for one in enumerations
    )


def _type_problem(one: Enumeration, field: Field) -> str:
    kind = field.type.name
    if one.is_text:
        return "" if kind == "string" else f"the values of {one.name} are strings"
    if kind not in NUMBER_RANGES:
        return f"the values of {one.name} are numbers"
    lowest, highest = NUMBER_RANGES[kind]
    wrong = [member for member in one.members if not lowest <= int(member.value) <= highest]
    return f"{wrong[0].name} of {one.name} is {wrong[0].value}, out of range" if wrong else ""


def _error_codes(message: str, messages: Messages) -> EnumerationFields:
    definition, structs = messages[message]
    members = {message: definition.fields + definition.optional_fields}
    members |= {name: struct.members for name, struct in structs.items() if name != message}
    return {(name, field): ERROR_CODE for name, fields in members.items() for field in _error_code_names(fields)}


def _error_code_names(fields: Iterable[Field]) -> Iterable[str]:
    names = ((snake_case(field.name), field) for field in fields)
    return (name for name, field in names if str(field.type) == "int16" and name.endswith("error_code"))
