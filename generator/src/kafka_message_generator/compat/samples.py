"""Small values of a schema, as candidates for counterexamples."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kafka_message_generator.runtime._core.wire import RawTaggedField
from kafka_message_generator.runtime.schema import Schema, Struct, types
from kafka_message_generator.runtime.schema.arrays import ArrayOf
from kafka_message_generator.runtime.schema.encodings import TwosComplement
from kafka_message_generator.runtime.schema.schema import NullableStruct
from kafka_message_generator.runtime.schema.struct import Field
from kafka_message_generator.runtime.schema.types import Blob, Fixed, Text, Type, VarInt

Choice = tuple[tuple[str, ...], int]
"""Path of a field, and index of its sample value."""
_EVERYWHERE: Choice = ((), -1)
_UNKNOWN, _UNKNOWN_FIELD = "unknown tagged field", RawTaggedField(31999, b"\x01")
"""An unknown tagged field; its tag is also valid in an optional-field buffer."""


def samples(schema: Schema) -> Iterator[Struct]:
    """Yield a message with the smallest values, variants with one other value each, and one with distinct values."""
    for choice in [((), 0), *_choices(schema, ()), _EVERYWHERE]:
        yield _Maker(choice).struct(schema, ())


def _choices(kind: Type, path: tuple[str, ...]) -> Iterator[Choice]:
    if isinstance(kind, Schema):
        if kind.tags is not None or kind.optional is not None:
            yield (*path, _UNKNOWN), 0
        for field, is_tagged in _fields(kind):
            inner = (*path, field.name)
            if is_tagged:
                yield inner, 0
            yield from _choices(field.type, inner)
        return
    for number in range(1, len(_values(kind)) if not isinstance(kind, ArrayOf | NullableStruct) else 3):
        yield path, number
    if kind.nullable and not isinstance(kind, NullableStruct):
        yield path, -2
    if isinstance(kind, NullableStruct):
        yield from _choices(kind.schema, path)
    elif isinstance(kind, ArrayOf):
        yield from _choices(kind.element, (*path, "[]"))


def _fields(schema: Schema) -> Iterator[tuple[Field, bool]]:
    for section in (schema.optional, schema.tags):
        if section is not None:
            yield from ((field, True) for field in section.fields.values())
    yield from ((field, False) for field in schema.fields)


class _Maker:
    def __init__(self, choice: Choice) -> None:
        self.path, self.number = choice
        self.is_full = choice == _EVERYWHERE
        self.count = 0

    def struct(self, schema: Schema, path: tuple[str, ...]) -> Struct:
        values: dict[str, object] = {}
        for field, is_tagged in _fields(schema):
            inner = (*path, field.name)
            if not is_tagged or self.is_full or self.leads(inner):
                values[field.name] = self.value(field.type, inner)
            elif is_tagged:
                values[field.name] = field.default
        has_unknown = self.path == (*path, _UNKNOWN)
        return Struct(schema, values, (_UNKNOWN_FIELD,) if has_unknown else ())

    def leads(self, path: tuple[str, ...]) -> bool:
        return self.path[: len(path)] == path

    def value(self, kind: Type, path: tuple[str, ...]) -> object:
        is_here = self.path == path and not self.is_full
        if isinstance(kind, Schema):
            return self.struct(kind, path)
        if is_here and self.number == -2:
            return None
        if isinstance(kind, NullableStruct):
            is_there = self.is_full or (self.leads(path) and not (is_here and self.number == 0))
            return self.struct(kind.schema, path) if is_there else None
        if isinstance(kind, ArrayOf):
            count = 1 if self.is_full or (self.leads(path) and not is_here) else self.number if is_here else 0
            return [self.value(kind.element, (*path, "[]")) for _ in range(count)]
        values = _values(kind)
        if self.is_full:
            self.count += 1
            return _distinct(kind, self.count)
        return values[self.number if is_here else 0]


def _values(kind: Type) -> list[object]:
    if isinstance(kind, Fixed | VarInt | TwosComplement):
        return [0, 1, kind.highest, kind.lowest] if kind.lowest else [0, 1, kind.highest]
    if isinstance(kind, Text):
        return ["", "a"]
    if isinstance(kind, Blob):
        return [b"", b"\x01", b"\xff"]
    if kind is types.BOOLEAN:
        return [False, True]
    if kind is types.UUID:
        return [UUID(int=0), UUID(int=1)]
    return [0.0, 1.0, -1.0]


def _distinct(kind: Type, number: int) -> object:
    if isinstance(kind, Fixed | VarInt | TwosComplement):
        return number % (kind.highest + 1)
    if isinstance(kind, Text):
        return f"t{number}"
    if isinstance(kind, Blob):
        return b"b%d" % number
    if kind is types.BOOLEAN:
        return number % 2 == 1
    return UUID(int=number) if kind is types.UUID else float(number)
