"""Reads located nodes into the model: property names, their JSON types, and the small grammars inside texts."""

from __future__ import annotations

import re
from dataclasses import dataclass

from generator.spec.model import (
    COORDINATOR_KEY,
    ENTITY_TYPES,
    KINDS,
    NAME,
    PRIMITIVES,
    TAGGED_FIELD_FORMATS,
    Encoding,
    Field,
    FieldType,
    Message,
    Struct,
)
from generator.spec.source import Location, Node, Problems
from generator.spec.versions import MAX_VERSION, NONE, Versions, VersionsError

LISTENERS = ("zkBroker", "broker", "controller")
_STRUCT_NAME = re.compile(r"[^\W\d_]\w*")
_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,20})\s*")
_WORDS_FOR_BOOLEAN = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


class _Missing(Exception):
    """An object lacks what nothing can be read without; the problem is already recorded."""


@dataclass
class _Properties:
    """The properties of one JSON object, taken one by one; what is left over is unknown."""

    node: Node
    what: str
    problems: Problems
    with_optional: Versions = NONE
    """The versions in which the structs of the message have optional-field buffers."""

    def __post_init__(self) -> None:
        if not isinstance(self.node.value, dict):
            self.problems.error(self.node.location, f"{self.what} must be a JSON object, found {self.node.kind}")
            raise _Missing
        self.members = self.node.value
        self.known: set[str] = set()

    def inside(self, node: Node, what: str) -> _Properties:
        """The properties of a node below this one."""
        return _Properties(node, what, self.problems, self.with_optional)

    @property
    def places(self) -> dict[str, Location]:
        return {key: node.location for key, node in self.members.items() if node.value is not None}

    def take(self, key: str) -> Node | None:
        """The node of a property; None when absent or JSON null, which mean the same in every definition."""
        self.known.add(key)
        node = self.members.get(key)
        return None if node is None or node.value is None else node

    def wrong(self, node: Node, expected: str) -> None:
        self.problems.error(node.location, f"expected {expected}, found {node.kind} {_short(node)}")

    def text(self, key: str) -> str | None:
        """A text; numbers and booleans count as their text, as in Kafka's own reader."""
        node = self.take(key)
        if node is None:
            return None
        if isinstance(node.value, bool):
            return "true" if node.value else "false"
        if isinstance(node.value, (str, int, float)):
            return str(node.value)
        self.wrong(node, "a string")
        return None

    def required(self, key: str) -> str:
        text = self.text(key)
        if text is None or not text.strip():
            if key not in self.places or not self.problems.has_error_at(self.places[key]):
                self.problems.error(self.node.location, f"{self.what} has no {key}; add it")
            raise _Missing
        return text

    def integer(self, key: str, bits: int) -> int | None:
        node = self.take(key)
        if node is None or node.value == "":
            return None
        number: int | None = None
        if isinstance(node.value, str) and (match := _INTEGER.fullmatch(node.value)):
            number = int(match[1])
        elif isinstance(node.value, int) and not isinstance(node.value, bool):
            number = node.value
        if number is None:
            self.wrong(node, f"an int{bits}")
        elif not -(1 << bits - 1) <= number < 1 << bits - 1:
            self.problems.error(node.location, f"{number} is out of range for {key}, an int{bits}")
            return None
        return number

    def boolean(self, key: str) -> bool:
        node = self.take(key)
        if node is None or node.value == "":
            return False
        if isinstance(node.value, bool):
            return node.value
        if isinstance(node.value, str) and node.value in _WORDS_FOR_BOOLEAN:
            return _WORDS_FOR_BOOLEAN[node.value]
        if isinstance(node.value, int):
            return node.value != 0
        self.wrong(node, "true or false")
        return False

    def versions(self, key: str) -> Versions | None:
        """A version range; None when absent or blank."""
        text = self.text(key)
        if text is None or not text.strip():
            return None
        try:
            return Versions.parse(text)
        except VersionsError as error:
            self.problems.error(self.members[key].location, f"{key}: {error}")
            return NONE

    def nodes(self, key: str) -> list[Node]:
        """A list; a single value counts as a list of one."""
        node = self.take(key)
        if node is None:
            return []
        return node.value if isinstance(node.value, list) else [node]

    def choice(self, key: str, choices: tuple[str, ...], default: str) -> str:
        text = self.text(key)
        if text is None:
            return default
        if text not in choices:
            self.problems.error(self.members[key].location, f"unknown {key} {text!r}; use one of {', '.join(choices)}")
            return default
        return text

    def finish(self) -> None:
        for key, node in self.members.items():
            if key not in self.known:
                known = ", ".join(sorted(self.known))
                self.problems.error(node.location, f"unknown property {key!r} of {self.what}; known are {known}")


