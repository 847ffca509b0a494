"""Aggregate integers by field in the workers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from kafka_messages import Message, arrow
from kafka_messages.schema.descriptors import FieldDescriptor, MessageDescriptor, descriptor_of

from ...columns._bytes import Ints
from ...columns._codec import message_names, message_of

# Bits of the types whose encoding a definition may choose.
BITS = {"int16": 16, "int32": 32, "int64": 64}
# Lowest values of each varint length above 1.
_BORDERS = np.array([1 << 7 * size for size in range(1, 10)], np.uint64)
_TRAILING = "__kafka_trailing"

# Counters of a field by packed and upacked size. Rows without a path count messages: undecodable ones if the type is
# ``malformed``, otherwise decoded ones.
SUMS = pa.schema(
    [
        pa.field("message", pa.string()),
        pa.field("version", pa.int32()),
        pa.field("path", pa.string()),
        pa.field("type", pa.string()),
        pa.field("packed", pa.int32()),
        pa.field("upacked", pa.int32()),
        pa.field("count", pa.int64()),
        pa.field("bytes", pa.int64()),
        pa.field("lowest", pa.int64()),
        pa.field("highest", pa.int64()),
    ]
)

_Key = tuple[str, int | None, str | None, str | None, int | None, int | None]


def varint_sizes(values: Ints, bits: int, *, zigzag: bool) -> Ints:
    ones = (values << 1) ^ (values >> 63) if zigzag else values
    numbers = ones.view(np.uint64) & np.uint64((1 << bits) - 1)
    return np.searchsorted(_BORDERS, numbers, side="right").astype(np.int64) + 1


@dataclass
class Sums:
    rows: dict[_Key, list[int]] = field(default_factory=dict)

    def add(self, message: pa.Array, version: pa.Array, body: pa.Array) -> None:
        table = pa.table({"message": message, "version": version.cast(pa.int32()), "body": body})
        table = table.filter(pc.is_valid(table["body"]))
        kinds = table.group_by(["message", "version"]).aggregate([]).to_pylist()
        for kind in kinds:
            name, number = kind["message"], kind["version"]
            same = pc.and_(_same(table["message"], name), _same(table["version"], number))
            self._add(name, number, table["body"].filter(same).combine_chunks())

    def _add(self, name: str | None, version: int | None, body: pa.Array) -> None:
        if isinstance(body, pa.ChunkedArray):
            body = pa.concat_arrays(body.chunks)
        sizes = pc.fill_null(pc.binary_length(body), 0)
        known = name is not None and name in message_names()
        message = message_of(name) if known else None
        if message is None or version is None or version not in _versions(message):
            self._count((name or "", version, None, "malformed", None, None), len(body), pc.sum(sizes).as_py() or 0)
            return
        descriptor = descriptor_of(message)
        trailing = "ignore" if descriptor.kind == "request" else "error"  # as brokers do
        found = arrow.decode(body, message, version, mode="PERMISSIVE", trailing=trailing, trailing_column=_TRAILING)
        sizes = pc.subtract(sizes, pc.fill_null(pc.binary_length(found.field(_TRAILING)), 0))
        good = pc.is_valid(found)
        total, fine = pc.sum(sizes).as_py() or 0, pc.sum(sizes.filter(good)).as_py() or 0
        bad = len(body) - pc.sum(good).as_py()
        if bad:
            self._count((name or "", version, None, "malformed", None, None), bad, total - fine)
        if bad < len(body):
            self._count((name or "", version, None, None, None, None), len(body) - bad, fine)
        self._struct(found.filter(good), descriptor, descriptor.fields, version, "")

    def _struct(
        self,
        array: pa.StructArray,
        descriptor: MessageDescriptor,
        fields: tuple[FieldDescriptor, ...],
        version: int,
        prefix: str,
    ) -> None:
        for each in fields:
            if version not in each.versions:
                continue
            path = f"{prefix}{each.name}{'[]' if each.is_array else ''}"
            values = array.field(each.name).drop_null()
            if each.is_array:
                values = values.flatten().drop_null()
            if each.is_struct:
                self._struct(values, descriptor, descriptor.structs[each.type], version, f"{path}.")
            elif each.type in BITS:
                numbers = np.asarray(values).astype(np.int64)
                if version in each.tagged and not each.is_array:
                    numbers = numbers[numbers != each.default()]  # not encoded
                self._integers((descriptor.name, version, path, each.type), numbers)

    def _integers(self, key: tuple[str, int, str, str], values: Ints) -> None:
        if not len(values):
            return
        bits = BITS[key[3]]
        packed, upacked = (varint_sizes(values, bits, zigzag=zigzag) for zigzag in (True, False))
        pairs = packed * 16 + upacked
        for pair in np.unique(pairs).tolist():
            some = values[pairs == pair]
            self._count((*key, pair // 16, pair % 16), len(some), 0, int(some.min()), int(some.max()))

    def _count(self, key: _Key, count: int, size: int, lowest: int = 0, highest: int = 0) -> None:
        row = self.rows.setdefault(key, [0, 0, lowest, highest])
        row[0] += count
        row[1] += size
        row[2], row[3] = min(row[2], lowest), max(row[3], highest)

    def batch(self) -> pa.RecordBatch:
        rows: list[dict[str, Any]] = [
            dict(zip(SUMS.names, (*key, *row), strict=True)) for key, row in self.rows.items()
        ]
        return pa.RecordBatch.from_pylist(rows, schema=SUMS)


def _same(column: Any, value: Any) -> Any:
    return pc.is_null(column) if value is None else pc.fill_null(pc.equal(column, value), False)


def _versions(message: type[Message]) -> range:
    return range(message.LOWEST_SUPPORTED_VERSION, message.HIGHEST_SUPPORTED_VERSION + 1)


def sum_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    sums = Sums()
    for batch in batches:
        sums.add(*batch.columns[:3])
    if sums.rows:
        yield sums.batch()
