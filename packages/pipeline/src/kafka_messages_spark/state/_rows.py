"""Rows in Parquet files: a writer, and a data source that leaves out the rows of changed files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from .._core.errors import invalid_argument
from ..sources._files import display_path, open_filesystem
from ..sources._shares import MAX_PARTITION_BYTES, Share, shares

_MAX_ROWS = 10000
# Lowest and exclusive highest value of the column start in the rows to keep, and the file's size now; null for any.
Live = tuple[int | None, int | None, int | None]


# What a Parquet file has of one file of Kafka: position and offset of the last batch, and whether a row is corrupt.
WRITTEN = pa.schema(
    [
        pa.field("part", pa.string()),
        pa.field("bytes", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("offset", pa.int64()),
        pa.field("corrupt", pa.bool_()),
    ]
)


@dataclass(frozen=True)
class _StoredPart:
    name: str
    size: int
    generation: str


@dataclass
class StoredReader(DataSourceReader):
    place: str
    # Sizes of Parquet files by name, and live files, by generation.
    parts: dict[str, dict[str, int]]
    live: dict[str, dict[str, Live]]

    def partitions(self) -> Sequence[InputPartition]:
        parts = [_StoredPart(name, size, key) for key in self.live for name, size in self.parts[key].items()]
        return shares(parts, MAX_PARTITION_BYTES)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for part in partition.pieces if isinstance(partition, Share) else ():
            if isinstance(part, _StoredPart):
                yield from self._read(part)

    def _read(self, part: _StoredPart) -> Iterator[pa.RecordBatch]:
        filesystem, folder, _ = open_filesystem(self.place)
        try:
            with filesystem.open_input_file(f"{folder}/{part.name}") as file:
                for batch in pq.ParquetFile(file, page_checksum_verification=True).iter_batches(_MAX_ROWS):
                    yield _live(batch, self.live[part.generation])
        except (pa.ArrowException, OSError) as error:
            place = f"{display_path(self.place)}/{part.name}"
            raise invalid_argument(
                f"--state: {place} is missing or damaged; delete its folder to start anew: {error}"
            ) from None


def _live(batch: pa.RecordBatch, live: dict[str, Live]) -> pa.RecordBatch:
    files = batch.column("file").dictionary_encode()
    names = files.dictionary.to_pylist()
    of_file = np.asarray(files.indices)
    kept = np.array([name in live for name in names])[of_file]
    bounds = [live.get(name, (None, None, None)) for name in names]
    if any(value is not None for each in bounds for value in each):
        start = np.asarray(batch.column("start"))
        low, high, size = (
            np.array([-1 if each[at] is None else each[at] for each in bounds])[of_file] for at in range(3)
        )
        kept &= (start >= low) & ((high < 0) | (start < high))
        at = batch.schema.get_field_index("size")
        batch = batch.set_column(at, "size", pa.array(np.where(size < 0, np.asarray(batch.column(at)), size)))
    return batch.filter(pa.array(kept))


class StoredRows(DataSource):
    @classmethod
    def name(cls) -> str:
        return "kafka_job_state"

    def schema(self) -> StructType:
        return StructType.fromJson(json.loads(self.options["schema"]))

    def reader(self, schema: StructType) -> DataSourceReader:
        return StoredReader(**json.loads(self.options["arguments"]))


def writer(place: str) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function that writes rows as one Parquet file and returns what it has of each file (``WRITTEN``)."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        filesystem, folder, _ = open_filesystem(place)
        name, output = f"rows-{uuid4().hex}.parquet", None
        found: dict[str, list[Any]] = {}
        for given in batches:
            batch = _in_utc(given)
            if output is None:
                filesystem.create_dir(folder)
                output = pq.ParquetWriter(
                    f"{folder}/{name}",
                    batch.schema,
                    filesystem=filesystem,
                    compression="zstd",
                    write_page_checksum=True,
                )
            output.write_batch(batch)
            _last(batch, found)
        if output is not None:
            output.close()
            size = filesystem.get_file_info(f"{folder}/{name}").size
            rows = [[name, size, file, *values] for file, values in found.items()]
            yield pa.RecordBatch.from_pylist(
                [dict(zip(WRITTEN.names, row, strict=True)) for row in rows], schema=WRITTEN
            )

    return write


def _in_utc(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace the time zone of the session, which another run may not have, by UTC."""
    columns = [column.cast(_utc(column.type)) for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _utc(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind):
        return pa.timestamp(kind.unit, tz="UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_utc(field.type)) for field in kind])
    return pa.list_(kind.value_field.with_type(_utc(kind.value_type))) if pa.types.is_list(kind) else kind


def _last(batch: pa.RecordBatch, found: dict[str, list[Any]]) -> None:
    files = batch.column("file").dictionary_encode()
    names, of_file = files.dictionary.to_pylist(), np.asarray(files.indices)
    position = np.asarray(batch.column("position").fill_null(-1))
    offset = np.asarray(
        batch.column("last_offset" if "last_offset" in batch.schema.names else "base_offset").fill_null(-1)
    )
    order = np.lexsort((position, of_file))
    for at in order[np.flatnonzero(np.diff(of_file[order], append=-1))].tolist():
        entry = found.setdefault(names[of_file[at]], [-1, -1, False])
        entry[:2] = max(entry[:2], [int(position[at]), int(offset[at])])
    for at in np.flatnonzero(np.asarray(batch.column("corrupt").is_valid())).tolist():
        found[names[of_file[at]]][2] = True
