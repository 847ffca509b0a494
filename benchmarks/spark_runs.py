"""Runs of Spark queries for benchmarks: in turns, to the ``noop`` sink, with CPU time of the JVM and all its workers."""

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

COLUMNS = {
    "key": "binary",
    "value": "binary",
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "timestampType": "int",
}
"""All columns of Spark's Kafka source."""
Way = Callable[[], "DataFrame"]


@dataclass(frozen=True)
class Sample:
    """Seconds of one run; ``python`` is the part of ``cpu`` that is not the JVM's."""

    wall: float
    cpu: float
    python: float = 0.0


def schema(*columns: str) -> str:
    """The schema that ``DataFrameReader.schema`` takes for some of ``COLUMNS``."""
    return ", ".join(f"{name} {COLUMNS[name]}" for name in columns)


def run(frame: DataFrame, beside: int | None = None) -> Sample:
    """One run to the noop sink. ``beside`` is a process that this one has begun and whose time does not count."""
    root = os.getpid()
    cpu, python, wall = cpu_seconds(root, beside), python_seconds(root), time.perf_counter()
    frame.write.format("noop").mode("overwrite").save()
    wall = time.perf_counter() - wall
    return Sample(wall, cpu_seconds(root, beside) - cpu, python_seconds(root) - python)


def measure(
    ways: Mapping[str, Way], samples: int, *, warm_ups: int = 1, beside: int | None = None
) -> dict[str, list[Sample]]:
    """Samples of every way, in turns, after some rounds that do not count, in which the JVM compiles."""
    taken: dict[str, list[Sample]] = {name: [] for name in ways}
    for turn in range(-warm_ups, samples):
        for name in rotated(list(ways), turn):
            sample = run(ways[name](), beside)
            if turn >= 0:
                taken[name].append(sample)
    return taken
