"""Data source of the byte ranges of segment files, and detection of other files such as ``server.log``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.names import topic_of
from pyspark.sql.datasource import InputPartition

from ._files import base_name, reader_arguments
from ._listings import Listing, ListingReader
from ._shares import MAX_PARTITION_BYTES, Share, cuts, shares

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Names of segments, of their copies in tiered storage, and of snapshots start with an offset.
_OURS = re.compile(r"[0-9]{20}[.-]")
# Bytes in which the first batch is searched; larger batches are rare.
_BEGINNING = 1 << 20
NOT_A_SEGMENT = "not a segment"
_GONE = {"delete": "a partition that is being deleted", "stray": "a stray replica"}
# Columns of a byte range. size is that of the file; end is null in the last range of a file; topic and partition come
# from the folder; left_out is the result of skip_reason.
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


def ranges(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    owner: str,
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    return Ranges.load(
        spark, paths, owner=owner, glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )


@dataclass(frozen=True)
class FileRange:
    path: str
    file_size: int
    start: int
    end: int | None
    # Bytes to read.
    size: int
    # Suffix of a folder that Kafka is deleting or moving.
    ending: str | None = None


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
        if isinstance(partition, Share):  # without files, Spark passes a partition of another class
            rows = [_row(piece) for piece in partition.pieces if isinstance(piece, FileRange)]
            yield pa.RecordBatch.from_pylist(rows, schema=SCHEMA)


class Ranges(Listing):
    format = "kafka_segment_ranges"
    columns = SCHEMA
    reader_class = _RangesReader


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
    """Split a file into ranges of at most ``most`` bytes; the last one has no end."""
    *some, (low, high) = cuts(0, size, most)
    parts = [FileRange(path, size, start, end, end - start) for start, end in some]
    return [*parts, FileRange(path, size, low, None, high - low)]


def skip_reason(path: str, ending: str | None) -> str | None:
    """Return the reason to skip a file, or None; ``ending`` is the suffix of its folder, such as ``delete``."""
    return _GONE.get(ending or "") or (NOT_A_SEGMENT if is_foreign(path) else None)


def is_foreign(path: str) -> bool:
    """Return whether a file has neither a segment's name nor a batch in its first MiB.

    Empty, zero-filled and unreadable files are not foreign: the reader handles them.
    """
    if _OURS.match(base_name(path)):
        return False
    try:
        with read_batch_headers(**reader_arguments(path), mode="PERMISSIVE", end=_BEGINNING) as batches:
            corrupt = 0
            for batch in batches:
                if batch.column("corrupt").null_count:
                    return False
                corrupt += len(batch)
            (report,) = batches.reports
            return corrupt + report.incomplete_tail > 0
    except OSError:
        return False
