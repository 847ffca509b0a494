"""How requests are answered with an error, where no rule tells it: ``error_responses.json`` beside the definitions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kafka_message_generator.spec.companions import ERROR_RESPONSES, load
from kafka_message_generator.spec.paths import FieldPath
from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems
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
    node = load(specs / ERROR_RESPONSES, problems)
    if node is None:
        return ()
    if not isinstance(node.value, list):
        problems.error(node.location, f"expected an array of fields, found {node.kind}")
        return ()
    facts = [_rule(each, problems) for each in node.value]
    return tuple(fact for fact in facts if fact is not None)


def _rule(node: Node, problems: Problems) -> ErrorResponseFact | None:
    try:
        properties = Properties(node, "an entry", problems)
        properties.text("about")  # for readers: why
        message, field = properties.required("message"), properties.required("field")
    except Missing:
        return None
    value, versions = properties.text("value"), properties.versions("versions")
    sources = []
    for each in properties.nodes("from"):
        if isinstance(each.value, str):
            sources.append(FieldPath(each.value, each.location))
        else:
            properties.wrong(each, "the name of a field")
    places = properties.places
    properties.finish()
    if (value is None) is ("from" not in places):
        problems.error(node.location, f"{properties.what} needs either a value or from; write one of them")
        return None
    return ErrorResponseFact(
        message,
        places["message"],
        FieldPath(field, places["field"]),
        Versions(0, MAX_VERSION) if versions is None else versions,
        None if value is None else FieldPath(value, places["value"]),
        tuple(sources),
    )
