"""Measure uncompressed batch sizes in the workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from io import BufferedReader
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from kafka_records import CompressionError
from kafka_records.format import CODECS, HEADER, KEY_SIZE_AT, MAX_BATCH_BYTES
from kafka_records.segments.compression import decompress
from kafka_records.segments.reader import read_segments

from ...columns._bytes import Ints
from ...sources._files import open_file, reader_arguments
from ..batches import ExtraColumns

# Bytes per read.
_AHEAD = 4 << 20
# Bytes of the two fields for the sizes of key and value, in a message of format 0 or 1.
_SIZES = 8
# Uncompressed size of the batch with its header; number of records; decompression error, with which the others are null.
# All are null for control, empty and corrupt batches.
FIELDS = (
    pa.field("uncompressed", pa.int64()),
    pa.field("data_records", pa.int64()),
    pa.field("fault", pa.string()),
)


@dataclass
class _Sizes:
    path: str
    uncompressed: list[int | None] = field(default_factory=list)
    records: list[int | None] = field(default_factory=list)
    fault: list[str | None] = field(default_factory=list)

    def decompress(self, batches: Sequence[tuple[int, dict[str, Any]]]) -> None:
        source = reader_arguments(self.path)["source"]
        with closing(BufferedReader(open_file(self.path, source), _AHEAD)) as file:
            for at, row in batches:
                file.seek(row["position"] + HEADER)
                data = memoryview(file.read(row["size"] - HEADER))
                try:
                    size = len(decompress(CODECS.index(row["compression"]), data, MAX_BATCH_BYTES))
                except CompressionError as error:
                    self._fails(at, str(error))
                else:
                    self.uncompressed[at] = HEADER + size

    def unwrap(self, messages: Sequence[tuple[int, dict[str, Any]]]) -> None:
        count, contents, reasons = Counter[int](), Counter[int](), dict[int, str]()
        first, last = (messages[at][1]["position"] for at in (0, -1))
        columns = ["position", "key", "value", "corrupt"]
        bounds = {"start": first, "base": first, "end": last + 1}
        with read_segments(**reader_arguments(self.path), mode="PERMISSIVE", columns=columns, **bounds) as reader:
            for batch in reader:
                sizes = (lengths(batch.column("key")) + lengths(batch.column("value"))).tolist()
                places, corrupt = (batch.column(name).to_pylist() for name in ("position", "corrupt"))
                for position, size, wrong in zip(places, sizes, corrupt, strict=True):
                    count[position] += 1
                    contents[position] += size
                    if wrong is not None:
                        reasons[position] = wrong["reason"]
        for at, row in messages:
            position = row["position"]
            each = KEY_SIZE_AT[row["magic"]] + _SIZES
            self.records[at], self.uncompressed[at] = count[position], contents[position] + count[position] * each
            if position in reasons:
                self._fails(at, reasons[position])

    def _fails(self, at: int, reason: str) -> None:
        self.uncompressed[at] = self.records[at] = None
        self.fault[at] = reason


def _made(path: str, batches: pa.RecordBatch) -> list[pa.Array]:
    names = ("position", "size", "records", "magic", "compression", "is_control", "corrupt")
    rows = pa.RecordBatch.from_arrays([batches.column(name) for name in names], names).to_pylist()
    is_data = [row["corrupt"] is None and not row["is_control"] and row["records"] != 0 for row in rows]
    sizes = _Sizes(path)
    for name, column in (("size", sizes.uncompressed), ("records", sizes.records)):
        column += [row[name] if data else None for row, data in zip(rows, is_data, strict=True)]
    sizes.fault += [None] * len(rows)
    compressed = [(at, row) for at, row in enumerate(rows) if is_data[at] and row["compression"] != CODECS[0]]
    if new := [each for each in compressed if each[1]["magic"] == 2]:
        sizes.decompress(new)
    if old := [each for each in compressed if each[1]["magic"] < 2]:
        sizes.unwrap(old)
    columns = (sizes.uncompressed, sizes.records, sizes.fault)
    return [pa.array(values, each.type) for values, each in zip(columns, FIELDS, strict=True)]


UNCOMPRESSED = ExtraColumns(FIELDS, _made)


def lengths(column: pa.Array) -> Ints:
    return np.asarray(pc.binary_length(column).fill_null(0)).astype(np.int64)
