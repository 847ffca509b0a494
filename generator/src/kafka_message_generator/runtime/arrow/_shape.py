"""Arrow types of messages: one struct type for all versions, with a column for every field."""

from __future__ import annotations

import pyarrow as pa

from .._base.message import Message
from ..schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of, message_class

# Name of the column of unknown tagged fields, a map of tag to bytes.
UNKNOWN = "_unknown_tagged_fields"

# Arrow type of each Kafka type. Unsigned types use the next larger signed one, as in Spark; a uuid is its
# 22-character string.
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

UNKNOWN_TYPE = pa.map_(pa.int64(), pa.binary())

# Flags of ``decode``, which the native code takes, too.
EMIT_DEFAULTS, VALIDATE_UTF8, IGNORE_REST, PERMISSIVE = 1, 2, 4, 8


class Shape:

    def __init__(self, message: type[Message], unknown: bool = False) -> None:
        self.message = message
        self.descriptor: MessageDescriptor = descriptor_of(message)
        self.unknown = unknown
        self._types: dict[int, pa.DataType] = {}  # by id of a descriptor, which lives as long as the message class
        self.type = self.struct(self.descriptor.fields)

    def struct(self, fields: tuple[FieldDescriptor, ...]) -> pa.StructType:
        found = self._types.get(id(fields))
        if found is None:
            columns = [pa.field(field.name, self.column(field)) for field in fields]
            if self.unknown:
                columns.append(pa.field(UNKNOWN, UNKNOWN_TYPE))
            found = self._types[id(fields)] = pa.struct(columns)
        return found

    def column(self, field: FieldDescriptor) -> pa.DataType:
        found = self._types.get(id(field))
        if found is None:
            element = self.struct(self.descriptor.structs[field.type]) if field.is_struct else SCALARS[field.type]
            found = self._types[id(field)] = pa.list_(pa.field("element", element)) if field.is_array else element
        return found


_shapes: dict[tuple[type[Message], bool], Shape] = {}


def shape_of(message: type[Message], unknown: bool = False) -> Shape:
    own: type[Message] = message_class(message)  # derived classes may be short-lived
    shape = _shapes.get((own, unknown))
    if shape is None:
        shape = _shapes[own, unknown] = Shape(own, unknown)
    return shape
