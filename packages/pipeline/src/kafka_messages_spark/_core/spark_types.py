"""Conversion from Arrow to Spark types."""

from __future__ import annotations

import pyarrow as pa
from kafka_messages import Message
from kafka_messages.errors import did_you_mean
from kafka_messages.schema.descriptors import FieldDescriptor, descriptor_of
from pyspark.sql import types as spark

from .errors import invalid_argument

_SCALARS: dict[pa.DataType, spark.DataType] = {
    pa.bool_(): spark.BooleanType(),
    pa.int8(): spark.ByteType(),
    pa.int16(): spark.ShortType(),
    pa.int32(): spark.IntegerType(),
    pa.int64(): spark.LongType(),
    pa.float64(): spark.DoubleType(),
    pa.string(): spark.StringType(),
    pa.binary(): spark.BinaryType(),
    pa.timestamp("us", tz="UTC"): spark.TimestampType(),
}


def spark_type(arrow: pa.DataType) -> spark.DataType:
    if pa.types.is_struct(arrow):
        return struct_type(arrow)
    if pa.types.is_list(arrow):
        return spark.ArrayType(spark_type(arrow.value_type))
    if pa.types.is_map(arrow):
        return spark.MapType(spark_type(arrow.key_type), spark_type(arrow.item_type))
    return _SCALARS[arrow]


def struct_type(arrow: pa.StructType | pa.Schema) -> spark.StructType:
    return spark.StructType([spark.StructField(field.name, spark_type(field.type)) for field in arrow])


def chosen_schema(owner: str, full: pa.Schema, schema: spark.StructType) -> pa.Schema:
    """Return the Arrow fields selected by a user's schema.

    Raises PySparkValueError for unknown or repeated columns, wrong types, and NOT NULL.
    """
    for field in schema.fields:
        if schema.names.count(field.name) > 1:
            raise invalid_argument(f"{owner}: duplicate column {field.name!r} in the schema")
        if field.name not in full.names:
            hint = did_you_mean(field.name, full.names) or "."
            raise invalid_argument(f"{owner}: unknown column {field.name!r}{hint} Known are {', '.join(full.names)}.")
        kind = spark_type(full.field(field.name).type)
        if field.dataType.simpleString() != kind.simpleString():
            given = field.dataType.simpleString()
            raise invalid_argument(
                f"{owner}: the column {field.name!r} must be {kind.simpleString()} in the schema, not {given}"
            )
        if not field.nullable or _forbids_null(field.dataType):  # Spark relies on NOT NULL, but rows may have nulls
            raise invalid_argument(f"{owner}: the column {field.name!r} can have nulls; omit NOT NULL in the schema")
    return pa.schema([full.field(name) for name in schema.names])


def _forbids_null(kind: spark.DataType) -> bool:
    if isinstance(kind, spark.ArrayType):
        return not kind.containsNull or _forbids_null(kind.elementType)
    if isinstance(kind, spark.StructType):
        return any(not field.nullable or _forbids_null(field.dataType) for field in kind.fields)
    return False


def at_version(message: type[Message], arrow: pa.StructType, version: int) -> pa.StructType:
    descriptor = descriptor_of(message)

    def struct(kind: pa.StructType, fields: tuple[FieldDescriptor, ...]) -> pa.StructType:
        return pa.struct(
            [
                pa.field(field.name, column(kind.field(field.name).type, field))
                for field in fields
                if version in field.versions
            ]
        )

    def column(kind: pa.DataType, field: FieldDescriptor) -> pa.DataType:
        if not field.is_struct:
            return kind
        if field.is_array:
            return pa.list_(pa.field("element", struct(kind.value_type, descriptor.structs[field.type])))
        return struct(kind, descriptor.structs[field.type])

    return struct(arrow, descriptor.fields)
