"""How requests are answered with an error, where no rule tells it: ``error_responses.json`` beside the definitions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.annotations import ERROR_RESPONSES, FieldPath, field_path, field_paths, read
from kafka_message_generator.spec.properties import Properties
from kafka_message_generator.spec.source import Location, Problems
from kafka_message_generator.spec.versions import MAX_VERSION, Versions


@dataclass(frozen=True)
class ErrorResponseFact:
    """A field of a response that, in an answer with an error, has a value of its own, or comes from the request."""

    message: str
    location: Location
    field: FieldPath
    versions: Versions
    value: FieldPath | None
    """The value as text; None where the field comes from the request."""
    sources: tuple[FieldPath, ...]
    """Where it comes from; none says that the field is left as it is."""


def read_error_responses(specs: Path, problems: Problems) -> tuple[ErrorResponseFact, ...]:
    """What ``error_responses.json`` says; nothing when there is no such file."""
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
