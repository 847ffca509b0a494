"""The definition behind a message class, from the compact data its module keeps; parsed on first use.

What is here and above knows no message class: it asks only for what ``Described`` says.
"""

from __future__ import annotations

import base64
import json
from typing import ClassVar, Protocol
from uuid import UUID

from .._core.value import dataclass
from .._core.wire import ZERO_UUID

MAX_VERSION = 32767


class Described(Protocol):
    """A class that carries its definition, as every message does."""

    NAME: ClassVar[str]
    _facts: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Range:
    """Versions of a message, both ends included."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> Range:
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), MAX_VERSION)
        lowest, _, highest = text.partition("-")
        return cls(int(lowest), int(highest or lowest))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest


NO_VERSIONS = Range(0, -1)


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """One field of the definition."""

    name: str
    json_name: str
    type: str
    is_array: bool
    versions: Range
    nullable: Range
    tag: int | None
    tagged: Range
    flexible: Range | None
    ignorable: bool
    map_key: bool
    default_fact: object
    """The default as JSON; absent (``...``) for the type's own default."""
    optional: bool
    """Whether the field lives in an optional-field buffer, where ``tag`` is its key."""
    encodings: tuple[tuple[Range, str], ...]
    """How an integer is written, by versions."""
    element_encodings: tuple[tuple[Range, str], ...]
    entity_type: str | None
    """What the field names, in the definition's word: ``brokerId``, ``groupId``, ``producerId``, ``topicName`` or
    ``transactionalId``; None where it names none of them."""

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()

    @property
    def is_error_code(self) -> bool:
        """Whether the field holds one of Kafka's error codes; their names and type tell."""
        return self.type == "int16" and not self.is_array and self.name.endswith("error_code")

    def default(self) -> object:
        """The value of the field when nothing is said; containers are new each time, structs are None here."""
        fact = self.default_fact
        if fact is None:
            return None
        if self.is_array:
            return []
        if self.is_struct:
            raise LookupError("the default of a struct field is its struct with every field at its default")
        if fact is ...:
            return _OWN_DEFAULTS[self.type]
        if self.type == "uuid":
            return UUID(bytes=base64.urlsafe_b64decode(f"{fact}=="))
        return float(str(fact)) if self.type == "float64" else fact


_OWN_DEFAULTS: dict[str, object] = {
    "bool": False,
    "float64": 0.0,
    "uuid": ZERO_UUID,
    "string": "",
    "bytes": b"",
    "records": b"",
    "int8": 0,
    "int16": 0,
    "uint16": 0,
    "int32": 0,
    "uint32": 0,
    "int64": 0,
}


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """One definition; ``structs`` has the fields of every struct inside the message, by name."""

    name: str
    kind: str
    valid: Range
    flexible: Range
    fields: tuple[FieldFacts, ...]
    structs: dict[str, tuple[FieldFacts, ...]]
    with_optional: Range = NO_VERSIONS
    """Versions in which every struct starts with an optional-field buffer."""
    is_interleaved: bool = False
    """Whether tagged fields have one varlong of tag and size in front."""

    def flexible_at(self, field: FieldFacts) -> Range:
        return self.flexible if field.flexible is None else field.flexible

    def endpoints(self) -> tuple[str, ...]:
        """The structs, the message itself included, that have a host and a port, in the order of their names."""
        structs = {**self.structs, self.name: self.fields}
        return tuple(sorted(name for name, fields in structs.items() if _is_endpoint(fields)))


def _is_endpoint(fields: tuple[FieldFacts, ...]) -> bool:
    types = {field.name: field.type for field in fields if not field.is_array}
    return types.get("host") == "string" and types.get("port") in ("int32", "uint16")


_parsed: dict[type[Described], MessageFacts] = {}


def facts_of(message: type[Described]) -> MessageFacts:
    """The definition of a message class."""
    facts = _parsed.get(message)
    if facts is None:
        facts = _parsed[message] = _parse(message)
    return facts


def _parse(message: type[Described]) -> MessageFacts:
    data = json.loads(message._facts)
    structs = {name: tuple(map(_field, fields)) for name, fields in data.get("structs", {}).items()}
    return MessageFacts(
        name=data["name"],
        kind=data["type"],
        valid=Range.parse(data["validVersions"]),
        flexible=Range.parse(data["flexibleVersions"]),
        fields=tuple(map(_field, data["fields"])),
        structs=structs,
        with_optional=Range.parse(data.get("versionsWithOptional", "none")),
        is_interleaved=data.get("taggedFieldFormat") == "interleaved",
    )


def _field(data: dict[str, object]) -> FieldFacts:
    kind, tag = str(data["type"]), data.get("tag")
    flexible = data.get("flexibleVersions")
    return FieldFacts(
        name=str(data["name"]),
        json_name=str(data["json"]),
        type=kind.removeprefix("[]"),
        is_array=kind.startswith("[]"),
        versions=Range.parse(str(data["versions"])),
        nullable=Range.parse(str(data.get("nullableVersions", "none"))),
        tag=tag if isinstance(tag, int) else None,
        tagged=Range.parse(str(data.get("taggedVersions", "none"))),
        flexible=None if flexible is None else Range.parse(str(flexible)),
        ignorable=bool(data.get("ignorable")),
        map_key=bool(data.get("mapKey")),
        default_fact=data.get("default", ...),
        optional=bool(data.get("optional")),
        encodings=_encodings(data.get("encoding")),
        element_encodings=_encodings(data.get("elementEncoding")),
        entity_type=str(data["entityType"]) if "entityType" in data else None,
    )


def _encodings(data: object) -> tuple[tuple[Range, str], ...]:
    if not isinstance(data, dict):
        return ()
    return tuple((Range.parse(versions), str(name)) for versions, name in data.items())
