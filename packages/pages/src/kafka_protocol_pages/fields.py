"""The fields of a message: descriptions, and wire types by version."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.plan.model import (
    Array,
    Bytes,
    FixedRun,
    Layout,
    LayoutRef,
    MessagePlan,
    OptionalBuffer,
    Packed,
    PackedElement,
    Payload,
    Single,
    String,
    TaggedFields,
)
from kafka_message_generator.rules.entities import EntityField, entity_fields
from kafka_message_generator.spec.enumerations import API_KEY, ERROR_CODE
from kafka_message_generator.spec.versions import Versions
from kafka_protocol_pages.lifetimes import NOTHING, UNKNOWN, Lifetime, Lifetimes


def title_of(versions: Versions) -> str:
    return f"Version{'' if versions.lowest == versions.highest else 's'} {versions}"


def version_ranges(versions: Iterable[int]) -> str:
    """Format versions as ranges, such as ``0-3, 7``."""
    runs: list[Versions] = []
    for version in versions:
        if runs and runs[-1].highest == version - 1:
            runs[-1] = Versions(runs[-1].lowest, version)
        else:
            runs.append(Versions(version, version))
    return ", ".join(str(run) for run in runs)


@dataclass(frozen=True)
class Wire:
    """Wire type of a field at a version; ``type`` is its name in Kafka's protocol guide."""

    type: str
    is_compact: bool
    is_nullable: bool
    tag: int | None = None
    is_optional: bool = False

    @property
    def note(self) -> str:
        tag = "" if self.tag is None else f"{'optional' if self.is_optional else 'tagged'} field, tag {self.tag}"
        nullable = "may be null" if self.is_nullable and "NULLABLE" not in self.type else ""
        return ", ".join(filter(None, (tag, nullable)))


@dataclass(frozen=True)
class Cell:
    """Table cell for consecutive versions with the same wire type; ``wire`` is None if the field is absent."""

    versions: Versions
    columns: int
    wire: Wire | None
    text: str
    title: str
    css: str


PAGES = {ERROR_CODE: "errors.html", API_KEY: "apis.html"}
"""Pages of the enumerations that are not on ``enumerations.html``."""


@dataclass(frozen=True)
class Note:
    text: str
    link: str = ""


@dataclass(frozen=True)
class FieldRow:
    path: str
    depth: int
    name: str
    type: str
    descriptor: dict[str, Any]
    wires: dict[int, Wire]
    """Wire types by version."""
    cells: tuple[Cell, ...]
    is_partial: bool
    """True if a version has the parent but not the field."""
    entities: tuple[str, ...]
    """Entity types of the field, such as ``topicName``."""
    lifetime: Lifetime = UNKNOWN

    @property
    def about(self) -> str:
        return str(self.descriptor.get("about", ""))

    @property
    def enumeration(self) -> str | None:
        return self.descriptor.get("enumeration")

    @property
    def tag(self) -> int | None:
        return self.descriptor.get("tag")

    @property
    def default(self) -> str:
        return json.dumps(self.descriptor["default"]) if "default" in self.descriptor else ""

    @property
    def notes(self) -> Iterator[Note]:
        if self.default:
            yield Note(f"default {self.default}")
        if self.descriptor.get("mapKey"):
            yield Note("key of its array")
        for entity in self.entities:
            yield Note(entity, f"entities.html#{entity}")
        if self.enumeration is not None:
            yield Note(self.enumeration, PAGES.get(self.enumeration, f"enumerations.html#{self.enumeration}"))
        for versions, name in (*self._encodings("encoding"), *self._encodings("elementEncoding")):
            yield Note(f"written as {name} in versions {versions}")
        if self.is_partial:
            is_dropped = self.descriptor.get("ignorable")
            yield Note(f"a version without this field {'drops' if is_dropped else 'rejects'} its value")

    def _encodings(self, key: str) -> Iterable[tuple[str, str]]:
        found: dict[str, str] = self.descriptor.get(key, {})
        return found.items()

    @property
    def versions(self) -> str:
        return ", ".join(str(run) for run in _merged(self.cells, lambda cell: cell.wire is not None))

    @property
    def nullable(self) -> str:
        runs = _merged(self.cells, lambda cell: cell.wire is not None and cell.wire.is_nullable)
        return ", ".join(str(run) for run in runs)


def _merged(cells: tuple[Cell, ...], fits: Callable[[Cell], bool]) -> Iterator[Versions]:
    for is_fitting, group in groupby(cells, key=fits):
        each = list(group)
        if is_fitting:
            yield Versions(each[0].versions.lowest, each[-1].versions.highest)


def runs_of(plan: MessagePlan) -> tuple[Versions, ...]:
    """Return the ranges of consecutive versions with equal layouts."""
    found = []
    for _, group in groupby(plan.valid, key=lambda version: signature_of(plan, version)):
        versions = list(group)
        found.append(Versions(versions[0], versions[-1]))
    return tuple(found)


