"""Schema codec for invalid UTF-8, with surrogates (PEP 383)."""

from __future__ import annotations

from .._core.structs import made, owner_of
from .build import build
from .descriptors import FieldDescriptor, HasDescriptor, class_in, descriptor_of
from .error_location import check_absent, explain_write
from .schema import Schema
from .struct import Struct
from .types import ESCAPED_STRINGS, SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    D = TypeVar("D", bound=HasDescriptor)

_built: dict[type, dict[int, Schema]] = {}


def read_escaped(message: type[D], data: bytes, offset: int, version: int) -> tuple[D, int]:
    struct, end = escaped_schemas(message)[version].read(data, offset)
    found: D = _object(message, message, descriptor_of(message).fields, struct)
    return found, end


def write_escaped(message: HasDescriptor, version: int) -> bytes:
    descriptor = descriptor_of(type(message))
    schema = escaped_schemas(type(message))[version]
    out = bytearray()
    try:
        check_absent(descriptor, descriptor.fields, message, version)
        schema.write(out, message)
    except SchemaError as error:
        raise explain_write(message, version, error, schema) from None
    return bytes(out)


def escaped_schemas(message: type[HasDescriptor]) -> dict[int, Schema]:
    owner = owner_of(message)
    schemas = _built.get(owner)
    if schemas is None:
        schemas = _built[owner] = build(descriptor_of(owner), ESCAPED_STRINGS)
    return schemas


def _object(message: type[HasDescriptor], kind: Any, fields: tuple[FieldDescriptor, ...], struct: Struct) -> Any:
    values: dict[str, object] = {}
    for field in fields:
        if field.name in struct:
            value = struct[field.name]
            values[field.name] = _value(message, field, value) if field.is_struct else value
    if struct.unknown_tagged_fields:
        values["unknown_tagged_fields"] = struct.unknown_tagged_fields
    return made(kind, values)


def _value(message: type[HasDescriptor], field: FieldDescriptor, value: Any) -> Any:
    if value is None:
        return None
    kind = class_in(message, field.type)
    if field.is_array:
        for index, struct in enumerate(value):  # in place, so that each struct is freed
            value[index] = _object(message, kind, field.fields, struct)
        return value
    return _object(message, kind, field.fields, value)
