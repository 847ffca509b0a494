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
    annotations: tuple[RestrictionAnnotation, ...], messages: Messages, problems: Problems
) -> tuple[ResolvedRestriction, ...]:
    """Resolve all entries; the result is valid only if ``problems`` has no errors."""
    found = [_restriction(annotation, messages, problems) for annotation in annotations]
    return tuple(sorted((each for each in found if each), key=lambda each: (each.message, each.lowest)))


def _restriction(
    annotation: RestrictionAnnotation, messages: Messages, problems: Problems
) -> ResolvedRestriction | None:
    known = messages.get(annotation.message)
    if known is None or known[0].kind != REQUEST:
        what = f"unknown request {annotation.message!r}; correct or remove it"
        problems.error(annotation.location, what)
        return None
    request, structs = known
    versions = annotation.versions.intersect(request.valid)
    if versions.empty:
        what = f"{annotation.message} has versions {request.valid}, none of them in {annotation.versions}; remove the entry"
        problems.error(annotation.location, what)
    name = ""
    if annotation.field is not None:
        field = field_at(annotation.field, request, structs)
        name = python_path(annotation.field)
        if field is None or "." in name or field.nullable.empty:
            what = f"{annotation.message} has no nullable top-level field {annotation.field.text!r}"
            problems.error(annotation.field.location, f"{what}; write it like TransactionalId")
    return ResolvedRestriction(
        annotation.message, versions.lowest, versions.highest, annotation.feature, annotation.level, name
    )
