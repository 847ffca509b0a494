"""Bytes that Kafka's own classes wrote for every message at every version, and bytes that are to be refused.

* ``vectors()`` are messages as JSON and as bytes, ``negative()`` damaged ones with the place of the damage.
* ``apis()`` is Kafka's table of APIs, ``protocol()`` the whole protocol as data.
* ``FOLDER`` has the files themselves, for other languages; the README of the package says what is in them.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["FOLDER", "RELEASE", "Negative", "Vector", "apis", "negative", "protocol", "vectors"]

FOLDER = Path(__file__).parent
RELEASE = "4.4.0"
"""The release of Kafka whose classes wrote the bytes; those of versions that it has no more, the last one that had them."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One message as JSON and as bytes."""

    message: str
    file: str
    """Its definition, with the folder: ``clients/FetchRequest.json``."""
    version: int
    sample: str
    """Which kind of sample it is, such as ``full``; see the README."""
    release: str
    """The release of Kafka whose classes wrote the bytes."""
    data: bytes
    json_in: Mapping[str, Any] | None
    """What Kafka was asked to write, in the form of its JSON converters; None for a newly created object."""
    json_out: Mapping[str, Any]
    """What Kafka reads back from the bytes."""

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.sample}"


@dataclass(frozen=True, slots=True)
class Negative:
    """Bytes that are not this message at this version."""

    message: str
    version: int
    kind: str
    """What is wrong, as one of the words in the README, such as ``truncated``."""
    data: bytes
    offset: int
    """The byte at which a reader finds it."""
    path: str
    """The field, in snake case with dots and indexes; empty for the message as a whole."""
    kafka: str
    """What Kafka's own class does with the bytes: ``refused``, ``accepted``, or ``rest`` if it leaves some unread."""

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.kind}"


def vectors(message: str | None = None) -> Iterator[Vector]:
    """The vectors of all messages or of one: by release, and there by definition folder, message, version and sample."""
    for path in sorted(FOLDER.glob("kafka-*/*.jsonl.gz")):
        release = path.parent.name.removeprefix("kafka-")
        for line in _lines(path):
            if message in (None, line["message"]):
                data = bytes.fromhex(line.pop("hex"))
                yield Vector(release=release, data=data, json_in=line.pop("json_in", None), **line)


def negative(message: str | None = None) -> Iterator[Negative]:
    """Bytes that are to be refused, of all messages or of one, by message, version and kind."""
    for line in _lines(FOLDER / "negative" / f"kafka-{RELEASE}.jsonl.gz"):
        if message in (None, line["message"]):
            yield Negative(data=bytes.fromhex(line.pop("hex")), **line)


def apis() -> list[dict[str, Any]]:
    """Kafka's table of APIs, by id: versions, header versions, listeners."""
    text = (FOLDER / f"kafka-{RELEASE}" / "apis.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def protocol() -> dict[str, Any]:
    """The whole protocol as data, ``protocol.json``.

    Released packages have it. Raises FileNotFoundError in a clone where it was not made yet.
    """
    path = FOLDER / "protocol.json"
    if not path.exists():
        made = f"kafka-message-generator export --specs specs/kafka --output {FOLDER}"
        raise FileNotFoundError(f"{path} is not there; in a clone of the repository it is made by: {made}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        yield from map(json.loads, lines)
