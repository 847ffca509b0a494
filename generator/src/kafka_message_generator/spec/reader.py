"""Reader of messages, structs and fields from JSON nodes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable

from kafka_message_generator.spec.model import (
    COORDINATOR_KEY,
    KINDS,
    NAME,
    PRIMITIVES,
    TAGGED_FIELD_FORMATS,
    UNKNOWN_ENTITY,
    Encoding,
    Field,
    FieldType,
    Message,
    Struct,
)
from kafka_message_generator.spec.properties import Missing, Properties, short, with_suggestions
from kafka_message_generator.spec.source import Location, Node, Problems
from kafka_message_generator.spec.suggestions import did_you_mean
from kafka_message_generator.spec.versions import ALL, MAX_VERSION, NONE, Versions, VersionsError

LISTENERS = ("zkBroker", "broker", "controller")
_STRUCT_NAME = re.compile(r"[^\W\d_]\w*")


def read_message(node: Node, problems: Problems) -> Message | None:
    """Read a definition; return None if it is not an object or has no name."""
    try:
        return _message(Properties(node, "a message", problems))
    except Missing:
        return None


@with_suggestions
def _message(properties: Properties) -> Message:
    name = properties.required("name")
    properties.what = f"message {name}"
    kind = _kind(properties)
    if not NAME.fullmatch(name):
        properties.problems.error(
            properties.members["name"].location,
            f"invalid message name {name!r}; use ASCII letters and digits, and start with a letter",
        )
    valid = _required_versions(properties, "validVersions")
    properties.with_optional = properties.versions("versionsWithOptional") or NONE
    message = Message(
        name=name,
        kind=kind,
        valid=valid,
        flexible=_flexible(properties, valid),
        fields=_fields(properties, "fields", "a field", _field),
        location=properties.node.location,
        places=properties.places,
        api_key=properties.integer("apiKey", 16),
        deprecated=properties.versions("deprecatedVersions") or NONE,
        common_structs=_common_structs(properties),
        listeners=_listeners(properties),
        latest_version_unstable=properties.boolean("latestVersionUnstable"),
        header_versions=_header_versions(properties),
        about=properties.text("about") or "",
        tagged_field_format=properties.choice("taggedFieldFormat", TAGGED_FIELD_FORMATS, "sequential"),
        with_optional=properties.with_optional,
        optional_fields=_fields(properties, "optionalFields", "an optional field", _optional_field),
        quoted=properties.quoted,
    )
    properties.finish()
    return message


def _kind(properties: Properties) -> str:
    if "type" not in properties.places:
        choices = ", ".join(KINDS)
        properties.problems.error(properties.node.location, f"{properties.what} has no type; use one of {choices}")
    return properties.choice("type", KINDS, "")


def _required_versions(properties: Properties, key: str) -> Versions:
    with contextlib.suppress(Missing):
        properties.required(key)
        versions = properties.versions(key)
        if versions is not None and not properties.problems.has_error_at(properties.places[key]):
            return versions
    return ALL


def _flexible(properties: Properties, valid: Versions) -> Versions:
    flexible = properties.versions("flexibleVersions")
    is_given = "flexibleVersions" in properties.places
    # Removed APIs have no bytes; coordinator keys and messages with optional fields are not flexible.
    has_other_form = properties.text("type") == COORDINATOR_KEY or not properties.with_optional.empty
    is_unread = properties.problems.has_error_at(properties.places.get("versionsWithOptional"))
    if not is_given and not valid.empty and not has_other_form and not is_unread:
        advice = "write 0+ for a new message, or none"
        properties.problems.error(properties.node.location, f"{properties.what} has no flexibleVersions; {advice}")
    return flexible or NONE


def _common_structs(properties: Properties) -> tuple[Struct, ...]:
    structs = []
    for node in properties.nodes("commonStructs"):
        try:
            structs.append(_common_struct(properties.inside(node, "a common struct")))
        except Missing:
            continue
    return tuple(structs)


@with_suggestions
def _common_struct(properties: Properties) -> Struct:
    name = properties.required("name")
    properties.what = f"common struct {name}"
    struct = Struct(
        name=name,
        versions=_required_versions(properties, "versions"),
        fields=_fields(properties, "fields", "a field", _field),
        location=properties.node.location,
        about=properties.text("about") or "",
        is_common=True,
        optional_fields=_fields(properties, "optionalFields", "an optional field", _optional_field),
    )
    properties.versions("deprecatedVersions")
    properties.finish()
    return struct


def _listeners(properties: Properties) -> tuple[str, ...]:
    listeners = []
    for node in properties.nodes("listeners"):
        if node.value not in LISTENERS:
            message = f"unknown listener {short(node)}; use one of {', '.join(LISTENERS)}"
            properties.problems.error(node.location, message)
        elif node.value not in listeners:
            listeners.append(str(node.value))
    return tuple(listeners)


def _header_versions(properties: Properties) -> dict[str, str] | None:
    node = properties.take("headerVersions")
    if node is None:
        return None
    if not isinstance(node.value, dict):
        properties.wrong(node, "an object from version range to header version")
        return None
    return {key: str(value.plain()) for key, value in node.value.items()}


def _fields(properties: Properties, key: str, what: str, read: Callable[[Properties], Field]) -> tuple[Field, ...]:
    fields = []
    for node in properties.nodes(key):
        try:
            fields.append(read(properties.inside(node, what)))
        except Missing:
            continue
    return tuple(fields)


@with_suggestions
def _field(properties: Properties) -> Field:
    name = properties.required("name")
    properties.what = f"field {name}"
    problems = properties.problems
    if not NAME.fullmatch(name):
        problems.error(
            properties.members["name"].location,
            f"invalid field name {name!r}; use ASCII letters and digits, and start with a letter",
        )
    field_type = _type(properties)
    tagged = properties.versions("taggedVersions") or NONE
    versions = properties.versions("versions")
    if versions is None:
        if tagged.empty and not problems.has_error_at(properties.places.get("versions")):
            place = properties.places.get("versions", properties.node.location)
            problems.error(place, f"{properties.what} has no versions; add them, for example 0+")
        versions = tagged
    member = Field(
        name=name,
        type=field_type or FieldType("int8"),
        is_typed=field_type is not None,
        versions=versions,
        location=properties.node.location,
        places=properties.places,
        nullable=properties.versions("nullableVersions") or NONE,
        tag=properties.integer("tag", 32),
        tagged=tagged,
        default=properties.text("default") or "",
        ignorable=properties.boolean("ignorable"),
        map_key=properties.boolean("mapKey"),
        entity_type=properties.text("entityType") or UNKNOWN_ENTITY,
        zero_copy=properties.boolean("zeroCopy"),
        flexible=properties.versions("flexibleVersions"),
        about=properties.text("about") or "",
        fields=_fields(properties, "fields", "a field", _field),
        encodings=_encodings(properties, "encoding", versions),
        element_encodings=_encodings(properties, "elementEncoding", versions),
        optional_fields=_fields(properties, "optionalFields", "an optional field", _optional_field),
        quoted=properties.quoted,
    )
    properties.finish()
    return member


def _encodings(properties: Properties, key: str, versions: Versions) -> tuple[Encoding, ...]:
    node = properties.take(key)
    if node is None:
        return ()
    if isinstance(node.value, str):
        return (Encoding(versions, node.value, node.location),)
    if not isinstance(node.value, dict):
        properties.wrong(node, "an encoding name, or an object from version range to encoding name")
        return ()
    if not node.value:
        problem = f"{key} is empty; give each version one encoding, or remove it"
        properties.problems.error(node.location, problem)
    encodings = []
    for text, name in node.value.items():
        try:
            encodings.append(Encoding(Versions.parse(text), str(name.plain()), name.location))
        except VersionsError as error:
            properties.problems.error(name.location, str(error))
    return tuple(encodings)


@with_suggestions
def _optional_field(properties: Properties) -> Field:
    name = properties.required("name")
    properties.what = f"optional field {name}"
    problems = properties.problems
    if not NAME.fullmatch(name):
        problems.error(
            properties.members["name"].location,
            f"invalid field name {name!r}; use ASCII letters and digits, and start with a letter",
        )
    field_type = _type(properties)
    versions = properties.with_optional
    member = Field(
        name=name,
        type=field_type or FieldType("int8"),
        is_typed=field_type is not None,
        versions=versions,
        location=properties.node.location,
        places=properties.places,
        nullable=versions if properties.boolean("nullable") else NONE,
        tag=_hexadecimal_tag(properties),
        default=properties.text("default") or "",
        ignorable=properties.boolean("ignorable"),
        about=properties.text("about") or "",
        fields=_fields(properties, "fields", "a field", _field),
        optional_fields=_fields(properties, "optionalFields", "an optional field", _optional_field),
        is_optional=True,
        quoted=properties.quoted,
    )
    properties.finish()
    return member


def _hexadecimal_tag(properties: Properties) -> int:
    text = properties.required("tag")
    if not re.fullmatch(r"0x[0-9a-fA-F]+", text) or int(text, 16) > MAX_VERSION:
        message = f"tag {text!r} of {properties.what} is not an int16 in hexadecimal; write 0x0000 to 0x7fff"
        properties.problems.error(properties.members["tag"].location, message)
        raise Missing
    return int(text, 16)


def _type(properties: Properties) -> FieldType | None:
    try:
        text = properties.required("type")
    except Missing:
        return None
    return parse_type(text, properties.places["type"], properties.problems)


def parse_type(text: str, location: Location, problems: Problems) -> FieldType | None:
    """Parse a field type; return None if it is invalid."""
    stripped = text.strip()
    is_array = stripped.startswith("[]")
    name = stripped.removeprefix("[]").strip()
    if name == "boolean":  # in older definitions
        name = "bool"
    if is_array and not name:
        problems.error(location, "the array type [] has no element type; write for example []int32")
    elif is_array and name.startswith("[]"):
        problems.error(location, "arrays of arrays are not supported; use an array of structs with an array")
    elif name in PRIMITIVES or (_STRUCT_NAME.fullmatch(name) and name[0].isupper()):
        return FieldType(name, is_array)
    else:
        advice = f"use {', '.join(PRIMITIVES)}, a capitalized struct name, or [] before one of these"
        problems.error(location, f"unknown type {text!r}; {did_you_mean(name, PRIMITIVES, advice)}")
    return None
