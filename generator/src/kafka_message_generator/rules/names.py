"""Conversion of names to Python, and checks for reserved and duplicate names."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.spec.model import NAME, Field, Message
from kafka_message_generator.spec.setting_checks import WINDOWS_DEVICES
from kafka_message_generator.spec.source import Location, Problems

_CAPITAL_AFTER_OTHER = re.compile(r"(?<=[^A-Z])(?=[A-Z])")

# Names used in generated class bodies, which a field would shadow
BUILTINS = frozenset(
    {
        *("bool", "bytes", "elements_of", "float", "int", "isinstance", "list", "object", "str", "tuple"),
        *("dataclass", "field", "self"),
    }
)

# Methods of message classes
MESSAGE_MEMBERS = frozenset(
    {"read", "read_from", "write", "chunks", "size", "schemas", "response_class", "unsupported_fields", "downgraded"}
)

STRUCT_MEMBERS = frozenset({"unknown_tagged_fields"})

# Attributes of message classes; nested classes share the namespace.
MESSAGE_CONSTANTS = (
    *("NAME", "API_KEY", "LOWEST_SUPPORTED_VERSION", "HIGHEST_SUPPORTED_VERSION"),
    "LOWEST_FLEXIBLE_VERSION",
)

# Capitalized names that a generated module uses, which a class would shadow.
MODULE_NAMES = frozenset(
    {
        *("Iterable", "KeyedCollection", "LazyDefaults", "Malformed", "Message", "NO_LISTS", "Never", "NotImplemented"),
        *("RawTaggedField", "RawTaggedFields", "Refused", "Request", "Response", "Struct", "StructBase", "TypeAlias"),
        *("UUID", "UNSET", "ZERO_UUID", "TRUTH", "TEXT_LENGTHS", "TYPE_CHECKING", *MESSAGE_CONSTANTS),
        *("PACK_B", "PACK_H", "PACK_I", "PACK_Q", "UNPACK_B", "UNPACK_H", "UNPACK_I", "UNPACK_Q", "VARINTS"),
        *("PACKED16", "PACKED32", "PACKED64", "UPACKED16", "UPACKED32", "UPACKED64"),
    }
)

# Names that the package exports besides messages
PACKAGE_NAMES = frozenset(
    {
        *("DecodeError", "EncodeError", "KafkaMessageError", "RawTaggedField", "UnsupportedVersionError"),
        *(
            "Message",
            "MessageClass",
            "MessageInfo",
            "Request",
            "Response",
            "all_messages",
            "implementation",
        ),
    }
)

COLLECTION = "Collection"  # suffix of the class of a keyed array


def snake_case(name: str) -> str:
    """Convert ``ThrottleTimeMs`` to ``throttle_time_ms``, and ``isKRaft`` to ``is_kraft``."""
    return _CAPITAL_AFTER_OTHER.sub("_", name).lower()


def camel_case(name: str) -> str:
    """Return the key of a field in Kafka's JSON form, with a lower-case first letter."""
    return name[:1].lower() + name[1:]


@dataclass(frozen=True)
class _Body:
    name: str
    location: Location
    fields: tuple[Field, ...]
    optional_fields: tuple[Field, ...]
    is_message: bool = False


def _bodies(message: Message) -> Iterator[_Body]:
    yield _Body(message.name, message.at("name"), message.fields, message.optional_fields, is_message=True)
    for struct in message.common_structs:
        yield _Body(struct.name, struct.location, struct.fields, struct.optional_fields)
    for member in message.all_fields():
        if member.type.is_struct and ("fields" in member.places or member.optional_fields):
            yield _Body(member.type.name, member.at("type"), member.fields, member.optional_fields)


