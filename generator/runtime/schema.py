"""The dynamic codec: what a message looks like at each version, as data that can be read, written and printed.

``MetadataResponse.schemas()[12].read(data)`` gives a ``Struct`` without using the generated class. It is slower than
the class, knows where it is, and therefore also finds the words for every error of the fast code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import _types as types
from ._facts import FieldFacts, MessageFacts, facts_of
from ._message import Message
from ._types import (
    BOOLEAN,
    BYTES,
    COMPACT_BYTES,
    COMPACT_NULLABLE_BYTES,
    COMPACT_NULLABLE_RECORDS,
    COMPACT_NULLABLE_STRING,
    COMPACT_RECORDS,
    COMPACT_STRING,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    NULLABLE_BYTES,
    NULLABLE_RECORDS,
    NULLABLE_STRING,
    RECORDS,
    STRING,
    UINT16,
    UNSIGNED_INT32,
    UNSIGNED_VARINT,
    UNSIGNED_VARLONG,
    UUID,
    VARINT,
    VARLONG,
    ArrayOf,
    CompactArrayOf,
    SchemaError,
    Type,
)
from ._wire import RawTaggedField

__all__ = [
    "BOOLEAN",
    "BYTES",
    "COMPACT_BYTES",
    "COMPACT_NULLABLE_BYTES",
    "COMPACT_NULLABLE_RECORDS",
    "COMPACT_NULLABLE_STRING",
    "COMPACT_RECORDS",
    "COMPACT_STRING",
    "FLOAT64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "NULLABLE_BYTES",
    "NULLABLE_RECORDS",
    "NULLABLE_STRING",
    "RECORDS",
    "STRING",
    "UINT16",
    "UNSIGNED_INT32",
    "UNSIGNED_VARINT",
    "UNSIGNED_VARLONG",
    "UUID",
    "VARINT",
    "VARLONG",
    "ArrayOf",
    "CompactArrayOf",
    "Field",
    "NullableStruct",
    "Schema",
    "SchemaError",
    "Struct",
    "TagSection",
    "TaggedStruct",
    "Type",
    "schemas_of",
]


class Field:
    """A named value of a type; ``default`` is what a tagged field has when it is left out."""

    __slots__ = ("default", "has_default", "name", "type")

    def __init__(self, name: str, type: Type, default: object = ...) -> None:
        self.name = name
        self.type = type
        self.has_default = default is not ...
        self.default = None if default is ... else default

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.type!r})"


class Struct:
    """Values by field name, in the order of a schema, with the tagged fields that the schema does not name."""

    __slots__ = ("schema", "unknown_tagged_fields", "values")

    def __init__(
        self, schema: Schema, values: Mapping[str, object], unknown_tagged_fields: tuple[RawTaggedField, ...] = ()
    ) -> None:
        self.schema = schema
        self.values = dict(values)
        self.unknown_tagged_fields = unknown_tagged_fields

    def __getitem__(self, name: str) -> object:
        return self.values[name]

    def __setitem__(self, name: str, value: object) -> None:
        if name not in self.schema.names:
            raise SchemaError(f"the schema has no field {name!r}")
        self.values[name] = value

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self.values == other.values and self.unknown_tagged_fields == other.unknown_tagged_fields

    __hash__ = None  # type: ignore[assignment]  # it can change, like a dict

    def __repr__(self) -> str:
        return f"Struct({', '.join(f'{name}={value!r}' for name, value in self.values.items())})"


def _value_of(container: object, name: str) -> object:
    """A field of a Struct, a mapping or any object with attributes, such as a message."""
    try:
        if isinstance(container, (Struct, Mapping)):
            return container[name]
        return getattr(container, name)
    except (KeyError, AttributeError):
        raise SchemaError("is missing") from None


class TagSection(Type):
    """The tagged fields of a struct, by tag; ``absent`` are tags that other versions of the definition have."""

    name = "TAG_SECTION"

    def __init__(self, fields: Mapping[int, Field], absent: frozenset[int] = frozenset()) -> None:
        for tag in fields:
            if not 0 <= tag < 1 << 32:
                raise SchemaError(f"tag {tag} is not an unsigned 32-bit integer")
        self.fields = dict(sorted(fields.items()))
        self.absent = absent

    def read_into(self, data: bytes, pos: int, values: dict[str, object]) -> tuple[tuple[RawTaggedField, ...], int]:
        """Read known fields into ``values``; returns the unknown ones by tag and the offset after the section."""
        count, at = UNSIGNED_VARINT.read(data, pos)
        unknown, seen = [], set()
        for _ in range(count):
            start = at
            tag, at = UNSIGNED_VARINT.read(data, at)
            size, at = UNSIGNED_VARINT.read(data, at)
            if tag in seen:
                raise SchemaError(f"tag {tag} comes twice, again at offset {start}", start)
            seen.add(tag)
            end = types.need(data, at, size, f"tagged field {tag}")
            if tag in self.absent:
                raise SchemaError(f"tag {tag} at offset {start} is not valid in this version", start)
            if tag in self.fields:
                self._read_known(tag, data, at, size, values)
            else:
                unknown.append(RawTaggedField(tag, data[at:end]))
            at = end
        return tuple(sorted(unknown, key=lambda raw: raw.tag)), at

    def _read_known(self, tag: int, data: bytes, at: int, size: int, values: dict[str, object]) -> None:
        field = self.fields[tag]
        try:
            values[field.name], after = field.type.read(data, at)
            if after != at + size:
                raise SchemaError(f"tagged field {tag} has size {size} at offset {at}, but its value {after - at}", at)
        except SchemaError as error:
            raise error.inside(f".{field.name}") from None

    def write_from(self, out: bytearray, container: object) -> None:
        """Write the fields of a container that are not at their default, and its unknown ones."""
        parts: dict[int, bytes] = {}
        for tag, field in self.fields.items():
            if isinstance(container, Struct) and field.name not in container.values:
                continue
            try:
                value = _value_of(container, field.name)
                if not (field.has_default and is_default(value, field.default)):
                    part = bytearray()
                    field.type.write(part, value)
                    parts[tag] = bytes(part)
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        for raw in getattr(container, "unknown_tagged_fields", ()):
            if raw.tag in parts or raw.tag in self.fields or raw.tag in self.absent:
                raise SchemaError(f"tag {raw.tag} is used twice").inside(".unknown_tagged_fields")
            parts[raw.tag] = raw.data
        UNSIGNED_VARINT.write(out, len(parts))
        for tag in sorted(parts):
            UNSIGNED_VARINT.write(out, tag)
            UNSIGNED_VARINT.write(out, len(parts[tag]))
            out += parts[tag]


class Schema(Type):
    """Fields in order and, in flexible versions, the tag section after them. A schema is itself a type."""

    name = "STRUCT"

    def __init__(self, *fields: Field, tags: TagSection | None = None) -> None:
        self.fields = fields
        self.tags = tags
        tagged = tuple(tags.fields.values()) if tags else ()
        self.names = frozenset(field.name for field in (*fields, *tagged))
        if len(self.names) != len(fields) + len(tagged):
            names = [field.name for field in (*fields, *tagged)]
            raise SchemaError(f"duplicate field {next(n for n in names if names.count(n) > 1)!r}")

    def read(self, data: bytes, pos: int = 0) -> tuple[Struct, int]:
        values: dict[str, object] = {}
        for field in self.fields:
            try:
                values[field.name], pos = field.type.read(data, pos)
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        unknown: tuple[RawTaggedField, ...] = ()
        if self.tags is not None:
            unknown, pos = self.tags.read_into(data, pos, values)
        return Struct(self, values, unknown), pos

    def write(self, out: bytearray, value: object) -> None:
        if value is None:
            raise SchemaError("is None, but this version has no null here")
        for field in self.fields:
            try:
                field.type.write(out, _value_of(value, field.name))
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        if self.tags is not None:
            self.tags.write_from(out, value)
        elif getattr(value, "unknown_tagged_fields", ()):
            raise SchemaError("is set, but this version has no tagged fields").inside(".unknown_tagged_fields")

    def __str__(self) -> str:
        fields = [f"{field.name} => {field.type}" for field in self.fields]
        if self.tags is not None:
            fields.append("_tagged_fields")
            fields += [f"{field.name}<tag: {tag}> => {field.type}" for tag, field in self.tags.fields.items()]
        return "{" + ", ".join(fields) + "}"

    def __repr__(self) -> str:
        return f"<Schema {self}>"


class NullableStruct(Type):
    """A struct behind a presence byte: -1 for null, 1 for a struct."""

    nullable = True
    _marks = (-1, 1)
    _presence: Type = INT8

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.name = f"NULLABLE_STRUCT{schema}"

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        presence, pos = self._presence.read(data, pos)
        assert isinstance(presence, int)
        return (None, pos) if presence <= self._marks[0] else self.schema.read(data, pos)

    def write(self, out: bytearray, value: object) -> None:
        self._presence.write(out, self._marks[value is not None])
        if value is not None:
            self.schema.write(out, value)


class TaggedStruct(NullableStruct):
    """A nullable struct as a tagged field: its presence is an unsigned varint, 0 or 1."""

    _marks = (0, 1)
    _presence = UNSIGNED_VARINT


types.has_smallest(Schema, lambda kind: _smallest_struct(kind))


def _smallest_struct(kind: Type) -> int:
    assert isinstance(kind, Schema)
    return int(kind.tags is not None) + sum(types.smallest(field.type) for field in kind.fields)


def is_default(value: object, default: object) -> bool:
    """Whether a tagged field may be left out. A struct's default (``Struct`` here) has every field at its own."""
    if default is None or value is None:
        return value is default
    if isinstance(default, list):
        return len(types._elements(value)) == 0
    if isinstance(default, Struct):
        if getattr(value, "unknown_tagged_fields", ()):
            return False
        return all(is_default(_value_of(value, name), wanted) for name, wanted in default.values.items())
    return bool(value == default)


