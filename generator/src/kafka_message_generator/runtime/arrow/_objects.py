"""Conversion through message objects, for arrays that the C extension does not convert."""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, pairwise
from warnings import warn

import pyarrow as pa
import pyarrow.compute as pc

from .._base.message import Message
from .._core.native import native_columns
from .._core.structs import owner_of
from .._core.wire import RawTaggedField
from ..errors import KafkaMessageError
from ..schema import schemas_of
from ..schema.descriptors import FieldDescriptor
from ._rows import one_by_one, uuid_of
from ._shape import EMIT_DEFAULTS, IGNORE_REST, PERMISSIVE, SCALARS, UNKNOWN, UNKNOWN_TYPE, VALIDATE_UTF8, Shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

MOST_ROWS = 1024  # maximum number of messages in memory at once
MOST_BYTES = 1 << 20  # maximum size of these messages in encoded bytes
LIMIT = 1 << 31  # arrays have fewer encoded bytes than this
_was_warned = False


def warn_once() -> None:
    global _was_warned
    if not _was_warned and native_columns() is None:
        _was_warned = True
        what = "columns are built from message objects, which is slow; install kafka-messages-native"
        warn(what, RuntimeWarning, stacklevel=3)


class ObjectDecoder:

    def __init__(
        self,
        shape: Shape,
        known: int | pa.Array | None,
        flags: int,
        trailing_column: str | None,
        corrupt_column: str | None,
    ) -> None:
        self.shape = shape
        self.known = known  # one version, one per row, or None for a prefix
        self.flags = flags
        self.trailing_column = trailing_column
        self.corrupt_column = corrupt_column
        self.version = -1  # version of the messages that are being converted

    def decoded(self, array: pa.Array) -> pa.StructArray | int:
        """Return the columns of an array, or the index of its first invalid row."""
        size = pc.sum(pc.binary_length(array)).as_py() or 0
        if size >= LIMIT:
            limit = f"the limit is {LIMIT - 1}; decode the array in slices"
            raise ValueError(f"{len(array)} rows have {size} bytes, {limit}")
        chunks = []
        for start, rows in _chunks(array):
            found = self._chunk(array.slice(start, len(rows)), rows, start)
            if isinstance(found, int):
                return found
            chunks.append(found)
        return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks)

    def _chunk(self, array: pa.Array, rows: list[bytes | None], start: int) -> pa.StructArray | int:
        by_version: dict[int, tuple[list[int], list[Message]]] = {}
        rests: list[bytes | None] = [None] * len(rows)
        bad = [False] * len(rows)
        for place, data in enumerate(rows):
            if data is None:
                continue
            try:
                version, message, end = self._read(data, start + place)
            except KafkaMessageError:
                if not self.flags & PERMISSIVE:
                    return start + place
                bad[place] = True
                continue
            if end < len(data):
                rests[place] = data[end:]
            places, messages = by_version.setdefault(version, ([], []))
            places.append(place)
            messages.append(message)
        values = self._in_order(by_version, len(rows))
        return self._with_columns(values, array, rows, bad, rests) if self._has_columns else values

    def _read(self, data: bytes, row: int) -> tuple[int, Message, int]:
        # Raises KafkaMessageError for a bad row.
        known, offset = self.known, 0
        if known is None:
            if len(data) < 2:
                raise KafkaMessageError
            known, offset = int.from_bytes(data[:2], signed=True), 2
        version: int = known if isinstance(known, int) else known[row].as_py()
        text: Literal["strict", "surrogateescape"] = "strict" if self.flags & VALIDATE_UTF8 else "surrogateescape"
        message, end = self.shape.message.read_from(data, offset, version, text=text)
        if end != len(data) and not self.flags & IGNORE_REST:
            raise KafkaMessageError
        return version, message, end

    def _in_order(self, by_version: dict[int, tuple[list[int], list[Message]]], count: int) -> pa.StructArray:
        # Build the columns per version, then restore the row order.
        parts, done = [], 0
        index: list[int | None] = [None] * count
        for self.version, (places, messages) in by_version.items():
            parts.append(self._struct(messages, self.shape.descriptor.fields))
            for number, place in enumerate(places, done):
                index[place] = number
            done += len(places)
        if not parts:
            return pa.nulls(count, self.shape.type)
        values = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return values if len(parts) == 1 and done == count else values.take(pa.array(index, pa.int64()))

    def _struct(
        self, structs: list[Any], fields: tuple[FieldDescriptor, ...], not_sent: Sequence[bool] = ()
    ) -> pa.StructArray:
        # Null structs are allowed; those in ``not_sent`` get defaults and no unknown fields.
        kind = self.shape.struct(fields)
        nulls = [each is None for each in structs]
        has_nulls = any(nulls)
        children = [self._field(structs, field, has_nulls) for field in fields]
        if self.shape.unknown:
            schema = schemas_of(self.shape.message)[self.version]
            has_section = schema.tags is not None or schema.optional is not None
            children.append(_unknown(structs, not_sent) if has_section else pa.nulls(len(structs), UNKNOWN_TYPE))
        mask = pa.array(nulls) if has_nulls else None
        if not children:
            return pa.array([None if is_null else {} for is_null in nulls], kind)
        return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)

    def _field(self, structs: list[Any], field: FieldDescriptor, has_nulls: bool) -> pa.Array:
        kind, name = self.shape.column(field), field.name
        if self.version not in field.versions and not self.flags & EMIT_DEFAULTS:
            return pa.nulls(len(structs), kind)
        is_sent_apart = field.is_struct and not field.is_array and field.tag is not None
        not_sent = [_is_not_sent(each, name) for each in structs] if is_sent_apart and self.shape.unknown else ()
        if has_nulls:
            values = [None if each is None else getattr(each, name) for each in structs]
        else:
            values = [getattr(each, name) for each in structs]
        if not field.is_array:
            return self._values(values, field, not_sent if self.version in field.versions else [True] * len(values))
        offsets = list(accumulate([0 if each is None else len(each) for each in values], initial=0))
        elements = self._values(list(chain.from_iterable(filter(None, values))), field)
        nulls = [each is None for each in values]
        return pa.ListArray.from_arrays(
            pa.array(offsets, pa.int32()), elements, type=kind, mask=pa.array(nulls) if any(nulls) else None
        )

    def _values(self, values: list[Any], field: FieldDescriptor, not_sent: Sequence[bool] = ()) -> pa.Array:
        if field.is_struct:
            return self._struct(values, self.shape.descriptor.structs[field.type], not_sent)
        if field.type == "uuid":
            values = [None if each is None else base64.urlsafe_b64encode(each.bytes)[:22].decode() for each in values]
        elif field.type == "string" and not self.flags & VALIDATE_UTF8:
            data = [None if each is None else each.encode("utf-8", "surrogateescape") for each in values]
            return pa.array(data, pa.binary()).view(pa.string())
        return pa.array(values, SCALARS[field.type])

    @property
    def _has_columns(self) -> bool:
        return self.corrupt_column is not None or self.trailing_column is not None

    def _with_columns(
        self,
        values: pa.StructArray,
        array: pa.Array,
        rows: list[bytes | None],
        bad: list[bool],
        rests: list[bytes | None],
    ) -> pa.StructArray:
        added, nulls = {}, array.is_null()
        if self.trailing_column is not None:
            added[self.trailing_column] = pa.array(rests, pa.binary())
        if self.corrupt_column is not None:
            corrupt = [row if is_bad else None for row, is_bad in zip(rows, bad, strict=True)]
            added[self.corrupt_column] = pa.array(corrupt, pa.binary())
        else:
            nulls = pc.or_(nulls, pa.array(bad))
        children = [pc.struct_field(values, [index]) for index in range(values.type.num_fields)]
        fields = [*values.type, *(pa.field(name, pa.binary()) for name in added)]
        return pa.StructArray.from_arrays([*children, *added.values()], fields=fields, mask=nulls)


