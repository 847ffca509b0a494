"""Interprets the schema of one version for all rows at a time and builds the columns, field by field."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..schema import NullableStruct, Schema, types
from ..schema.encodings import TwosComplement
from ..schema.facts import FieldFacts
from ..schema.sections import Section
from ..schema.types import MAX_STRING_LENGTH, ArrayOf, Blob, Text, Type, VarInt
from ._lanes import MOST_BYTES, Bools, Ints, Lanes, Source
from ._shape import SCALARS, UNKNOWN, UNKNOWN_TYPE, Shape
from ._skip import element_starts, entries, length_code, presence
from ._walk import WIDTHS

NUMBERS: dict[int, tuple[str, str]] = {
    id(types.INT8): (">i1", "i1"),
    id(types.INT16): (">i2", "i2"),
    id(types.UINT16): (">u2", "i4"),
    id(types.INT32): (">i4", "i4"),
    id(types.UNSIGNED_INT32): (">u4", "i8"),
    id(types.INT64): (">i8", "i8"),
    id(types.FLOAT64): (">f8", "f8"),
}
"""On the wire and in the column."""
_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)


class Decoder:
    """Columns of the lanes of one version."""

    def __init__(self, shape: Shape, source: Source, *, emit_defaults: bool, validate_utf8: bool) -> None:
        self.shape = shape
        self.source = source
        self.emit_defaults = emit_defaults
        self.validate_utf8 = validate_utf8

    def struct(self, schema: Schema, fields: tuple[FieldFacts, ...], lanes: Lanes) -> pa.StructArray:
        """A struct of every lane: a column for each field of the definition, null for those this version has not."""
        by_name = {field.name: field for field in fields}
        columns: dict[str, pa.Array] = {}
        if schema.optional is not None:
            self.section(schema.optional, by_name, lanes, columns)
        for field in schema.fields:
            columns[field.name] = self.value(field.type, by_name[field.name], lanes)
        if schema.tags is not None:
            self.section(schema.tags, by_name, lanes, columns)
        for facts in fields:
            if facts.name not in columns:
                columns[facts.name] = self.absent(facts, len(lanes))
        kind = self.shape.struct(fields)
        if self.shape.unknown and UNKNOWN not in columns:
            columns[UNKNOWN] = pa.nulls(len(lanes), UNKNOWN_TYPE)
        # Made from buffers because a struct without fields has a length, too.
        children = [columns[field.name] for field in kind]
        return pa.Array.from_buffers(kind, len(lanes), [None], children=children)

    def value(self, kind: Type, field: FieldFacts, lanes: Lanes) -> pa.Array:
        """The value of a field for every lane, which ends up behind it."""
        number = NUMBERS.get(id(kind))
        if number is not None:
            values = pa.array(self.source.fixed(lanes, number[0], WIDTHS[id(kind)]).astype(number[1]))
            wanted = SCALARS[field.type]  # a proposed encoding may be narrower than its type
            return values if values.type == wanted else values.cast(wanted)
        if kind is types.BOOLEAN:
            return pa.array(self.source.fixed(lanes, ">u1", 1) != 0)
        if kind is types.UUID:
            return self.uuid(lanes)
        if isinstance(kind, (VarInt, TwosComplement)):
            return self.varint(kind, field, lanes)
        if isinstance(kind, (Text, Blob)):
            return self.sized(kind, lanes)
        if isinstance(kind, ArrayOf):
            return self.array(kind, field, lanes)
        inner = self.shape.fields_of(field.type)
        if isinstance(kind, Schema):
            return self.struct(kind, inner, lanes)
        assert isinstance(kind, NullableStruct)
        inside = np.flatnonzero(presence(self.source, kind, lanes))
        part = lanes.where(inside)
        values = self.struct(kind.schema, inner, part)
        lanes.pos[inside] = part.pos
        return scattered(values, inside, len(lanes), None)

    def varint(self, kind: VarInt | TwosComplement, field: FieldFacts, lanes: Lanes) -> pa.Array:
        plain = self.source.uvarint(lanes, kind.bits)
        if isinstance(kind, TwosComplement):
            values = (plain << np.uint64(64 - kind.bits)).view(np.int64) >> np.int64(64 - kind.bits)
        else:
            values = (plain >> np.uint64(1)).view(np.int64) ^ -(plain & np.uint64(1)).astype(np.int64)
        return pa.array(values).cast(SCALARS[field.type])

    def uuid(self, lanes: Lanes) -> pa.Array:
        """The 22 characters of URL-safe base64 without padding."""
        high = self.source.fixed(lanes, ">u8", 8)
        low = self.source.fixed(lanes, ">u8", 8)
        count = len(lanes)
        if count * 22 >= MOST_BYTES:
            raise ValueError(f"{count:,} uuids are more text than one column holds; decode fewer rows at a time")
        raw = np.zeros((count, 18), np.uint8)
        raw[:, :8] = high.astype(">u8").view(np.uint8).reshape(count, 8)
        raw[:, 8:16] = low.astype(">u8").view(np.uint8).reshape(count, 8)
        three = raw.reshape(count, 6, 3).astype(np.uint32)
        bits = three[:, :, 0] << 16 | three[:, :, 1] << 8 | three[:, :, 2]
        sextets = np.stack([bits >> 18 & 63, bits >> 12 & 63, bits >> 6 & 63, bits & 63], axis=2)
        text = np.ascontiguousarray(_ALPHABET[sextets.reshape(count, 24)][:, :22])
        offsets = np.arange(count + 1, dtype=np.int32) * 22
        return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(text)])

    def sized(self, kind: Text | Blob, lanes: Lanes) -> pa.Array:
        length = self.source.length(lanes, length_code(kind))
        null = self.nulls(kind, length, lanes)
        if isinstance(kind, Text):
            over = length > MAX_STRING_LENGTH
            if over.any():
                self.source.fail(lanes, over)
                length[over] = 0
        length = self.source.bounded(lanes, length)
        values = self.source.slices(lanes.pos, length, null, pa.binary())
        lanes.pos = lanes.pos + length
        return self.text(values, lanes) if isinstance(kind, Text) else values

    def nulls(self, kind: Text | Blob | ArrayOf, length: Ints, lanes: Lanes) -> Bools | None:
        """Which lanes are null; those of a version without null are bad."""
        null: Bools = length < 0
        if kind.nullable:
            return null
        if null.any():
            self.source.fail(lanes, null)
        return None

    def text(self, values: pa.Array, lanes: Lanes) -> pa.Array:
        """Bytes as strings; lanes that are not UTF-8 are bad, unless nobody asks."""
        if not self.validate_utf8:
            return values.view(pa.string())
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid:
            texts = [_text_or_none(value) for value in values.to_pylist()]
            self.source.fail(lanes, np.array([text is None for text in texts]) & np.array(values.is_valid()))
            return pa.array(texts, pa.string())

    def array(self, kind: ArrayOf, field: FieldFacts, lanes: Lanes) -> pa.Array:
        count = self.source.length(lanes, length_code(kind))
        null = self.nulls(kind, count, lanes)
        starts, count = element_starts(self.source, kind.element, lanes, count)
        child = Lanes(starts, np.repeat(lanes.end, count), np.repeat(lanes.row, count))
        values = self.value(kind.element, field, child)
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(count))).astype(np.int32)
        column = pa.list_(pa.field("element", values.type))
        mask = pa.array(null) if null is not None and null.any() else None
        return pa.ListArray.from_arrays(pa.array(offsets), values, type=column, mask=mask)

    def section(
        self, section: Section, by_name: dict[str, FieldFacts], lanes: Lanes, columns: dict[str, pa.Array]
    ) -> None:
        """The columns of a section's fields, those left out at their default, and the map of the unknown ones."""
        count = len(lanes)
        starts = {tag: np.full(count, -1, np.int64) for tag in section.fields}
        ends = {tag: np.zeros(count, np.int64) for tag in section.fields}
        unknown: list[tuple[Ints, Ints, Ints, Ints]] = []
        for live, tag, start, size in entries(self.source, section, lanes):
            row = lanes.row[live]
            known = np.zeros(len(live), np.bool_)
            for each in section.fields:
                mine = tag == each
                if mine.any():
                    self.source.bad[row[mine & (starts[each][live] >= 0)]] = True
                    starts[each][live[mine]] = start[mine]
                    ends[each][live[mine]] = (start + size)[mine]
                    known |= mine
            for each in section.absent:
                self.source.bad[row[tag == each]] = True
            unknown.append((live[~known], tag[~known], start[~known], size[~known]))
            lanes.pos[live] = start + size
        for each, field in section.fields.items():
            columns[field.name] = self.entry(field.type, by_name[field.name], lanes, starts[each], ends[each])
        self.unknown(unknown, lanes, columns)

    def entry(self, kind: Type, field: FieldFacts, lanes: Lanes, starts: Ints, ends: Ints) -> pa.Array:
        """A tagged or optional field: its value where it was sent, else its default."""
        present = np.flatnonzero(starts >= 0)
        default = pa.array([self.shape.default(field)], self.shape.column(field))
        if not len(present):
            return default.take(pa.array(np.zeros(len(lanes), np.int32)))
        part = Lanes(starts[present], ends[present], lanes.row[present])
        values = self.value(kind, field, part)
        self.source.fail(part, part.pos != part.end)
        return scattered(values, present, len(lanes), default)

    def unknown(self, found: list[tuple[Ints, Ints, Ints, Ints]], lanes: Lanes, columns: dict[str, pa.Array]) -> None:
        """The map of unknown fields, by ascending tag; a tag that comes twice makes its row bad."""
        nothing = np.zeros(0, np.int64)
        found = [(nothing, nothing, nothing, nothing), *found]
        live, tag, start, size = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.lexsort((tag, live))
        live, tag, start, size = live[order], tag[order], start[order], size[order]
        twice = (live[1:] == live[:-1]) & (tag[1:] == tag[:-1])
        self.source.bad[lanes.row[live[1:][twice]]] = True
        if self.shape.unknown:
            counts = np.bincount(live, minlength=len(lanes))
            offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts))).astype(np.int32)
            data = self.source.slices(start, size, None, pa.binary())
            columns[UNKNOWN] = pa.MapArray.from_arrays(pa.array(offsets), pa.array(tag), data)

    def absent(self, field: FieldFacts, count: int) -> pa.Array:
        """A field that this version does not have."""
        kind = self.shape.column(field)
        if not self.emit_defaults:
            return pa.nulls(count, kind)
        return pa.array([self.shape.default(field)], kind).take(pa.array(np.zeros(count, np.int32)))


def scattered(values: pa.Array, lanes: Ints, count: int, default: pa.Array | None) -> pa.Array:
    """``values`` at ``lanes`` out of ``count``; elsewhere the one value of ``default``, or null."""
    if len(lanes) == count:
        return values
    index = np.full(count, len(values), np.int64)
    index[lanes] = np.arange(len(lanes))
    if default is None:
        return values.take(pa.array(index, mask=index == len(values)))
    return pa.concat_arrays([values, default]).take(pa.array(index))


def _text_or_none(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode("utf-8")
    except UnicodeDecodeError:
        return None
