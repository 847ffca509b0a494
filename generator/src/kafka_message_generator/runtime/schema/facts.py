"""The definition behind a message class, from the compact data its module keeps; parsed on first use.

What is here and above knows no message class: it asks only for what ``HasDescriptor`` says.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Protocol
from uuid import UUID

from .._core.described import message_of
from .._core.shown import shown
from .._core.structs import StructBase, checked_owner, name_of, owner_of
from .._core.value import dataclass
from .._core.versions import NO_VERSIONS, Versions, with_noun
from .._core.wire import ZERO_UUID


class HasDescriptor(Protocol):
    """A class that carries its definition, as every message does."""

    NAME: ClassVar[str]
    _descriptor: ClassVar[str]


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """One field of the definition."""

    name: str
    """Its name in Python."""
    json_name: str
    """Its key in Kafka's JSON form."""
    type: str
    """Kafka's type, or the name of a struct: of the field, or of each element of an array."""
    is_array: bool
    versions: Versions
    """The versions that have the field."""
    nullable: Versions
    """The versions in which it may be null."""
    tag: int | None
    tagged: Versions
    """The versions in which it is written with its tag, and left out at its default."""
    flexible: Versions | None
    """The versions with compact lengths, where they are others than the message's."""
    ignorable: bool
    """Whether it is dropped, and not refused, when it is set and a version without it is written."""
    map_key: bool
    """Whether elements of the array that the struct is in are found by it."""
    default_fact: object
    """The default as JSON; absent (``...``) for the type's own default."""
    optional: bool
    """Whether the field lives in an optional-field buffer, where ``tag`` is its key."""
    encodings: tuple[tuple[Versions, str], ...]
    """How an integer is written, by versions."""
    element_encodings: tuple[tuple[Versions, str], ...]
    entity_type: str | None
    """What the field names, in the definition's word: ``brokerId``, ``groupId``, ``producerId``, ``topicName`` or
    ``transactionalId``; None where it names none of them."""
    enumeration: str | None = None
    """The name of the enumeration that has names for what the field holds; None where there is none."""
    about: str = ""
    """What the field is, in our words; empty where there is nothing to add to its name."""
    fields: tuple[FieldFacts, ...] = ()
    """The fields of its struct; none where the type is not one."""
    secret: bool = False
    """Whether it is secret, or the value of a setting, which is secret if the setting's name says so."""

    def __repr__(self) -> str:
        kind = f"[]{self.type}" if self.is_array else self.type
        nullable = f", null in {with_noun(self.nullable.notation)}" if self.nullable else ""
        tag = "" if self.tag is None else f", tag {self.tag}"
        return f"<FieldFacts {self.name}: {kind}, {with_noun(self.versions.notation)}{nullable}{tag}>"

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()

    @property
    def is_error_code(self) -> bool:
        """Whether the field holds one of Kafka's error codes."""
        return self.enumeration == "ErrorCode"

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
    valid: Versions
    flexible: Versions
    fields: tuple[FieldFacts, ...]
    structs: dict[str, tuple[FieldFacts, ...]]
    with_optional: Versions = NO_VERSIONS
    """Versions in which every struct starts with an optional-field buffer."""
    is_interleaved: bool = False
    """Whether tagged fields have one varlong of tag and size in front."""

    def flexible_at(self, field: FieldFacts) -> Versions:
        return self.flexible if field.flexible is None else field.flexible

    def endpoints(self) -> tuple[str, ...]:
        """The structs, the message itself included, that have a host and a port, in the order of their names."""
        structs = {**self.structs, self.name: self.fields}
        return tuple(sorted(name for name, fields in structs.items() if address_of(fields) is not None))


_ADDRESSES = (("host", "port"), ("host_name", "port"), ("v0_host", "v0_port"))
"""Fields of host and port; those behind the first are in requests of controllers to brokers, up to 3.9."""


