"""``enumerations.json``: names for values of fields, and the fields that use them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import ENUMERATIONS, FieldEntry, field_entry, parse_all, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems

ERROR_CODE, API_KEY = "ErrorCode", "ApiKey"
# Enumerations with members from ``errors.json`` and the API keys; ``enumerations.json`` lists only their fields.
OF_PROTOCOL = (ERROR_CODE, API_KEY)
_RESERVED = ("ENUMERATIONS", "IntegerEnum", "Special", "StringEnum")
_NAME = re.compile(r"[A-Z][A-Za-z0-9]*")
_MEMBER = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True)
class Member:
    name: str
    value: int | str
    about: str


@dataclass(frozen=True)
class Enumeration:
    """Names for the numeric or string values of some fields."""

    name: str
    location: Location
    about: str
    source: str  # Java class in Kafka, or another origin
    is_special: bool  # whether only special values have names; other numbers are ordinary
    members: tuple[Member, ...]  # empty for ``OF_PROTOCOL``
    fields: tuple[FieldEntry, ...]

    @property
    def is_text(self) -> bool:
        return any(isinstance(member.value, str) for member in self.members)


def read_enumerations(specs: Path, problems: Problems) -> tuple[Enumeration, ...]:
    return tuple(sorted(read(specs, ENUMERATIONS, problems, _enumeration), key=lambda each: each.name))


def _enumeration(properties: Properties) -> Enumeration | None:
    name, problems = properties.required("name"), properties.problems
    source = properties.text("class") or properties.text("source") or ""
    properties.text("source")
    properties.text("value")  # only ``nox -s upstream -- enumerations`` uses it
    about = properties.text("about") or ""
    is_special = properties.boolean("special")
    members = properties.nodes("members")
    known = tuple(parse_all(members, "a member", problems, _member))
    fields = tuple(parse_all(properties.nodes("fields"), "an entry", problems, field_entry))
    place, entry = properties.places["name"], properties.node.location
    _check_name(name, place, problems)
    if name in OF_PROTOCOL and members:
        problems.error(place, f"the members of {name} cannot be listed here; list only its fields")
    elif name not in OF_PROTOCOL and not members:
        problems.error(entry, f"{properties.what} has no members; add them")
        return None
    _check_members(name, known, entry, problems)
    return Enumeration(name, place, about, source, is_special, known, fields)


def _check_name(name: str, place: Location, problems: Problems) -> None:
    if not _NAME.fullmatch(name):
        what = f"invalid name {name!r} of an enumeration; write a name like AclOperation"
        problems.error(place, what)
    elif name in _RESERVED:
        problems.error(place, f"{name} is reserved in the generated package; rename the enumeration")


def _check_members(name: str, members: tuple[Member, ...], place: Location, problems: Problems) -> None:
    names: set[str] = set()
    values: dict[int | str, str] = {}
    for member in members:
        if member.name in names:
            problems.error(place, f"{name} has duplicate member {member.name}; names must be unique")
        names.add(member.name)
        other = values.setdefault(member.value, member.name)
        if other != member.name:
            problems.error(place, f"{name} has value {member.value!r} for {other} and {member.name}; remove one")
    if len({type(value) for value in values}) > 1:
        problems.error(place, f"{name} has both numbers and strings; use one type")


def _member(properties: Properties) -> Member | None:
    name = properties.required("name")
    properties.what = f"member {name}"
    if not _MEMBER.fullmatch(name):
        what = f"invalid name {name!r} of a member; use capitals, digits and underscores"
        properties.problems.error(properties.places["name"], what)
    node = properties.take("value")
    about = properties.text("about") or ""
    properties.text("constant")  # only ``nox -s upstream -- enumerations`` uses it
    value = None if node is None else node.value
    if isinstance(value, bool) or not isinstance(value, int | str):
        what = f"{properties.what} has no value; add a number or a string"
        properties.problems.error(properties.node.location, what)
        return None
    return Member(name, value, about)
