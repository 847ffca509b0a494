"""JSON form of messages with enumeration members in place of numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from .._core.display import display
from ..errors import did_you_mean
from ..schema.descriptors import FieldDescriptor
from ..schema.types import SchemaError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from enum import Enum
    from typing import Any

_PACKAGE = __name__.rsplit(".", 2)[0]


def enumerations() -> Mapping[str, type[Enum]]:
    """Return the package's enumerations by name. Raises ValueError if the package lacks the component ``enums``."""
    try:
        found: Mapping[str, type[Enum]] = import_module(f"{_PACKAGE}.enums").ENUMERATIONS
    except ModuleNotFoundError:
        raise ValueError(f"{_PACKAGE} has no enumerations; generate the package with the component enums") from None
    return found


def put_names(fields: tuple[FieldDescriptor, ...], obj: dict[str, Any]) -> None:
    for field, value in _given(fields, obj):
        if not field.is_struct:
            of = enumerations()[field.enumeration or ""]
            obj[field.json_name] = [_name(of, each) for each in value] if field.is_array else _name(of, value)
        else:
            for element in value if field.is_array else [value]:
                put_names(field.fields, element)


def _name(enumeration: type[Enum], value: object) -> object:
    known = None if isinstance(value, str) else enumeration._value2member_map_.get(value)
    return value if known is None else known.name


def with_numbers(fields: tuple[FieldDescriptor, ...], obj: object) -> object:
    """Replace enumeration names by numbers in the JSON of a struct. Raises SchemaError for an unknown name."""
    if not isinstance(obj, Mapping):
        return obj
    out = dict(obj)
    for field, value in _given(fields, obj):
        try:
            out[field.json_name] = _elements(field, value) if isinstance(value, (list, tuple)) else _one(field, value)
        except SchemaError as error:
            raise error.inside(f".{field.json_name}") from None
    return out


def _elements(field: FieldDescriptor, value: list[object] | tuple[object, ...]) -> list[object]:
    found = []
    for index, element in enumerate(value):
        try:
            found.append(_one(field, element))
        except SchemaError as error:
            raise error.inside(f"[{index}]") from None
    return found


def _one(field: FieldDescriptor, value: object) -> object:
    if field.is_struct:
        return with_numbers(field.fields, value)
    if field.type == "string" or not isinstance(value, str):
        return value
    members = enumerations()[field.enumeration or ""].__members__
    if value not in members:
        advice = did_you_mean(value, members, "{}", 0.6)
        raise SchemaError(f"{field.enumeration} has no member {display(value)}{advice}")
    number = members[value].value
    return bool(number) if field.type == "bool" else number


def _given(fields: tuple[FieldDescriptor, ...], obj: Mapping[Any, Any]) -> Iterator[tuple[FieldDescriptor, Any]]:
    for field in fields:
        value = obj.get(field.json_name)
        if value is not None and (field.is_struct or field.enumeration is not None):
            yield field, value
