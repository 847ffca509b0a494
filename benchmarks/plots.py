"""The comparison of integer encodings as pictures: SVG files that depend on nothing but the numbers in them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from encoded_metadata import FORMS, schema_module
from encodings_report import COLUMNS, TITLES, Result
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLORS = {"fixed": "#444444", "packed": "#1f77b4", "upacked": "#e58606"}
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "kafka-messages",
    "font.size": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def draw(folder: Path, results: Sequence[Result]) -> None:
    """Write ``encodings.svg``, the measurements, and ``encodings-histogram.svg``, the bytes of every value."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(STYLE):
        _save(measurements(results), folder / "encodings.svg")
        _save(histogram(), folder / "encodings-histogram.svg")


def _save(figure: Figure, path: Path) -> None:
    figure.savefig(path, format="svg", metadata={"Date": None}, bbox_inches="tight")


def measurements(results: Sequence[Result]) -> Figure:
    """Bars of size and times relative to the fixed encoding on a logarithmic axis, a panel per kind of numbers."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, result in zip(panels, results, strict=True):
        _bars(axes, result)
    ratios = [bar for result in results for form in FORMS for bar in _ratios(result, form)]
    ticks = [2.0**power for power in range(-2, 7) if min(ratios) / 2 < 2.0**power < max(ratios) * 2]
    panels[0].set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    panels[0].set_ylim(min(ratios) * 0.75, max(ratios) * 1.4)
    panels[0].set_ylabel("relative to fixed; lower is better")
    panels[0].legend(loc="upper left", frameon=False)
    return figure


def _bars(axes: Axes, result: Result) -> None:
    labels = ["size", *(f"{codec}\n{TITLES[operation]}" for codec, operation in COLUMNS)]
    axes.set_yscale("log", base=2)
    axes.minorticks_off()
    for offset, form in ((-0.2, "packed"), (0.2, "upacked")):
        for place, ratio in enumerate(_ratios(result, form)):
            at = place + offset
            label = form if place == 0 else None
            axes.bar(at, ratio - 1, width=0.38, bottom=1, color=COLORS[form], label=label)
            above = ratio >= 1
            shift = (0, 2 if above else -2)
            align = "bottom" if above else "top"
            text = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"
            axes.annotate(text, (at, ratio), shift, textcoords="offset points", ha="center", va=align, fontsize=9)
    axes.axhline(1, color=COLORS["fixed"], linewidth=1.2, label="fixed = 1")
    axes.set_xticks(range(len(labels)), labels)
    axes.tick_params(axis="x", length=0)
    axes.set_title(f"{result.contents.name} numbers ({result.sizes['fixed']:,} bytes when fixed)", fontsize=11)


def _ratios(result: Result, form: str) -> list[float]:
    return [result.relative_size(form), *(result.series[column].ratio(form) for column in COLUMNS)]


def histogram() -> Figure:
    """Bytes of every 32-bit value, as the schema codec measures them; the axis is logarithmic on both sides of zero."""
    types: Any = schema_module()
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots()
    bounds = sorted({bound for power in range(31) for bound in (1 << power, -(1 << power), -(1 << power) - 1)} | {0})
    values = [-(1 << 31), *bounds, (1 << 31) - 1]
    for form, kind, width in (("packed", types.PACKED32, 3.2), ("upacked", types.UPACKED32, 1.8)):
        sizes = [kind.size_of(value) for value in values]
        axes.step(values, sizes, where="post", color=COLORS[form], linewidth=width, label=f"{form}32")
    axes.axhline(4, color=COLORS["fixed"], linewidth=1.2, linestyle="--", label="fixed32", zorder=0.5)
    axes.set_xscale("symlog", base=2, linthresh=16, linscale=1)
    ticks = {-(1 << power): f"$-2^{{{power}}}$" for power in (6, 13, 20, 27)} | {0: "0"}
    ticks |= {1 << power: f"$2^{{{power}}}$" for power in (6, 13, 20, 27)}
    ticks |= {1 << power: f"\n$2^{{{power}}}$" for power in (7, 14, 21, 28)}  # a line below, beside the others
    axes.set_xticks(list(ticks), list(ticks.values()))
    axes.minorticks_off()
    axes.set_xlim(-(1 << 31), (1 << 31) - 1)
    axes.set_yticks(range(1, 6))
    axes.set_ylim(0.5, 5.5)
    axes.set_ylabel("bytes")
    axes.set_xlabel("value")
    axes.legend(loc="lower left", frameon=False)
    return figure
