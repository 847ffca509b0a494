"""Data source of rows that an earlier run has stored, without those of files that have changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from .._core.errors import invalid_argument
from ._files import display_path, open_filesystem
from ._shares import MAX_PARTITION_BYTES, Share, shares

_MAX_ROWS = 10000
# Lowest and exclusive highest value of the column start in the rows to keep, and the file's size now; null for any.
Live = tuple[int | None, int | None, int | None]


@dataclass(frozen=True)
class _Part:
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
        parts = [_Part(name, size, key) for key in self.live for name, size in self.parts[key].items()]
        return shares(parts, MAX_PARTITION_BYTES)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        for part in partition.pieces if isinstance(partition, Share) else ():
            if isinstance(part, _Part):
                yield from self._read(part)

    def _read(self, part: _Part) -> Iterator[pa.RecordBatch]:
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
