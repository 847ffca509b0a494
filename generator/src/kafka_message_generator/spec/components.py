"""Components of a generated package, with their dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE


@dataclass(frozen=True)
class Component:
    """Module or folder of the runtime."""

    name: str
    about: str
    needs: tuple[str, ...] = ()
    """Components that it imports, which precede it in the table."""
    kinds: frozenset[str] = frozenset()
    """Kinds of messages that require it."""
    is_basic: bool = False
    """True for components of every package."""
    extra: tuple[str, ...] = ()
    """Distributions of the extra ``extra_name``."""
    extra_name: str = "arrow"


COMPONENTS = {
    component.name: component
    for component in (
        Component("errors", "what can go wrong", is_basic=True),
        Component("_core", "what printed code calls", ("errors",), is_basic=True),
        Component("schema", "the dynamic codec", ("errors", "_core"), is_basic=True),
        Component("_base", "what every message class can do", ("errors", "_core", "schema"), is_basic=True),
        Component("enums", "names for the numbers and texts of fields"),
        Component("json", "Kafka's JSON form", ("errors", "_core", "schema", "_base"), is_basic=True),
        Component(
            "protocol",
            "headers, framing, the table of APIs, negotiation",
            ("errors", "_core", "_base", "enums"),
            frozenset((REQUEST, RESPONSE)),
        ),
        Component("history", "since which release everything exists", ("_core", "schema", "_base")),
        Component(
            "connection",
            "a connection without I/O, and walks over errors, addresses and names",
            ("errors", "_core", "schema", "_base", "protocol"),
        ),
        Component(
            "internal_topics",
            "records of internal logs by key and value",
            ("errors", "_core", "_base"),
            frozenset((COORDINATOR_KEY, COORDINATOR_VALUE, METADATA)),
        ),
        Component("secrets", "what in messages is secret, and copies without it", ("_core", "schema", "_base")),
        Component(
            "arrow",
            "whole columns of messages as Arrow arrays",
            ("errors", "_core", "schema", "_base", "secrets"),
            extra=("pyarrow>=18",),
        ),
        Component("explain", "what each byte of a message is", ("errors", "_core", "schema", "_base", "secrets")),
        Component(
            "testing",
            "random messages and damaged bytes for tests, for Hypothesis and without it",
            ("_core", "schema", "_base"),
            extra=("hypothesis>=6.100",),
            extra_name="testing",
        ),
    )
}
"""By name, in dependency order."""


def called_for(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the default components of a package with messages of these kinds."""
    found = frozenset(kinds)
    return tuple(component.name for component in COMPONENTS.values() if component.is_basic or component.kinds & found)


FORMER = {
    "batches": "kafka-records",
    "segments": "kafka-records",
    "capture": "kafka-messages-tools",
    "command": "kafka-messages-tools",
    "wireshark": "kafka-messages-tools",
}
"""Former components, with the distribution that now has their modules."""


OPTIONAL = tuple(component.name for component in COMPONENTS.values() if not component.is_basic)
