"""Errors of the generated code, explained by the schema codec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._core.display import summary
from .._core.structs import StructBase
from ..errors import DecodeError, EncodeError
from .build import SchemaBuilder, schemas_of
from .descriptors import FieldDescriptor, HasDescriptor, MessageDescriptor, class_in, descriptor_of
from .schema import Schema
from .struct import Struct, is_default, value_of
from .types import SchemaError


def explain_read(
    message: type[HasDescriptor],
    data: bytes,
    offset: int,
    version: int,
    is_whole: bool,
    error: Exception | None = None,
) -> DecodeError:
    """Return the DecodeError for ``data``, or raise ``error`` if it is a MemoryError and the data is valid."""
    _remove_text(error)
    try:
        read_placed(message, data, offset, version, is_whole, schemas_of(message)[version])
    except DecodeError as found:
        return found
    if isinstance(error, MemoryError):
        raise error
    return DecodeError("malformed in a way the schema codec accepts; please report this", message.NAME, version)


def read_placed(
    message: type[HasDescriptor], data: bytes, offset: int, version: int, is_whole: bool, schema: Schema
) -> tuple[Struct, int]:
    try:
        struct, end = schema.read(data, offset)
    except SchemaError as error:
        raise DecodeError(error.reason, message.NAME, version, error.place, error.offset) from None
    if is_whole and end != len(data):
        reason = f"{len(data) - end} byte(s) left after the message, at offset {end}"
        raise DecodeError(reason, message.NAME, version, "", end)
    return struct, end


def explain_write(message: HasDescriptor, version: int, error: Exception, schema: Schema | None = None) -> EncodeError:
    _remove_text(error)
    descriptor = descriptor_of(type(message))
    found = None
    try:
        (schema or schemas_of(type(message))[version]).validate(message)
        check_absent(descriptor, descriptor.fields, message, version)
    except SchemaError as refused:
        found = refused
    for stranger in _strangers(type(message), descriptor.fields, message):
        if found is None or found.path[: len(stranger.path)] == stranger.path:
            return EncodeError(stranger.reason, descriptor.name, version, stranger.place)
    if found is not None:
        return EncodeError(found.reason, descriptor.name, version, found.place)
    return EncodeError(f"{type(error).__name__}: {error}", descriptor.name, version)


def _remove_text(error: Exception | None) -> None:
    # Remove the text from a Unicode error, because the text may be secret.
    if isinstance(error, UnicodeDecodeError):
        error.object = b""
        error.args = (error.encoding, b"", *error.args[2:])
    elif isinstance(error, UnicodeEncodeError):
        error.object = ""
        error.args = (error.encoding, "", *error.args[2:])


def _strangers(
    message: type[HasDescriptor], fields: tuple[FieldDescriptor, ...], container: object
) -> Iterator[SchemaError]:
    # If a value has the wrong class, that is the best explanation of the failure.
    for field in fields:
        value = getattr(container, field.name, None)
        if not field.is_struct or value is None:
            continue
        wanted = class_in(message, field.type)
        elements = list(value) if field.is_array and isinstance(value, Iterable) else [value]
        for index, element in enumerate(elements):
            place = [f".{field.name}", f"[{index}]"] if field.is_array else [f".{field.name}"]
            if isinstance(element, wanted):
                inner = _strangers(message, field.fields, element)
            else:
                inner = iter([_stranger(wanted, element)])
            for error in inner:
                error.path[:0] = place
                yield error


def _stranger(wanted: type[StructBase], found: object) -> SchemaError:
    if type(found).__name__ != wanted.__name__:
        return SchemaError(f"expected {wanted.__name__}, got {summary(found)}")
    modules = (cls.__module__.rpartition(".")[2] for cls in (wanted, type(found)))
    return SchemaError("expected {0} of {1}, got {0} of {2}".format(wanted.__name__, *modules))


def check_absent(
    descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], container: object, version: int
) -> None:
    """Raise SchemaError for a set field that the version lacks, unless it is ignorable."""
    builder = SchemaBuilder(descriptor)
    for field in fields:
        try:
            value = value_of(container, field.name)
            if version not in field.versions:
                if not field.ignorable and not is_default(value, builder.default(field)):
                    raise SchemaError(f"is set, but is not supported by version {version}")
            elif field.is_struct and value is not None:
                _check_inner(descriptor, field, value, version)
        except SchemaError as error:
            raise error.inside(f".{field.name}") from None


def _check_inner(descriptor: MessageDescriptor, field: FieldDescriptor, value: object, version: int) -> None:
    inner = descriptor.structs[field.type]
    if not field.is_array:
        check_absent(descriptor, inner, value, version)
        return
    assert isinstance(value, Iterable)  # validated as an array before
    for index, element in enumerate(value):
        try:
            check_absent(descriptor, inner, element, version)
        except SchemaError as error:
            raise error.inside(f"[{index}]") from None