def address_of(fields: tuple[FieldFacts, ...]) -> tuple[str, str] | None:
    """The names of the fields of a struct that have a host and its port; None where it has none."""
    types = {field.name: field.type for field in fields if not field.is_array}
    found = (
        names for names in _ADDRESSES if types.get(names[0]) == "string" and types.get(names[1]) in ("int32", "uint16")
    )
    return next(found, None)


_parsed: dict[type, MessageFacts] = {}
"""By what has the definition: classes that are derived from a message come and go."""


def facts_of(message: type[HasDescriptor]) -> MessageFacts:
    """The definition of a message class."""
    owner = checked_owner(message)
    facts = _parsed.get(owner)
    if facts is None:
        facts = _parsed[owner] = facts_in(owner._descriptor)
    return facts


def message_class(message: type[HasDescriptor]) -> Any:
    """The class of a message that somebody derived another from; the message itself is its own."""
    return class_in(message, name_of(message))


def class_in(message: type[HasDescriptor], name: str) -> type[StructBase]:
    """The class of a struct inside a message; of a class that somebody derived from a message, too."""
    home = owner_of(message).__module__
    found: type[StructBase] = getattr(sys.modules[home], name)
    return found


def fields_of(cls: type[StructBase]) -> tuple[FieldFacts, ...]:
    """The fields of a message, or of a struct inside one, in the order of the definition.

    Those in optional-field buffers come last. Raises TypeError for what is no class of a generated package.
    """
    message = message_of(cls)
    if message is None:
        raise TypeError(f"expected the class of a message or of a struct inside one, got {shown(cls)}")
    facts = facts_of(message)
    own = {facts.name: facts.fields, **facts.structs}
    return next(own[base.__name__] for base in cls.__mro__ if base.__name__ in own)


def facts_in(text: str) -> MessageFacts:
    """The definition of a message as its class has it, in JSON; also of one that has no class."""
    data = json.loads(text)
    defined = data.get("structs", {})
    structs: dict[str, tuple[FieldFacts, ...]] = {}

    def struct(name: str) -> tuple[FieldFacts, ...]:
        if name not in structs:
            structs[name] = tuple(_field(each, struct) for each in defined[name])
        return structs[name]

    for name in defined:
        struct(name)
    return MessageFacts(
        name=data["name"],
        kind=data["type"],
        valid=Versions.parse(data["validVersions"]),
        flexible=Versions.parse(data["flexibleVersions"]),
        fields=tuple(_field(each, struct) for each in data["fields"]),
        structs=structs,
        with_optional=Versions.parse(data.get("versionsWithOptional", "none")),
        is_interleaved=data.get("taggedFieldFormat") == "interleaved",
    )


def _field(data: dict[str, object], struct: Callable[[str], tuple[FieldFacts, ...]]) -> FieldFacts:
    kind, tag = str(data["type"]), data.get("tag")
    flexible, element = data.get("flexibleVersions"), kind.removeprefix("[]")
    return FieldFacts(
        name=str(data["name"]),
        json_name=str(data["json"]),
        type=element,
        is_array=kind.startswith("[]"),
        versions=Versions.parse(str(data["versions"])),
        nullable=Versions.parse(str(data.get("nullableVersions", "none"))),
        tag=tag if isinstance(tag, int) else None,
        tagged=Versions.parse(str(data.get("taggedVersions", "none"))),
        flexible=None if flexible is None else Versions.parse(str(flexible)),
        ignorable=bool(data.get("ignorable")),
        map_key=bool(data.get("mapKey")),
        default_fact=data.get("default", ...),
        optional=bool(data.get("optional")),
        encodings=_encodings(data.get("encoding")),
        element_encodings=_encodings(data.get("elementEncoding")),
        entity_type=str(data["entityType"]) if "entityType" in data else None,
        enumeration=str(data["enumeration"]) if "enumeration" in data else None,
        about=str(data.get("about", "")),
        fields=struct(element) if element[0].isupper() else (),
        secret="secret" in data,
    )


def _encodings(data: object) -> tuple[tuple[Versions, str], ...]:
    if not isinstance(data, dict):
        return ()
    return tuple((Versions.parse(versions), str(name)) for versions, name in data.items())
