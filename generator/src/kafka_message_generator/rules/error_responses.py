"""Checks of ``error_responses.json``, and its conversion to Python names and values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kafka_message_generator.rules.defaults import DefaultError, Empty, Value, default_of
from kafka_message_generator.rules.paths import Messages, field_at, python_path
from kafka_message_generator.spec.error_responses import ErrorResponseAnnotation
from kafka_message_generator.spec.model import REQUEST, RESPONSE, Field, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import NONE


@dataclass(frozen=True)
class ErrorResponseRule:
    """A field of an error response: a constant value, or the request fields from which it is copied."""

    message: str
    path: str
    lowest: int
    highest: int
    sources: tuple[str, ...] | None  # None for a constant; empty if the field keeps its default
    value: Value


def resolve(
    annotations: tuple[ErrorResponseAnnotation, ...], messages: Messages, problems: Problems
) -> tuple[ErrorResponseRule, ...]:
    """Resolve all entries; the result is valid only if ``problems`` has no errors."""
    found = [_rule(annotation, messages, problems) for annotation in annotations]
    return tuple(sorted((each for each in found if each), key=lambda each: (each.message, each.path, each.lowest)))


def _rule(annotation: ErrorResponseAnnotation, messages: Messages, problems: Problems) -> ErrorResponseRule | None:
    known = messages.get(annotation.message)
    if known is None or known[0].kind != RESPONSE:
        what = f"unknown response {annotation.message!r}; correct or remove it"
        problems.error(annotation.location, what)
        return None
    response, structs = known
    field = field_at(annotation.field, response, structs)
    if field is None:
        what = f"{annotation.message} has no field {annotation.field.text!r}; write for example Topics.Name"
        problems.error(annotation.field.location, what)
        return None
    value = _value(annotation, field, problems)
    request = next((each for each, _ in messages.values() if _is_request_of(each, response)), None)
    for source in annotation.sources:
        if request is None or field_at(source, *messages[request.name]) is None:
            name = request.name if request is not None else f"the request of {annotation.message}"
            problems.error(source.location, f"{name} has no field {source.text!r}; write for example Topics.Name")
    sources = tuple(python_path(source) for source in annotation.sources) if annotation.value is None else None
    versions = annotation.versions
    return ErrorResponseRule(
        annotation.message, python_path(annotation.field), versions.lowest, versions.highest, sources, value
    )


def _value(annotation: ErrorResponseAnnotation, field: Field, problems: Problems) -> Value:
    if annotation.value is None:
        return None
    text, what = annotation.value.text, f"{annotation.field.text} of {annotation.message}"
    nullable = field.nullable if text == "null" else NONE  # so that an empty default of nullable records is not null
    try:
        value = default_of(
            replace(field, default=text, versions=field.versions.intersect(annotation.versions), nullable=nullable)
        )
    except DefaultError as error:
        problems.error(annotation.value.location, f"{what}: {error}")
        return None
    if isinstance(value, Empty):
        problems.error(annotation.value.location, f"{what} has this default already: {value.value}; remove the entry")
    return value


def _is_request_of(message: Message, response: Message) -> bool:
    return message.kind == REQUEST and message.api_key == response.api_key
