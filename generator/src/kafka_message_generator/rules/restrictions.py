"""Checks of ``restrictions.json``."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.rules.paths import Messages, field_at, python_path
from kafka_message_generator.spec.model import REQUEST
from kafka_message_generator.spec.restrictions import RestrictionAnnotation
from kafka_message_generator.spec.source import Problems


@dataclass(frozen=True)
class ResolvedRestriction:
    """Request versions that only brokers send (empty ``feature``), or that need a minimum level of a feature."""

    message: str
    lowest: int
    highest: int
    feature: str
    level: int
    field: str  # the restriction applies only if this field is not null; empty: always


def resolve(
    facts: tuple[RestrictionAnnotation, ...], messages: Messages, problems: Problems
) -> tuple[ResolvedRestriction, ...]:
    """Resolve all entries; the result is valid only if ``problems`` has no errors."""
    found = [_restriction(fact, messages, problems) for fact in facts]
    return tuple(sorted((each for each in found if each), key=lambda each: (each.message, each.lowest)))


def _restriction(fact: RestrictionAnnotation, messages: Messages, problems: Problems) -> ResolvedRestriction | None:
    known = messages.get(fact.message)
    if known is None or known[0].kind != REQUEST:
        what = f"unknown request {fact.message!r}; correct or remove it"
        problems.error(fact.location, what)
        return None
    request, structs = known
    versions = fact.versions.intersect(request.valid)
    if versions.empty:
        what = f"{fact.message} has versions {request.valid}, none of them in {fact.versions}; remove the entry"
        problems.error(fact.location, what)
    name = ""
    if fact.field is not None:
        field = field_at(fact.field, request, structs)
        name = python_path(fact.field)
        if field is None or "." in name or field.nullable.empty:
            what = f"{fact.message} has no nullable top-level field {fact.field.text!r}; write it like TransactionalId"
            problems.error(fact.field.location, what)
    return ResolvedRestriction(fact.message, versions.lowest, versions.highest, fact.feature, fact.level, name)
