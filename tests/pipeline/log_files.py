"""Write log directories, and read them through the interface of kafka_log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from kafka_records.segments.batch_writer import write_batches
from kafka_records.segments.reader import read_segments

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource, _range_reader

COUNT = 5
"""Records of a batch."""


def segment(folder: Path, base: int, batches: int, **options: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{base:020}.log"
    parts = [batch_of(range(at, at + COUNT), **options) for at in range(base, base + batches * COUNT, COUNT)]
    file.write_bytes(b"".join(parts))
    return file


def batch_of(offsets: Iterable[int], times: Iterable[int] = (), **options: Any) -> bytes:
    offsets = list(offsets)
    seconds = list(times) or offsets
    rows = [{"value": b"v%d" % at, "offset": at, "timestamp": 1000 * s} for at, s in zip(offsets, seconds, strict=True)]
    return bytes(write_batches(rows, base_offset=offsets[0], max_records=len(rows), **options))


@dataclass
class Work:
    files: int = 0
    bytes: int = 0
    batches: int = 0
    """Batches that were decoded."""


@contextmanager
def counted() -> Iterator[Work]:
    work = Work()

    def reading(*given: Any, **options: Any) -> Any:
        found = read_segments(*given, **options)
        readers.append(found)
        return found

    readers: list[Any] = []
    with mock.patch.object(_range_reader, "read_segments", reading):
        yield work
    reports = [report for each in readers for report in each.reports]
    work.files = len({report.file for report in reports})
    work.bytes = sum(report.batch_bytes for report in reports)
    work.batches = sum(report.decoded_batches for report in reports)


def reader_of(path: object, columns: Any = None, **options: str) -> Any:
    source = KafkaLogDataSource({"path": str(path), **options})
    return source.reader(columns or source.schema())


def rows_of(reader: Any) -> list[dict[str, Any]]:
    return [row for part in reader.partitions() for batch in reader.read(part) for row in batch.to_pylist()]


def offsets_of(reader: Any) -> list[int]:
    return [row["offset"] for row in rows_of(reader)]
