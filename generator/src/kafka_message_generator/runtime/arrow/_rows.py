"""Encoding row by row, to find the reason of an error and to write unknown tagged fields."""

from __future__ import annotations

import base64
from decimal import Decimal
from math import isfinite
from types import SimpleNamespace
from uuid import UUID

import pyarrow as pa

from .._base.message import Message
from .._core.wire import RawTaggedField
from ..errors import DecodeError, EncodeError, KafkaMessageError
from ..schema import SchemaError
from ..schema.build import SchemaBuilder
from ..schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of
from ..schema.error_location import check_absent
from ..schema.escaped import escaped_schemas
from ._python import as_python
from ._shape import SCALARS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_INTEGERS = {name for name, kind in SCALARS.items() if pa.types.is_integer(kind)}


class RowError(DecodeError):
    """Row of an array that is not a valid message; ``row`` counts from 0."""

    def __init__(self, row: int, error: KafkaMessageError) -> None:
        parts = (error.message, error.version, error.path, error.offset) if isinstance(error, DecodeError) else ()
        super().__init__(getattr(error, "reason", str(error)), *parts)
        self.row = row

    def __str__(self) -> str:
        return f"row {self.row}: {super().__str__()}"

    def __reduce__(self) -> tuple[object, ...]:
        return RowError, (self.row, DecodeError(self.reason, self.message, self.version, self.path, self.offset))


class EncodeRowError(EncodeError):
    """Row of an array that cannot be written; ``row`` counts from 0."""

    def __init__(self, row: int, reason: str, message: str, version: int, path: str) -> None:
        super().__init__(reason, message, version, path)
        self.row = row

    def __str__(self) -> str:
        return f"row {self.row}: {super().__str__()}"

    def __reduce__(self) -> tuple[object, ...]:
        return EncodeRowError, (self.row, self.reason, self.message, self.version, self.path)


def explain(message: type[Message], array: pa.StructArray, number: int, version: int) -> EncodeRowError:
    try:
        one_by_one(message, array[number : number + 1], number, version, False)
    except EncodeRowError as error:
        return error
    reason = "the column encoder rejects a value that the schema codec writes; please report this"
    return EncodeRowError(number, reason, message.NAME, version, "")


def one_by_one(message: type[Message], rows: pa.Array, start: int, version: int, prefix: bool) -> pa.Array:
    """Encode rows, numbered from ``start``, through the schema codec. Raises EncodeRowError."""
    before = version.to_bytes(2, "big") if prefix else b""
    values = []
    for number, row in enumerate(_rows(message, rows), start):
        try:
            values.append(None if row is None else before + written(message, row, version))
        except SchemaError as error:
            raise EncodeRowError(number, error.reason, message.NAME, version, error.place) from None
    return pa.array(values, pa.binary())


def _rows(message: type[Message], array: pa.Array) -> list[Any]:
    descriptor = descriptor_of(message)
    return as_python(array, descriptor, descriptor.fields)


def written(message: type[Message], row: dict[str, object], version: int) -> bytes:
    descriptor, out = descriptor_of(message), bytearray()
    found = _object(descriptor, descriptor.fields, row, version)
    escaped_schemas(message)[version].write(out, found)
    check_absent(descriptor, descriptor.fields, found, version)
    return bytes(out)


def _object(
    descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], row: dict[str, object], version: int
) -> object:
    values = {}
    for field in fields:
        value_of = _plain if version in field.versions else _absent
        values[field.name] = value_of(descriptor, field, row.get(field.name), version)
    unknown = row.get(UNKNOWN) or ()
    values["unknown_tagged_fields"] = tuple(RawTaggedField(tag, data) for tag, data in unknown)  # type: ignore[attr-defined]
    return SimpleNamespace(**values)


def _absent(descriptor: MessageDescriptor, field: FieldDescriptor, value: object, version: int) -> object:
    # Null counts as the default: decoded columns are null where the version lacks the field.
    try:
        return SchemaBuilder(descriptor).default(field) if value is None else _plain(descriptor, field, value, version)
    except SchemaError:
        return value  # not the default


def _plain(descriptor: MessageDescriptor, field: FieldDescriptor, value: object, version: int) -> object:
    try:
        if isinstance(value, list) and field.is_array:
            return [_element(descriptor, field, element, version, f"[{i}]") for i, element in enumerate(value)]
        return _element(descriptor, field, value, version, "")
    except SchemaError as error:
        raise error.inside(f".{field.name}") from None


def _element(descriptor: MessageDescriptor, field: FieldDescriptor, value: object, version: int, part: str) -> object:
    try:
        if isinstance(value, dict):
            return _object(descriptor, descriptor.structs[field.type], value, version)
        if field.type in ("string", "uuid") and isinstance(value, bytes):
            value = _text(value)
        if field.type == "uuid" and isinstance(value, str):
            return uuid_of(value)
        return _cast(field, value)
    except SchemaError as error:
        raise error.inside(part) if part else error from None


def _cast(field: FieldDescriptor, value: object) -> object:
    # Convert values of other column types as Arrow's cast does.
    if isinstance(value, float | Decimal) and field.type in _INTEGERS and isfinite(value) and value == int(value):
        return int(value)
    if isinstance(value, str) and field.type in ("bytes", "records"):
        return value.encode("utf-8", "surrogateescape")
    return float(value) if isinstance(value, Decimal) and field.type == "float64" else value


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise SchemaError(f"invalid UTF-8: {error}") from None


def uuid_of(text: str) -> UUID:
    try:
        if len(text) == 22 and not {*"+/"} & {*text}:
            return UUID(bytes=base64.b64decode(text + "==", b"-_", validate=True))
    except ValueError:
        pass
    raise SchemaError(f"expected a UUID as 22 characters of URL-safe base64, got {text!r}")
