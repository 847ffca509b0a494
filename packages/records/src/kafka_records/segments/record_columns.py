"""Records of format 2 as Arrow columns, filled by the C extension.

If the extension rejects data, Python code decodes the data again and reports the errors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from .. import _native
from ..format import SMALLEST_RECORD
from .arrays import HEADER_TYPE, HEADERS_TYPE, TIMESTAMP
from .frames import Bools, Bytes, Ints

# Minimum capacity of each buffer: number of headers for `headers`, else bytes.
_LEAST = {"key": 4096, "headers": 256, "header key": 4096, "header value": 4096}
# Buffers that may overflow, by their number in the result of the extension.
_SHORT = {1: "key", 3: "headers", 4: "header key", 5: "header value"}
# Minimum growth factor after an overflow.
_MORE = 4
# Factor from the bytes used in the last group to the capacity for the next.
_AHEAD = 1.25


@dataclass(slots=True)
class RecordSections:
    """Encoded records of batches; the records of batch ``i`` are ``data[pos[i] : end[i]]``.

    ``data`` ends with 64 padding bytes.
    """

    data: Bytes
    pos: Ints
    end: Ints
    count: Ints
    base_offset: Ints
    base_timestamp: Ints
    # Timestamp of all records of the batch, where `appended` is set.
    append_time: Ints
    appended: Bools

    @property
    def are_possible(self) -> bool:
        return not (self.count > (self.end - self.pos) // SMALLEST_RECORD).any()

    def table(self) -> Ints:
        fields = (
            self.pos,
            self.end,
            self.count,
            self.base_offset,
            self.base_timestamp,
            self.append_time,
            self.appended,
        )
        table = np.empty((len(fields), len(self.pos)), np.int64)
        for row, field in zip(table, fields, strict=True):
            row[:] = field
        return table


class RecordColumns:
    def __init__(self, counts: Ints, columns: dict[str, pa.Array]) -> None:
        self._counts = counts
        self._numbers = np.arange(len(counts))
        self._columns = columns

    def number(self, batches: Ints) -> None:
        self._numbers = batches

    @cached_property
    def count(self) -> int:
        return int(self._counts.sum())

    @property
    def batch(self) -> Ints:
        return np.repeat(self._numbers, self._counts)

    @property
    def offset(self) -> Ints:
        offsets: Ints = self._columns["offset"].to_numpy()
        return offsets

    def offsets(self, some: slice) -> pa.Array:
        return self._columns["offset"][some]

    def keys(self, some: slice) -> pa.Array:
        return self._columns["key"][some]

    def values(self, some: slice) -> pa.Array:
        return self._columns["value"][some]

    def timestamps(self, some: slice) -> tuple[pa.Array, int]:
        column = self._columns["timestamp"][some]
        return column, column.null_count

    def header_lists(self, some: slice) -> pa.Array:
        return self._columns["headers"][some]

    # Access to the keys of control records.

    @property
    def data(self) -> Bytes:
        return np.frombuffer(self._columns["key"].buffers()[2], np.uint8)

    @cached_property
    def _bounds(self) -> Ints:
        return np.frombuffer(self._columns["key"].buffers()[1], np.int32, self.count + 1).astype(np.int64)

    @property
    def key_pos(self) -> Ints:
        return self._bounds[:-1]

    @property
    def key_size(self) -> Ints:
        return np.diff(self._bounds)


class ColumnMaker:
    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)
        # Capacity of each buffer relative to the size of the records.
        self._shares = dict.fromkeys(_LEAST, 0.0)

    def make(self, sections: RecordSections, *, with_key: bool) -> RecordColumns | None:
        """Return the records as columns, or None if there are none, or the extension is missing or rejects them."""
        core = _native.core
        rows, total = int(sections.count.sum()), int((sections.end - sections.pos).sum())
        if core is None or rows == 0 or not sections.are_possible:
            return None
        names = self.names | {"key"} if with_key else self.names
        while True:
            capacities = {name: self._capacity(name, total) for name in _LEAST}
            buffers = _Buffers(names, rows, total, capacities)
            used = core.read_record_columns(sections.data, sections.table(), rows, *buffers.all())
            if used is None:
                return None
            if len(used) > 2:
                self._learn(used, total)
                return RecordColumns(sections.count, buffers.columns(used))
            number, row = used
            name = _SHORT[number]
            if capacities[name] >= total:
                return None
            estimate = _AHEAD * capacities[name] * rows / max(row, 1)
            self._shares[name] = max(_MORE * capacities[name], estimate) / total

    def _capacity(self, name: str, total: int) -> int:
        return min(max(_LEAST[name], int(self._shares[name] * total)), max(_LEAST[name], total))

    def _learn(self, used: tuple[int, ...], total: int) -> None:
        found = {"key": used[0], "headers": used[4], "header key": used[6], "header value": used[7]}
        self._shares = {name: _AHEAD * size / total for name, size in found.items()}


class _Binary:
    def __init__(self, elements: int, size: int) -> None:
        self.offsets = pa.allocate_buffer(4 * (elements + 1))
        self.valid = pa.allocate_buffer((elements + 7) // 8)
        self.bytes = pa.allocate_buffer(size, resizable=True)

    def all(self) -> tuple[pa.Buffer, pa.Buffer, pa.Buffer]:
        return self.offsets, self.valid, self.bytes

    def array(self, kind: pa.DataType, elements: int, used: int, nulls: int) -> pa.Array:
        self.bytes.resize(used, shrink_to_fit=2 * used < self.bytes.size)
        return pa.Array.from_buffers(kind, elements, [self.valid if nulls else None, self.offsets, self.bytes], nulls)


class _Buffers:
    def __init__(self, names: frozenset[str], rows: int, total: int, capacities: dict[str, int]) -> None:
        self._rows = rows
        self._offset = pa.allocate_buffer(8 * rows) if "offset" in names or "base_offset" in names else None
        self._timestamp = pa.allocate_buffer(8 * rows) if "timestamp" in names else None
        self._key = _Binary(rows, capacities["key"]) if "key" in names else None
        self._value = _Binary(rows, total) if "value" in names else None
        self._lists = None
        if "headers" in names:
            self._lists = pa.allocate_buffer(4 * (rows + 1)), pa.allocate_buffer((rows + 7) // 8)
            self._header_capacity = capacities["headers"]
            self._header_key = _Binary(capacities["headers"], capacities["header key"])
            self._header_value = _Binary(capacities["headers"], capacities["header value"])

    def all(self) -> tuple[Any, ...]:
        key = None if self._key is None else self._key.all()
        value = None if self._value is None else self._value.all()
        headers = None
        if self._lists is not None:
            headers = (self._header_capacity, *self._lists, self._header_key.all(), self._header_value.all())
        return self._offset, self._timestamp, key, value, headers

    def columns(self, used: tuple[int, ...]) -> dict[str, pa.Array]:
        key_bytes, no_key, value_bytes, no_value, *headers = used
        rows, found = self._rows, {}
        if self._offset is not None:
            found["offset"] = pa.Array.from_buffers(pa.int64(), rows, [None, self._offset], 0)
        if self._timestamp is not None:
            found["timestamp"] = pa.Array.from_buffers(TIMESTAMP, rows, [None, self._timestamp], 0)
        if self._key is not None:
            found["key"] = self._key.array(pa.binary(), rows, key_bytes, no_key)
        if self._value is not None:
            found["value"] = self._value.array(pa.binary(), rows, value_bytes, no_value)
        if self._lists is not None:
            found["headers"] = self._header_lists(*headers)
        return found

    def _header_lists(self, count: int, none: int, key_bytes: int, value_bytes: int, no_value: int) -> pa.Array:
        assert self._lists is not None
        if count == 0:
            return pa.nulls(self._rows, HEADERS_TYPE)
        keys = self._header_key.array(pa.string(), count, key_bytes, 0)
        values = self._header_value.array(pa.binary(), count, value_bytes, no_value)
        pairs = pa.Array.from_buffers(HEADER_TYPE, count, [None], 0, children=[keys, values])
        lists, valid = self._lists
        return pa.Array.from_buffers(HEADERS_TYPE, self._rows, [valid if none else None, lists], none, children=[pairs])
