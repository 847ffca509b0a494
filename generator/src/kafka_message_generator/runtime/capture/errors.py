"""Error codes anywhere in a message, with the path to each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .._base.message import Message
from ..protocol import ErrorCode
from ..schema.facts import FieldFacts, MessageFacts, facts_of


class FoundError(NamedTuple):
    """An error code that is not 0."""

    path: str
    code: int

    @property
    def name(self) -> str:
        """Kafka's name of it; ``UNKNOWN`` for codes that this package does not know."""
        try:
            return ErrorCode(self.code).name
        except ValueError:
            return "UNKNOWN"


def errors_in(message: Message) -> Iterator[FoundError]:
    """The error codes of a message that are not 0, in the order of its fields."""
    facts = facts_of(type(message))
    return _errors(message, facts, facts.fields, "")


def _errors(struct: Any, facts: MessageFacts, fields: tuple[FieldFacts, ...], path: str) -> Iterator[FoundError]:
    for field in fields:
        if field.is_error_code:
            code = getattr(struct, field.name)
            if code:
                yield FoundError(f"{path}{field.name}", code)
        elif field.is_struct and field.type in _with_errors(facts):
            value = getattr(struct, field.name)
            inner = facts.structs[field.type]
            if field.is_array:
                for index, element in enumerate(value or ()):
                    yield from _errors(element, facts, inner, f"{path}{field.name}[{index}].")
            elif value is not None:
                yield from _errors(value, facts, inner, f"{path}{field.name}.")


_found: dict[str, frozenset[str]] = {}


def _with_errors(facts: MessageFacts) -> frozenset[str]:
    """The structs of a message that have error codes, in themselves or deeper."""
    known = _found.get(facts.name)
    if known is None:
        known = frozenset(name for name in facts.structs if _has_errors(facts, name, frozenset()))
        _found[facts.name] = known
    return known


def _has_errors(facts: MessageFacts, name: str, above: frozenset[str]) -> bool:
    if name in above:
        return False
    inner = above | {name}
    return any(
        field.is_error_code or (field.is_struct and _has_errors(facts, field.type, inner))
        for field in facts.structs[name]
    )
