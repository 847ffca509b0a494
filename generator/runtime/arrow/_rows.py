"""The slow way for single rows: to explain an error, and for rows with tagged fields that nobody knows."""

from __future__ import annotations

import base64
from decimal import Decimal
from uuid import UUID

import pyarrow as pa

from .._base.message import Message
from .._core.wire import RawTaggedField
from ..errors import DecodeError, EncodeError, KafkaMessageError
from ..schema import Schema, SchemaError, schemas_of
from ..schema.build import Builder
from ..schema.facts import FieldFacts, MessageFacts, facts_of
from ..schema.struct import Struct, is_default
from ._lanes import Ints
from ._shape import SCALARS, UNKNOWN

_INTEGERS = {name for name, kind in SCALARS.items() if pa.types.is_integer(kind)}


class RowError(DecodeError):
    """A row of an array that is not its message; ``row`` counts from 0."""

    def __init__(self, row: int, error: KafkaMessageError) -> None:
        parts = (error.message, error.version, error.path, error.offset) if isinstance(error, DecodeError) else ()
        super().__init__(getattr(error, "reason", str(error)), *parts)
        self.row = row

    def __str__(self) -> str:
        return f"row {self.row}: {super().__str__()}"

    def __reduce__(self) -> tuple[object, ...]:
        return RowError, (self.row, DecodeError(self.reason, self.message, self.version, self.path, self.offset))


class EncodeRowError(EncodeError):
    """A row of an array that cannot be written; ``row`` counts from 0."""

    def __init__(self, row: int, reason: str, message: str, version: int, path: str) -> None:
        super().__init__(reason, message, version, path)
        self.row = row

    def __str__(self) -> str:
        return f"row {self.row}: {super().__str__()}"

    def __reduce__(self) -> tuple[object, ...]:
        return EncodeRowError, (self.row, self.reason, self.message, self.version, self.path)


def explain(message: type[Message], row: dict[str, object], number: int, version: int) -> EncodeRowError:
    """The error for a row that the column encoder refused."""
    facts = facts_of(message)
    try:
        struct = to_struct(facts, facts.fields, row, version)
        schemas_of(message)[version].validate(struct)
    except SchemaError as error:
        return EncodeRowError(number, error.reason, message.NAME, version, error.place)
    reason = "the column encoder refuses what the schema codec writes; please report this"
    return EncodeRowError(number, reason, message.NAME, version, "")


def first_refused(message: type[Message], array: pa.Array, version: int, reason: str) -> EncodeRowError:
    """The error for the first row with a value that no column can take; ``reason`` is what Arrow says of it."""
    facts, schema = facts_of(message), schemas_of(message)[version]
    for number, row in enumerate(array.to_pylist()):
        try:
            if row is not None:
                schema.validate(to_struct(facts, facts.fields, row, version))
        except SchemaError as error:
            return EncodeRowError(number, error.reason, message.NAME, version, error.place)
    return EncodeRowError(-1, reason, message.NAME, version, "")


def one_by_one(message: type[Message], rows: pa.StructArray, numbers: Ints, version: int, prefix: bool) -> pa.Array:
    """Encode rows, whose numbers are given, through the schema codec, which merges unknown tagged fields with the others."""
    facts, schema = facts_of(message), schemas_of(message)[version]
    values = []
    for number, row in zip(numbers.tolist(), rows.to_pylist(), strict=True):
        out = bytearray(version.to_bytes(2, "big") if prefix else b"")
        try:
            schema.write(out, to_struct(facts, facts.fields, row, version))
        except SchemaError as error:
            raise EncodeRowError(number, error.reason, message.NAME, version, error.place) from None
        values.append(bytes(out))
    return pa.array(values, pa.binary())


def has_unknown(array: pa.StructArray) -> bool:
    """Whether any struct of an array has unknown tagged fields."""
    for index, field in enumerate(array.type):
        child = array.field(index)
        if field.name == UNKNOWN:
            if len(child.keys):
                return True
            continue
        if pa.types.is_list(field.type):
            child = child.values
        if pa.types.is_struct(child.type) and has_unknown(child):
            return True
    return False


def to_struct(facts: MessageFacts, fields: tuple[FieldFacts, ...], row: dict[str, object], version: int) -> Struct:
    """A row as the schema codec takes it; raises SchemaError for a field that the version would lose."""
    builder, values = Builder(facts), {}
    for field in fields:
        value = row.get(field.name)
        if version not in field.versions:
            if (
                value is not None
                and not field.ignorable
                and not is_default(_plain(facts, field, value, version), builder.default(field))
            ):
                raise SchemaError(f"is set, but version {version} does not have this field").inside(f".{field.name}")
            continue
        values[field.name] = _plain(facts, field, value, version)
    unknown = row.get(UNKNOWN) or ()
    raw = tuple(RawTaggedField(tag, data) for tag, data in unknown)  # type: ignore[attr-defined]
    return Struct(Schema(), values, raw)


def _plain(facts: MessageFacts, field: FieldFacts, value: object, version: int) -> object:
    try:
        if isinstance(value, list) and field.is_array:
            return [_element(facts, field, element, version, f"[{i}]") for i, element in enumerate(value)]
        return _element(facts, field, value, version, "")
    except SchemaError as error:
        raise error.inside(f".{field.name}") from None


def _element(facts: MessageFacts, field: FieldFacts, value: object, version: int, part: str) -> object:
    try:
        if isinstance(value, dict):
            return to_struct(facts, facts.structs[field.type], value, version)
        if field.type == "uuid" and isinstance(value, str):
            return _uuid(value)
        return _cast(field, value)
    except SchemaError as error:
        raise error.inside(part) if part else error from None


def _cast(field: FieldFacts, value: object) -> object:
    """A value of a column of another type, as a cast has it."""
    if isinstance(value, bytes) and field.type == "string":
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise SchemaError(f"is no UTF-8: {error}") from None
    if isinstance(value, float | Decimal) and field.type in _INTEGERS and value % 1 == 0:
        return int(value)
    return float(value) if isinstance(value, Decimal) and field.type == "float64" else value


def _uuid(text: str) -> UUID:
    try:
        if len(text) == 22:
            return UUID(bytes=base64.b64decode(text + "==", b"-_", validate=True))
    except ValueError:
        pass
    raise SchemaError(f"{text!r} is not the 22 characters of a uuid in URL-safe base64")
