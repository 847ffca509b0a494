"""Struct types, tag sections and nullable structs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from .._core.wire import RawTaggedField, as_bytes
from .arrays import ArrayOf
from .sections import OptionalFieldBuffer, TagSection
from .struct import Field, Struct, StructType, value_of
from .types import INT8, UNSIGNED_VARINT, Fixed, SchemaError, Type, VarInt
from .walk import Walk


class Schema(StructType):
    """Struct type: ``Schema(*fields, tags=TagSection(...))`` or ``Schema(optional_fields, *fields)``.

    Raises SchemaError for duplicate names or tags, and for optional fields with ``tags``.
    """

    name = "STRUCT"

    def __init__(
        self,
        *fields: Field | Mapping[int, Field] | Sequence[tuple[int, Field]],
        tags: TagSection | None = None,
    ) -> None:
        first = fields[0] if fields else None
        self.optional = None if first is None or isinstance(first, Field) else OptionalFieldBuffer(first)
        regular = fields if self.optional is None else fields[1:]
        self.fields: tuple[Field, ...] = tuple(field for field in regular if isinstance(field, Field))
        if len(self.fields) != len(regular):
            raise SchemaError("only the first argument of a schema can be its optional fields")
        if self.optional is not None and tags is not None:
            raise SchemaError("a struct has optional fields or tagged fields, not both")
        self.tags = tags
        names = [field.name for field in (*self.fields, *self._extra())]
        self.names = frozenset(names)
        if len(self.names) != len(names):
            raise SchemaError(f"duplicate field {next(n for n in names if names.count(n) > 1)!r}")
        before, after = ([("", section)] if section else [] for section in (self.optional, tags))
        self.walk: Walk = Walk([*before, *((f".{field.name}", field.type) for field in self.fields), *after])
        self.width = self.walk.width
        self.least = len(before) + len(after) + sum(field.type.least for field in self.fields)

    def _extra(self) -> Iterable[Field]:
        for section in (self.optional, self.tags):
            yield from section.fields.values() if section else ()

    def read(self, data: bytes | bytearray | memoryview, pos: int = 0) -> tuple[Struct, int]:
        if type(data) is not bytes:
            data = as_bytes(data)
        values: dict[str, object] = {}
        unknown: tuple[RawTaggedField, ...] = ()
        if self.optional is not None:
            unknown, pos = self.optional.read_into(data, pos, values)
        for field in self.fields:
            try:
                values[field.name], pos = field.type.read(data, pos)
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        if self.tags is not None:
            unknown, pos = self.tags.read_into(data, pos, values)
        return Struct(self, values, unknown), pos

    def skip(self, data: bytes, pos: int) -> int:
        return self.walk.skip(data, pos)

    def write(self, out: bytearray, value: object) -> None:
        if value is None:
            raise SchemaError("must not be None in this version")
        if isinstance(value, (Struct, Mapping)):
            for name in value:
                if name not in self.names:
                    raise SchemaError("is not a field of this schema").inside(f".{name}")
        if self.optional is not None:
            self.optional.write_from(out, value)
        for field in self.fields:
            try:
                field.type.write(out, value_of(value, field.name))
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        if self.tags is not None:
            self.tags.write_from(out, value)
        elif self.optional is None and bool(getattr(value, "unknown_tagged_fields", None)):
            raise SchemaError("is set, but this version does not support tagged fields").inside(
                ".unknown_tagged_fields"
            )

    def bnf(self, name: str) -> str:
        """Return the schema in the notation of Kafka's protocol guide."""
        return "\n".join(_rule(name, self, "")) + "\n"

    def __str__(self) -> str:
        return "{" + ", ".join(_words(self, "{} => {}".format)) + "}"

    def __repr__(self) -> str:
        return f"<Schema {self}>"


class NullableStruct(Type):
    """Struct after a presence byte: -1 for null, 1 for a struct."""

    nullable = True
    _marks = (-1, 1)
    presence: Fixed | VarInt = INT8

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.name = f"NULLABLE_STRUCT{schema}"

    def read_presence(self, data: bytes, pos: int) -> tuple[bool, int]:
        presence, pos = self.presence.read(data, pos)
        return presence > self._marks[0], pos

    def read(self, data: bytes, pos: int) -> tuple[object, int]:
        is_there, pos = self.read_presence(data, pos)
        return self.schema.read(data, pos) if is_there else (None, pos)

    def skip(self, data: bytes, pos: int) -> int:
        is_there, pos = self.read_presence(data, pos)
        return self.schema.skip(data, pos) if is_there else pos

    def write(self, out: bytearray, value: object) -> None:
        self.presence.write(out, self._marks[value is not None])
        if value is not None:
            self.schema.write(out, value)


class TaggedStruct(NullableStruct):
    """Nullable struct in a tagged field, after an unsigned varint: 0 for null, 1 for a struct."""

    _marks = (0, 1)
    presence = UNSIGNED_VARINT


def _rule(name: str, kind: Type, indent: str) -> Iterator[str]:
    if isinstance(kind, NullableStruct):
        kind = kind.schema
    if not isinstance(kind, Schema):
        yield f"{indent}{name} => {kind}"
        return
    yield " ".join([f"{indent}{name} =>", *_words(kind, _mention)])
    for label, field in _members(kind):
        yield from _rule(label, _element(field.type), indent + "  ")


def _words(schema: Schema, word: Callable[[str, Type], str]) -> list[str]:
    words = [word(label, field.type) for label, field in _members(schema)]
    if schema.optional is not None:
        return ["_optional_fields", *words]
    if schema.tags is not None:
        words.insert(len(schema.fields), "_tagged_fields")
    return words


def _members(schema: Schema) -> Iterator[tuple[str, Field]]:
    if schema.optional is not None:
        for tag, field in schema.optional.fields.items():
            yield f"{field.name}<optional: {tag:#06x}>", field
    for field in schema.fields:
        yield field.name, field
    if schema.tags is not None:
        for tag, field in schema.tags.fields.items():
            yield f"{field.name}<tag: {tag}>", field


def _element(kind: Type) -> Type:
    while isinstance(kind, ArrayOf):
        kind = kind.element
    return kind


def _mention(label: str, kind: Type) -> str:
    # ? marks nullable arrays and structs, because their rules do not name the type.
    mark = "?" if kind.nullable and isinstance(kind, (ArrayOf, NullableStruct)) else ""
    if isinstance(kind, ArrayOf):
        return f"[{_mention(label, kind.element)}]{mark}"
    return label + mark
