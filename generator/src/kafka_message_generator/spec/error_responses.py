"""``error_responses.json``: fields of error responses that deviate from the general rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import ERROR_RESPONSES, FieldPath, field_path, field_paths, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.versions import MAX_VERSION, Versions


@dataclass(frozen=True)
class ErrorResponseAnnotation:
    """The value of a field in an error response: a constant, or the value of a request field."""

    message: str
    location: Location
    field: FieldPath
    versions: Versions
    value: FieldPath | None  # constant as text; None for a copy
    sources: tuple[FieldPath, ...]  # request fields to copy from; empty for a field that keeps its default


def read_error_responses(specs: Path, problems: Problems) -> tuple[ErrorResponseAnnotation, ...]:
    return tuple(read(specs, ERROR_RESPONSES, problems, _rule))


def _rule(properties: Properties) -> ErrorResponseAnnotation | None:
    properties.text("about")  # documentation only
    message, field = properties.required("message"), properties.required("field")
    value, versions = field_path(properties, "value"), properties.versions("versions")
    sources, places = field_paths(properties, "from"), properties.places
    if (value is None) is ("from" not in places):
        what = f"{properties.what} needs either a value or from; write one of them"
        properties.problems.error(properties.node.location, what)
        return None
    return ErrorResponseAnnotation(
        message,
        places["message"],
        FieldPath(field, places["field"]),
        Versions(0, MAX_VERSION) if versions is None else versions,
        value,
        sources,
    )
