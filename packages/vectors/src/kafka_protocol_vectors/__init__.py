"""Test vectors: messages, frames and record batches encoded by Kafka's own classes, and damaged encodings.

* ``vectors()``: messages as JSON and as bytes; ``negative()``: damaged bytes with the position of the damage.
* ``frames()``: whole requests and responses; ``batches()``: record batches; ``negotiation()``: ApiVersions (KIP-511).
* ``apis()``: Kafka's API table; ``protocol()``: the whole protocol as data.
* ``FOLDER``: the files, for other languages; see the README.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "FOLDER",
    "RELEASE",
    "BatchVector",
    "FrameVector",
    "Negative",
    "NegotiationVector",
    "Vector",
    "apis",
    "batches",
    "frames",
    "negative",
    "negotiation",
    "protocol",
    "vectors",
]

FOLDER = Path(__file__).parent
RELEASE = "4.4.0"
"""Kafka release that wrote the vectors; the last release with a version wrote those of removed versions."""


@dataclass(frozen=True, slots=True)
class Vector:
    """One message as JSON and as bytes."""

    message: str
    file: str
    """Definition file, such as ``clients/FetchRequest.json``."""
    version: int
    sample: str
    """Kind of sample, such as ``full``; see the README."""
    release: str
    """Kafka release that encoded the bytes."""
    data: bytes
    json_in: Mapping[str, Any] | None
    """Input in the form of Kafka's JSON converters; None for a new object."""
    json_out: Mapping[str, Any]
    """Message as decoded by Kafka."""

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.sample}"


@dataclass(frozen=True, slots=True)
class Negative:
    """Bytes that are not a valid message."""

    message: str
    version: int
    kind: str
    """Kind of damage, such as ``truncated``; see the README."""
    data: bytes
    offset: int
    """Position of the byte where a strict reader detects the damage."""
    path: str
    """Path of the field, such as ``topics[0].name``; empty for the message itself."""
    kafka: str
    """Reaction of Kafka's class: ``refused``, ``accepted``, or ``rest`` if it leaves bytes unread."""

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.kind}"


@dataclass(frozen=True, slots=True)
class FrameVector:
    """A request or response as sent: length, header and body."""

    api: int
    """API key."""
    message: str
    kind: str
    """``request`` or ``response``."""
    version: int
    header_version: int
    sample: str
    """Kind of sample, such as ``unknown_tags``; see the README."""
    release: str
    """Kafka release that encoded the bytes."""
    data: bytes
    header: Mapping[str, Any]
    """Header as decoded by Kafka, in the form of its JSON converters, with unknown tagged fields."""
    body: Mapping[str, Any]
    """Message as decoded by Kafka, in the same form."""

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.sample}"


@dataclass(frozen=True, slots=True)
class BatchVector:
    """A buffer of record batches, as in a Fetch response or a log segment."""

    id: str
    """Identifier, such as ``batch-2-gzip-headers``."""
    data: bytes
    batches: Sequence[Mapping[str, Any]]
    """Batches with their records, as decoded by Kafka; see the README."""
    incomplete: int
    """Number of bytes after the last complete batch."""

    def __str__(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class NegotiationVector:
    """An ApiVersions request and the response of a Kafka broker, both as frames (KIP-511)."""

    id: str
    """Identifier, such as ``unsupported-version-99``."""
    version: int
    """Version of the request."""
    request_header_version: int
    response_version: int
    """Version of the response: that of the request, or 0 if the broker does not support it."""
    response_header_version: int
    request: bytes
    response: bytes
    request_header: Mapping[str, Any]
    request_body: Mapping[str, Any] | None
    """Request as decoded by Kafka; None for an unsupported version, whose body a broker does not read."""
    response_header: Mapping[str, Any]
    response_body: Mapping[str, Any]

    def __str__(self) -> str:
        return self.id


def vectors(message: str | None = None) -> Iterator[Vector]:
    """Yield the vectors of all messages or of one, sorted by release, folder, message, version and sample."""
    for path in sorted(FOLDER.glob("kafka-*/*.jsonl.gz")):
        release = path.parent.name.removeprefix("kafka-")
        for line in _lines(path):
            if message in (None, line["message"]):
                data = bytes.fromhex(line.pop("hex"))
                yield Vector(release=release, data=data, json_in=line.pop("json_in", None), **line)


def negative(message: str | None = None) -> Iterator[Negative]:
    """Yield the damaged bytes of all messages or of one, sorted by message, version and kind of damage."""
    for line in _lines(FOLDER / "negative" / f"kafka-{RELEASE}.jsonl.gz"):
        if message in (None, line["message"]):
            yield Negative(data=bytes.fromhex(line.pop("hex")), **line)


def frames(message: str | None = None) -> Iterator[FrameVector]:
    """Yield the frames of all messages or of one, sorted by release, message, version and sample."""
    for path in sorted((FOLDER / "frames").glob("kafka-*.jsonl.gz")):
        release = path.name.removeprefix("kafka-").removesuffix(".jsonl.gz")
        for line in _lines(path):
            if message in (None, line["message"]):
                yield FrameVector(release=release, data=bytes.fromhex(line.pop("hex")), **line)


def batches() -> Iterator[BatchVector]:
    """Yield buffers of record batches in formats 0 to 2."""
    for line in _lines(FOLDER / "batches" / f"kafka-{RELEASE}.jsonl.gz"):
        yield BatchVector(data=bytes.fromhex(line.pop("hex")), **line)


def negotiation() -> Iterator[NegotiationVector]:
    """Yield ApiVersions requests at supported and unsupported versions with their responses."""
    for line in _lines(FOLDER / "negotiation" / f"kafka-{RELEASE}.jsonl.gz"):
        request, response = (bytes.fromhex(line.pop(name)) for name in ("request", "response"))
        yield NegotiationVector(request=request, response=response, **line)


def apis() -> list[dict[str, Any]]:
    """Return Kafka's API table, sorted by API key: versions, header versions, listeners."""
    text = (FOLDER / f"kafka-{RELEASE}" / "apis.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def protocol() -> dict[str, Any]:
    """Return the whole protocol, ``protocol.json``.

    Raises FileNotFoundError in a clone without the file; released packages have it.
    """
    path = FOLDER / "protocol.json"
    if not path.exists():
        command = f"kafka-message-generator export --specs specs/kafka --output {FOLDER}"
        raise FileNotFoundError(f"{path} is missing; in a clone of the repository, create it with: {command}")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        yield from map(json.loads, lines)