def _is_not_sent(struct: Any, name: str) -> bool:
    if getattr(struct, f"_{name}", struct) is None:  # skip defaults that were never accessed
        return True
    value = getattr(struct, name, None)
    return value is not None and value == type(value)()


def _unknown(structs: list[Any], not_sent: Sequence[bool]) -> pa.Array:
    rows: list[Any] = [each and sorted((tag.tag, tag.data) for tag in each.unknown_tagged_fields) for each in structs]
    if not_sent:
        rows = [None if left else row for row, left in zip(rows, not_sent, strict=True)]
    return pa.array(rows, UNKNOWN_TYPE)


def _chunks(array: pa.Array) -> Iterator[tuple[int, list[bytes | None]]]:
    start, size = 0, 0
    rows: list[bytes | None] = []
    for scalar in array:
        data = scalar.as_py()
        rows.append(data)
        size += len(data or b"")
        if len(rows) == MOST_ROWS or size >= MOST_BYTES:
            yield start, rows
            start, size, rows = start + len(rows), 0, []
    if rows or start == 0:
        yield start, rows


def encoded(array: pa.StructArray, shape: Shape, version: int, prefix: bool) -> pa.Array:
    check_columns(array.type, shape, shape.descriptor.fields, version)
    if not len(array):  # lists of an empty array may lack offsets, which pyarrow would read
        return pa.array([], pa.binary())
    encoder = _Encoder(shape, version)
    rows = max(1, min(MOST_ROWS, len(array) * MOST_BYTES // max(array.get_total_buffer_size(), 1)))
    parts = []
    for start in range(0, max(len(array), 1), rows):
        part = array.slice(start, rows)
        try:
            parts.append(encoder.encoded(part, prefix))
        except (KafkaMessageError, TypeError, ValueError):  # row-by-row encoding finds row and reason
            parts.append(one_by_one(shape.message, part, start, version, prefix))
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


class _Encoder:
    def __init__(self, shape: Shape, version: int) -> None:
        self.shape = shape
        self.version = version
        self.classes = vars(sys.modules[owner_of(shape.message).__module__])

    def encoded(self, array: pa.StructArray, prefix: bool) -> pa.Array:
        start = self.version.to_bytes(2, "big") if prefix else b""
        messages = self._structs(array, self.shape.message, self.shape.descriptor.fields)
        return pa.array([each and start + each.write(self.version) for each in messages], pa.binary())

    def _structs(self, array: pa.Array, cls: Any, fields: tuple[FieldDescriptor, ...]) -> list[Any]:
        given, maybe = {}, {}
        for field in fields:
            index = array.type.get_field_index(field.name)
            if self.version in field.versions:
                child = array.field(index)
                if field.is_struct and not field.is_array and self.version not in field.nullable and child.null_count:
                    raise ValueError(field.name)  # constructors replace None by a struct
                given[field.name] = self._values(child, field)
            elif index >= 0 and array.field(index).null_count < len(array):
                maybe[field.name] = self._values(array.field(index), field)
        found = [cls(**dict(zip(given, row, strict=True))) for row in zip(*given.values(), strict=True)]
        if not given:
            found = [cls() for _ in range(len(array))]
        for name, values in maybe.items():
            for each, value in zip(found, values, strict=True):
                if value is not None:
                    setattr(each, name, value)
        if (index := array.type.get_field_index(UNKNOWN)) >= 0:
            for each, tags in zip(found, array.field(index).to_pylist(), strict=True):
                each.unknown_tagged_fields = tuple(RawTaggedField(tag, data) for tag, data in tags or ())
        if array.null_count:
            return [each if valid else None for each, valid in zip(found, array.is_valid().to_pylist(), strict=True)]
        return found

    def _values(self, array: pa.Array, field: FieldDescriptor) -> list[Any]:
        if not field.is_array or pa.types.is_null(array.type):
            return self._elements(array, field)
        if not len(array):
            return []
        offsets = array.offsets.to_pylist()
        first, last = offsets[0], offsets[-1]
        elements = self._elements(array.values.slice(first, last - first), field)
        lists: list[Any] = [elements[at - first : end - first] for at, end in pairwise(offsets)]
        if array.null_count:
            return [each if valid else None for each, valid in zip(lists, array.is_valid().to_pylist(), strict=True)]
        return lists

    def _elements(self, array: pa.Array, field: FieldDescriptor) -> list[Any]:
        if pa.types.is_null(array.type):
            return [None] * len(array)
        if field.is_struct:
            return self._structs(array, self.classes[field.type], self.shape.descriptor.structs[field.type])
        values: list[Any] = array.to_pylist()
        if field.type == "uuid":
            return [None if each is None else uuid_of(each) for each in values]
        return values


def check_columns(kind: pa.DataType, shape: Shape, fields: tuple[FieldDescriptor, ...], version: int) -> None:
    for field in fields:
        if version not in field.versions:
            continue
        index = kind.get_field_index(field.name)
        if index < 0:
            raise KeyError(field.name)
        inner = kind[index].type
        if field.is_array and not pa.types.is_null(inner):
            inner = inner.value_type
        if field.is_struct and not pa.types.is_null(inner):
            check_columns(inner, shape, shape.descriptor.structs[field.type], version)
