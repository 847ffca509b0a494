"""Definitions of messages, parsed on first use from the JSON in the message classes."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable
from typing import Any, ClassVar, Protocol
from uuid import UUID

from .._core.described import message_of
from .._core.display import display
from .._core.structs import StructBase, checked_owner, name_of, owner_of
from .._core.value import dataclass
from .._core.versions import NO_VERSIONS, Versions, with_noun
from .._core.wire import ZERO_UUID


class HasDescriptor(Protocol):
    """Class with a descriptor, such as a message class."""

    NAME: ClassVar[str]
    _descriptor: ClassVar[str]


@dataclass(frozen=True, slots=True)
class FieldDescriptor:
    """Field of a definition."""

    name: str
    json_name: str
    type: str
    """Kafka type or struct name; for arrays, that of the elements."""
    is_array: bool
    versions: Versions
    nullable: Versions
    tag: int | None
    tagged: Versions
    """Versions in which the field is tagged."""
    flexible: Versions | None
    """Versions in which the field has compact lengths; None for the flexible versions of the message."""
    ignorable: bool
    """True if versions without the field drop its value; False if they refuse it."""
    map_key: bool
    raw_default: object
    """Default in the definition, or ``...`` for the default of the type."""
    optional: bool
    """True for a field in an optional-field buffer, with the key ``tag``."""
    encodings: tuple[tuple[Versions, str], ...]
    element_encodings: tuple[tuple[Versions, str], ...]
    entity_type: str | None
    """Entity type, such as ``topicName``, or None."""
    enumeration: str | None = None
    about: str = ""
    fields: tuple[FieldDescriptor, ...] = ()
    """Fields of the struct, if ``type`` is a struct."""
    secret: object = False
    """True for secrets; for config values the rule that decides by their name; else False."""

    def __repr__(self) -> str:
        kind = f"[]{self.type}" if self.is_array else self.type
        nullable = f", null in {with_noun(self.nullable.notation)}" if self.nullable else ""
        tag = "" if self.tag is None else f", tag {self.tag}"
        return f"<FieldDescriptor {self.name}: {kind}, {with_noun(self.versions.notation)}{nullable}{tag}>"

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()

    @property
    def is_error_code(self) -> bool:
        return self.enumeration == "ErrorCode"

    def default(self) -> object:
        """Return the default. Raises LookupError for structs that are not null by default."""
        default = self.raw_default
        if default is None:
            return None
        if self.is_array:
            return []
        if self.is_struct:
            raise LookupError("the default of a struct field is its struct with every field at its default")
        if default is ...:
            return _OWN_DEFAULTS.get(self.type, 0)
        if self.type == "uuid":
            return UUID(bytes=base64.urlsafe_b64decode(f"{default}=="))
        return float(str(default)) if self.type == "float64" else default


_OWN_DEFAULTS: dict[str, object] = {
    "bool": False,
    "float64": 0.0,
    "uuid": ZERO_UUID,
    "string": "",
    "bytes": b"",
    "records": b"",
}


@dataclass(frozen=True, slots=True)
class MessageDescriptor:
    """Definition of a message."""

    name: str
    kind: str
    valid: Versions
    flexible: Versions
    fields: tuple[FieldDescriptor, ...]
    structs: dict[str, tuple[FieldDescriptor, ...]]
    with_optional: Versions = NO_VERSIONS
    """Versions with an optional-field buffer at the start of each struct."""
    is_interleaved: bool = False
    """True if tag and size of a tagged field share one varlong."""
    header_versions: tuple[tuple[int, int], ...] = ()
    """Pairs of a message version and the header version used from it on; empty except for requests and responses."""

    def flexible_at(self, field: FieldDescriptor) -> Versions:
        return self.flexible if field.flexible is None else field.flexible

    def endpoints(self) -> tuple[str, ...]:
        structs = {**self.structs, self.name: self.fields}
        return tuple(sorted(name for name, fields in structs.items() if address_of(fields) is not None))


# The last two are in requests of controllers before 4.0.
_ADDRESSES = (("host", "port"), ("host_name", "port"), ("v0_host", "v0_port"))


def address_of(fields: tuple[FieldDescriptor, ...]) -> tuple[str, str] | None:
    types = {field.name: field.type for field in fields if not field.is_array}
    found = (
        names for names in _ADDRESSES if types.get(names[0]) == "string" and types.get(names[1]) in ("int32", "uint16")
    )
    return next(found, None)


# Keyed by generated class, because derived classes may be short-lived.
_parsed: dict[type, MessageDescriptor] = {}


def descriptor_of(message: type[HasDescriptor]) -> MessageDescriptor:
    owner = checked_owner(message)
    descriptor = _parsed.get(owner)
    if descriptor is None:
        descriptor = _parsed[owner] = parse_descriptor(owner._descriptor)
    return descriptor


def message_class(message: type[HasDescriptor]) -> Any:
    return class_in(message, name_of(message))


def class_in(message: type[HasDescriptor], name: str) -> type[StructBase]:
    home = owner_of(message).__module__
    found: type[StructBase] = getattr(sys.modules[home], name)
    return found


def fields_of(cls: type[StructBase]) -> tuple[FieldDescriptor, ...]:
    """Return the fields of a message or struct class, in definition order. Raises TypeError for other classes."""
    message = message_of(cls)
    if message is None:
        raise TypeError(f"expected the class of a message or of a struct inside one, got {display(cls)}")
    descriptor = descriptor_of(message)
    own = {descriptor.name: descriptor.fields, **descriptor.structs}
    return next(own[base.__name__] for base in cls.__mro__ if base.__name__ in own)


def entity_types(message: type[HasDescriptor]) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the entity types of a message's fields, such as ``topicName``, by struct and field name."""
    from ._entities import ENTITIES

    return {(struct, field): types for struct, field, types in ENTITIES.get(descriptor_of(message).name, ())}