def _short(node: Node) -> str:
    text = repr(node.plain())
    return text if len(text) <= 40 else text[:37] + "..."


def read_message(node: Node, problems: Problems) -> Message | None:
    """Read one definition; None when it lacks what makes it one, with every reason in ``problems``."""
    try:
        return _message(_Properties(node, "a message", problems))
    except _Missing:
        return None


def _message(properties: _Properties) -> Message:
    name = properties.required("name")
    properties.what = f"message {name}"
    kind = properties.choice("type", KINDS, "") or _missing_type(properties)
    if not _NAME.fullmatch(name):
        properties.problems.error(
            properties.members["name"].location, f"invalid message name {name!r}; use letters and digits"
        )
    properties.required("validVersions")
    valid = properties.versions("validVersions") or NONE
    properties.with_optional = properties.versions("versionsWithOptional") or NONE
    message = Message(
        name=name,
        kind=kind,
        valid=valid,
        flexible=_flexible(properties, valid),
        fields=_fields(properties, "fields"),
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
        optional_fields=_optional_fields(properties),
    )
    properties.finish()
    return message


def _missing_type(properties: _Properties) -> str:
    if properties.members.get("type") is None:
        choices = ", ".join(KINDS)
        properties.problems.error(properties.node.location, f"{properties.what} has no type; use one of {choices}")
    raise _Missing


def _flexible(properties: _Properties, valid: Versions) -> Versions:
    flexible = properties.versions("flexibleVersions")
    is_given = properties.members.get("flexibleVersions") is not None
    # A removed API has no bytes; coordinator keys have always been written in the classic form.
    has_other_form = properties.text("type") == COORDINATOR_KEY or not properties.with_optional.empty
    if not is_given and not valid.empty and not has_other_form:
        advice = "say 0+ for a new message, or none"
        properties.problems.error(properties.node.location, f"{properties.what} has no flexibleVersions; {advice}")
    return flexible or NONE


def _common_structs(properties: _Properties) -> tuple[Struct, ...]:
    structs = []
    for node in properties.nodes("commonStructs"):
        try:
            structs.append(_common_struct(properties.inside(node, "a common struct")))
        except _Missing:
            continue
    return tuple(structs)


def _common_struct(properties: _Properties) -> Struct:
    name = properties.required("name")
    properties.what = f"common struct {name}"
    properties.required("versions")
    struct = Struct(
        name=name,
        versions=properties.versions("versions") or NONE,
        fields=_fields(properties, "fields"),
        location=properties.node.location,
        about=properties.text("about") or "",
        is_common=True,
        optional_fields=_optional_fields(properties),
    )
    properties.versions("deprecatedVersions")
    properties.finish()
    return struct


def _listeners(properties: _Properties) -> tuple[str, ...]:
    listeners = []
    for node in properties.nodes("listeners"):
        if node.value not in LISTENERS:
            message = f"unknown listener {_short(node)}; use one of {', '.join(LISTENERS)}"
            properties.problems.error(node.location, message)
        elif node.value not in listeners:
            listeners.append(str(node.value))
    return tuple(listeners)


def _header_versions(properties: _Properties) -> dict[str, str] | None:
    node = properties.take("headerVersions")
    if node is None:
        return None
    if not isinstance(node.value, dict):
        properties.wrong(node, "an object of version range to header version")
        return None
    return {key: str(value.plain()) for key, value in node.value.items()}


def _fields(properties: _Properties, key: str) -> tuple[Field, ...]:
    fields = []
    for node in properties.nodes(key):
        try:
            fields.append(_field(properties.inside(node, "a field")))
        except _Missing:
            continue
    return tuple(fields)


