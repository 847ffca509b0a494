"""Error codes of a message, with their paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..package import DEFAULT, Package, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import Message
    from kafka_messages.schema import FieldDescriptor, MessageDescriptor


class FoundError(NamedTuple):
    path: str
    code: int
    name: str
    """Kafka's name, or ``UNKNOWN_999`` for a code unknown to the package."""


def errors_in(message: Message, package: str | Package = DEFAULT) -> Iterator[FoundError]:
    """Yield the error codes of a message other than 0, in the order of the fields."""
    found = load(package)
    descriptor = found.module("schema").descriptor_of(type(message))
    error_code = found.module("protocol").ErrorCode
    for path, code in _codes(message, descriptor, descriptor.fields, ""):
        yield FoundError(path, code, error_code(code).name)


def _codes(
    struct: Any, descriptor: MessageDescriptor, fields: tuple[FieldDescriptor, ...], path: str
) -> Iterator[tuple[str, int]]:
    for field in fields:
        if field.is_error_code:
            code = getattr(struct, field.name)
            if code:
                yield f"{path}{field.name}", code
        elif field.is_struct and field.type in _with_errors(descriptor):
            value = getattr(struct, field.name)
            inner = descriptor.structs[field.type]
            if field.is_array:
                for index, element in enumerate(value or ()):
                    yield from _codes(element, descriptor, inner, f"{path}{field.name}[{index}].")
            elif value is not None:
                yield from _codes(value, descriptor, inner, f"{path}{field.name}.")


_found: dict[int, tuple[MessageDescriptor, frozenset[str]]] = {}


def _with_errors(descriptor: MessageDescriptor) -> frozenset[str]:
    known = _found.get(id(descriptor))
    if known is None or known[0] is not descriptor:
        known = descriptor, frozenset(name for name in descriptor.structs if _has_errors(descriptor, name, frozenset()))
        _found[id(descriptor)] = known
    return known[1]


def _has_errors(descriptor: MessageDescriptor, name: str, above: frozenset[str]) -> bool:
    if name in above:
        return False
    inner = above | {name}
    return any(
        field.is_error_code or (field.is_struct and _has_errors(descriptor, field.type, inner))
        for field in descriptor.structs[name]
    )
