"""Versions that need more than both sides having them: ``restrictions.json`` beside the definitions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.companions import RESTRICTIONS, load
from kafka_message_generator.spec.paths import FieldPath
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class RestrictionFact:
    """Versions of a request that are for brokers only, or that need a finalized feature."""

    message: str
    location: Location
    versions: Versions
    feature: str
    """The feature; empty for versions that are for brokers only."""
    level: int
    field: FieldPath | None
    """The field that is not null in the requests that this is about; None for all requests."""


def read_restrictions(specs: Path, problems: Problems) -> tuple[RestrictionFact, ...]:
    """Read ``restrictions.json``; return nothing if there is no such file."""
    node = load(specs / RESTRICTIONS, problems)
    if node is None:
        return ()
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of entries, found {node.kind}")
        return ()
    facts = [_restriction(each, problems) for each in node.value]
    return tuple(fact for fact in facts if fact is not None)


def _restriction(node: Node, problems: Problems) -> RestrictionFact | None:
    try:
        properties = Properties(node, "an entry", problems)
        properties.text("about"), properties.text("source")  # for readers
        message = properties.required("message")
        properties.required("versions")
    except Missing:
        return None
    versions, brokers_only = properties.versions("versions"), properties.boolean("brokersOnly")
    feature, level, field = properties.text("feature"), properties.integer("level", 16), properties.text("field")
    places = properties.places
    properties.finish()
    if brokers_only is (feature is not None) or (feature is None) is not (level is None):
        problems.error(node.location, "an entry needs either brokersOnly, or feature and level; write one of them")
        return None
    path = None if field is None else FieldPath(field, places["field"])
    return RestrictionFact(message, places["message"], versions or Versions(0, -1), feature or "", level or 0, path)
