"""Log segments of repeated batches."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from pathlib import Path

from kafka_records.segments.batch_writer import write_batches

# Distinct records of a file; further batches repeat them at other base offsets, which no checksum covers.
DISTINCT_RECORDS = 20_000
TIME = 1_700_000_000_000


@dataclass(frozen=True)
class Shape:
    records: int
    value: int
    compression: str | None = None
    headers: bool = False
    repeats: int = 1
    """Repetitions of a value's text; above 1, values compress unusually well."""

    @property
    def title(self) -> str:
        kind = ", headers" if self.headers else ""
        return f"{self.records:,} of {self.value:,} B{kind}, {self.compression or 'none'}"

    def batch(self, random_: random.Random) -> bytes:
        rows = [
            {
                "key": b"customer-%06d" % random_.randrange(10**6),
                "value": self._value(random_),
                "timestamp": TIME + number,
                "headers": [("trace", random_.randbytes(16))] if self.headers else None,
            }
            for number in range(self.records)
        ]
        return write_batches(rows, compression=self.compression, max_records=self.records)

    def _value(self, random_: random.Random) -> bytes:
        numbers = (random_.randrange(1 << 30), random_.randrange(5000), random_.randrange(9), random_.randrange(50000))
        text = b'{"order":%d,"item":"sku-%04d","quantity":%d,"price":%d,"note":"' % numbers
        piece = self.value // self.repeats + 1
        text += random_.randbytes(max(0, piece - len(text)) // 2 + 1).hex().encode()
        return (text[:piece] * self.repeats)[: self.value]


def write_segment(path: Path, shape: Shape, *, size: int | None = None, records: int | None = None) -> int:
    """Write a segment of at least ``size`` bytes or ``records`` records; return its number of records."""
    random_ = random.Random(1)
    distinct = max(4, DISTINCT_RECORDS // shape.records)
    batches = [bytearray(shape.batch(random_)) for _ in range(distinct)]
    offset = written = number = 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        while written < (size or 0) or offset < (records or 0):
            batch = batches[number % distinct]
            struct.pack_into(">q", batch, 0, offset)
            file.write(batch)
            written += len(batch)
            offset += shape.records
            number += 1
    return offset
