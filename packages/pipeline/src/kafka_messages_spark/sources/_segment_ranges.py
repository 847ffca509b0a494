"""Which bytes of which segment files there are to read, as rows: one Spark partition for each share of the work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_messages.segments.names import topic_of
from pyspark.sql.datasource import InputPartition

from ._foreign import skip_reason
from ._listings import Listing, ListingReader
from ._shares import MAX_PARTITION_BYTES, Share, cuts, shares

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("left_out", pa.string()),
    ]
)
"""A file and its bytes, a range of it, of which ``end`` is null in the last one; topic and partition as its folder says,
and why it is no part of a log, as ``_foreign.why_no_part`` has it."""


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
    return Ranges.load(
        spark, paths, owner=owner, glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )


@dataclass(frozen=True)
class FileRange:
    """Some bytes of a file, as ``SCHEMA`` has it."""

    path: str
    file_size: int
    start: int
    end: int | None
    size: int
    """Bytes to be read."""
    ending: str | None = None
    """That of a folder that Kafka deletes or moves."""


@dataclass
class _RangesReader(ListingReader):
    max_partition_bytes: int

    def partitions(self) -> Sequence[InputPartition]:
        most = self.max_partition_bytes
        parts = [
            replace(part, ending=file.ending) for file in self.files() for part in ranges_of(file.uri, file.size, most)
        ]
        return shares(parts, most)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        if isinstance(partition, Share):  # where there is no file, Spark comes with a partition of nothing
            rows = [_row(piece) for piece in partition.pieces if isinstance(piece, FileRange)]
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


class Ranges(Listing):
    """Ranges of files as rows; ``ranges`` uses it."""

    format = "kafka_segment_ranges"
    columns = SCHEMA
    made = _RangesReader


def _row(piece: FileRange) -> dict[str, Any]:
    topic, partition = topic_of(piece.path)
    return {
        "path": piece.path,
        "size": piece.file_size,
        "start": piece.start,
        "end": piece.end,
        "topic": topic,
        "partition": partition,
        "left_out": skip_reason(piece.path, piece.ending),
    }


def ranges_of(path: str, size: int, most: int) -> list[FileRange]:
    """A file in ranges of at most ``most`` bytes. The last one has no end, so that what is written meanwhile is read
    once, by it."""
    *some, (low, high) = cuts(0, size, most)
    parts = [FileRange(path, size, start, end, end - start) for start, end in some]
    return [*parts, FileRange(path, size, low, None, high - low)]
