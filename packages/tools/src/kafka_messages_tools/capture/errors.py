"""Error codes of a message, with their paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..package import DEFAULT, Package, load

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kafka_messages import Message
    from kafka_messages.schema import FieldFacts, MessageFacts


class FoundError(NamedTuple):
    path: str
    code: int
    name: str
    """Kafka's name, or ``UNKNOWN_999`` for a code unknown to the package."""


def errors_in(message: Message, package: str | Package = DEFAULT) -> Iterator[FoundError]:
    """Yield the non-zero error codes of a message in field order."""
    found = load(package)
    facts = found.module("schema").facts_of(type(message))
    error_code = found.module("protocol").ErrorCode
    for path, code in _codes(message, facts, facts.fields, ""):
        yield FoundError(path, code, error_code(code).name)


def _codes(struct: Any, facts: MessageFacts, fields: tuple[FieldFacts, ...], path: str) -> Iterator[tuple[str, int]]:
    for field in fields:
        if field.is_error_code:
            code = getattr(struct, field.name)
            if code:
                yield f"{path}{field.name}", code
        elif field.is_struct and field.type in _with_errors(facts):
            value = getattr(struct, field.name)
            inner = facts.structs[field.type]
            if field.is_array:
                for index, element in enumerate(value or ()):
                    yield from _codes(element, facts, inner, f"{path}{field.name}[{index}].")
            elif value is not None:
                yield from _codes(value, facts, inner, f"{path}{field.name}.")


_found: dict[int, tuple[MessageFacts, frozenset[str]]] = {}


def _with_errors(facts: MessageFacts) -> frozenset[str]:
    known = _found.get(id(facts))
    if known is None or known[0] is not facts:
        known = facts, frozenset(name for name in facts.structs if _has_errors(facts, name, frozenset()))
        _found[id(facts)] = known
    return known[1]


def _has_errors(facts: MessageFacts, name: str, above: frozenset[str]) -> bool:
    if name in above:
        return False
    inner = above | {name}
    return any(
        field.is_error_code or (field.is_struct and _has_errors(facts, field.type, inner))
        for field in facts.structs[name]
    )
