"""Comparison of the values that writer and reader see in the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from kafka_message_generator.compat.order import moved, parts, places
from kafka_message_generator.runtime._core.formatting import formatted
from kafka_message_generator.runtime.schema import Schema, Struct
from kafka_message_generator.runtime.schema.arrays import ArrayOf, elements
from kafka_message_generator.runtime.schema.schema import NullableStruct
from kafka_message_generator.runtime.schema.sections import Section
from kafka_message_generator.runtime.schema.struct import value_of
from kafka_message_generator.runtime.schema.types import Type


def first_difference(schema: Schema, meant: Struct, reader: Schema, got: Struct) -> str | None:
    """Return a description of the first difference between ``meant`` and ``got``, or None."""
    one, two = _Values(), _Values()
    one.struct(schema, meant, "")
    two.struct(reader, got, "")
    return _parting(one, two)


def _parting(one: _Values, two: _Values, where: str = "") -> str | None:
    for wrote, read in _facing(one, two):
        if not wrote.is_same(read):
            return where + wrote.formatted(read)
    if len(one.regular) != len(two.regular):
        return f"{where}{len(one.regular)} values read as {len(two.regular)}"
    for key, tagged in one.tagged.items():
        if key in two.tagged and (found := _parting(tagged, two.tagged[key], f"tag {key[1]}: ")):
            return found
    return None


def _facing(one: _Values, two: _Values) -> Iterator[tuple[_PathValue, _PathValue]]:
    yield from zip(one.regular, two.regular, strict=False)
    if len(one.regular) != len(two.regular):
        return
    for _, former, now in moved(*([parts(each.path) for each in side.regular] for side in (one, two))):
        for place, there in zip(former, now, strict=False):
            yield one.regular[place], replace(two.regular[there], path=one.regular[place].path)
    for path, key in one.by_path.items():
        if (other := two.by_path.get(path, key)) != key:
            yield from zip(one.tagged[key].regular, two.tagged[other].regular, strict=False)
    yield from _crossing(one, two)
    yield from ((wrote, read) for read, wrote in _crossing(two, one))


def _crossing(one: _Values, two: _Values) -> Iterator[tuple[_PathValue, _PathValue]]:
    at = places([parts(each.path) for each in one.regular])
    for path, key in two.by_path.items():
        for place, value in zip(at.get(parts(path), ()), two.tagged[key].regular, strict=False):
            yield one.regular[place], value


@dataclass(frozen=True)
class _PathValue:
    path: str
    value: object

    def is_same(self, other: _PathValue) -> bool:
        return type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def formatted(self, other: _PathValue) -> str:
        name = "" if self.path == other.path else f"{other.path} = "
        texts = [formatted(each.value) for each in (self, other)]
        if texts[0] == texts[1]:  # values of different types with the same text
            texts = [repr(each.value) for each in (self, other)]
        return f"{self.path} = {texts[0]} is read as {name}{texts[1]}"


class _Presence(Enum):
    STRUCT = "a struct"

    def __str__(self) -> str:
        return self.value


class _Values:
    def __init__(self, is_left_out: bool = False) -> None:
        self.is_left_out = is_left_out
        """True for default values that the encoding omits."""
        self.regular: list[_PathValue] = []
        self.sections = 0
        self.tagged: dict[tuple[int, int], _Values] = {}
        self.by_path: dict[str, tuple[int, int]] = {}

    def struct(self, schema: Schema, value: object, path: str) -> None:
        if schema.optional is not None:
            self.section(schema.optional, value, path)
        for field in schema.fields:
            self.add(field.type, value_of(value, field.name), f"{path}{field.name}")
        if schema.tags is not None:
            self.section(schema.tags, value, path)

    def section(self, section: Section, value: object, path: str) -> None:
        self.sections += 1
        for tag, field in section.fields.items():
            is_left_out = isinstance(value, Struct) and field.name not in value
            inner = _Values(is_left_out)
            held = field.default if is_left_out else value_of(value, field.name)
            inner.add(field.type, held, f"{path}{field.name}")
            self.tagged[self.sections, tag] = inner
            self.by_path[f"{path}{field.name}"] = self.sections, tag

    def add(self, kind: Type, value: object, path: str) -> None:
        if isinstance(kind, Schema):
            self.struct(kind, value, f"{path}.")
        elif isinstance(kind, NullableStruct):
            if value is None or not self.is_left_out:
                self.regular.append(_PathValue(path, None if value is None else _Presence.STRUCT))
            if value is not None:
                self.struct(kind.schema, value, f"{path}.")
        elif isinstance(kind, ArrayOf):
            found = None if value is None else elements(value)
            self.regular.append(_PathValue(path, None if found is None else len(found)))
            for index, element in enumerate(found or ()):
                self.add(kind.element, element, f"{path}[{index}]")
        else:
            self.regular.append(_PathValue(path, value))
