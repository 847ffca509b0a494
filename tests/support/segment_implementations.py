"""Log segments read with and without the native core: all observable results."""

from __future__ import annotations

import io
import os
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import pyarrow as pa
from kafka_records import CompressionName, _native
from kafka_records.crc import checksum
from kafka_records.format import DELETE_HORIZON, HEADER, LOG_APPEND_TIME
from kafka_records.segments.batch_headers import read_batch_headers
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from kafka_records.segments.compression import compress
from kafka_records.segments.reader import SegmentReport, read_segments

from tests.support.segments import crafted, some_rows

Reader = Callable[..., Any]
FUNCTIONS: Mapping[str, Reader] = {"read_segments": read_segments, "read_batch_headers": read_batch_headers}
COLUMNS = (
    None,
    ["value"],
    ["offset", "key"],
    ["headers"],
    ["timestamp", "value", "headers", "partition"],
    ["base_offset", "control_type", "crc_ok", "value"],
    ["topic"],
)


@dataclass
class Outcome:
    """Batches, reports and error of a reader."""

    batches: list[pa.RecordBatch]
    seen: list[str]
    """Texts of the reports after each batch and at the end."""
    reports: list[SegmentReport]
    error: str

    @property
    def is_whole(self) -> bool:
        return not self.error


def outcome(read: Reader, data: bytes, **options: Any) -> Outcome:
    """Read a segment to its end or error; validate each array fully."""
    found = Outcome([], [], [], "")
    try:
        with read(io.BytesIO(data), **options) as reader:
            found.reports = reader.reports
            for batch in reader:
                batch.validate(full=True)
                found.batches.append(batch)
                found.seen.append(repr(reader.reports))
    except (ValueError, OSError) as error:
        found.error = f"{type(error).__name__}: {error} {vars(error)}"
    found.seen.append(repr(found.reports))
    return found


def both(read: Reader, data: bytes, **options: Any) -> tuple[Outcome, Outcome]:
    """Return the outcomes with and without the core."""
    found = []
    for core in (native_core(), None):
        with mock.patch.object(_native, "core", core):
            found.append(outcome(read, data, **options))
    return found[0], found[1]


@cache
def native_core() -> Any:
    """Return the extension, even in a run that disables it."""
    with mock.patch.dict(os.environ):
        os.environ.pop(_native.SWITCH, None)
        return _native.load()


def difference(native: Outcome, pure: Outcome) -> str:
    """Return the first difference in rows, batches, reports or errors; empty if none."""
    if native.error != pure.error:
        return f"the error is {native.error!r}, and {pure.error!r} without the core"
    for number, (one, other) in enumerate(zip(native.batches, pure.batches, strict=False)):
        if one.schema != other.schema:
            return f"batch {number} has the schema {one.schema}, and {other.schema} without the core"
        for name, column, wanted in zip(one.schema.names, one.columns, other.columns, strict=True):
            if not column.equals(wanted):
                return f"column {name} of batch {number} differs: {column.diff(wanted)}"
    if native.seen != pure.seen:
        return f"the reports are {native.seen}, and {pure.seen} without the core"
    return ""


_CODECS: tuple[CompressionName | None, ...] = (None, None, "gzip", "snappy", "lz4", "zstd")


def some_batches(random_: random.Random) -> bytes:
    """Return intact batches of all codecs and formats, including transactions with markers."""
    parts, offset = [], random_.choice((0, 5, 1 << 40))
    for _ in range(random_.randrange(1, 9)):
        rows = some_rows(
            random_.choice((1, 2, 20, 300)), random_.randrange(1 << 30), widest=random_.choice((2, 40, 300))
        )
        codec, magic = random_.choice(_CODECS), random_.choice((2, 2, 2, 2, 1, 0))
        if magic < 2:
            codec = None if codec == "zstd" else codec
            rows = [{**row, "headers": None, "timestamp": -1 if magic == 0 else row["timestamp"]} for row in rows]
        parts.append(write_batches(rows, base_offset=offset, compression=codec, magic=magic))
        offset += len(rows)
        if random_.random() < 0.3:
            kind = random_.choice(("COMMIT", "ABORT"))
            parts.append(write_control_batch(kind, offset=offset, producer_id=5, producer_epoch=0))
            offset += 1
    return b"".join(parts)