def fields_of(
    plan: MessagePlan, runs: tuple[Versions, ...], named: Iterable[EntityField] = (), lifetimes: Lifetimes = NOTHING
) -> tuple[FieldRow, ...]:
    """Return every field in the order of the definition; nested fields follow their parent."""
    descriptor = json.loads(plan.descriptor)
    wires = {version: dict(Wires(plan).of(plan.name, version)) for version in plan.valid}
    structs: dict[str, Any] = {**descriptor.get("structs", {}), plan.name: descriptor["fields"]}
    own = entity_fields(plan.name, structs, named)

    def rows(struct: str, above: str, depth: int, there: frozenset[int]) -> Iterator[FieldRow]:
        for member in structs.get(struct, ()):
            path = f"{above}.{member['name']}" if above else member["name"]
            found = {version: wire[path] for version, wire in wires.items() if path in wire}
            cells = tuple(_cells(member, found, runs))
            versions = frozenset(found)
            annotation = own.get((struct, member["name"]))
            entities = () if annotation is None else annotation.entities
            lifetime = lifetimes.field(plan.name, path, found)
            yield FieldRow(
                path, depth, member["name"], member["type"], member, found, cells, versions != there, entities, lifetime
            )
            yield from rows(member["type"].removeprefix("[]"), path, depth + 1, versions)

    return tuple(rows(plan.name, "", 0, frozenset(plan.valid)))


def _cells(member: dict[str, Any], wires: dict[int, Wire], runs: tuple[Versions, ...]) -> Iterator[Cell]:
    for wire, group in groupby(runs, key=lambda run: wires.get(run.lowest)):
        each = list(group)
        versions = Versions(each[0].lowest, each[-1].highest)
        if wire is None:
            yield Cell(versions, len(each), None, "", f"{title_of(versions)}: absent", "absent")
            continue
        kinds = ("compact", wire.is_compact), ("tagged", wire.tag is not None), ("nullable", wire.is_nullable)
        css = " ".join(name for name, applies in kinds if applies) or "plain"
        title = ", ".join(filter(None, (f"{title_of(versions)}: {wire.type}", wire.note)))
        yield Cell(versions, len(each), wire, _short(member, wire), title, css)


def _short(member: dict[str, Any], wire: Wire) -> str:
    kind: str = member["type"].removeprefix("[]")
    array = "[]" if member["type"] != kind else ""
    name = "struct" if kind[0].isupper() else kind
    if "encoding" in member or "elementEncoding" in member:
        name = wire.type.rpartition("(")[2].rstrip(")").lower()  # the definition has one type for all versions
    tag = "" if wire.tag is None else f"#{wire.tag} "
    return f"{tag}{array}{name}{'?' if wire.is_nullable else ''}"


_VARINTS = {"PACKED16": "PACKED16", "PACKED32": "VARINT", "PACKED64": "VARLONG"}
"""Names of signed varint types; VARINT and VARLONG are Kafka's names."""
_NAMES = {"bool": "BOOLEAN", "uint32": "UNSIGNED_INT32"}


class Wires:
    """Finds the wire types of the fields and nested fields of a struct, by path."""

    def __init__(self, plan: MessagePlan) -> None:
        self._structs = {struct.name: struct for struct in plan.structs}

    def layout(self, struct: str, version: int) -> Layout:
        return next(layout for layout in self._structs[struct].layouts if version in layout.versions)

    def of(self, struct: str, version: int, above: str = "") -> Iterator[tuple[str, Wire]]:
        for operation in self.layout(struct, version).operations:
            if isinstance(operation, TaggedFields | OptionalBuffer):
                is_optional = isinstance(operation, OptionalBuffer)
                for tagged in operation.fields:
                    yield from self._payload(struct, tagged.payload, above, tagged.tag, is_optional)
            elif isinstance(operation, FixedRun | Packed | String | Bytes | Array | Single):
                yield from self._payload(struct, operation, above)

    def _payload(
        self, struct: str, payload: Payload, above: str, tag: int | None = None, is_optional: bool = False
    ) -> Iterator[tuple[str, Wire]]:
        prefix = f"{above}." if above else ""
        if isinstance(payload, FixedRun):
            for each in payload.fields:
                yield f"{prefix}{each.name}", Wire(fixed_word(each.type), False, False, tag, is_optional)
            return
        path = f"{prefix}{payload.name}"
        is_records = self._structs[struct].field(payload.name).type == "records"
        compact, nullable = getattr(payload, "compact", False), getattr(payload, "nullable", False)
        yield path, Wire(word(payload, is_records), compact, nullable, tag, is_optional)
        inner = (
            payload.layout if isinstance(payload, Single) else payload.element if isinstance(payload, Array) else None
        )
        if isinstance(inner, LayoutRef):
            yield from self.of(inner.struct, inner.version, path)


def fixed_word(kind: str) -> str:
    return _NAMES.get(kind, kind.upper())


def word(payload: Payload, is_records: bool = False) -> str:
    """Return Kafka's name for a wire type, such as ``COMPACT_NULLABLE_STRING``."""
    if isinstance(payload, FixedRun):
        return fixed_word(payload.fields[0].type)
    if isinstance(payload, Packed):
        return _packed(payload)
    if isinstance(payload, Single):
        return "NULLABLE_STRUCT" if payload.nullable else "STRUCT"
    compact = "COMPACT_" if payload.compact else ""
    if isinstance(payload, Array):
        return f"{'NULLABLE_' if payload.nullable else ''}{compact}ARRAY({_element(payload)})"
    kind = "STRING" if isinstance(payload, String) else "RECORDS" if is_records else "BYTES"
    return f"{compact}{'NULLABLE_' if payload.nullable else ''}{kind}"


def _element(array: Array) -> str:
    if isinstance(array.element, LayoutRef):
        return "STRUCT"
    if isinstance(array.element, PackedElement):
        return _packed(array.element)
    is_sized = array.element in ("string", "bytes", "records")
    return f"{'COMPACT_' if array.compact and is_sized else ''}{fixed_word(array.element)}"


def _packed(payload: Packed | PackedElement) -> str:
    kind = f"PACKED{payload.bits}"
    return _VARINTS[kind] if payload.signed else f"U{kind}"
