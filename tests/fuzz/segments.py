"""Cases for log segments: readers with and without the core; the core's loops on buffers of random sizes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from kafka_records.format import HEADER
from kafka_records.segments.batch_writer import write_batches

from tests.fuzz.cases import Difference
from tests.support.segment_implementations import (
    FUNCTIONS,
    both,
    damaged,
    difference,
    repacked,
    some_batches,
    some_options,
)
from tests.support.segments import SEGMENTS, some_rows

core: Any = import_module("kafka_messages_native._columns")


@cache
def _segments() -> list[bytes]:
    made = [some_batches(random.Random(number)) for number in range(60)]
    return [*(segment.read_bytes() for segment in SEGMENTS for _ in range(8)), *made]


def segments(rnd: random.Random, counts: Counter[str]) -> None:
    """Compare batches, reports and errors of a damaged segment, with random options."""
    data = repacked(rnd) if rnd.random() < 0.2 else damaged(rnd.choice(_segments()), rnd)
    for _ in range(4):
        name, options = some_options(rnd, len(data))
        native, pure = both(FUNCTIONS[name], data, **options)
        counts["segments"] += 1
        counts["segments refused"] += bool(native.error)
        if found := difference(native, pure):
            raise Difference(f"{name} with {options} of {data.hex()}: {found}")


def _exact(data: bytes) -> Any:
    found = np.empty(len(data), np.uint8)
    found[:] = np.frombuffer(data, np.uint8)
    return found


def record_columns(rnd: random.Random, counts: Counter[str]) -> None:
    """Read random records with random positions and buffer sizes; the loop must stay in bounds."""
    rows = some_rows(rnd.choice((1, 2, 9, 40)), rnd.randrange(1 << 30), widest=rnd.choice((3, 40, 300)))
    data = write_batches(rows, max_records=len(rows))[HEADER:]
    if rnd.random() < 0.8:
        data = damaged(bytes(12) + data, rnd)[12:]
    number = len(rows) + rnd.choice((0, 0, 0, 0, 1, -1))
    lanes = np.zeros((7, 2), np.int64)
    lanes[:, 0] = (0, len(data), number, 0, rnd.choice((0, -1, 1 << 62)), 5, rnd.randrange(2))
    if rnd.random() < 0.1:
        lanes[:3, 1] = [rnd.randrange(-3, len(data) + 3) for _ in range(3)]
    total = int(np.clip(lanes[2], 0, 1000).sum())

    def column(elements: int) -> Any:
        if rnd.random() < 0.2:
            return None
        capacity = rnd.choice((0, 3, 64, 4096))
        return (
            np.empty(4 * (elements + 1), np.uint8),
            np.empty((elements + 7) // 8, np.uint8),
            np.empty(capacity, np.uint8),
        )

    headers = None
    if rnd.random() < 0.8:
        most = rnd.choice((0, 1, 5, 200))
        keys, values = column(most), column(most)
        if keys is not None and values is not None:
            lists = np.empty(4 * (total + 1), np.uint8), np.empty((total + 7) // 8, np.uint8)
            headers = (most, *lists, keys, values)
    numbers = [None if rnd.random() < 0.2 else np.empty(8 * total, np.uint8) for _ in range(2)]
    found = core.read_record_columns(_exact(data), lanes, total, *numbers, column(total), column(total), headers)
    counts["record columns"] += 1
    counts["record columns taken"] += found is not None and len(found) > 2


def batch_headers(rnd: random.Random, counts: Counter[str]) -> None:
    """Follow batch lengths in a truncated log; the loop must stay in bounds."""
    data = rnd.choice((damaged(some_batches(rnd), rnd), rnd.randbytes(rnd.randrange(100))))
    log = _exact(data[: rnd.randrange(len(data) + 1)])
    capacity = rnd.choice((0, 1, 5, 100))
    starts, faults, sums = np.empty(capacity, np.int64), np.empty(capacity, np.uint8), np.empty(capacity, np.uint8)
    at, last = rnd.randrange(len(log) + 2), rnd.randrange(len(log) + 2)
    count, stop, _ = core.follow_batches(
        log, at, last, len(log), 14, rnd.choice((100, 1 << 30)), rnd.random() < 0.8, starts, faults, sums
    )
    assert count <= capacity
    assert count == 0 or stop <= len(log)
    fields = np.empty((len(core.HEADER_FIELDS), count), np.int64)
    with suppress(ValueError):  # the last header may be truncated
        core.read_headers(log, starts[:count], fields)
    counts["batch headers"] += 1


CASES: Sequence[tuple[Callable[[random.Random, Counter[str]], None], int]] = (
    (segments, 6),
    (record_columns, 4),
    (batch_headers, 1),
)
"""Cases with weights relative to those of messages."""