_PRIMITIVES: dict[str, Type] = {
    "bool": BOOLEAN,
    "int8": INT8,
    "int16": INT16,
    "uint16": UINT16,
    "int32": INT32,
    "uint32": UNSIGNED_INT32,
    "int64": INT64,
    "float64": FLOAT64,
    "uuid": UUID,
}
# By whether compact, then whether nullable.
_SIZED: dict[str, tuple[tuple[Type, Type], tuple[Type, Type]]] = {
    "string": ((STRING, NULLABLE_STRING), (COMPACT_STRING, COMPACT_NULLABLE_STRING)),
    "bytes": ((BYTES, NULLABLE_BYTES), (COMPACT_BYTES, COMPACT_NULLABLE_BYTES)),
    "records": ((RECORDS, NULLABLE_RECORDS), (COMPACT_RECORDS, COMPACT_NULLABLE_RECORDS)),
}


_built: dict[type[Message], dict[int, Schema]] = {}


def schemas_of(message: type[Message]) -> dict[int, Schema]:
    """The schema of each valid version of a message; versions that look the same share one."""
    schemas = _built.get(message)
    if schemas is None:
        schemas = _built[message] = _build(facts_of(message))
    return schemas


def _build(facts: MessageFacts) -> dict[int, Schema]:
    builder = Builder(facts)
    schemas: dict[int, Schema] = {}
    for version in range(facts.valid.lowest, facts.valid.highest + 1):
        schema = builder.struct(facts.fields, version)
        schemas[version] = next((other for other in schemas.values() if str(other) == str(schema)), schema)
    return schemas