def check(message: Message, problems: Problems) -> None:
    """Report names that are reserved in Python or generated code, or collide after conversion."""
    bodies = list(_bodies(message))
    for body in bodies:
        if body.is_message:
            _message_name(message, problems)
        else:
            _class_name(body.name, body.location, problems)
        _fields(body, problems)
    arrays = {member.type.name for member in message.all_fields() if member.type.is_array}
    _functions(bodies, arrays, problems)
    _collections(bodies, problems)


def _message_name(message: Message, problems: Problems) -> None:
    name, place = message.name, message.at("name")
    if not NAME.fullmatch(name):
        return  # reported by the reader
    _class_name(name, place, problems)
    if problems.has_error_at(place):
        return
    if name in PACKAGE_NAMES:
        problems.error(place, f"{name} is a name that the generated package exports; rename the message")
    elif snake_case(name) in WINDOWS_DEVICES:
        what = f"message {name} would be the module {snake_case(name)}, a reserved device name of Windows"
        problems.error(place, f"{what}; rename it")
    elif keyword.iskeyword(snake_case(name)):
        problems.error(place, f"message {name} would be the module {snake_case(name)}, a Python keyword; rename it")


def _class_name(name: str, location: Location, problems: Problems) -> None:
    if not name[:1].isupper():
        problems.error(location, f"{name} becomes a class, so its first letter must be a capital")
    elif name in MODULE_NAMES or keyword.iskeyword(name):
        problems.error(location, f"{name} is reserved in generated modules; rename it")
    elif not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        # Python normalizes identifiers, so different texts could be one name.
        problems.error(location, f"{name!r} cannot be the name of a Python class; use ASCII letters and digits")


def _fields(body: _Body, problems: Problems) -> None:
    seen: dict[str, Field] = {}
    keys: dict[str, Field] = {}
    for member in body.fields + body.optional_fields:
        name, key = snake_case(member.name), camel_case(member.name)
        earlier, namesake = seen.setdefault(name, member), keys.setdefault(key, member)
        if earlier.name == member.name and earlier is not member:
            message = f"in {body.name}, field name {member.name} is used twice; field names must be unique"
            problems.error(member.at("name"), message)
        elif earlier is not member:
            message = f"in {body.name}, fields {earlier.name} and {member.name} are both {name} in Python; rename one"
            problems.error(member.at("name"), message)
        elif namesake is not member:
            message = f"in {body.name}, fields {namesake.name} and {member.name} are both {key} in JSON; rename one"
            problems.error(member.at("name"), message)
        is_method = body.is_message and name in MESSAGE_MEMBERS
        if keyword.iskeyword(name) or name in BUILTINS or name in STRUCT_MEMBERS or is_method:
            message = f"field {member.name} would be {name} in Python, which is reserved there; rename it"
            problems.error(member.at("name"), message)


def _functions(bodies: list[_Body], arrays: set[str], problems: Problems) -> None:
    owners: dict[str, str] = {}
    for body in bodies:
        name = snake_case(body.name)
        stems = [name]
        if body.name in arrays:
            stems.append(f"all_{name}")
        if any(member.tag is not None for member in body.fields):
            stems.append(f"tags_{name}")
        if body.optional_fields:
            stems.append(f"optional_{name}")
        for stem in stems:
            owner = owners.setdefault(stem, body.name)
            if owner != body.name:
                what = f"{owner} and {body.name} would both define functions for {stem} in Python"
                problems.error(body.location, f"{what}; rename one")
                break


def _collections(bodies: list[_Body], problems: Problems) -> None:
    by_name = {body.name: body for body in bodies}
    for body in bodies:
        if any(member.map_key for member in body.fields) and not body.is_message:
            name = body.name + COLLECTION
            if name in MODULE_NAMES:
                what = f"the class for arrays of {body.name} would be {name}, a name reserved in generated modules"
                problems.error(body.location, f"{what}; rename {body.name}")
            elif name in by_name:
                what = f"{name} is also the name of the generated class for arrays of {body.name}"
                problems.error(by_name[name].location, f"{what}; rename one")
