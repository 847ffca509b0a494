"""The Arrow types of messages: one struct type for all versions, a column for every field any of them has."""

from __future__ import annotations

import pyarrow as pa

from .._base.message import Message
from ..schema.facts import FieldFacts, MessageFacts, facts_of, message_class

UNKNOWN = "_unknown_tagged_fields"
"""Column of the tagged fields that the definition does not name: a map of tag to bytes."""

SCALARS = {
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int16": pa.int16(),
    "uint16": pa.int32(),
    "int32": pa.int32(),
    "uint32": pa.int64(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "uuid": pa.string(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "records": pa.binary(),
}
"""Arrow type of each field type; unsigned ones get the next larger type, as Spark has no unsigned; a uuid is the 22
characters that Kafka prints.
"""

UNKNOWN_TYPE = pa.map_(pa.int64(), pa.binary())


class Shape:
    """How one message is laid out as columns; ``shape_of`` keeps them, with the types that they have made."""

    def __init__(self, message: type[Message], unknown: bool = False) -> None:
        self.message = message
        self.facts: MessageFacts = facts_of(message)
        self.unknown = unknown
        self._types: dict[int, pa.DataType] = {}  # by the identity of facts, which live as long as the message
        self.type = self.struct(self.facts.fields)

    def struct(self, fields: tuple[FieldFacts, ...]) -> pa.StructType:
        found = self._types.get(id(fields))
        if found is None:
            columns = [pa.field(field.name, self.column(field)) for field in fields]
            if self.unknown:
                columns.append(pa.field(UNKNOWN, UNKNOWN_TYPE))
            found = self._types[id(fields)] = pa.struct(columns)
        return found

    def column(self, field: FieldFacts) -> pa.DataType:
        found = self._types.get(id(field))
        if found is None:
            element = self.struct(self.facts.structs[field.type]) if field.is_struct else SCALARS[field.type]
            found = self._types[id(field)] = pa.list_(pa.field("element", element)) if field.is_array else element
        return found


_shapes: dict[tuple[type[Message], bool], Shape] = {}


def shape_of(message: type[Message], unknown: bool = False) -> Shape:
    """The shape of a message, made once; ``unknown``: with the column of unknown tagged fields."""
    own: type[Message] = message_class(message)  # classes that are derived from it come and go
    shape = _shapes.get((own, unknown))
    if shape is None:
        shape = _shapes[own, unknown] = Shape(own, unknown)
    return shape
