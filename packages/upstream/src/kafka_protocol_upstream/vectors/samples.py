"""Sample messages in the JSON form of Kafka's converters."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kafka_protocol_upstream.vectors.definitions import VectorDefinition, VectorField
from kafka_protocol_upstream.vectors.values import EDGES, VectorDraw, zero

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

KINDS = ("default", "empty", "full", "nulls", "inner_nulls", "random1", "random2", "random3")
"""Kinds of samples; ``default`` is a new Java object without JSON."""

WITH_DUPLICATE_KEYS = "random3"
TRIES = 50


def sample(definition: VectorDefinition, version: int, kind: str) -> dict[str, Json] | None:
    """Return the sample of a kind, the same in every run; None for ``default``.

    Raises ValueError for an invalid version, an unknown kind, or an unsupported field type.
    """
    if version not in definition.versions:
        raise ValueError(f"{definition.name} has versions {definition.versions}, not {version}")
    if kind not in KINDS:
        raise ValueError(f"unknown kind of sample {kind!r}; expected one of {', '.join(KINDS)}")
    if kind == "default":
        return None
    draw = VectorDraw(f"{definition.name} {version} {kind}")
    return _MAKERS.get(kind, _Random)(definition, version, draw).struct(definition.fields)


def samples(definition: VectorDefinition, version: int) -> Iterator[tuple[str, dict[str, Json] | None]]:
    """Yield every kind with its sample, without duplicates."""
    seen: set[str] = set()
    for kind in KINDS:
        made = sample(definition, version, kind)
        text = json.dumps(made, sort_keys=True)
        if text not in seen:
            seen.add(text)
            yield kind, made


class _EmptyFields:
    """Every field is present, and zero or empty."""

    def __init__(self, definition: VectorDefinition, version: int, draw: VectorDraw) -> None:
        self.definition = definition
        self.version = version
        self.draw = draw

    def struct(self, fields: tuple[VectorField, ...]) -> dict[str, Json]:
        present = (field for field in fields if self.version in field.versions)
        return {field.key: self.field(field) for field in present if self.is_given(field)}

    def field(self, field: VectorField) -> Json:
        if self.version in field.nullable and self.is_null(field):
            return None
        return self.array(field) if field.is_array else self.one(field)

    def one(self, field: VectorField) -> Json:
        return self.struct(self.definition.structs[field.type]) if field.is_struct else self.scalar(field)

    def is_given(self, field: VectorField) -> bool:
        return True

    def is_null(self, field: VectorField) -> bool:
        return False

    def scalar(self, field: VectorField) -> Json:
        return zero(field.type)

    def array(self, field: VectorField) -> list[Json]:
        return []


class _Nulls(_EmptyFields):
    """Every nullable field is null; other arrays of structs have one element."""

    def is_null(self, field: VectorField) -> bool:
        return True

    def array(self, field: VectorField) -> list[Json]:
        return [self.one(field)] if field.is_struct else []


class _InnerNulls(_Nulls):
    """As ``_Nulls``, but fields that contain nullable fields are not null."""

    def is_null(self, field: VectorField) -> bool:
        return not self.holds_nullable(field)

    def holds_nullable(self, field: VectorField) -> bool:
        fields = self.definition.structs[field.type] if field.is_struct else ()
        present = [inner for inner in fields if self.version in inner.versions]
        return any(self.version in inner.nullable or self.holds_nullable(inner) for inner in present)


class _Full(_EmptyFields):
    """Every field has a value other than its default; arrays have two elements."""

    def scalar(self, field: VectorField) -> Json:
        return self.draw.non_default(field.type, None if field.is_array else field.default)

    def array(self, field: VectorField) -> list[Json]:
        return self.elements(field, 2)

    def elements(self, field: VectorField, count: int) -> list[Json]:
        made: list[Json] = []
        keys = self.map_keys(field)
        for _ in range(count):
            made.append(self.another(field, made, keys))
        return made

    def map_keys(self, field: VectorField) -> list[str]:
        if not field.is_struct:
            return []
        fields = self.definition.structs[field.type]
        return [field.key for field in fields if field.is_map_key and self.version in field.versions]

    def another(self, field: VectorField, made: list[Json], keys: list[str]) -> Json:
        for _ in range(TRIES):
            element = self.one(field)
            if not keys or _key(element, keys) not in [_key(other, keys) for other in made]:
                return element
        raise ValueError(f"{self.definition.name} v{self.version}: {field.key}: no {len(made) + 1} distinct keys found")


class _Random(_Full):
    def is_given(self, field: VectorField) -> bool:
        return self.version not in field.tagged or self.draw.one_in(2)

    def is_null(self, field: VectorField) -> bool:
        return self.draw.one_in(4)

    def scalar(self, field: VectorField) -> Json:
        return self.draw.any(field.type)

    def array(self, field: VectorField) -> list[Json]:
        if self.is_small(field) and self.draw.one_in(12):
            # Repeating three elements keeps the files small.
            some, size = self.elements(field, 3), self.draw.pick((*EDGES, 200))
            return [some[index % 3] for index in range(size)]
        return self.elements(field, self.draw.below(5))

    def is_small(self, field: VectorField) -> bool:
        if not field.is_struct:
            return True
        fields = self.definition.structs[field.type]
        return not self.map_keys(field) and not any(field.is_array or field.is_struct for field in fields)


class _RandomWithDuplicateKeys(_Random):
    """As ``_Random``, but the last element of a keyed array repeats the keys of the first, as real brokers do."""

    def elements(self, field: VectorField, count: int) -> list[Json]:
        made = super().elements(field, count)
        keys = self.map_keys(field)
        if keys and len(made) > 1:
            first, last = made[0], made[-1]
            assert isinstance(first, dict)  # only structs have map keys
            assert isinstance(last, dict)
            last.update({key: first[key] for key in keys})
        return made


_MAKERS: dict[str, type[_EmptyFields]] = {
    "empty": _EmptyFields,
    "full": _Full,
    "inner_nulls": _InnerNulls,
    "nulls": _Nulls,
    WITH_DUPLICATE_KEYS: _RandomWithDuplicateKeys,
}


def _key(element: Json, keys: list[str]) -> list[Json]:
    return [element[key] for key in keys] if isinstance(element, dict) else []
