"""Messages, structs and fields of the definition files, with source locations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kafka_message_generator.spec.source import Location
from kafka_message_generator.spec.versions import NONE, Versions


@dataclass(frozen=True)
class IntegerType:
    """A fixed-width integer: its width in bytes, and its code in struct formats and plan texts."""

    width: int
    code: str

    @property
    def range(self) -> tuple[int, int]:
        bits = 8 * self.width - self.is_signed
        return (-(1 << bits) if self.is_signed else 0), (1 << bits) - 1

    @property
    def is_signed(self) -> bool:
        return self.code.islower()


INTEGERS = {
    "int8": IntegerType(1, "b"),
    "int16": IntegerType(2, "h"),
    "uint16": IntegerType(2, "H"),
    "int32": IntegerType(4, "i"),
    "uint32": IntegerType(4, "I"),
    "int64": IntegerType(8, "q"),
}
# Size in bytes of each fixed-width type
FIXED_WIDTHS = {"bool": 1, **{name: each.width for name, each in INTEGERS.items()}, "float64": 8, "uuid": 16}

NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")

VARIABLE_TYPES = ("string", "bytes", "records")
PRIMITIVES = (*FIXED_WIDTHS, *VARIABLE_TYPES)

REQUEST, RESPONSE, HEADER = "request", "response", "header"
COORDINATOR_KEY, COORDINATOR_VALUE, METADATA = "coordinator-key", "coordinator-value", "metadata"
KINDS = (REQUEST, RESPONSE, HEADER, METADATA, "data", COORDINATOR_KEY, COORDINATOR_VALUE)

ENCODED_TYPES = {"int16": 16, "int32": 32, "int64": 64}

TAGGED_FIELD_FORMATS = ("sequential", "interleaved")

UNKNOWN_ENTITY = "unknown"
# Field type of each entity type known to Kafka's generator; ``entity-types.json`` adds more.
ENTITY_TYPES = {
    UNKNOWN_ENTITY: None,
    "transactionalId": "string",
    "producerId": "int64",
    "groupId": "string",
    "topicName": "string",
    "brokerId": "int32",
}


@dataclass(frozen=True)
class FieldType:
    """A declared type: ``int32``, ``[]string``, ``Assignment``, ``[]Topic``."""

    name: str
    is_array: bool = False

    @property
    def is_struct(self) -> bool:
        return self.name not in PRIMITIVES

    @property
    def is_fixed(self) -> bool:
        return not self.is_array and self.name in FIXED_WIDTHS

    @property
    def can_be_null(self) -> bool:
        return self.is_array or self.is_struct or self.name in VARIABLE_TYPES

    def __str__(self) -> str:
        return f"[]{self.name}" if self.is_array else self.name


@dataclass(frozen=True)
class Encoding:
    """Integer encoding of a field in some versions: ``fixed32``, or a varint such as ``packed16`` or ``upacked64``."""

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
    """A field of a message or struct; ``places`` maps each property in the file to its location."""

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
    optional_fields: tuple[Field, ...] = ()  # fields in the optional-field buffer of the struct type
    is_optional: bool = False  # whether the field belongs to an optional-field buffer
    # Numbers and booleans written as strings: text and location by property
    quoted: dict[str, tuple[str, Location]] = field(default_factory=dict)
    is_typed: bool = True  # False if ``type`` is a placeholder for an invalid type

    def at(self, property_name: str) -> Location:
        return self.places.get(property_name, self.location)


@dataclass(frozen=True, eq=False)
class Struct:
    """A common struct of the message, or an inline struct, declared by the ``fields`` of a field."""

    name: str
    versions: Versions
    fields: tuple[Field, ...]
    location: Location
    about: str = ""
    is_common: bool = False
    optional_fields: tuple[Field, ...] = ()

    @property
    def members(self) -> tuple[Field, ...]:
        return self.fields + self.optional_fields


@dataclass(frozen=True, eq=False)
class Message:
    name: str
    kind: str  # one of ``KINDS``; empty if invalid
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
    quoted: dict[str, tuple[str, Location]] = field(default_factory=dict)  # as in ``Field``
    # Versions to negotiate, if older releases added others to ``valid``; otherwise None.
    supported: Versions | None = None

    @property
    def negotiated(self) -> Versions:
        return self.valid if self.supported is None else self.supported

    @property
    def is_removed(self) -> bool:
        """True for ``validVersions: none``: the API was removed, but its key stays reserved."""
        return self.valid.empty

    def at(self, property_name: str) -> Location:
        return self.places.get(property_name, self.location)

    def flexible_at(self, member: Field) -> Versions:
        """Return the versions in which the value of a field uses the compact encoding."""
        return self.flexible if member.flexible is None else member.flexible

    def all_fields(self) -> Iterator[Field]:
        """Yield each field with a valid type, including the fields of structs; common structs first."""
        for struct in self.common_structs:
            yield from _with_nested(struct.members)
        yield from _with_nested(self.fields + self.optional_fields)


def _with_nested(fields: tuple[Field, ...]) -> Iterator[Field]:
    for member in fields:
        if member.is_typed:
            yield member
        yield from _with_nested(member.fields + member.optional_fields)
