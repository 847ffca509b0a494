"""Group files and byte ranges into tasks of similar size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pyspark.sql.datasource import InputPartition

# Bytes per task, the default of Spark's file sources.
MAX_PARTITION_BYTES = 128 << 20
# Cost of opening a file, as a number of bytes read.
OPEN_COST = 1 << 20
_LEAST = 16 << 20
# The capacity of a task is 1 / _TASKS of all bytes, but not below _LEAST and never above the user's limit.
_TASKS = 64


class HasSize(Protocol):
    @property
    def size(self) -> int:
        """Number of bytes to read."""


Piece = TypeVar("Piece", bound=HasSize)


def cuts(start: int, size: int, most: int) -> list[tuple[int, int]]:
    """Split a byte range into pieces (start, end) of at most ``most`` bytes; return one empty piece if ``size`` is 0."""
    stop = start + size
    starts = range(start, max(stop, start + 1), most)
    return list(zip(starts, [*starts[1:], stop], strict=True))


@dataclass
class Share(InputPartition):
    pieces: list[HasSize]


def shares(pieces: Sequence[Piece], most: int) -> list[InputPartition]:
    total = sum(each.size + OPEN_COST for each in pieces)
    capacity = min(most, max(_LEAST, total // _TASKS))
    return [Share(list(each)) for each in _packed(pieces, capacity)]


def _packed(pieces: Sequence[Piece], capacity: int) -> Iterator[list[Piece]]:
    found: list[Piece] = []
    used = 0
    for each in pieces:
        if found and used + each.size + OPEN_COST > capacity:
            yield found
            found, used = [], 0
        found.append(each)
        used += each.size + OPEN_COST
    if found:
        yield found
