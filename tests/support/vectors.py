"""Vectors: messages encoded by Kafka's own classes."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import kafka_messages
from kafka_messages import Message
from kafka_messages.history import RELEASES

from tests.support.outside import VECTORS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors"
RELEASE = RELEASES[-1]  # Kafka release of the package.
# Vectors of the pinned release; neighboring folders have those of older releases.
COMMITTED = FOLDER / f"kafka-{RELEASE}"
SNAPSHOT = VECTORS / "kafka-4.0-snapshot.jsonl.gz"  # Vectors of an older snapshot, which is not in the repository.


@dataclass(frozen=True)
class Vector:
    """A message as JSON and as bytes; a newly created object if ``json_in`` is missing."""

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
    """Read the vectors in a gzipped file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [_vector(json.loads(line)) for line in lines]


def _vector(line: Mapping[str, Any]) -> Vector:
    data = bytes.fromhex(line["hex"])
    return Vector(line["message"], line["version"], line["sample"], data, line.get("json_in"), line["json_out"])


@cache
def of_every_version() -> Mapping[str, Sequence[Vector]]:
    """Return all vectors by message; removed messages have those of their last release."""
    return by_message(vector for path in sorted(FOLDER.glob("kafka-*/*.jsonl.gz")) for vector in read_vectors(path))


@cache
def committed() -> Mapping[str, Sequence[Vector]]:
    """Return all vectors by message; with ``TESTS_VERSIONS=ends``, those of the lowest and of the highest version."""
    found = of_every_version()
    if os.environ.get("TESTS_VERSIONS") != "ends":
        return found
    ends = {name: {vectors[0].version, vectors[-1].version} for name, vectors in found.items()}
    return by_message(each for vectors in found.values() for each in vectors if each.version in ends[each.message])


@cache
def pinned() -> Mapping[str, Sequence[Vector]]:
    """Return the vectors of the pinned release by message."""
    return by_message(vector for path in sorted(COMMITTED.glob("*.jsonl.gz")) for vector in read_vectors(path))


@cache
def snapshot() -> Mapping[str, Sequence[Vector]]:
    """Return the vectors of the older snapshot by message; empty if the file is absent."""
    return by_message(read_vectors(SNAPSHOT)) if SNAPSHOT.exists() else {}


def plain(value: object) -> object:
    """Return JSON in a form that separates numbers from equal values of other types."""
    return json.loads(json.dumps(value), parse_constant=str)


class Groups(dict[str, list[Vector]]):
    """Vectors by message; tests of a message without vectors are skipped, and ``test_vectors.py`` fails."""

    def __missing__(self, name: str) -> list[Vector]:
        import pytest  # not installed in trials of wheels

        pytest.skip(f"there are no vectors of {name}; nox -s upstream -- vectors writes them")


def by_message(vectors: Iterable[Vector]) -> Mapping[str, Sequence[Vector]]:
    """Return vectors grouped by message, in order."""
    groups = Groups()
    for vector in vectors:
        groups.setdefault(vector.message, []).append(vector)
    return groups


@cache
def message_names() -> list[str]:
    return sorted(name for name, module in kafka_messages._MODULES.items() if module.startswith("messages."))


def message_class(name: str) -> type[Message]:
    found = getattr(kafka_messages, name)
    assert isinstance(found, type)
    assert issubclass(found, Message)
    return found


def versions_of(message: type[Message]) -> range:
    return range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1)


def samples(name: str, *wanted: str) -> list[Vector]:
    return [vector for vector in committed()[name] if vector.sample in wanted]


@cache
def layouts(name: str) -> list[Vector]:
    """Return the fullest vector of each distinct layout of a message."""
    found = {id(vector.cls.schemas()[vector.version]): vector for vector in samples(name, "default", "full")}
    return list(found.values())
