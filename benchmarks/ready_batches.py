"""Spark data source of prepared rows, the lower bound for ``kafka_log``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kafka_records.segments.reader import read_segments
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

# Rows per Arrow batch, as in ``kafka_log``.
ROWS = 10_000


@dataclass
class Ready(InputPartition):
    path: str
    rows: int


class ReadyBatches(DataSource):
    """Data source with the options ``path`` of a segment, ``rows`` per partition, and ``partitions``."""

    @classmethod
    def name(cls) -> str:
        return "ready_batches"

    def reader(self, schema: StructType) -> DataSourceReader:
        return ReadyReader(dict(self.options), schema.fieldNames())


class ReadyReader(DataSourceReader):
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
