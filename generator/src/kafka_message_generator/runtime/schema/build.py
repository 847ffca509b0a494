"""Builder of schemas from definitions, independent of generated code."""

from __future__ import annotations

from .._core.structs import checked_owner
from .._core.versions import Versions
from .arrays import ArrayOf, CompactArrayOf
from .descriptors import FieldDescriptor, HasDescriptor, MessageDescriptor, descriptor_of
from .encodings import ENCODINGS
from .schema import NullableStruct, Schema, TaggedStruct
from .sections import InterleavedTagSection, TagSection
from .struct import Field, Struct
from .types import PRIMITIVES, SIZED, STRINGS, Kinds, Type

_built: dict[type, dict[int, Schema]] = {}


def schemas_of(message: type[HasDescriptor]) -> dict[int, Schema]:
    """Return the schema of each valid version; identical versions share one object."""
    owner = checked_owner(message)
    schemas = _built.get(owner)
    if schemas is None:
        schemas = _built[owner] = build(descriptor_of(owner))
    return schemas


def build(descriptor: MessageDescriptor, strings: Kinds = STRINGS) -> dict[int, Schema]:
    builder = SchemaBuilder(descriptor, strings)
    schemas: dict[int, Schema] = {}
    for version in range(descriptor.valid.lowest, descriptor.valid.highest + 1):
        schema = builder.struct(descriptor.fields, version)
        schemas[version] = next((other for other in schemas.values() if str(other) == str(schema)), schema)
    return schemas


class SchemaBuilder:
    def __init__(self, descriptor: MessageDescriptor, strings: Kinds = STRINGS) -> None:
        self.descriptor = descriptor
        self.sized = {"string": strings, **SIZED}

    def struct(self, fields: tuple[FieldDescriptor, ...], version: int) -> Schema:
        regular = [f for f in fields if version in f.versions and version not in f.tagged and not f.optional]
        body = [Field(f.name, self.type_of(f, version)) for f in regular]
        if version in self.descriptor.with_optional:
            schema = Schema(
                {f.tag: self.optional(f, version) for f in fields if f.optional and f.tag is not None}, *body
            )
        elif version not in self.descriptor.flexible:
            schema = Schema(*body)
        else:
            tagged = {f.tag: self.tagged(f, version) for f in fields if f.tag is not None and version in f.tagged}
            absent = frozenset(f.tag for f in fields if f.tag is not None and f.tag not in tagged)
            section = InterleavedTagSection if self.descriptor.is_interleaved else TagSection
            schema = Schema(*body, tags=section(tagged, absent))
        schema.secrets = {f.name: f.secret for f in fields if f.secret}
        return schema

    def optional(self, field: FieldDescriptor, version: int) -> Field:
        return Field(field.name, self.type_of(field, version), self.default(field))

    def tagged(self, field: FieldDescriptor, version: int) -> Field:
        kind = self.type_of(field, version)
        if isinstance(kind, NullableStruct):
            kind = TaggedStruct(kind.schema)
        return Field(field.name, kind, self.default(field))

    def default(self, field: FieldDescriptor) -> object:
        if field.is_struct and not field.is_array and field.raw_default is not None:
            inner = {f.name: self.default(f) for f in self.descriptor.structs[field.type]}
            return Struct(Schema(), inner)
        return field.default()

    def type_of(self, field: FieldDescriptor, version: int) -> Type:
        compact = version in self.descriptor.flexible_at(field)
        nullable = version in field.nullable
        if field.is_array:
            array = CompactArrayOf if compact else ArrayOf
            element = self.encoded(field.element_encodings, version) or self.scalar(field.type, compact, False, version)
            return array(element, nullable)
        return self.encoded(field.encodings, version) or self.scalar(field.type, compact, nullable, version)

    def encoded(self, encodings: tuple[tuple[Versions, str], ...], version: int) -> Type | None:
        name = next((name for versions, name in encodings if version in versions), None)
        if name is None:
            return None
        return PRIMITIVES[f"int{name.removeprefix('fixed')}"] if name.startswith("fixed") else ENCODINGS[name]

    def scalar(self, kind: str, compact: bool, nullable: bool, version: int) -> Type:
        if kind in PRIMITIVES:
            return PRIMITIVES[kind]
        if kind in self.sized:
            return self.sized[kind][compact][nullable]
        schema = self.struct(self.descriptor.structs[kind], version)
        return NullableStruct(schema) if nullable else schema
