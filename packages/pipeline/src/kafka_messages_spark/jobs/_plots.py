"""The report of the job ``encodings`` as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_messages_spark._core.errors import wrong
from kafka_messages_spark.sources._files import open_filesystem

COLORS = {"defined": "#444444", "packed": "#1f77b4", "upacked": "#e58606"}
MOST_TIMES = 100
"""A bar that is so much shorter than the longest one is still seen on an even axis."""
_SHADES = "viridis"


def require_matplotlib(owner: str) -> Any:
    """The module, or the error that says how to get it, before anything is computed."""
    try:
        import matplotlib as mpl
    except ImportError:
        raise wrong(f"{owner}: --plot needs matplotlib: pip install matplotlib") from None
    return mpl


def draw(place: str, fields: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], Mapping[int, int]]) -> None:
    """Write a PNG: bytes of each field in each encoding, and beside it how many bytes its values need as ``packed``.

    ``sizes`` are values by bytes, for the message and path of a field.
    """
    filesystem, path, _ = open_filesystem(place)
    with filesystem.open_output_stream(path) as file:
        drawn(fields, sizes).savefig(file, format="png", dpi=150, metadata={"Software": None})


def drawn(fields: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], Mapping[int, int]]) -> Any:
    """The picture as a ``Figure``. Where the longest bar is more than 100 times the shortest, the axis is logarithmic."""
    mpl = require_matplotlib("encodings")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 1.6 + 0.42 * max(len(fields), 4)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    _encodings(left, fields)
    _shares(right, fields, sizes, mpl.colormaps[_SHADES])
    left.set_yticks(range(len(fields)), [f"{row['message']}\n{row['path']}" for row in fields], fontsize=7)
    left.invert_yaxis()
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure


def _encodings(axes: Any, fields: Sequence[Mapping[str, Any]]) -> None:
    """A bar for each field and encoding, with its number of bytes."""
    values = [row[form] for row in fields for form in COLORS if row[form]]
    for shift, (form, color) in zip((-0.27, 0, 0.27), COLORS.items(), strict=True):
        at = [number + shift for number in range(len(fields))]
        bars = axes.barh(at, [row[form] for row in fields], 0.25, color=color, label=form)
        axes.bar_label(bars, [f"{row[form]:,}" for row in fields], padding=2, fontsize=5)
    axes.margins(x=0.1)  # room for the numbers; a limit that is set ends it
    is_wide = max(values, default=1) > MOST_TIMES * min(values, default=1)
    if is_wide:
        axes.set_xscale("log")
        axes.set_xlim(left=min(values) / 2)
    axes.set_xlabel("bytes of all values" + (", logarithmic" if is_wide else ""))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 1.0 + 0.9 / max(len(fields), 4)), ncols=3, frameon=False)


def _shares(
    axes: Any, fields: Sequence[Mapping[str, Any]], sizes: Mapping[tuple[str, str], Mapping[int, int]], shades: Any
) -> None:
    """How many bytes the values of each field need, as parts of all of them."""
    for at, row in enumerate(fields):
        of_field = sizes.get((row["message"], row["path"]), {})
        total, done = sum(of_field.values()) or 1, 0.0
        for size in sorted(of_field):
            share = of_field[size] / total
            axes.barh(at, share, 0.8, left=done, color=shades((size - 1) / 9))
            if share > 0.06:
                axes.text(done + share / 2, at, str(size), ha="center", va="center", color="white", fontsize=7)
            done += share
    axes.set_xlim(0, 1)
    axes.set_xlabel("part of the values that need so many bytes when packed")