def _field(properties: _Properties) -> Field:
    name = properties.required("name")
    properties.what = f"field {name}"
    problems = properties.problems
    if not _NAME.fullmatch(name):
        problems.error(properties.members["name"].location, f"invalid field name {name!r}; use letters and digits")
    field_type = parse_type(properties.required("type"), properties.members["type"].location, problems)
    tagged = properties.versions("taggedVersions") or NONE
    versions = properties.versions("versions")
    if versions is None:
        if tagged.empty:
            problems.error(properties.node.location, f"{properties.what} has no versions; add them, for example 0+")
        versions = tagged
    member = Field(
        name=name,
        type=field_type or FieldType("int8"),
        versions=versions,
        location=properties.node.location,
        places=properties.places,
        nullable=properties.versions("nullableVersions") or NONE,
        tag=properties.integer("tag", 32),
        tagged=tagged,
        default=properties.text("default") or "",
        ignorable=properties.boolean("ignorable"),
        map_key=properties.boolean("mapKey"),
        entity_type=properties.choice("entityType", tuple(ENTITY_TYPES), "unknown"),
        zero_copy=properties.boolean("zeroCopy"),
        flexible=properties.versions("flexibleVersions"),
        about=properties.text("about") or "",
        fields=_fields(properties, "fields"),
        encodings=_encodings(properties, "encoding", versions),
        element_encodings=_encodings(properties, "elementEncoding", versions),
        optional_fields=_optional_fields(properties),
    )
    properties.finish()
    if field_type is None:
        raise _Missing
    return member


def _encodings(properties: _Properties, key: str, versions: Versions) -> tuple[Encoding, ...]:
    """One name for all versions, or an object of version range to name."""
    node = properties.take(key)
    if node is None:
        return ()
    if isinstance(node.value, str):
        return (Encoding(versions, node.value, node.location),)
    if not isinstance(node.value, dict):
        properties.wrong(node, "an encoding name, or an object of version range to encoding name")
        return ()
    if not node.value:
        problem = f"{key} is empty; give each version one encoding, or remove it"
        properties.problems.error(node.location, problem)
    encodings = []
    for text, name in node.value.items():
        try:
            encodings.append(Encoding(Versions.parse(text), str(name.plain()), name.location))
        except VersionsError as error:
            properties.problems.error(name.location, f"{key}: {error}")
    return tuple(encodings)


def _optional_fields(properties: _Properties) -> tuple[Field, ...]:
    fields = []
    for node in properties.nodes("optionalFields"):
        try:
            fields.append(_optional_field(properties.inside(node, "an optional field")))
        except _Missing:
            continue
    return tuple(fields)


def _optional_field(properties: _Properties) -> Field:
    """A field of an optional-field buffer, which has the versions of the buffer and a tag in hexadecimal."""
    name = properties.required("name")
    properties.what = f"optional field {name}"
    problems = properties.problems
    if not _NAME.fullmatch(name):
        problems.error(properties.members["name"].location, f"invalid field name {name!r}; use letters and digits")
    field_type = parse_type(properties.required("type"), properties.members["type"].location, problems)
    versions = properties.with_optional
    member = Field(
        name=name,
        type=field_type or FieldType("int8"),
        versions=versions,
        location=properties.node.location,
        places=properties.places,
        nullable=versions if properties.boolean("nullable") else NONE,
        tag=_hexadecimal_tag(properties),
        default=properties.text("default") or "",
        ignorable=properties.boolean("ignorable"),
        about=properties.text("about") or "",
        fields=_fields(properties, "fields"),
        optional_fields=_optional_fields(properties),
        is_optional=True,
    )
    properties.finish()
    if field_type is None:
        raise _Missing
    return member


def _hexadecimal_tag(properties: _Properties) -> int:
    text = properties.required("tag")
    if not re.fullmatch(r"0x[0-9a-fA-F]+", text) or int(text, 16) > MAX_VERSION:
        message = f"tag {text!r} of {properties.what} is not an int16 in hexadecimal; write 0x0000 to 0x7fff"
        properties.problems.error(properties.members["tag"].location, message)
        raise _Missing
    return int(text, 16)


def parse_type(text: str, location: Location, problems: Problems) -> FieldType | None:
    """Read a type; None when it is none, with the reason in ``problems``."""
    stripped = text.strip()
    is_array = stripped.startswith("[]")
    name = stripped.removeprefix("[]").strip()
    if name == "boolean":  # the word older definitions use
        name = "bool"
    if is_array and not name:
        problems.error(location, "the array type [] names no element type; write for example []int32")
    elif is_array and name.startswith("[]"):
        problems.error(location, "arrays of arrays cannot be written; use an array of structs that hold an array")
    elif name in PRIMITIVES or (_STRUCT_NAME.fullmatch(name) and name[0].isupper()):
        return FieldType(name, is_array)
    else:
        known = ", ".join(PRIMITIVES)
        problems.error(
            location, f"unknown type {text!r}; use {known}, a struct name with a capital, or [] and one of these"
        )
    return None