class Builder:
    """Schemas from the definition alone, by its own reading of it."""

    def __init__(self, facts: MessageFacts) -> None:
        self.facts = facts

    def struct(self, fields: tuple[FieldFacts, ...], version: int) -> Schema:
        regular = [f for f in fields if version in f.versions and version not in f.tagged]
        body = [Field(f.name, self.type_of(f, version)) for f in regular]
        if version not in self.facts.flexible:
            return Schema(*body)
        tagged = {f.tag: self.tagged(f, version) for f in fields if f.tag is not None and version in f.tagged}
        absent = frozenset(f.tag for f in fields if f.tag is not None and f.tag not in tagged)
        return Schema(*body, tags=TagSection(tagged, absent))

    def tagged(self, field: FieldFacts, version: int) -> Field:
        kind = self.type_of(field, version)
        if isinstance(kind, NullableStruct):
            kind = TaggedStruct(kind.schema)
        return Field(field.name, kind, self.default(field))

    def default(self, field: FieldFacts) -> object:
        """The default of a field; a struct's as a Struct of all fields of the definition at theirs."""
        if field.is_struct and not field.is_array and field.default_fact is not None:
            inner = {f.name: self.default(f) for f in self.facts.structs[field.type]}
            return Struct(Schema(), inner)
        return field.default()

    def type_of(self, field: FieldFacts, version: int) -> Type:
        compact = version in self.facts.flexible_at(field)
        nullable = version in field.nullable
        if field.is_array:
            array = CompactArrayOf if compact else ArrayOf
            return array(self.scalar(field.type, compact, False, version), nullable)
        return self.scalar(field.type, compact, nullable, version)

    def scalar(self, kind: str, compact: bool, nullable: bool, version: int) -> Type:
        if kind in _PRIMITIVES:
            return _PRIMITIVES[kind]
        if kind in _SIZED:
            return _SIZED[kind][compact][nullable]
        schema = self.struct(self.facts.structs[kind], version)
        return NullableStruct(schema) if nullable else schema
