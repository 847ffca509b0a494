"""Taking samples in turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def rotated(subjects: Sequence[T], turn: int) -> Sequence[T]:
    """The subjects in the order of one round: each starts as often as the others, so no place favours any of them."""
    first = turn % len(subjects)
    return (*subjects[first:], *subjects[:first])


def calibrated(time: Callable[[int], float], seconds: float) -> int:
    """How many repetitions take about that long; ``time`` gives the seconds of so many."""
    loops = 1
    while (elapsed := time(loops)) < seconds / 4:
        loops *= 2
    return max(1, round(loops * seconds / elapsed))


def in_turns(subjects: Mapping[str, Callable[[int], float]], samples: int, seconds: float) -> dict[str, list[float]]:
    """Seconds per repetition of every subject, one entry per round, each from a sample of about that many seconds."""
    loops = {name: calibrated(time, seconds) for name, time in subjects.items()}
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for turn in range(samples):
        for name in rotated(list(subjects), turn):
            times[name].append(subjects[name](loops[name]) / loops[name])
    return times
