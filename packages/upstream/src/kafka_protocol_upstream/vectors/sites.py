"""Finds the places in an encoding to damage: lengths, texts, presence markers and tag sections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kafka_messages.schema import UNSIGNED_VARINT, ArrayOf, NullableStruct, Schema, TagSection, Type
from kafka_messages.schema.types import Blob, Text


@dataclass(frozen=True)
class DamageSite:
    """A length, text or presence marker, at bytes ``start`` to ``end``.

    ``kind`` is "length" (of a text, bytes or array), "text" or "presence" (of a struct); ``type`` is the wire type.
    """

    path: str
    kind: str
    start: int
    end: int
    type: Type
    is_tagged: bool


@dataclass(frozen=True)
class TagsSite:
    """A tag section: position, fields in wire order, and the tags of other versions."""

    path: str
    start: int
    end: int
    entries: Sequence[TagEntry]
    absent: frozenset[int]
    is_tagged: bool

    def extended(self, entry: bytes) -> bytes:
        return uvarint(len(self.entries) + 1) + b"".join(each.data for each in self.entries) + entry


@dataclass(frozen=True)
class TagEntry:
    """A known tagged field: tag, name, offset of its value, and encoding."""

    tag: int
    name: str
    start: int
    value: bytes

    @property
    def data(self) -> bytes:
        return uvarint(self.tag) + uvarint(len(self.value)) + self.value


def uvarint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def sites_of(data: bytes, schema: Schema) -> tuple[list[DamageSite], list[TagsSite]]:
    """Return the places to damage, and the tag sections; in an array, only the first element is searched."""
    traversal = _SiteTraversal(data)
    assert traversal.value(schema, 0, "", False) == len(data)
    return traversal.sites, traversal.sections


class _SiteTraversal:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sites: list[DamageSite] = []
        self.sections: list[TagsSite] = []
        self.is_kept = True

    def value(self, kind: Type, start: int, path: str, is_tagged: bool) -> int:
        if isinstance(kind, Schema):
            return self.struct(kind, start, path, is_tagged)
        if isinstance(kind, NullableStruct):
            _, end = kind.presence.read(self.data, start)
            self.add(DamageSite(path, "presence", start, end, kind, is_tagged))
            value, after = kind.read(self.data, start)
            return after if value is None else self.value(kind.schema, end, path, is_tagged)
        if isinstance(kind, (Text, Blob, ArrayOf)):
            return self.sized(kind, start, path, is_tagged)
        return kind.read(self.data, start)[1]

    def sized(self, kind: Text | Blob | ArrayOf, start: int, path: str, is_tagged: bool) -> int:
        length, end = kind.read_length(self.data, start)
        self.add(DamageSite(path, "length", start, end, kind, is_tagged))
        if isinstance(kind, ArrayOf):
            was_kept = self.is_kept
            for index in range(length):
                self.is_kept = was_kept and index == 0
                end = self.value(kind.element, end, f"{path}[{index}]", is_tagged)
            self.is_kept = was_kept
            return end
        after = end + max(length, 0)
        if isinstance(kind, Text) and length > 0:
            self.add(DamageSite(path, "text", end, after, kind, is_tagged))
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

    def add(self, site: DamageSite) -> None:
        if self.is_kept:
            self.sites.append(site)
