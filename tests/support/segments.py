"""Log segments in tests: rows in the form of what Kafka's classes print, and segments made to order."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "arrow" / "data"
SEGMENTS = sorted([*DATA.glob("*/*.log"), *DATA.glob("*/*.checkpoint")])
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Row = dict[str, Any]


def kafkas_rows(segment: Path) -> list[Row]:
    """What Kafka's classes said of a committed segment."""
    lines = segment.with_name(segment.name + ".jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def our_rows(batches: Iterable[Any]) -> list[Row]:
    """What ``read_segments(…, batch_metadata=True)`` gives, in the form of Kafka's classes."""
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
    """Random records in the form that the writer takes."""
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