def some_options(random_: random.Random, size: int) -> tuple[str, dict[str, Any]]:
    """Return the name of a reader function, and random options."""
    name = random_.choice(("read_segments", "read_segments", "read_segments", "read_batch_headers"))
    options: dict[str, Any] = {
        "mode": random_.choice(("PERMISSIVE", "FAILFAST")),
        "check_crcs": random_.random() < 0.7,
        "max_rows": random_.choice((1 << 16, 1 << 16, 100, 7)),
        "max_batch_bytes": random_.choice((128 << 20, 128 << 20, 3000)),
    }
    if random_.random() < 0.3:
        low, high = sorted((random_.randrange(size + 1), random_.randrange(size + 1)))
        options |= {"start": low, "end": random_.choice((None, high))}
    if name == "read_segments":
        options |= {
            "columns": random_.choice(COLUMNS),
            "headers": random_.random() < 0.8,
            "batch_metadata": random_.random() < 0.5,
            "control_records": random_.choice((None, True, False)),
        }
    return name, options


def with_new_checksums(segment: bytes) -> bytes:
    """Recompute the checksums of consecutive batches."""
    data = bytearray(segment)
    at = 0
    while at + 61 <= len(data):
        end = at + 12 + int.from_bytes(data[at + 8 : at + 12], "big", signed=True)
        if not at + 61 <= end <= len(data):
            break
        if data[at + 16] == 2:
            struct.pack_into(">I", data, at + 17, checksum()(bytes(data[at + 21 : end])))
        at = end
    return bytes(data)


def damaged(segment: bytes, random_: random.Random) -> bytes:
    """Return the segment with random damage, often with recomputed checksums."""
    data = bytearray(segment)
    for _ in range(random_.choice((1, 1, 1, 2, 5))):
        if not data:
            break
        at = random_.randrange(len(data))
        kind = random_.randrange(8)
        if kind < 3:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 3:
            data[at] = random_.choice((0, 1, 2, 127, 128, 255))
        elif kind == 4:
            size = random_.randrange(1, 12)
            data[at : at + size] = b"\xff" * (size - 1) + bytes((random_.choice((1, 15, 16, 127)),))
        elif kind == 5:
            del data[at : at + random_.randrange(1, 40)]
        elif kind == 6:
            data[at:at] = random_.randbytes(random_.randrange(1, 40))
        else:
            del data[at:]
    return with_new_checksums(bytes(data)) if random_.random() < 0.7 else bytes(data)


def repacked(random_: random.Random) -> bytes:
    """Return batches with records that were damaged before compression."""
    parts = []
    for number in range(random_.randrange(1, 5)):
        rows = some_rows(
            random_.choice((1, 3, 30, 300)), random_.randrange(1 << 30), widest=random_.choice((10, 40, 200))
        )
        body, codec = write_batches(rows, max_records=len(rows))[HEADER:], random_.randrange(5)
        if random_.random() < 0.5:
            body = damaged(bytes(12) + body, random_)[12:]
        kind = codec | random_.choice((0, 0, LOG_APPEND_TIME, DELETE_HORIZON))
        count = len(rows) + random_.choice((0, 0, 0, 0, 1, -1, 1 << 20))
        parts.append(
            crafted(
                compress(codec, body) if codec else body,
                max(count, 0),
                attributes=kind,
                base_offset=1000 * number,
                base_timestamp=random_.choice((0, 1_700_000_000_000, (1 << 63) - 5, -(1 << 63), -1)),
                max_timestamp=random_.choice((0, -1, (1 << 63) - 1, 1_700_000_000_000)),
            )
        )
    return b"".join(parts)
