"""Data classes of charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

# Colors and shapes of marks.
Style = Literal["good", "bad", "notice", "calm", "busy"]


@dataclass(frozen=True)
class Mark:
    """Interval or moment on a timeline."""

    # Milliseconds since the epoch, like all times here.
    start: int
    # Equal to start for a moment; None for an open interval.
    end: int | None
    kind: str
    # Tooltip.
    note: str
    # Label.
    text: str = ""


@dataclass(frozen=True)
class Lane:
    name: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Timeline:
    """Lanes over a common time axis."""

    title: str
    # Style of each kind, in the order of the legend.
    kinds: Mapping[str, Style]
    lanes: Sequence[Lane]
    # Explanation below the chart.
    remark: str = ""
    # The axis and open intervals extend to this time, or to the last mark if that is later.
    until: int | None = None


@dataclass(frozen=True)
class Series:
    """Values over time; each holds until the next one."""

    name: str
    # Times and values; None ends the line.
    points: Sequence[tuple[int, int | None]]
    color: int = 0
    dashed: bool = False
    # Times, values and tooltips of highlighted events.
    events: Sequence[tuple[int, int, str]] = ()


@dataclass(frozen=True)
class Panel:
    """Series with a common value axis."""

    title: str
    series: Sequence[Series]
    # True if the value axis starts at 0, False if at the lowest value.
    from_zero: bool = False
    # Positions and labels of the ticks on the horizontal axis; if empty, ticks at round times.
    marks: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True)
class Chart:
    """Rows of panels with a common time axis."""

    title: str
    rows: Sequence[Sequence[Panel]]
    remark: str = ""
    # The axis extends to this time, or to the last point if that is later.
    until: int | None = None


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    # The formatted value.
    word: str
    kind: str
    note: str = ""
    # Levels 1 to 10 with their parts of the value; higher levels are darker.
    split: Sequence[tuple[int, float]] = ()


@dataclass(frozen=True)
class Bars:
    title: str
    kinds: Mapping[str, Style]
    bars: Sequence[Bar]
    remark: str = ""
    # Label of the axis.
    values: str = ""
    # Bars start at this value, to the left for smaller values; None: at the left end.
    origin: float | None = None


Picture = Timeline | Chart | Bars
