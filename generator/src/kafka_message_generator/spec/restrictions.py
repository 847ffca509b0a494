"""``restrictions.json``: request versions that clients cannot use, or that need a finalized feature."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import RESTRICTIONS, FieldPath, field_path, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class RestrictionAnnotation:
    """A restriction of request versions: brokers only, or a minimum level of a finalized feature."""

    message: str
    location: Location
    versions: Versions
    feature: str  # empty for versions that only brokers use
    level: int
    # The restriction applies only if this field of the request is not null; always, if None.
    field: FieldPath | None


def read_restrictions(specs: Path, problems: Problems) -> tuple[RestrictionAnnotation, ...]:
    return tuple(read(specs, RESTRICTIONS, problems, _restriction))


def _restriction(properties: Properties) -> RestrictionAnnotation | None:
    properties.text("about"), properties.text("source")  # documentation only
    message = properties.required("message")
    properties.required("versions")
    versions, brokers_only = properties.versions("versions"), properties.boolean("brokersOnly")
    feature, level, field = properties.text("feature"), properties.integer("level", 16), field_path(properties, "field")
    if brokers_only is (feature is not None) or (feature is None) is not (level is None):
        what = "an entry needs either brokersOnly, or feature and level"
        properties.problems.error(properties.node.location, what)
        return None
    location = properties.places["message"]
    return RestrictionAnnotation(message, location, versions or Versions(0, -1), feature or "", level or 0, field)
