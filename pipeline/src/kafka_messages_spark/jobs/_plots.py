"""The report of the job ``encodings`` as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_messages_spark._core.errors import wrong
from kafka_messages_spark.sources._files import open_filesystem

COLORS = {"defined": "#444444", "packed": "#1f77b4", "upacked": "#e58606"}
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
    mpl = require_matplotlib("encodings")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 1.6 + 0.42 * max(len(fields), 4)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    labels = [f"{row['message']}\n{row['path']}" for row in fields]
    for shift, (form, color) in zip((-0.27, 0, 0.27), COLORS.items(), strict=True):
        left.barh(
            [at + shift for at in range(len(fields))], [row[form] for row in fields], 0.25, color=color, label=form
        )
    left.set_yticks(range(len(fields)), labels, fontsize=7)
    left.invert_yaxis()
    left.set_xlabel("bytes of all values")
    left.legend(loc="lower right", frameon=False)
    shades = mpl.colormaps[_SHADES]
    for at, row in enumerate(fields):
        of_field = sizes.get((row["message"], row["path"]), {})
        total, done = sum(of_field.values()) or 1, 0.0
        for size in sorted(of_field):
            share = of_field[size] / total
            right.barh(at, share, 0.8, left=done, color=shades((size - 1) / 9))
            if share > 0.06:
                right.text(done + share / 2, at, str(size), ha="center", va="center", color="white", fontsize=7)
            done += share
    right.set_xlim(0, 1)
    right.set_xlabel("part of the values that need so many bytes when packed")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    filesystem, path, _ = open_filesystem(place)
    with filesystem.open_output_stream(path) as file:
        figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
