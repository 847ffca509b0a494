"""Schemas in print: the BNF-like form of Kafka's protocol guide."""

from __future__ import annotations

from collections.abc import Iterator

from ._struct import Field
from ._types import ArrayOf, Type
from .schema import NullableStruct, Schema


def bnf(name: str, schema: Schema) -> str:
    """One line for each struct and field, those inside a struct below it and indented by two blanks more."""
    return "\n".join(_rule(name, schema, "")) + "\n"


def _rule(name: str, kind: Type, indent: str) -> Iterator[str]:
    if isinstance(kind, NullableStruct):
        kind = kind.schema
    if not isinstance(kind, Schema):
        yield f"{indent}{name} => {kind}"
        return
    yield " ".join([f"{indent}{name} =>", *_words(kind)])
    for label, field in _members(kind):
        yield from _rule(label, _element(field.type), indent + "  ")


def _words(schema: Schema) -> Iterator[str]:
    """The right side of a struct's rule: its fields in the order of the wire."""
    if schema.optional is not None:
        yield "_optional_fields"
    if schema.tags is None:
        yield from (_mention(label, field.type) for label, field in _members(schema))
        return
    regular = len(schema.fields)
    mentions = [_mention(label, field.type) for label, field in _members(schema)]
    yield from (*mentions[:regular], "_tagged_fields", *mentions[regular:])


def _members(schema: Schema) -> Iterator[tuple[str, Field]]:
    """Every field with the name it has in print."""
    if schema.optional is not None:
        for tag, field in schema.optional.fields.items():
            yield f"{field.name}<optional: {tag:#06x}>", field
    for field in schema.fields:
        yield field.name, field
    if schema.tags is not None:
        for tag, field in schema.tags.fields.items():
            yield f"{field.name}<tag: {tag}>", field


def _element(kind: Type) -> Type:
    """What is inside an array, or arrays of arrays."""
    while isinstance(kind, ArrayOf):
        kind = kind.element
    return kind


def _mention(label: str, kind: Type) -> str:
    """A field where its struct lists it: an array in brackets; a mark says of arrays and structs that null may stand
    there, as the names of all other types do by themselves.
    """
    mark = "?" if kind.nullable and isinstance(kind, (ArrayOf, NullableStruct)) else ""
    if isinstance(kind, ArrayOf):
        return f"[{_mention(label, kind.element)}]{mark}"
    return label + mark
