"""A message with every field set and one element in each array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kafka_messages import Message
from kafka_messages.schema import FieldDescriptor, descriptor_of

Value = Callable[[FieldDescriptor], Any]


def filled(message: type[Message], value: Value) -> Any:
    """Return a message with ``value`` of each field and element except structs; None keeps the default."""
    return _struct(message, message, descriptor_of(message).fields, value)


def _struct(message: Any, kind: Any, fields: tuple[FieldDescriptor, ...], value: Value) -> Any:
    made = kind()
    for field in fields:
        one = _struct(message, getattr(message, field.type), field.fields, value) if field.is_struct else value(field)
        if one is not None:
            setattr(made, field.name, [one] if field.is_array else one)
    return made
