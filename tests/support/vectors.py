"""Encodings by Kafka's own classes: the files that hold them, as objects."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kafka_messages
from kafka_messages._base.message import Message
from kafka_messages.history import RELEASES

from tests.support.outside import VECTORS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors"
RELEASE = RELEASES[-1]
"""The release of Kafka that the package is of."""
COMMITTED = FOLDER / f"kafka-{RELEASE}"
"""What the classes of the pinned release write; the folders beside it are of older releases."""
SNAPSHOT = VECTORS / "kafka-4.0-snapshot.jsonl.gz"
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
    """Every committed vector, by message; what the pinned release does not have comes from the last one that had it."""
    return by_message(vector for path in sorted(FOLDER.glob("kafka-*/*.jsonl.gz")) for vector in read_vectors(path))


@cache
def pinned() -> Mapping[str, Sequence[Vector]]:
    """The vectors that the pinned release wrote, by message."""
    return by_message(vector for path in sorted(COMMITTED.glob("*.jsonl.gz")) for vector in read_vectors(path))


@cache
def snapshot() -> Mapping[str, Sequence[Vector]]:
    """Every vector of the older snapshot, by message; empty where the file is absent."""
    return by_message(read_vectors(SNAPSHOT)) if SNAPSHOT.exists() else {}


def plain(value: object) -> object:
    """JSON in which not a number equals itself."""
    return json.loads(json.dumps(value), parse_constant=str)


class Groups(dict[str, list[Vector]]):
    """Vectors by message. Tests of a message without any are skipped; the failure is in ``test_vectors.py``."""

    def __missing__(self, name: str) -> list[Vector]:
        import pytest  # nothing else here needs it: the wheels of the core are tried without it

        pytest.skip(f"there are no vectors of {name}; nox -s upstream -- vectors writes them")


def by_message(vectors: Iterable[Vector]) -> Mapping[str, Sequence[Vector]]:
    """Vectors grouped by message, in their order."""
    groups = Groups()
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


def samples(name: str, *wanted: str) -> list[Vector]:
    """The vectors of a message that are one of the wanted samples."""
    return [vector for vector in committed()[name] if vector.sample in wanted]


@cache
def layouts(name: str) -> list[Vector]:
    """The fullest vector of each distinct layout of a message."""
    found = {id(vector.cls.schemas()[vector.version]): vector for vector in samples(name, "default", "full")}
    return list(found.values())
