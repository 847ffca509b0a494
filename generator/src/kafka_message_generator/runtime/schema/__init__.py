"""Dynamic codec: schemas that read and write each version of a message without the generated classes.

``MetadataResponse.schemas()[12].read(data)`` returns a ``Struct``. Slower than generated code, but errors have
positions.
"""

from __future__ import annotations

from .._core.versions import Versions
from .arrays import ArrayOf, CompactArrayOf
from .build import schemas_of
from .descriptors import FieldDescriptor, MessageDescriptor, descriptor_of, entity_types, fields_of
from .downgrade import UnsupportedField
from .encodings import PACKED16, PACKED32, PACKED64, UPACKED16, UPACKED32, UPACKED64
from .schema import NullableStruct, Schema, TaggedStruct
from .sections import InterleavedTagSection, OptionalFieldBuffer, TagSection
from .struct import Field, Struct
from .types import (
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
    SchemaError,
    Type,
)

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
    "PACKED16",
    "PACKED32",
    "PACKED64",
    "RECORDS",
    "STRING",
    "UINT16",
    "UNSIGNED_INT32",
    "UNSIGNED_VARINT",
    "UNSIGNED_VARLONG",
    "UPACKED16",
    "UPACKED32",
    "UPACKED64",
    "UUID",
    "VARINT",
    "VARLONG",
    "ArrayOf",
    "CompactArrayOf",
    "Field",
    "FieldDescriptor",
    "InterleavedTagSection",
    "MessageDescriptor",
    "NullableStruct",
    "OptionalFieldBuffer",
    "Schema",
    "SchemaError",
    "Struct",
    "TagSection",
    "TaggedStruct",
    "Type",
    "UnsupportedField",
    "Versions",
    "descriptor_of",
    "entity_types",
    "fields_of",
    "schemas_of",
]
