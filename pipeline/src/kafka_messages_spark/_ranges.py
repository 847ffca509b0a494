"""Which bytes of which segment files there are to read, as rows: one Spark partition for each share of the work.

Listed where Spark plans, not where the caller is, so that it works on Spark Connect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_messages.segments.names import topic_of
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from ._errors import wrong
from ._foreign import is_foreign
from ._types import struct_type
from .sources._files import Selection

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

MAX_PARTITION_BYTES = 128 << 20
"""Work of one task, as Spark's file sources have it by default."""
OPEN_COST = 4 << 20
"""What opening a file counts as, in bytes; as Spark's file sources have it by default."""

SCHEMA = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("foreign", pa.bool_()),
    ]
)
"""A file and its bytes, a range of it, of which ``end`` is null in the last one; topic and partition as its folder says,
and whether it is no segment at all."""
_FORMAT = "kafka_segment_ranges"

Range = tuple[str, int, int, int | None]


def ranges(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    owner: str,
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """The ranges of the files that some paths mean (see ``kafka_log``). ``owner`` is named in errors."""
    if isinstance(paths, str) or not paths:
        raise wrong(f"{owner}: paths is a list of at least one path, not {paths!r}")
    spark.dataSource.register(RangesDataSource)
    told = {"owner": owner, "paths": paths, "glob": glob, "recursive": recursive, "most": max_partition_bytes}
    return spark.read.format(_FORMAT).option("told", json.dumps(told)).load()


class RangesDataSource(DataSource):
    """Ranges of files as rows. It is for this package; ``ranges`` uses it."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def schema(self) -> StructType:
        return struct_type(SCHEMA)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _RangesReader(**json.loads(self.options["told"]))


@dataclass
class _Share(InputPartition):
    """What one task reads."""

    ranges: list[Range]


class _RangesReader(DataSourceReader):
    def __init__(self, owner: str, paths: list[str], glob: str | None, recursive: bool, most: int) -> None:
        self._owner, self._paths, self._glob, self._recursive, self._most = owner, paths, glob, recursive, most

    def partitions(self) -> Sequence[InputPartition]:
        files = Selection(tuple(self._paths), self._glob, recursive=self._recursive).find(self._owner)
        return [_Share(share) for share in shares([(file.uri, file.size) for file in files], self._most)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if isinstance(partition, _Share):  # where there is no file, Spark comes with a partition of nothing
            columns = [pa.array(list(column)) for column in zip(*partition.ranges, strict=True)]
            names = [topic_of(path) for path, *_ in partition.ranges]
            columns += [pa.array([name[0] for name in names], pa.string()), pa.array([name[1] for name in names])]
            columns.append(pa.array([is_foreign(path) for path, *_ in partition.ranges]))
            yield pa.RecordBatch.from_arrays(
                [column.cast(field.type) for column, field in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
            )


def shares(files: Sequence[tuple[str, int]], most: int) -> list[list[Range]]:
    """Ranges of at most ``most`` bytes, and small files together, so that tasks are neither long nor many."""
    found: list[list[Range]] = []
    room = 0
    for path, size in files:
        starts = range(0, max(size, 1), most)
        for start in starts:
            # The last range has no end, so that what is written meanwhile is read once, by it.
            end = start + most if start != starts[-1] else None
            cost = min(most, size - start) + OPEN_COST
            if cost > room:
                found.append([])
                room = most + OPEN_COST
            found[-1].append((path, size, start, end))
            room -= cost
    return found
