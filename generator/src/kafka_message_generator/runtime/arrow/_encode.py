"""Interprets the schema of one version the other way round: columns to the bytes of all rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..schema import NullableStruct, Schema, TaggedStruct, types
from ..schema.encodings import TwosComplement
from ..schema.facts import FieldFacts
from ..schema.sections import InterleavedTagSection, OptionalFieldBuffer, Section
from ..schema.types import MAX_STRING_LENGTH, ArrayOf, Blob, Fixed, Text, Type, VarInt
from ._decode import NUMBERS
from ._lanes import Bools, Bytes, Ints
from ._pieces import Piece, chosen, constant, grouped, joined, number, runs, uvarint
from ._shape import Shape
from ._skip import length_code

_ALPHABET = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", np.uint8)
_SEXTETS = np.full(256, 255, np.uint8)
_SEXTETS[_ALPHABET] = np.arange(64)


class Encoder:
    """Pieces of the lanes of one version. Rows whose values it cannot write are marked; the caller says why."""

    def __init__(self, shape: Shape, rows: int, version: int) -> None:
        self.shape = shape
        self.version = version
        self.bad: Bools = np.zeros(rows, np.bool_)

    def fail(self, row: Ints, wrong: Bools) -> None:
        if wrong.any():
            self.bad[row[wrong]] = True

    def struct(self, schema: Schema, fields: tuple[FieldFacts, ...], array: pa.StructArray, row: Ints) -> Piece:
        """A struct of every lane."""
        by_name = {field.name: field for field in fields}
        for facts in fields:
            if self.version not in facts.versions and not facts.ignorable:
                column = self.child(array, facts)
                self.fail(row, ~(self.is_default(facts, column) | _mask(column.is_null())))
        pieces = []
        if schema.optional is not None:
            pieces.append(self.section(schema.optional, by_name, array, row))
        for field in schema.fields:
            pieces.append(self.value(field.type, by_name[field.name], self.child(array, by_name[field.name]), row))
        if schema.tags is not None:
            pieces.append(self.section(schema.tags, by_name, array, row))
        return joined(pieces, len(array)) if pieces else constant(len(array), b"")

    def child(self, array: pa.StructArray, field: FieldFacts) -> pa.Array:
        """The column of a field. One without a type, as Arrow infers it where all is null, has the field's type.

        Only those of other versions may be left out.
        """
        index = array.type.get_field_index(field.name)
        if index < 0 and self.version in field.versions:
            raise KeyError(field.name)
        if index < 0 or pa.types.is_null(array.type[index].type):
            return pa.nulls(len(array), self.shape.column(field))
        return array.field(index)

    def value(self, kind: Type, field: FieldFacts, column: pa.Array, row: Ints) -> Piece:
        """The value of a field in every lane."""
        if column.null_count and not kind.nullable:
            self.fail(row, _mask(column.is_null()))
        if isinstance(kind, (Text, Blob)):
            return self.sized(kind, column, row)
        if isinstance(kind, ArrayOf):
            return self.array(kind, field, column, row)
        if isinstance(kind, NullableStruct):
            return self.nullable_struct(kind, field, column, row)
        if isinstance(kind, Schema):
            return self.struct(kind, self.shape.fields_of(field.type), column, row)
        if kind is types.UUID:
            return self.uuid(column, row)
        if kind is types.FLOAT64:
            return number(_numbers(column, pa.float64()), ">f8")
        if kind is types.BOOLEAN:
            return number(_numbers(column.cast(pa.int8()), pa.int8()), ">i1")
        values = _numbers(column, pa.int64())
        assert isinstance(kind, (Fixed, VarInt, TwosComplement))
        over = (values < kind.lowest) | (values > kind.highest)
        self.fail(row, over)
        if isinstance(kind, Fixed):
            return number(np.where(over, 0, values), NUMBERS[id(kind)][0])
        return uvarint(_plain(kind, np.where(over, 0, values)))

    def sized(self, kind: Text | Blob, column: pa.Array, row: Ints) -> Piece:
        data, start, length, null = _runs(column)
        if isinstance(kind, Text):
            self.fail(row, length > MAX_STRING_LENGTH)
        return joined([_length(kind, np.where(null, -1, length)), runs(data, start, length)], len(column))

    def array(self, kind: ArrayOf, field: FieldFacts, column: pa.Array, row: Ints) -> Piece:
        null = _mask(column.is_null())
        bounds = _ends(column)
        count = np.where(null, 0, np.diff(bounds))
        offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(count)))
        values = column.values
        if pa.types.is_null(values.type):
            values = pa.nulls(len(values), self.shape.column(field).value_type)
        if offsets[-1] == bounds[-1] - bounds[0]:  # a null list hides nothing
            values = values.slice(bounds[0], offsets[-1])
        else:
            within = np.arange(int(offsets[-1])) - np.repeat(offsets[:-1], count)
            values = values.take(pa.array(np.repeat(bounds[:-1], count) + within))
        elements = self.value(kind.element, field, values, np.repeat(row, count))
        return joined([_length(kind, np.where(null, -1, count)), grouped(elements, offsets)], len(column))

    def nullable_struct(self, kind: NullableStruct, field: FieldFacts, column: pa.Array, row: Ints) -> Piece:
        inside = np.flatnonzero(_mask(column.is_valid()))
        part = self.struct(kind.schema, self.shape.fields_of(field.type), taken(column, inside), row[inside])
        null = 0 if isinstance(kind, TaggedStruct) else -1
        marks = np.full(len(column), null, np.int64)
        marks[inside] = 1
        return joined([number(marks, ">i1"), chosen(part, inside, len(column))], len(column))

    def uuid(self, column: pa.Array, row: Ints) -> Piece:
        """Sixteen bytes of 22 characters of URL-safe base64."""
        data, start, length, _ = _runs(column)
        wrong = length != 22
        index = np.where(wrong, 0, start)[:, None] + np.arange(22)
        padded = np.concatenate((data, np.zeros(22, np.uint8)))
        sextets = np.zeros((len(column), 24), np.uint32)
        sextets[:, :22] = _SEXTETS[padded[index]]
        self.fail(row, wrong | (sextets > 63).any(axis=1))
        four = sextets.reshape(len(column), 6, 4) & 63
        bits = four[:, :, 0] << 18 | four[:, :, 1] << 12 | four[:, :, 2] << 6 | four[:, :, 3]
        raw = np.stack([bits >> 16 & 255, bits >> 8 & 255, bits & 255], axis=2).astype(np.uint8)
        flat = np.ascontiguousarray(raw.reshape(len(column), 18)[:, :16]).reshape(-1)
        size = np.full(len(column), 16, np.int64)
        return runs(flat, np.arange(len(column)) * 16, size)

    def section(self, section: Section, by_name: dict[str, FieldFacts], array: pa.StructArray, row: Ints) -> Piece:
        """Tagged or optional fields: those that are not at their default, by ascending tag."""
        count = len(array)
        entries, sent = [], np.zeros(count, np.int64)
        for tag, field in section.fields.items():
            facts = by_name[field.name]
            column = self.child(array, facts)
            present = np.flatnonzero(~self.is_default(facts, column))
            sent[present] += 1
            if len(present):
                part = self.value(field.type, facts, taken(column, present), row[present])
                header = _header(section, tag, part.sizes)
                entries.append(chosen(joined([*header, part], len(present)), present, count))
        if isinstance(section, OptionalFieldBuffer):
            return joined([*entries, constant(count, b"\0")], count)
        return joined([uvarint(sent.astype(np.uint64)), *entries], count)

    def is_default(self, field: FieldFacts, column: pa.Array) -> Bools:
        """Whether each value may be left out of a section."""
        if field.default_fact is None:
            return _mask(column.is_null())
        valid = _mask(column.is_valid())
        if field.is_array:
            return np.asarray(valid & (np.diff(_ends(column)) == 0))
        if field.is_struct:
            for inner in self.shape.fields_of(field.type):
                child = self.child(column, inner)
                same = self.is_default(inner, child)
                valid = valid & (same if self.version in inner.versions else same | _mask(child.is_null()))
            return valid
        default = pa.scalar(self.shape.default(field), column.type)
        return valid & _mask(pc.fill_null(pc.equal(column, default), False))


def _header(section: Section, tag: int, sizes: Ints) -> list[Piece]:
    if isinstance(section, OptionalFieldBuffer):
        return [uvarint((sizes * 2).astype(np.uint64)), number(np.full(len(sizes), tag), ">i2")]
    if isinstance(section, InterleavedTagSection):
        return [uvarint(_spread(np.full(len(sizes), tag)) << np.uint64(1) | _spread(sizes))]
    return [uvarint(np.full(len(sizes), tag, np.uint64)), uvarint(sizes.astype(np.uint64))]


def _spread(values: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """The bits of 32-bit numbers at the even places of 64-bit ones."""
    bits = values.astype(np.uint64)
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        bits = (bits | bits << np.uint64(shift)) & np.uint64(mask)
    return bits


def _plain(kind: VarInt | TwosComplement, values: Ints) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """Signed integers as the unsigned ones that are written."""
    if isinstance(kind, TwosComplement):
        mask = np.uint64((1 << kind.bits) - 1)
        return values.view(np.uint64) & mask
    return (values << 1 ^ values >> 63).view(np.uint64)


def taken(array: pa.Array, numbers: Ints) -> pa.Array:
    """The values with some numbers, which ascend; all of them are there already."""
    return array if len(numbers) == len(array) else array.take(pa.array(numbers))


def _length(kind: Text | Blob | ArrayOf, length: Ints) -> Piece:
    code = length_code(kind)
    return uvarint((length + 1).astype(np.uint64)) if code is None else number(length, code)


def _ends(lists: pa.ListArray) -> Ints:
    """Where the elements of each list begin, and where the last end. Of no lists Arrow need not have that."""
    return lists.offsets.to_numpy().astype(np.int64) if len(lists) else np.zeros(1, np.int64)


def _mask(array: pa.Array) -> Bools:
    return np.asarray(array.to_numpy(zero_copy_only=False), np.bool_)


def _numbers(column: pa.Array, kind: pa.DataType) -> Ints:
    """The values of a column, zero for null."""
    return np.asarray(pc.fill_null(column.cast(kind), 0).to_numpy(zero_copy_only=False))


def _runs(column: pa.Array) -> tuple[Bytes, Ints, Ints, Bools]:
    """Where the bytes of each value of a string or binary column stand."""
    if pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type):
        width: type[np.int32] | type[np.int64] = np.int64
    else:
        width = np.int32
    null = _mask(column.is_null())
    _, bounds, data = column.buffers()
    if not len(column) or data is None:
        return np.zeros(0, np.uint8), np.zeros(len(column), np.int64), np.zeros(len(column), np.int64), null
    offsets = np.frombuffer(bounds, width)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    length = np.where(null, 0, np.diff(offsets))
    return np.frombuffer(data, np.uint8), offsets[:-1], length, null
