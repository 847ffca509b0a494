"""Names: Kafka's words turned into Python's, and the clashes that can come of it."""

from __future__ import annotations

import keyword
import re

from generator.spec.model import Field, Message
from generator.spec.source import Location, Problems

_CAPITAL_AFTER_OTHER = re.compile(r"(?<=[^A-Z])(?=[A-Z])")

BUILTINS = frozenset({"bool", "bytes", "float", "int", "list", "object", "str", "tuple", "dataclass", "field"})
"""Names that a generated class body uses; a field of that name would hide them."""

MESSAGE_MEMBERS = frozenset({"read", "read_from", "write", "size", "schemas"})
"""Methods of every message class; fields of the message itself must not take their names."""

STRUCT_MEMBERS = frozenset({"unknown_tagged_fields"})
MODULE_NAMES = frozenset({"Message", "KeyedCollection", "RawTaggedField", "UUID", "Iterable", "TYPE_CHECKING"})


def snake_case(name: str) -> str:
    """``ThrottleTimeMs`` as ``throttle_time_ms``; runs of capitals stay together: ``isKRaft`` is ``is_kraft``."""
    return _CAPITAL_AFTER_OTHER.sub("_", name).lower()


def camel_case(name: str) -> str:
    """The key of a field in Kafka's JSON form: the name with a small first letter."""
    return name[:1].lower() + name[1:]


def check(message: Message, problems: Problems) -> None:
    """Identifiers that Python reserves, and names that only differ in letters Python folds."""
    _class_name(message.name, message.at("name"), problems)
    if keyword.iskeyword(snake_case(message.name)):
        problems.error(
            message.at("name"), f"message {message.name} would be the module {snake_case(message.name)}; rename it"
        )
    _fields(message.name, message.fields + message.optional_fields, MESSAGE_MEMBERS, problems)
    for struct in message.common_structs:
        _class_name(struct.name, struct.location, problems)
        _fields(struct.name, struct.members, frozenset(), problems)
    for member in message.walk():
        if member.fields or member.optional_fields:
            _class_name(member.type.name, member.at("type"), problems)
            _fields(member.type.name, member.fields + member.optional_fields, frozenset(), problems)


def _class_name(name: str, location: Location, problems: Problems) -> None:
    if not name[:1].isupper():
        problems.error(location, f"{name} becomes a class, so its first letter must be a capital")
    elif name in MODULE_NAMES or keyword.iskeyword(name):
        problems.error(location, f"{name} is a name that generated modules need; rename it")
    elif not name.isidentifier():
        problems.error(location, f"{name!r} is no identifier in Python; rename it")


def _fields(owner: str, fields: tuple[Field, ...], members: frozenset[str], problems: Problems) -> None:
    seen: dict[str, Field] = {}
    for member in fields:
        name = snake_case(member.name)
        earlier = seen.setdefault(name, member)
        if earlier.name == member.name and earlier is not member:
            message = f"in {owner}, field name {member.name} is used twice; field names must be unique"
            problems.error(member.at("name"), message)
        elif earlier is not member:
            message = f"in {owner}, fields {earlier.name} and {member.name} are both {name} in Python; rename one"
            problems.error(member.at("name"), message)
        if keyword.iskeyword(name) or name in BUILTINS or name in members or name in STRUCT_MEMBERS:
            message = f"field {member.name} would be {name} in Python, which is reserved there; rename it"
            problems.error(member.at("name"), message)
