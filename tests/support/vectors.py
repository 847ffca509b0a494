"""Encodings by Kafka's own classes: the files that hold them, as objects, with the message class of each."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kafka_messages
from kafka_messages._message import Message

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "tests" / "vectors" / "kafka-4.4.0"
"""What the classes of the pinned release write."""
SNAPSHOT = ROOT.parent / "shared" / "vectors" / "kafka-4.0-snapshot.jsonl.gz"
"""What the classes of an older snapshot wrote; it is not part of the repository."""


@dataclass(frozen=True)
class Vector:
    """One message as JSON and as bytes. Without ``json_in`` it is a newly created object."""

    message: str
    version: int
    sample: str
    data: bytes
    json_in: Mapping[str, object] | None
    json_out: Mapping[str, object]

    def __str__(self) -> str:
        return f"{self.message} v{self.version} {self.sample}"

    @property
    def cls(self) -> type[Message]:
        return message_class(self.message)


def read_vectors(path: Path) -> list[Vector]:
    """The vectors of a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_vector(json.loads(line)) for line in lines]


def _vector(line: Mapping[str, Any]) -> Vector:
    data = bytes.fromhex(line["hex"])
    return Vector(line["message"], line["version"], line["sample"], data, line.get("json_in"), line["json_out"])


@cache
def committed() -> Mapping[str, Sequence[Vector]]:
    """Every committed vector, by message."""
    return by_message(vector for path in sorted(COMMITTED.glob("*.jsonl.gz")) for vector in read_vectors(path))


@cache
def snapshot() -> Mapping[str, Sequence[Vector]]:
    """Every vector of the older snapshot, by message; empty where the file is absent."""
    return by_message(read_vectors(SNAPSHOT)) if SNAPSHOT.exists() else {}


def by_message(vectors: Iterable[Vector]) -> Mapping[str, Sequence[Vector]]:
    """Vectors grouped by message, in their order."""
    groups: dict[str, list[Vector]] = {}
    for vector in vectors:
        groups.setdefault(vector.message, []).append(vector)
    return groups


@cache
def message_names() -> list[str]:
    """The name of every message of the package."""
    return sorted(name for name, module in kafka_messages._MODULES.items() if module.startswith("messages."))


def message_class(name: str) -> type[Message]:
    """The class of a message of the package."""
    found = getattr(kafka_messages, name)
    assert isinstance(found, type)
    assert issubclass(found, Message)
    return found


def versions_of(message: type[Message]) -> range:
    """The versions that a message has."""
    return range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1)
