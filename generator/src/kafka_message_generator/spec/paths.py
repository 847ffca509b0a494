"""Fields of messages as files beside definitions name them: ``Topics.Name``."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.spec.properties import Missing, Properties
from kafka_message_generator.spec.source import Location, Node, Problems


@dataclass(frozen=True)
class FieldPath:
    """A field of a message by the names on the way to it: ``Upsertions.Salt``."""

    text: str
    location: Location

    @property
    def names(self) -> list[str]:
        return self.text.split(".")


@dataclass(frozen=True)
class FieldEntry:
    """Fields of one message of which the same is true."""

    message: str
    location: Location
    fields: tuple[FieldPath, ...]


def entry(node: Node, problems: Problems) -> Properties:
    """The properties of an entry; its ``about`` is for readers."""
    properties = Properties(node, "an entry", problems)
    properties.text("about")
    return properties


def read_fields(node: Node, problems: Problems) -> FieldEntry | None:
    """An entry with a ``message`` and its ``fields``."""
    try:
        properties = entry(node, problems)
        message = properties.required("message")
    except Missing:
        return None
    fields = named_fields(properties)
    properties.finish()
    return FieldEntry(message, properties.places["message"], fields)


def named_fields(properties: Properties) -> tuple[FieldPath, ...]:
    """The ``fields`` of an entry, one at least."""
    paths = []
    for each in properties.nodes("fields"):
        if isinstance(each.value, str):
            paths.append(FieldPath(each.value, each.location))
        else:
            properties.wrong(each, "the name of a field")
    if not properties.nodes("fields"):
        properties.problems.error(properties.node.location, f"{properties.what} has no fields; add their names")
    return tuple(paths)
