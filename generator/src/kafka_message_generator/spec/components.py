"""Components of a generated package, with their dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE
from kafka_message_generator.spec.suggestions import did_you_mean


@dataclass(frozen=True)
class Component:
    """A module or folder of the runtime."""

    name: str
    about: str
    needs: tuple[str, ...] = ()
    """Components that this one imports; they precede this one in ``COMPONENTS``."""
    kinds: frozenset[str] = frozenset()
    """Message types: the component needs one of them, and is then included by default."""
    is_basic: bool = False
    """True for components of every package."""
    extra: tuple[str, ...] = ()
    """Requirements that the package's extra ``extra_name`` installs."""
    extra_name: str = "arrow"


COMPONENTS = {
    component.name: component
    for component in (
        Component("errors", "exceptions", is_basic=True),
        Component("_core", "helpers of the generated code", ("errors",), is_basic=True),
        Component("schema", "the dynamic codec", ("errors", "_core"), is_basic=True),
        Component("_base", "base classes of messages", ("errors", "_core", "schema"), is_basic=True),
        Component("enums", "names for the numbers and strings of fields"),
        Component("json", "Kafka's JSON form", ("errors", "_core", "schema", "_base"), is_basic=True),
        Component(
            "protocol",
            "headers, framing, the API table, negotiation",
            ("errors", "_core", "_base", "enums"),
            frozenset((REQUEST, RESPONSE)),
        ),
        Component(
            "history", "releases in which messages, versions and fields exist", ("errors", "_core", "schema", "_base")
        ),
        Component(
            "connection",
            "connections without I/O, and traversals of errors, addresses and names",
            ("errors", "_core", "schema", "_base", "protocol"),
        ),
        Component(
            "aio",
            "clients, servers and proxies with asyncio",
            ("_core", "_base", "schema", "protocol", "connection"),
        ),
        Component(
            "internal_topics",
            "records of internal logs by key and value",
            ("errors", "_core", "_base"),
            frozenset((COORDINATOR_KEY, COORDINATOR_VALUE, METADATA)),
        ),
        Component("secrets", "secrets in messages, and redacted copies", ("_core", "schema", "_base")),
        Component(
            "arrow",
            "whole columns of messages as Arrow arrays",
            ("errors", "_core", "schema", "_base", "secrets"),
            extra=("pyarrow>=18",),
        ),
        Component("explain", "meaning of each byte of a message", ("errors", "_core", "schema", "_base", "secrets")),
        Component(
            "testing",
            "random messages and damaged bytes for tests, with or without Hypothesis",
            ("_core", "schema", "_base"),
            extra=("hypothesis>=6.100",),
            extra_name="testing",
        ),
    )
}
"""Components by name; each follows the components that it imports."""


def called_for(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the components that every package has, and those included by default for these message types."""
    found = frozenset(kinds)
    return tuple(component.name for component in COMPONENTS.values() if component.is_basic or component.kinds & found)


FORMER = {
    "batches": "kafka-records",
    "segments": "kafka-records",
    "capture": "kafka-messages-tools",
    "command": "kafka-messages-tools",
    "wireshark": "kafka-messages-tools",
}
"""Former components, and the distributions that contain them now."""


OPTIONAL = tuple(component.name for component in COMPONENTS.values() if not component.is_basic)


def component_problem(name: str) -> str | None:
    if name in OPTIONAL:
        return None
    if name in COMPONENTS:
        return f"the component {name} is in every package; remove it"
    if name in FORMER:
        return f"{name} is no longer a component; remove it, and install {FORMER[name]} (README.md)"
    return f"unknown component {name!r}; {did_you_mean(name, OPTIONAL, _THERE_ARE)}"


_THERE_ARE = f"expected one of {', '.join(OPTIONAL)}"
