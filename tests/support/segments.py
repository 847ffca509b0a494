"""Log segments in tests: rows as printed by Kafka's classes, and hand-made segments."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kafka_records.crc import checksum

DATA = Path(__file__).parents[1] / "records" / "data"
SEGMENTS = sorted([*DATA.glob("*/*.log"), *DATA.glob("*/*.checkpoint")])
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


def kafkas_rows(segment: Path) -> list[Row]:
    """Return the rows that Kafka's classes printed for a segment in ``DATA``."""
    lines = segment.with_name(segment.name + ".jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def our_rows(batches: Iterable[Any]) -> list[Row]:
    """Return the output of ``read_segments(…, batch_metadata=True)`` in the form of Kafka's classes."""
    rows = []
    for batch in batches:
        batch.validate(full=True)
        for row in batch.to_pylist():
            for name in ("topic", "partition", "file", "crc_ok"):
                del row[name]
            row["key"], row["value"] = _hex(row["key"]), _hex(row["value"])
            row["timestamp"] = _milliseconds(row["timestamp"])
            row["delete_horizon"] = _milliseconds(row["delete_horizon"])
            row["headers"] = [[header["key"], _hex(header["value"])] for header in row["headers"] or ()]
            rows.append(row)
    return rows


def _hex(value: bytes | None) -> str | None:
    return None if value is None else value.hex()


def _milliseconds(value: datetime | None) -> int | None:
    return None if value is None else (value - EPOCH) // timedelta(milliseconds=1)


def some_rows(count: int, seed: int, *, headers: bool = True, widest: int = 40) -> list[Row]:
    """Return random records as input of the writer."""
    random_ = random.Random(seed)

    def maybe(most: int) -> bytes | None:
        return None if random_.random() < 0.2 else bytes(random_.choices(b"abcd", k=random_.randrange(most)))

    return [
        {
            "key": maybe(12),
            "value": maybe(widest),
            "timestamp": 1_700_000_000_000 + random_.randrange(-500, 500),
            "headers": [(f"key-{number}", maybe(8)) for number in range(random_.randrange(3))] if headers else None,
        }
        for _ in range(count)
    ]


@dataclass(frozen=True)
class Damage:
    """Replacement of the bytes ``start`` to ``end`` of a segment by ``data``."""

    start: int
    end: int
    data: bytes

    @property
    def grown(self) -> int:
        return len(self.data) - (self.end - self.start)

    def of(self, segment: bytes) -> bytes:
        return segment[: self.start] + self.data + segment[self.end :]


def common_prefix(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def extents(segment: bytes) -> list[tuple[int, int]]:
    """Return start and end of the batches of a valid segment, by their lengths."""
    found = []
    at = 0
    while at < len(segment):
        end = at + 12 + int.from_bytes(segment[at + 8 : at + 12], "big")
        found.append((at, end))
        at = end
    assert at == len(segment)
    return found


def outside_checksum(segment: bytes, at: int) -> set[int]:
    """Return the bytes of the batch at ``at`` that no checksum covers: offset and, in format 2, leader epoch."""
    return {*range(at, at + 8), *(range(at + 12, at + 16) if segment[at + 16] == 2 else ())}


def crafted(body: bytes, count: int, **header: int) -> bytes:
    """Return a batch of format 2 with a correct checksum; ``header`` replaces fields of the header."""
    fields = {
        "base_offset": 0,
        "length": 49 + len(body),
        "leader_epoch": 0,
        "magic": 2,
        "attributes": 0,
        "last_offset_delta": max(count - 1, 0),
        "base_timestamp": 0,
        "max_timestamp": 0,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "count": count,
    } | header
    values = list(fields.values())
    summed = struct.pack(">hiqqqhii", *values[4:]) + body
    return struct.pack(">qiibI", *values[:4], checksum()(summed)) + summed


def crafted_record(*fields: int | bytes, length: int | None = None) -> bytes:
    """Return a record of varints and bytes, after its length and attributes."""
    body = b"\0" + b"".join(field if isinstance(field, bytes) else varint(field) for field in fields)
    return varint(len(body) if length is None else length) + body


def varint(value: int) -> bytes:
    """Encode a zig-zag varint."""
    value = value << 1 ^ value >> 63
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes((*out, value))
