"""Timed Spark queries to the ``noop`` sink, run alternately."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from process_tree import cpu_seconds, python_seconds
from rounds import rotated

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# All columns of Spark's Kafka source.
COLUMNS = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
}
Query = Callable[[], "DataFrame"]


@dataclass(frozen=True)
class Sample:
    """Seconds of one run; ``python`` is the part of ``cpu`` outside the JVM."""

    wall: float
    cpu: float
    python: float = 0.0


def schema(*columns: str) -> str:
    return ", ".join(f"{name} {COLUMNS[name]}" for name in columns)


def run(frame: DataFrame, beside: int | None = None) -> Sample:
    """Run a query to the noop sink; ``beside`` is a child process to exclude from the time."""
    root = os.getpid()
    cpu, python, wall = cpu_seconds(root, beside), python_seconds(root), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    wall = time.perf_counter() - wall
    return Sample(wall, cpu_seconds(root, beside) - cpu, python_seconds(root) - python)


def measure(
    queries: Mapping[str, Query], samples: int, *, warm_ups: int = 1, beside: int | None = None
) -> dict[str, list[Sample]]:
    measured: dict[str, list[Sample]] = {name: [] for name in queries}
    for turn in range(-warm_ups, samples):
        for name in rotated(list(queries), turn):
            sample = run(queries[name](), beside)
            if turn >= 0:
                measured[name].append(sample)
    return measured
