"""A data source of Spark that does nothing: what Spark takes to carry rows that are ready, the floor of ``kafka_log``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_records.segments.reader import read_segments
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

ROWS = 10_000
"""Of an Arrow batch, as ``kafka_log`` has it."""


@dataclass
class Ready(InputPartition):
    """So many rows; the first of a segment, again and again."""

    path: str
    rows: int


class ReadyBatches(DataSource):
    """Options: ``path``, a segment; ``rows`` of each of so many ``partitions``. The schema is to be given."""

    @classmethod
    def name(cls) -> str:
        return "ready_batches"

    def reader(self, schema: StructType) -> DataSourceReader:
        return ReadyReader(dict(self.options), schema.fieldNames())


class ReadyReader(DataSourceReader):
    """Makes the first Arrow batch of a segment, and hands it over until there are rows enough."""

    def __init__(self, options: dict[str, str], names: Sequence[str]) -> None:
        self._options = options
        self._names = list(names)

    def partitions(self) -> Sequence[InputPartition]:
        one = Ready(self._options["path"], int(self._options["rows"]))
        return [one] * int(self._options["partitions"])

    def read(self, partition: Any) -> Iterator[Any]:
        with read_segments(partition.path, columns=self._names, max_rows=ROWS, check_crcs=False) as batches:
            batch = next(batches)
        for _ in range(partition.rows // len(batch)):
            yield batch
        yield batch.slice(0, partition.rows % len(batch))