def parse_descriptor(text: str) -> MessageDescriptor:
    data = json.loads(text)
    defined = data.get("structs", {})
    structs: dict[str, tuple[FieldDescriptor, ...]] = {}

    def struct(name: str) -> tuple[FieldDescriptor, ...]:
        if name not in structs:
            structs[name] = tuple(_field(each, struct) for each in defined[name])
        return structs[name]

    for name in defined:
        struct(name)
    return MessageDescriptor(
        name=data["name"],
        kind=data["type"],
        valid=Versions.parse(data["validVersions"]),
        flexible=Versions.parse(data["flexibleVersions"]),
        fields=tuple(_field(each, struct) for each in data["fields"]),
        structs=structs,
        with_optional=Versions.parse(data.get("versionsWithOptional", "none")),
        is_interleaved=data.get("taggedFieldFormat") == "interleaved",
        header_versions=tuple((first, header) for first, header in data.get("headerVersions", ())),
    )


def _field(data: dict[str, object], struct: Callable[[str], tuple[FieldDescriptor, ...]]) -> FieldDescriptor:
    kind, tag = str(data["type"]), data.get("tag")
    flexible, element = data.get("flexibleVersions"), kind.removeprefix("[]")
    return FieldDescriptor(
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
        raw_default=data.get("default", ...),
        optional=bool(data.get("optional")),
        encodings=_encodings(data.get("encoding")),
        element_encodings=_encodings(data.get("elementEncoding")),
        entity_type=str(data["entityType"]) if "entityType" in data else None,
        enumeration=str(data["enumeration"]) if "enumeration" in data else None,
        about=str(data.get("about", "")),
        fields=struct(element) if element[0].isupper() else (),
        secret=data.get("secret", False),
    )


def _encodings(data: object) -> tuple[tuple[Versions, str], ...]:
    if not isinstance(data, dict):
        return ()
    return tuple((Versions.parse(versions), str(name)) for versions, name in data.items())
