"""The parts of a generated package: what each needs of the others, and which messages call for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE


@dataclass(frozen=True)
class Part:
    """A module or folder of the runtime."""

    name: str
    about: str
    needs: tuple[str, ...] = ()
    """The parts that it imports; each of them stands before it in the table."""
    kinds: frozenset[str] = frozenset()
    """Kinds of messages that call for it."""
    is_basic: bool = False
    """Whether every package has it."""
    extra: tuple[str, ...] = ()
    """Distributions that it imports, which users install by the extra ``extra_name``."""
    extra_name: str = "arrow"


_COLUMNS = ("numpy>=1.26", "pyarrow>=18", "crc32c>=2.7")
_CODECS = ("cramjam>=2.9", "zstandard>=0.23", "crc32c>=2.7")

PARTS = {
    part.name: part
    for part in (
        Part("errors", "what can go wrong", is_basic=True),
        Part("_core", "what printed code calls", ("errors",), is_basic=True),
        Part("schema", "the dynamic codec", ("errors", "_core"), is_basic=True),
        Part("_base", "what every message class can do", ("errors", "_core", "schema"), is_basic=True),
        Part("enums", "names for the numbers and texts of fields"),
        Part("json", "Kafka's JSON form", ("errors", "_core", "schema", "_base"), is_basic=True),
        Part(
            "protocol",
            "headers, framing, the table of APIs, negotiation",
            ("errors", "_core", "_base", "enums"),
            frozenset((REQUEST, RESPONSE)),
        ),
        Part("history", "since which release everything exists", ("_core", "schema", "_base")),
        Part(
            "connection",
            "a connection without I/O, and walks over errors, addresses and names",
            ("errors", "_core", "schema", "_base", "protocol"),
        ),
        Part(
            "records",
            "records of internal logs by key and value",
            ("errors", "_core", "_base"),
            frozenset((COORDINATOR_KEY, COORDINATOR_VALUE, METADATA)),
        ),
        Part("secrets", "what in messages is secret, and copies without it", ("_core", "schema", "_base")),
        Part(
            "capture",
            "captured traffic: packets, connections, requests with their responses",
            ("errors", "_core", "schema", "_base", "json", "protocol", "secrets"),
        ),
        Part("wireshark", "a dissector for Wireshark, printed from the plans", ("_base", "protocol")),
        Part(
            "arrow",
            "whole columns of messages as Arrow arrays",
            ("errors", "_core", "schema", "_base", "secrets"),
            extra=("pyarrow>=18",),
        ),
        Part(
            "batches",
            "record batches of Fetch and Produce, without dependencies",
            ("errors", "_core"),
            extra=_CODECS,
            extra_name="compression",
        ),
        Part("segments", "record batches and log files as Arrow data", ("errors", "_core", "batches"), extra=_COLUMNS),
        Part("explain", "what each byte of a message is", ("errors", "_core", "schema", "_base", "secrets")),
        Part(
            "command",
            "the command line: lists, shows and decodes messages",
            ("errors", "_core", "schema", "_base", "json", "secrets", "explain"),
        ),
        Part(
            "testing",
            "random messages and damaged bytes for tests, for Hypothesis and without it",
            ("_core", "schema", "_base"),
            extra=("hypothesis>=6.100",),
            extra_name="testing",
        ),
    )
}
"""By name, in the order of their floors: a part may import only what it needs, and nothing above it."""


def called_for(kinds: Iterable[str]) -> tuple[str, ...]:
    """The parts of a package with messages of these kinds, where nobody says otherwise."""
    found = frozenset(kinds)
    return tuple(part.name for part in PARTS.values() if part.is_basic or part.kinds & found)


OPTIONAL = tuple(part.name for part in PARTS.values() if not part.is_basic)
"""The parts that a package may leave out."""
