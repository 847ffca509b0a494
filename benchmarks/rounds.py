"""Taking samples in turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def rotated(subjects: Sequence[T], turn: int) -> Sequence[T]:
    """The subjects in the order of one round: each starts as often as the others, so no place favours any of them."""
    first = turn % len(subjects)
    return (*subjects[first:], *subjects[:first])
