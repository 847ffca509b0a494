"""``error_responses.json``: values of response fields in an error response, where they differ from the general rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import ERROR_RESPONSES, FieldPath, field_path, field_paths, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.versions import MAX_VERSION, Versions


@dataclass(frozen=True)
class ErrorResponseFact:
    """Value of one response field in an error response: a constant, or a copy of a field of the request."""

    message: str
    location: Location
    field: FieldPath
    versions: Versions
    value: FieldPath | None  # Constant as text; None for a copy of a request field.
    sources: tuple[FieldPath, ...]  # Request fields to copy from; empty for a field that keeps its default.


def read_error_responses(specs: Path, problems: Problems) -> tuple[ErrorResponseFact, ...]:
    """Read ``error_responses.json``; return nothing if it does not exist."""
    return tuple(read(specs, ERROR_RESPONSES, problems, _rule))


def _rule(properties: Properties) -> ErrorResponseFact | None:
    properties.text("about")  # for readers: why
    message, field = properties.required("message"), properties.required("field")
    value, versions = field_path(properties, "value"), properties.versions("versions")
    sources, places = field_paths(properties, "from"), properties.places
    if (value is None) is ("from" not in places):
        what = f"{properties.what} needs either a value or from; write one of them"
        properties.problems.error(properties.node.location, what)
        return None
    return ErrorResponseFact(
        message,
        places["message"],
        FieldPath(field, places["field"]),
        Versions(0, MAX_VERSION) if versions is None else versions,
        value,
        sources,
    )
