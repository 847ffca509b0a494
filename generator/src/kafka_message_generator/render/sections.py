"""The three encodings of a section of tagged or optional fields."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.plan.model import Operation, OptionalBuffer, TaggedFields

Section = TaggedFields | OptionalBuffer


@dataclass(frozen=True)
class Form:
    """An encoding: names of its generated functions and of its runtime helpers."""

    function: str
    header: str
    """Helper that reads a field's tag, start and end."""
    unknown: str
    """Helper that reads a section without defined fields."""
    join: str


SEQUENTIAL = Form("tags", "tag_header", "unknown_tags", "tags")
INTERLEAVED = Form("tags", "interleaved_header", "unknown_interleaved_tags", "interleaved_tags")
OPTIONAL = Form("optional", "optional_header", "unknown_optional", "optional")


def form_of(section: Section) -> Form:
    if isinstance(section, OptionalBuffer):
        return OPTIONAL
    return INTERLEAVED if section.interleaved else SEQUENTIAL


def section_of(operations: tuple[Operation, ...]) -> Section | None:
    return next((operation for operation in operations if isinstance(operation, TaggedFields | OptionalBuffer)), None)
