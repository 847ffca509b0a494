"""Pictures of a report as data: what is drawn is decided here, how it looks by ``svg``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Look = Literal["good", "bad", "notice", "calm", "busy"]
"""What a page shows in one color and shape."""


@dataclass(frozen=True)
class Mark:
    """Something that took its time, or happened at one."""

    start: int
    """Milliseconds since 1970, as all times here."""
    end: int | None
    """The same for what happened at once; None for what has no end yet."""
    kind: str
    note: str
    """All that is known of it, for who points at it."""
    text: str = ""
    """What stands beside it."""


@dataclass(frozen=True)
class Lane:
    """What belongs together, in order from left to right."""

    name: str
    marks: Sequence[Mark]


@dataclass(frozen=True)
class Timeline:
    """Marks in lanes over a common time."""

    title: str
    kinds: Mapping[str, Look]
    """Of all kinds that marks can have, in the order of the legend."""
    lanes: Sequence[Lane]
    remark: str = ""
    """What is not drawn, and how to read it."""
    until: int | None = None
    """The time at which all was seen: open ends go up to there."""


@dataclass(frozen=True)
class Series:
    """Values that hold from their time to the next one's."""

    name: str
    points: Sequence[tuple[int, int | None]]
    """Times and values; None where there is none any more."""
    color: int = 0
    dashed: bool = False
    events: Sequence[tuple[int, int, str]] = ()
    """Times, values and words of what is to be looked at."""


@dataclass(frozen=True)
class Panel:
    """Series over one axis of values."""

    title: str
    series: Sequence[Series]
    from_zero: bool = False
    """Whether the axis begins at 0, rather than at the lowest value."""
    marks: Sequence[tuple[int, str]] = ()
    """Positions and labels on the horizontal axis; without them it shows times."""


@dataclass(frozen=True)
class Chart:
    """Panels in rows over a common time."""

    title: str
    rows: Sequence[Sequence[Panel]]
    remark: str = ""
    until: int | None = None
    """The time at which all was seen."""


@dataclass(frozen=True)
class Bar:
    """A number, and what is said of it."""

    name: str
    value: float
    word: str
    """The number as it is shown."""
    kind: str
    note: str = ""
    split: Sequence[tuple[int, float]] = ()
    """Levels from 1 to 10 with their parts of the value; a higher level is darker."""


@dataclass(frozen=True)
class Bars:
    """Numbers as lengths."""

    title: str
    kinds: Mapping[str, Look]
    bars: Sequence[Bar]
    remark: str = ""
    values: str = ""
    """What the numbers are."""


Picture = Timeline | Chart | Bars
