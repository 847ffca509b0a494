"""A growing log whose files are rewritten and deleted, and the stream reader that follows it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kafka_records.segments import batch_writer
from kafka_records.segments.reader import read_segments

from kafka_messages_spark.sources.kafka_log import KafkaLogDataSource

EMPTY = {"version": 1, "folders": {}}
HAS_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None
"""Since Spark 4.2."""
LONG_AGO = 1_000_000_000


def batch(first: int, count: int) -> bytes:
    return batch_of(range(first, first + count))


def batch_of(offsets: Iterable[int]) -> bytes:
    rows = [{"offset": at, "key": b"k", "value": b"v%04d" % at, "timestamp": 1} for at in offsets]
    return bytes(batch_writer.write_batches(rows))


class Log:
    """A topic partition in a folder: its last segment grows, the earlier ones are merged, cleaned and deleted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.next = 0
        self.pending = b""
        self.removed = set[int]()
        self.active = self._file(0)
        self.active.touch()

    def _file(self, base: int) -> Path:
        return self.folder / f"{base:020}.log"

    def segments(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def append(self, count: int = 1, part: float = 1.0) -> None:
        self.finish()
        data = batch(self.next, count)
        self.next += count
        cut = int(len(data) * part)
        self._write(data[:cut])
        self.pending = data[cut:]

    def finish(self) -> None:
        self._write(self.pending)
        self.pending = b""

    def _write(self, data: bytes) -> None:
        with self.active.open("ab") as file:
            file.write(data)

    def roll(self) -> None:
        self.finish()
        if self.active.stat().st_size:
            self.active = self._file(self.next)
            self.active.touch()

    def age(self) -> None:
        for file in self.segments():
            os.utime(file, (LONG_AGO, LONG_AGO))

    def merge(self, same_batches: bool = False) -> None:
        old = self.segments()[:-1]
        if len(old) < 2:
            return
        count = int(old[2].stem) if len(old) > 2 else int(self.active.stem)
        first = int(old[0].stem)
        swap = old[0].with_suffix(".swap")
        swap.write_bytes(b"".join(map(Path.read_bytes, old[:2])) if same_batches else batch(first, count - first))
        old[1].unlink()
        swap.rename(old[0])

    def clean(self, files: int, *removed: int) -> None:
        old = self.segments()[:-1][:files]
        batches: dict[int, list[int]] = {}
        for file in old:
            with read_segments([file], columns=["offset", "base_offset"], batch_metadata=True) as found:
                for each in found:
                    for at, base in zip(*(column.to_pylist() for column in each.columns), strict=True):
                        batches.setdefault(base, []).append(at)
        kept = [[at for at in offsets if at not in removed] for offsets in batches.values()]
        self.removed |= {at for offsets in batches.values() for at in offsets} & {*removed}
        if old:
            swap = old[0].with_suffix(".swap")
            swap.write_bytes(b"".join(batch_of(offsets) for offsets in kept if offsets))
            for file in old[1:]:
                file.unlink()
            swap.rename(old[0])

    def retain(self) -> None:
        if len(self.segments()) > 1:
            self.segments()[0].unlink()


def open_stream(path: object, **options: str) -> Any:
    source = KafkaLogDataSource({"path": str(path), **options})
    return source.streamReader(source.schema())


def read(stream: Any, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    found: list[int] = []
    for part in stream.partitions(start, end):
        for each in stream.read(part):
            found += each.column("offset").to_pylist()
    return found


def json_round_trip(offset: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(offset))
    return found


def plan(stream: Any, start: dict[str, Any], files: int | None = None, size: int | None = None) -> dict[str, Any]:
    """Return the offset after the next batch, which has at most this number of files or of bytes."""
    if not HAS_LIMITS:
        from kafka_messages_spark.sources.kafka_log._planner import Limit  # no public method plans from an offset

        planned: dict[str, Any] = stream.planned(start, Limit(files, size))
        return planned
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxBytes, ReadMaxFiles

    limit: ReadLimit = ReadAllAvailable() if files is None else ReadMaxFiles(files)
    end: dict[str, Any] = stream.latestOffset(start, limit if size is None else ReadMaxBytes(size))
    return end


def follow(
    stream: Any, start: dict[str, Any], files: int | None = None, size: int | None = None
) -> tuple[dict[str, Any], list[int]]:
    end = plan(stream, start, files, size)
    return json_round_trip(end), read(stream, start, end)


LOST = (
    "Some data may have been lost: records may have been removed by retention, or with their topic, before they were "
    "read. To get a warning instead of this error, set the option 'failOnDataLoss' to 'false'."
)
