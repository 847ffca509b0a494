"""Data source of the byte ranges of segment files, and detection of other files such as ``server.log``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.names import topic_of
from pyspark.sql.datasource import InputPartition

from ._files import base_name, matches, reader_arguments
from ._listings import Listing, ListingReader
from ._shares import MAX_PARTITION_BYTES, Share, cuts, shares
from .kafka_log._planner import closed_files

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# Names of segments, of their copies in tiered storage, and of snapshots start with an offset.
_OURS = re.compile(r"[0-9]{20}[.-]")
# Bytes in which the first batch is searched; larger batches are rare.
_BEGINNING = 1 << 20
NOT_A_SEGMENT = "not a segment"
# Reasons to skip folders with these suffixes.
LEFT_OUT = {"delete": "a partition that is being deleted", "stray": "a stray replica"}
# Columns of a byte range. size is that of the file; end is null in the last range of a file; topic and partition come
# from the folder; left_out is the result of skip_reason; modified is in seconds since the epoch; is_closed is true if a
# later segment follows. If an earlier run has read the beginning of the range, resume is the position at which to go on,
# and base that of the batch before.
SCHEMA = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("left_out", pa.string()),
        pa.field("modified", pa.float64()),
        pa.field("is_closed", pa.bool_()),
        pa.field("base", pa.int64()),
        pa.field("resume", pa.int64()),
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
    modified: float = 0.0
    is_closed: bool = False
    base: int | None = None
    resume: int | None = None


@dataclass(frozen=True)
class Resume:
    """Where to go on reading a file: after the batch at ``base``, whose end is ``position``."""

    base: int | None
    position: int
    is_closed: bool


@dataclass
class _RangesReader(ListingReader):
    max_partition_bytes: int
    # Patterns of the topics to read; none means all, and files without a topic.
    topics: list[str] = field(default_factory=list)
    # Arguments of Resume by path, if only files with an entry are read; the listing is then not complete.
    resume: dict[str, list[Any]] | None = None

    def partitions(self) -> Sequence[InputPartition]:
        most = self.max_partition_bytes
        files = [file for file in self.files() if is_of_topics(file.name, self.topics)]
        closed = closed_files(files)
        parts = []
        for file in files:
            known = Resume(None, 0, file.name in closed) if self.resume is None else Resume(*self.resume[file.uri])
            pieces = ranges_of(file.uri, file.size, most, known)
            if self.resume is not None:  # what is written meanwhile is left for the next run
                pieces[-1] = replace(pieces[-1], end=max(file.size, known.position))
            parts += [replace(part, ending=file.ending, modified=file.modified) for part in pieces]
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
        "modified": piece.modified,
        "is_closed": piece.is_closed,
        "base": piece.base,
        "resume": piece.resume,
    }


def ranges_of(path: str, size: int, most: int, known: Resume | None = None) -> list[FileRange]:
    """Split a file, from the range with ``known.position`` on, at multiples of ``most`` bytes; the last range has no end."""
    known = known or Resume(None, 0, False)
    begin = known.position // most * most
    *some, (low, high) = cuts(begin, max(size - begin, 0), most)
    parts = [FileRange(path, size, start, end, end - start, is_closed=known.is_closed) for start, end in some]
    parts.append(FileRange(path, size, low, None, high - low, is_closed=known.is_closed))
    if known.base is not None:
        left = max(parts[0].start + parts[0].size - known.position, 0)
        parts[0] = replace(parts[0], base=known.base, resume=known.position, size=left)
    return parts


def reading_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``read_batch_headers`` and ``read_segments`` for a row of ``SCHEMA``."""
    place = {"start": row["start"]} if row["resume"] is None else {"start": row["resume"], "base": row["base"]}
    return {**reader_arguments(row["path"]), "mode": "PERMISSIVE", "end": row["end"], **place}


def is_of_topics(path: str, patterns: Collection[str]) -> bool:
    topic = topic_of(path)[0]
    return not patterns or (topic is not None and any(matches(topic, pattern) for pattern in patterns))


def skip_reason(path: str, ending: str | None) -> str | None:
    """Return the reason to skip a file, or None; ``ending`` is the suffix of its folder, such as ``delete``."""
    return LEFT_OUT.get(ending or "") or (NOT_A_SEGMENT if is_foreign(path) else None)


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
