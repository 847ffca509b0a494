"""Names inside a generated module."""

from __future__ import annotations

from kafka_message_generator.plan.model import LayoutRef
from kafka_message_generator.rules.names import COLLECTION, snake_case
from kafka_message_generator.spec.model import INTEGERS

# Struct format by fixed-width type.
CODES = {"bool": "?", "float64": "d", "uuid": "16s"} | {name: each.code for name, each in INTEGERS.items()}


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
