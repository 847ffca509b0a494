"""Errors of the generated code, explained by the schema codec."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .._core.display import summary
from .._core.structs import StructBase
from ..errors import EncodeError
from .build import SchemaBuilder, schemas_of
from .descriptors import FieldDescriptor, HasDescriptor, MessageDescriptor, class_in, descriptor_of
from .schema import Schema
from .struct import is_default, value_of
from .types import SchemaError


def explain_write(message: HasDescriptor, version: int, error: Exception, schema: Schema | None = None) -> EncodeError:
    if isinstance(error, UnicodeEncodeError):  # its text may be secret
        error.object = ""
        error.args = (error.encoding, "", *error.args[2:])
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
    one, other = (f"{cls.__name__} of {cls.__module__.rpartition('.')[2]}" for cls in (wanted, type(found)))
    return SchemaError(f"expected {one}, got {other}")


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
