"""Names in a generated module: its functions, and the runtime helpers of each encoding of a section."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_message_generator.plan.model import LayoutRef, Operation, OptionalBuffer, TaggedFields
from kafka_message_generator.rules.names import COLLECTION, snake_case
from kafka_message_generator.spec.model import INTEGERS

# Struct format by fixed-width type.
CODES = {"bool": "?", "float64": "d", "uuid": "16s"} | {name: each.code for name, each in INTEGERS.items()}
# A section of tagged or optional fields.
Section = TaggedFields | OptionalBuffer


def module(message: str) -> str:
    return snake_case(message)


def function(action: str, ref: LayoutRef) -> str:
    """Return the function that reads or writes a struct in one layout: ``_read_topic_9``."""
    return f"_{action}_{snake_case(ref.struct)}_{ref.version}"


def function_all(action: str, ref: LayoutRef) -> str:
    """Return the function for the elements of an array: ``_read_all_topic_9``."""
    return function(f"{action}_all", ref)


def collection(struct: str) -> str:
    return struct + COLLECTION


@dataclass(frozen=True)
class Form:
    """An encoding of a section: names of its generated functions and of its runtime helpers."""

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
