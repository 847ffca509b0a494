"""Tag sections and optional-field buffers of structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from .._core.wire import RawTaggedField
from .arrays import elements
from .encodings import PACKED32
from .struct import Field, Struct, is_default, value_of
from .types import _COMPACT, INT16, UNSIGNED_VARINT, UNSIGNED_VARLONG, SchemaError, Type, need, wrong


class TagPosition(NamedTuple):

    start: int
    # Offset of the value.
    at: int
    end: int
    tag: int | None


class Section(Type):
    """Fields by tag; ``absent`` has tags of other versions. Raises SchemaError for invalid tags, and for duplicates."""

    highest_tag = (1 << 32) - 1
    noun = "tagged field"
    label = "_tagged_fields"

    def __init__(
        self, fields: Mapping[int, Field] | Iterable[tuple[int, Field]], absent: frozenset[int] = frozenset()
    ) -> None:
        self.fields: dict[int, Field] = {}
        names: set[str] = set()
        # pyright considers mappings that are also iterables of pairs.
        pairs: Iterable[tuple[int, Field]] = (
            fields.items() if isinstance(fields, Mapping) else fields
        )  # pyright: ignore
        for tag, field in pairs:
            if not 0 <= tag <= self.highest_tag:
                raise SchemaError(f"tag {tag} is not in 0 to {self.highest_tag}")
            if tag in self.fields:
                raise SchemaError(f"duplicate tag {tag}, of fields {self.fields[tag].name!r} and {field.name!r}")
            if field.name in names:
                raise SchemaError(f"duplicate field {field.name!r}")
            self.fields[tag] = field
            names.add(field.name)
        self.fields = dict(sorted(self.fields.items()))
        self.absent = absent

    def places(self, data: bytes, pos: int) -> Iterator[TagPosition]:
        raise NotImplementedError

    def skip(self, data: bytes, pos: int) -> int:
        return self.read_into(data, pos, None)[1]

    def read_into(
        self, data: bytes, pos: int, values: dict[str, object] | None
    ) -> tuple[tuple[RawTaggedField, ...], int]:
        """Read the fields into ``values``, or skip them if it is None; return the unknown fields and the end."""
        unknown, end = [], pos
        try:
            for place in self.places(data, pos):
                end = place.end
                if place.tag in self.fields:
                    self._field(data, self.fields[place.tag], place, values)
                elif place.tag is not None and values is not None:
                    unknown.append(RawTaggedField(place.tag, data[place.at : end]))
        except SchemaError as error:  # that of a field has its name
            raise error if error.path else error.inside(f".{self.label}") from None
        return tuple(sorted(unknown, key=lambda raw: raw.tag)), end

    def join(self, parts: dict[int, bytes]) -> bytes:
        raise NotImplementedError

    def _field(self, data: bytes, field: Field, place: TagPosition, values: dict[str, object] | None) -> None:
        try:  # slicing data here would take quadratic time
            if values is None:
                after = field.type.skip(data, place.at)
            else:
                values[field.name], after = field.type.read(data, place.at)
            self.check_size(place, after)
        except SchemaError as error:
            raise error.inside(f".{field.name}") from None

    def check_size(self, place: TagPosition, after: int) -> None:
        if after != place.end:
            sizes = f"has size {place.end - place.at} at offset {place.at}, but its value takes {after - place.at}"
            raise SchemaError(f"{self.noun} {place.tag} {sizes}", place.at)

    def write_from(self, out: bytearray, container: object) -> None:
        parts: dict[int, bytes] = {}
        for tag, field in self.fields.items():
            if isinstance(container, Struct) and field.name not in container.values:
                continue
            try:
                value = value_of(container, field.name)
                if not (field.has_default and is_default(value, field.default)):
                    part = bytearray()
                    field.type.write(part, value)
                    parts[tag] = bytes(part)
            except SchemaError as error:
                raise error.inside(f".{field.name}") from None
        index = ""
        try:
            for position, raw in enumerate(elements(getattr(container, "unknown_tagged_fields", None) or ())):
                index = f"[{position}]"
                self.add_unknown(parts, raw)
        except SchemaError as error:
            raise error.inside(f".unknown_tagged_fields{index}") from None
        out += self.join(parts)

    def add_unknown(self, parts: dict[int, bytes], raw: object) -> None:
        if not isinstance(raw, RawTaggedField):
            raise wrong(raw, "RawTaggedField")
        self.check_unknown(raw)
        if raw.tag in self.fields or raw.tag in self.absent:
            raise SchemaError(f"tag {raw.tag} is a field of the definition")
        if raw.tag in parts:
            raise SchemaError(f"duplicate tag {raw.tag}")
        if not isinstance(raw.data, (bytes, bytearray, memoryview)):
            raise wrong(raw.data, "bytes")
        parts[raw.tag] = bytes(raw.data)

    def check_unknown(self, raw: RawTaggedField) -> None:
        UNSIGNED_VARINT.validate(raw.tag)


class TagSection(Section):
    """Tagged fields of a flexible version: a count, then tag, size and value of each (KIP-482)."""

    name = "TAG_SECTION"
    # Without fields, a section has the byte of a compact null.
    length, nullable = _COMPACT, True

    def skip_elements(self, data: bytes, at: int, count: int) -> int:
        return self.skip(data, at - 1)

    def places(self, data: bytes, pos: int) -> Iterator[TagPosition]:
        count, at = UNSIGNED_VARINT.read(data, pos)
        yield TagPosition(pos, at, at, None)
        seen = set()
        for _ in range(count):
            start = at
            tag, size, at = self.read_header(data, at)
            if tag in seen:
                raise SchemaError(f"duplicate tag {tag} at offset {start}", start)
            seen.add(tag)
            end = need(data, at, size, f"field with tag {tag}")
            if tag in self.absent:
                raise SchemaError(f"tag {tag} at offset {start} is not valid in this version", start)
            yield TagPosition(start, at, end, tag)
            at = end

    def join(self, parts: dict[int, bytes]) -> bytes:
        out = bytearray()
        UNSIGNED_VARINT.write(out, len(parts))
        for tag in sorted(parts):
            self.write_header(out, tag, len(parts[tag]))
            out += parts[tag]
        return bytes(out)

    def read_header(self, data: bytes, at: int) -> tuple[int, int, int]:
        tag, at = UNSIGNED_VARINT.read(data, at)
        size, at = UNSIGNED_VARINT.read(data, at)
        return tag, size, at

    def write_header(self, out: bytearray, tag: int, size: int) -> None:
        UNSIGNED_VARINT.write(out, tag)
        UNSIGNED_VARINT.write(out, size)


class InterleavedTagSection(TagSection):
    """Tagged fields with tag (odd bits) and size (even bits) in one varlong, from the first draft of KIP-482."""

    name = "INTERLEAVED_TAG_SECTION"

    def read_header(self, data: bytes, at: int) -> tuple[int, int, int]:
        bits, at = UNSIGNED_VARLONG.read(data, at)
        tag = sum((bits >> 2 * place + 1 & 1) << place for place in range(32))
        size = sum((bits >> 2 * place & 1) << place for place in range(32))
        return tag, size, at

    def write_header(self, out: bytearray, tag: int, size: int) -> None:
        bits = sum((tag >> place & 1) << 2 * place + 1 | (size >> place & 1) << 2 * place for place in range(32))
        UNSIGNED_VARLONG.write(out, bits)


class OptionalFieldBuffer(Section):
    """Optional fields before a struct: length, tag and value of each, then a length of 0."""

    name = "OPTIONAL_FIELD_BUFFER"
    noun = "optional field"
    label = "_optional_fields"
    highest_tag = (1 << 15) - 1

    def places(self, data: bytes, pos: int) -> Iterator[TagPosition]:
        at, last = pos, -1
        while True:
            start = at
            if start == len(data):
                raise SchemaError(
                    f"the optional-field buffer at offset {pos} is not terminated by a length of 0", start
                )
            size, at = PACKED32.read(data, at)
            if size == 0:
                yield TagPosition(start, at, at, None)
                return
            if size < 0:
                raise SchemaError(f"length {size} of an optional field at offset {start} is negative", start)
            tag, at = INT16.read_int(data, at)
            if tag <= last:
                raise SchemaError(f"optional field {tag} at offset {start} follows {last}; tags must ascend", start)
            end = need(data, at, size, f"field with tag {tag}")
            yield TagPosition(start, at, end, tag)
            at, last = end, tag

    def join(self, parts: dict[int, bytes]) -> bytes:
        out = bytearray()
        for tag in sorted(parts):
            PACKED32.write(out, len(parts[tag]))
            INT16.write(out, tag)
            out += parts[tag]
        PACKED32.write(out, 0)
        return bytes(out)

    def check_unknown(self, raw: RawTaggedField) -> None:
        INT16.validate(raw.tag)
        if raw.tag < 0:
            raise SchemaError(f"tag {raw.tag} is not in 0 to {self.highest_tag}")
        if not raw.data:
            raise SchemaError(f"optional field {raw.tag} has no bytes; a length of 0 would end the buffer")
