"""The nouns of a definition: message, struct, field, field type; exactly what the file says, with places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_message_generator.spec.source import Location
from kafka_message_generator.spec.versions import NONE, Versions

FIXED_WIDTHS = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "float64": 8,
    "uuid": 16,
}
"""Bytes on the wire of each fixed-width type."""

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
"""What may be the name of a message or field."""

VARIABLE_TYPES = ("string", "bytes", "records")
PRIMITIVES = (*FIXED_WIDTHS, *VARIABLE_TYPES)

REQUEST, RESPONSE, HEADER = "request", "response", "header"
COORDINATOR_KEY, COORDINATOR_VALUE, METADATA = "coordinator-key", "coordinator-value", "metadata"
KINDS = (REQUEST, RESPONSE, HEADER, METADATA, "data", COORDINATOR_KEY, COORDINATOR_VALUE)

ENCODED_TYPES = {"int16": 16, "int32": 32, "int64": 64}
"""Types that can have an encoding, and their bits."""

TAGGED_FIELD_FORMATS = ("sequential", "interleaved")

UNKNOWN_ENTITY = "unknown"
ENTITY_TYPES = {
    UNKNOWN_ENTITY: None,
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}
"""Each entity type that Kafka's generator knows, and the field type it demands; ``entity-types.json`` adds others."""


@dataclass(frozen=True)
class FieldType:
    """A type as written: ``int32``, ``[]string``, ``Assignment``, ``[]Topic``."""

    name: str
    is_array: bool = False

    @property
    def is_struct(self) -> bool:
        return self.name not in PRIMITIVES

    @property
    def is_fixed(self) -> bool:
        """Whether every value has the same width."""
        return not self.is_array and self.name in FIXED_WIDTHS

    @property
    def can_be_null(self) -> bool:
        return self.is_array or self.is_struct or self.name in VARIABLE_TYPES

    def __str__(self) -> str:
        return f"[]{self.name}" if self.is_array else self.name


@dataclass(frozen=True)
class Encoding:
    """How an integer is written in some versions: ``fixed32``, ``packed16``, ``upacked64``."""

    versions: Versions
    name: str
    location: Location

    @property
    def bits(self) -> int:
        return int(self.name[-2:])

    @property
    def form(self) -> str:
        """``fixed``, ``packed`` (zig-zag varint) or ``upacked`` (varint of the two's complement)."""
        return self.name[:-2]


@dataclass(frozen=True, eq=False)
class Field:
    """One field of a message or struct. ``places`` locates each property that was given."""

    name: str
    type: FieldType
    versions: Versions
    location: Location
    places: dict[str, Location] = field(default_factory=dict)
    nullable: Versions = NONE
    tag: int | None = None
    tagged: Versions = NONE
    default: str = ""
    ignorable: bool = False
    map_key: bool = False
    entity_type: str = UNKNOWN_ENTITY
    zero_copy: bool = False
    flexible: Versions | None = None
    about: str = ""
    fields: tuple[Field, ...] = ()
    encodings: tuple[Encoding, ...] = ()
    element_encodings: tuple[Encoding, ...] = ()
    optional_fields: tuple[Field, ...] = ()
    """Of a struct or array of structs: the fields of its optional-field buffer."""
    is_optional: bool = False
    """Whether this field lives in an optional-field buffer; its tag is then its key there."""
    quoted: dict[str, tuple[str, Location]] = field(default_factory=dict)
    """Properties that are numbers or booleans and were given as strings: the text and its place."""
    is_typed: bool = True
    """False only where the type could not be read, which is an error already reported; ``type`` means nothing then."""

    def at(self, property_name: str) -> Location:
        """The place of a property, or of the field when the property was left out."""
        return self.places.get(property_name, self.location)


@dataclass(frozen=True, eq=False)
class Struct:
    """A named list of fields: a common struct, or the fields written inside a field (an inline struct)."""

    name: str
    versions: Versions
    fields: tuple[Field, ...]
    location: Location
    about: str = ""
    is_common: bool = False
    optional_fields: tuple[Field, ...] = ()

    @property
    def members(self) -> tuple[Field, ...]:
        """Every attribute: the regular and tagged fields, then the optional ones."""
        return self.fields + self.optional_fields


@dataclass(frozen=True, eq=False)
class Message:
    """One message definition."""

    name: str
    kind: str
    """One of ``KINDS``; empty only where the file says none of them, which is an error already reported."""
    valid: Versions
    flexible: Versions
    fields: tuple[Field, ...]
    location: Location
    places: dict[str, Location] = field(default_factory=dict)
    api_key: int | None = None
    deprecated: Versions = NONE
    common_structs: tuple[Struct, ...] = ()
    listeners: tuple[str, ...] = ()
    latest_version_unstable: bool = False
    header_versions: dict[str, str] | None = None
    about: str = ""
    tagged_field_format: str = "sequential"
    with_optional: Versions = NONE
    optional_fields: tuple[Field, ...] = ()
    quoted: dict[str, tuple[str, Location]] = field(default_factory=dict)
    """As those of a field."""
    supported: Versions | None = None
    """The versions that are negotiated, where other releases have brought more; None: all that are valid."""

    @property
    def negotiated(self) -> Versions:
        """The versions that are negotiated."""
        return self.valid if self.supported is None else self.supported

    @property
    def is_removed(self) -> bool:
        """``validVersions: none``: the API keeps its number, and has no messages any more."""
        return self.valid.empty

    def at(self, property_name: str) -> Location:
        return self.places.get(property_name, self.location)

    def flexible_at(self, member: Field) -> Versions:
        """The versions in which this field's value has the compact form."""
        return self.flexible if member.flexible is None else member.flexible

    def walk(self) -> Iterator[Field]:
        """Every field that has a type, those inside structs too, in the order of the file."""
        for struct in self.common_structs:
            yield from _walk(struct.members)
        yield from _walk(self.fields + self.optional_fields)


def _walk(fields: tuple[Field, ...]) -> Iterator[Field]:
    for member in fields:
        if member.is_typed:
            yield member
        yield from _walk(member.fields + member.optional_fields)
