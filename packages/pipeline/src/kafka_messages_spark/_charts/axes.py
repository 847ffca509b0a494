"""Axes, ticks and tick labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND, _MINUTE, _HOUR, _DAY = 1000, 60_000, 3_600_000, 86_400_000
# Intervals between ticks, in milliseconds.
_STEPS = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500),
    *(_SECOND * each for each in (1, 2, 5, 10, 15, 30)),
    *(_MINUTE * each for each in (1, 2, 5, 10, 15, 30)),
    *(_HOUR * each for each in (1, 2, 3, 6, 12)),
    *(_DAY * each for each in (1, 2, 7, 14, 30, 91, 182, 365)),
)


@dataclass(frozen=True)
class Axis:
    """Scale from values to positions; a logarithmic axis needs ``low`` above 0."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, value = self.low, self.high, min(max(value, self.low), self.high)
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.0
        return round(self.start + share * (self.end - self.start), 1)


def times(low: int, high: int, most: int) -> list[tuple[int, str]]:
    high = max(high, low + 1)
    step = next((each for each in _STEPS if (high - low) / each < most), 0)
    if not step:
        years = 365 * _DAY
        step = years * math.ceil((high - low) / years / most)
    first = -(-low // step) * step
    return [(each, _time(each, step)) for each in range(first, high + 1, step)]


def numbers(low: int, high: int, most: int) -> list[int]:
    raw = max(1.0, (high - low) / most)
    power = 10 ** math.floor(math.log10(raw))
    step = int(next(power * each for each in (1, 2, 5, 10) if power * each >= raw))
    return list(range(-(-low // step) * step, high + 1, step))


def powers(low: float, high: float) -> Sequence[int]:
    return [10**each for each in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]


def _time(at: int, step: int) -> str:
    try:
        moment = _EPOCH + timedelta(milliseconds=at)
    except OverflowError:
        return f"{at} ms"
    if step >= _DAY:
        return moment.strftime("%Y-%m-%d")
    written = moment.strftime("%H:%M" if step >= _MINUTE else "%H:%M:%S")
    if step < _SECOND:
        written += f".{at % _SECOND:03}"
    return moment.strftime("%Y-%m-%d ") + written if at % _DAY == 0 else written
