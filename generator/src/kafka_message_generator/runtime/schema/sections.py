"""Tag sections and optional-field buffers of structs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .._core.wire import RawTaggedField
from .arrays import elements
from .encodings import PACKED32
from .struct import Field, Struct, is_default, value_of
from .types import _COMPACT, INT16, UNSIGNED_VARINT, UNSIGNED_VARLONG, SchemaError, Type, need, wrong

# Tag, or -1 for the count and the end of a section; its offset, and those of the value and its end.
Place = tuple[int, int, int, int]


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

    def places(self, data: bytes, pos: int) -> Iterator[Place]:
        raise NotImplementedError

    def skip(self, data: bytes, pos: int) -> int:
        return self.read_into(data, pos, None)[1]

    def read_into(
        self, data: bytes, pos: int, values: dict[str, object] | None
    ) -> tuple[tuple[RawTaggedField, ...], int]:
        """Read the fields into ``values``, or skip them if it is None; return the unknown fields and the end."""
        unknown, end = [], pos
        try:
            for tag, _, at, end in self.places(data, pos):
                if tag in self.fields:
                    if values is not None or end - at != (self.fields[tag].type.width or -1):
                        self._field(data, tag, at, end, values)
                elif tag >= 0 and values is not None:
                    unknown.append(RawTaggedField(tag, data[at:end]))
        except SchemaError as error:  # that of a field has its name
            raise error if error.path else error.inside(f".{self.label}") from None
        return tuple(sorted(unknown, key=lambda raw: raw.tag)) if unknown else (), end

    def join(self, parts: dict[int, bytes]) -> bytes:
        raise NotImplementedError

    def _field(self, data: bytes, tag: int, at: int, end: int, values: dict[str, object] | None) -> None:
        field = self.fields[tag]
        try:  # slicing data here would take quadratic time
            if values is None:
                after = field.type.skip(data, at)
            else:
                values[field.name], after = field.type.read(data, at)
            self.check_size(tag, at, end, after)
        except SchemaError as error:
            raise error.inside(f".{field.name}") from None

    def check_size(self, tag: int, at: int, end: int, after: int) -> None:
        if after != end:
            sizes = f"has size {end - at} at offset {at}, but its value takes {after - at}"
            raise SchemaError(f"{self.noun} {tag} {sizes}", at)

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

    def places(self, data: bytes, pos: int) -> Iterator[Place]:
        count, at = UNSIGNED_VARINT.read(data, pos)
        yield -1, pos, at, at
        seen = set()
        for _ in range(count):
            start = at
            tag, size, at = self.read_header(data, at)
            if tag in seen:
                raise SchemaError(f"duplicate tag {tag} at offset {start}", start)
            seen.add(tag)
            end = at + size
            if end > len(data):
                need(data, at, size, f"field with tag {tag}")
            if tag in self.absent:
                raise SchemaError(f"tag {tag} at offset {start} is not valid in this version", start)
            yield tag, start, at, end
            at = end

    def join(self, parts: dict[int, bytes]) -> bytes:
        out = bytearray()
        UNSIGNED_VARINT.write(out, len(parts))
        for tag in sorted(parts):
            self.write_header(out, tag, len(parts[tag]))
            out += parts[tag]
        return bytes(out)

    def read_header(self, data: bytes, at: int) -> tuple[int, int, int]:
        if at + 1 < len(data) and data[at] < 128 and data[at + 1] < 128:  # common case, performance-critical
            return data[at], data[at + 1], at + 2
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
        digits = f"{bits:064b}"
        return int(digits[::2], 2), int(digits[1::2], 2), at

    def write_header(self, out: bytearray, tag: int, size: int) -> None:
        bits = sum((tag >> place & 1) << 2 * place + 1 | (size >> place & 1) << 2 * place for place in range(32))
        UNSIGNED_VARLONG.write(out, bits)


class OptionalFieldBuffer(Section):
    """Optional fields before a struct: length, tag and value of each, then a length of 0."""

    name = "OPTIONAL_FIELD_BUFFER"
    noun = "optional field"
    label = "_optional_fields"
    highest_tag = (1 << 15) - 1

    def places(self, data: bytes, pos: int) -> Iterator[Place]:
        at, last = pos, -1
        while True:
            start = at
            if start == len(data):
                raise SchemaError(
                    f"the optional-field buffer at offset {pos} is not terminated by a length of 0", start
                )
            size, at = PACKED32.read(data, at)
            if size == 0:
                yield -1, start, at, at
                return
            if size < 0:
                raise SchemaError(f"length {size} of an optional field at offset {start} is negative", start)
            tag, at = INT16.read(data, at)
            if tag <= last:
                raise SchemaError(f"optional field {tag} at offset {start} follows {last}; tags must ascend", start)
            end = need(data, at, size, f"field with tag {tag}")
            yield tag, start, at, end
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
