"""Files cut into pieces, and small pieces put together, so that Spark's tasks are neither many nor long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pyspark.sql.datasource import InputPartition

MAX_PARTITION_BYTES = 128 << 20
"""Work of one task, as Spark's file sources have it by default."""
OPEN_COST = 1 << 20
"""What the opening of a file counts as, in bytes."""
_LEAST = 16 << 20
_TASKS = 64
"""A task gets at least so many bytes, unless that would make fewer tasks than these."""


class Sized(Protocol):
    """A piece of work."""

    @property
    def size(self) -> int:
        """Bytes to be read."""


Piece = TypeVar("Piece", bound=Sized)


def cuts(start: int, size: int, most: int) -> list[tuple[int, int]]:
    """Where pieces of at most ``most`` bytes begin and end in ``size`` bytes; one piece where there are none."""
    stop = start + size
    starts = range(start, max(stop, start + 1), most)
    return list(zip(starts, [*starts[1:], stop], strict=True))


@dataclass
class Share(InputPartition):
    """What one task reads, one after another."""

    pieces: list[Sized]


def shares(pieces: Sequence[Piece], most: int) -> list[InputPartition]:
    """The pieces in their order, in tasks of at most ``most`` bytes unless one piece is larger."""
    total = sum(each.size + OPEN_COST for each in pieces)
    room = min(most, max(_LEAST, total // _TASKS))
    return [Share(list(each)) for each in _packed(pieces, room)]


def _packed(pieces: Sequence[Piece], room: int) -> Iterator[list[Piece]]:
    found: list[Piece] = []
    used = 0
    for each in pieces:
        if found and used + each.size + OPEN_COST > room:
            yield found
            found, used = [], 0
        found.append(each)
        used += each.size + OPEN_COST
    if found:
        yield found
