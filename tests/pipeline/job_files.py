"""Write segment files for the tests of jobs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kafka_messages.internal_topics import write_coordinator_record, write_metadata_record
from kafka_records.segments.batch_writer import write_batches, write_control_batch

START = 1_790_000_000_000
"""Milliseconds; times in the tests count from here, in seconds."""


def at(seconds: float) -> int:
    return START + round(seconds * 1000)


def segment(folder: Path, partition: str, *batches: bytes, base: int = 0, name: str | None = None) -> Path:
    place = folder / partition
    place.mkdir(parents=True, exist_ok=True)
    file = place / (name or f"{base:020}.log")
    file.write_bytes(b"".join(batches))
    return file


def data(
    offset: int,
    seconds: float = 0,
    *,
    count: int = 1,
    producer: int = -1,
    epoch: int = 0,
    sequence: int = 0,
    transactional: bool = True,
    **more: Any,
) -> bytes:
    rows = [{"value": b"v%d" % (offset + each), "timestamp": at(seconds + each)} for each in range(count)]
    if producer < 0:
        return write_batches(rows, base_offset=offset, **more)
    more |= {"producer_id": producer, "producer_epoch": epoch, "base_sequence": sequence}
    return write_batches(rows, base_offset=offset, is_transactional=transactional, **more)


def marker(kind: str, offset: int, seconds: float, producer: int, epoch: int = 0) -> bytes:
    return write_control_batch(kind, offset=offset, timestamp=at(seconds), producer_id=producer, producer_epoch=epoch)


def coordinator(offset: int, seconds: float, key: Any, value: Any = None, version: int | None = None) -> bytes:
    name, content = write_coordinator_record(key, value, version)
    return write_batches([{"key": name, "value": content, "timestamp": at(seconds)}], base_offset=offset)


def metadata(offset: int, seconds: float, *messages: Any, epoch: int = 1) -> bytes:
    rows = [
        {"value": write_metadata_record(each, each.HIGHEST_SUPPORTED_VERSION), "timestamp": at(seconds)}
        for each in messages
    ]
    return write_batches(rows, base_offset=offset, leader_epoch=epoch)


def of_epoch(epoch: int, batch: bytes) -> bytes:
    return batch[:12] + epoch.to_bytes(4) + batch[16:]
