"""Vectors: encodings by Kafka's own classes, as objects, and the positions of their parts."""

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
from kafka_messages.schema import UNSIGNED_VARINT, ArrayOf, NullableStruct, Schema, TagSection, Type
from kafka_messages.schema.types import Blob, Text

from tests.support.outside import VECTORS

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packages" / "vectors" / "src" / "kafka_protocol_vectors"
RELEASE = RELEASES[-1]  # Kafka release of the package.
# Vectors of the pinned release; neighbouring folders have those of older releases.
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
def committed() -> Mapping[str, Sequence[Vector]]:
    """Return all vectors by message; removed messages have those of their last release."""
    return by_message(vector for path in sorted(FOLDER.glob("kafka-*/*.jsonl.gz")) for vector in read_vectors(path))


@cache
def pinned() -> Mapping[str, Sequence[Vector]]:
    """Return the vectors of the pinned release by message."""
    return by_message(vector for path in sorted(COMMITTED.glob("*.jsonl.gz")) for vector in read_vectors(path))


@cache
def snapshot() -> Mapping[str, Sequence[Vector]]:
    """Return the vectors of the older snapshot by message; empty if the file is absent."""
    return by_message(read_vectors(SNAPSHOT)) if SNAPSHOT.exists() else {}


def plain(value: object) -> object:
    """Return JSON in which numbers differ from their equals of other types."""
    return json.loads(json.dumps(value), parse_constant=str)


class Groups(dict[str, list[Vector]]):
    """Vectors by message; tests of a message without vectors are skipped, and ``test_vectors.py`` fails."""

    def __missing__(self, name: str) -> list[Vector]:
        import pytest  # nothing else here needs it: the wheels of the core are tried without it

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


@dataclass(frozen=True)
class Site:
    """A part of an encoding that says how to read what follows, or a text: the places where damage does harm.

    ``kind`` is "length" (of a text, bytes or an array, of wire type ``type``), "text" (the characters) or "presence"
    (of a struct). The bytes are ``start`` to ``end``; ``is_tagged`` if they lie inside a tagged field.
    """

    path: str
    kind: str
    start: int
    end: int
    type: Type
    is_tagged: bool


@dataclass(frozen=True)
class TagsSite:
    """A tag section: start, end, fields, and the tags of other versions."""

    path: str
    start: int
    end: int
    entries: Sequence[TagEntry]
    absent: frozenset[int]
    is_tagged: bool

    def extended(self, entry: bytes) -> bytes:
        """Return the section with one more entry at the end."""
        return uvarint(len(self.entries) + 1) + b"".join(each.data for each in self.entries) + entry


@dataclass(frozen=True)
class TagEntry:
    """A known tagged field: tag, name, offset of its value, and tag, size and value as bytes."""

    tag: int
    name: str
    start: int
    value: bytes

    @property
    def data(self) -> bytes:
        return uvarint(self.tag) + uvarint(len(self.value)) + self.value


def samples(name: str, *wanted: str) -> list[Vector]:
    """Return the vectors of a message with the given sample names."""
    return [vector for vector in committed()[name] if vector.sample in wanted]


@cache
def layouts(name: str) -> list[Vector]:
    """Return the fullest vector of each distinct layout of a message."""
    found = {id(vector.cls.schemas()[vector.version]): vector for vector in samples(name, "default", "full")}
    return list(found.values())


def uvarint(number: int) -> bytes:
    """Encode an unsigned varint of any size."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def sites_of(vector: Vector) -> tuple[list[Site], list[TagsSite]]:
    """Return the sites of a vector; for arrays those of the first element."""
    walk = _Walk(vector.data)
    assert walk.value(vector.cls.schemas()[vector.version], 0, "", False) == len(vector.data)
    return walk.sites, walk.sections


class _Walk:
    """Reads an encoding by its schema and records sites."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sites: list[Site] = []
        self.sections: list[TagsSite] = []
        self.is_kept = True

    def value(self, kind: Type, start: int, path: str, is_tagged: bool) -> int:
        """Visit a value; return the offset after it."""
        if isinstance(kind, Schema):
            return self.struct(kind, start, path, is_tagged)
        if isinstance(kind, NullableStruct):
            _, end = kind.presence.read(self.data, start)
            self.add(Site(path, "presence", start, end, kind, is_tagged))
            value, after = kind.read(self.data, start)
            return after if value is None else self.value(kind.schema, end, path, is_tagged)
        if isinstance(kind, (Text, Blob, ArrayOf)):
            return self.sized(kind, start, path, is_tagged)
        return kind.read(self.data, start)[1]

    def sized(self, kind: Text | Blob | ArrayOf, start: int, path: str, is_tagged: bool) -> int:
        length, end = kind.read_length(self.data, start)
        self.add(Site(path, "length", start, end, kind, is_tagged))
        if isinstance(kind, ArrayOf):
            was_kept = self.is_kept
            for index in range(length):
                self.is_kept = was_kept and index == 0
                end = self.value(kind.element, end, f"{path}[{index}]", is_tagged)
            self.is_kept = was_kept
            return end
        after = end + max(length, 0)
        if isinstance(kind, Text) and length > 0:
            self.add(Site(path, "text", end, after, kind, is_tagged))
        return after

    def struct(self, schema: Schema, at: int, path: str, is_tagged: bool) -> int:
        for field in schema.fields:
            at = self.value(field.type, at, f"{path}.{field.name}".removeprefix("."), is_tagged)
        return at if schema.tags is None else self.section(schema.tags, at, path, is_tagged)

    def section(self, tags: TagSection, start: int, path: str, is_tagged: bool) -> int:
        count, at = UNSIGNED_VARINT.read(self.data, start)
        entries = []
        for _ in range(count):
            tag, at = UNSIGNED_VARINT.read(self.data, at)
            size, at = UNSIGNED_VARINT.read(self.data, at)
            field = tags.fields[tag]
            entries.append(TagEntry(tag, field.name, at, self.data[at : at + size]))
            at = self.value(field.type, at, f"{path}.{field.name}".removeprefix("."), True)
        if self.is_kept:
            self.sections.append(TagsSite(path, start, at, entries, tags.absent, is_tagged))
        return at

    def add(self, site: Site) -> None:
        if self.is_kept:
            self.sites.append(site)
