"""Samples of several subjects, measured alternately."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


def rotated(subjects: Sequence[T], turn: int) -> Sequence[T]:
    first = turn % len(subjects)
    return (*subjects[first:], *subjects[:first])


def calibrated(time: Callable[[int], float], seconds: float) -> int:
    """Return the number of repetitions that take ``seconds``; ``time`` measures a number of repetitions."""
    loops = 1
    while (elapsed := time(loops)) < seconds / 4:
        loops *= 2
    return max(1, round(loops * seconds / elapsed))


def in_turns(subjects: Mapping[str, Callable[[int], float]], samples: int, seconds: float) -> dict[str, list[float]]:
    """Return seconds per repetition by subject and round, each from a sample of about ``seconds``."""
    loops = {name: calibrated(time, seconds) for name, time in subjects.items()}
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for turn in range(samples):
        for name in rotated(list(subjects), turn):
            times[name].append(subjects[name](loops[name]) / loops[name])
    return times
