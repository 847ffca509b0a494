"""Draw docs/img/speed.svg from the tables of docs/benchmarks.md.

python benchmarks/speed_chart.py
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PEERS = ("kio", "kafka-python")
OPERATIONS = ("decode", "encode")

# Columns of the two tables, in the order of the bars.
NATIVE = (4, 5, 9, 10)
PURE = (1, 2, 3, 4)

WIDTH, LEFT, RIGHT = 760, 190, 692
TOP, BAR, GAP = 64, 15, 18
TIMES = "\N{MULTIPLICATION SIGN}"
LOWEST, HIGHEST = 0.2, 300.0
TICKS = (0.25, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)

STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 15px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.ground { fill: #ffffff } .grid { stroke: #d8dee4 } .one { stroke: #57606a }
.native { fill: #0969da } .pure { fill: #8c959f } .range { stroke: #24292f; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9da7b3 }
.ground { fill: #0d1117 } .grid { stroke: #30363d } .one { stroke: #9da7b3 }
.native { fill: #4493f8 } .pure { fill: #6e7681 } .range { stroke: #e6edf3 }
}
"""


def ratios(page: str) -> Mapping[str, list[list[float]]]:
    """Return the ratios of all workloads for each bar, by implementation."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\| W\d \w+ v\d+ \|", line)]
    native = [row for row in rows if len(row) > 10]
    pure = [row for row in rows if len(row) == 5]
    return {
        "native": [[_number(row[column]) for row in native] for column in NATIVE],
        "pure": [[_number(row[column]) for row in pure] for column in PURE],
    }


def _number(cell: str) -> float:
    return float(cell.strip("*").replace(",", ""))


def chart(page: str) -> str:
    """Return the chart of the tables in a page as SVG."""
    bottom = TOP + 4 * (2 * BAR + GAP)
    body = [
        _text(16, 26, "Speed relative to kio and kafka-python (logarithmic)", "title"),
        _text(
            16,
            46,
            f"1{TIMES} is as fast as the peer. Bars: median of the workloads W1 to W7. Lines: slowest to fastest.",
            "small",
        ),
        *_axis(bottom),
        *_bars(ratios(page)),
        *_legend(bottom + 44),
    ]
    height = bottom + 60
    label = "Bar chart: decoding and encoding speed relative to kio and kafka-python"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" '
            f'aria-label="{label}">',
            f"<style>{STYLE}</style>",
            f'<rect class="ground" width="{WIDTH}" height="{height}" rx="6"/>',
            *body,
            "</svg>\n",
        ]
    )


def _axis(bottom: float) -> Iterator[str]:
    for tick in TICKS:
        look = "one" if tick == 1 else "grid"
        yield _line(_x(tick), TOP - 6, _x(tick), bottom - GAP + 6, look)
        yield _text(_x(tick), bottom + 6, f"{tick:g}{TIMES}", "small", "middle")


def _bars(values: Mapping[str, list[list[float]]]) -> Iterator[str]:
    names = [f"{operation}, vs. {peer}" for operation in OPERATIONS for peer in PEERS]
    for number, name in enumerate(names):
        top = TOP + number * (2 * BAR + GAP)
        yield _text(LEFT - 12, top + BAR + 5, name, "name", "end")
        for row, implementation in enumerate(values):
            yield from _bar(top + row * BAR, implementation, values[implementation][number])


def _bar(top: float, look: str, values: list[float]) -> Iterator[str]:
    median = statistics.median(values)
    start, end = sorted((_x(1), _x(median)))
    middle = top + BAR / 2
    yield f'<rect class="{look}" x="{start}" y="{top + 1}" width="{end - start:.1f}" height="{BAR - 2}"/>'
    yield _line(_x(min(values)), middle, _x(max(values)), middle, "range")
    label = f"{median:.0f}" if median >= 100 else f"{median:.2g}"
    yield _text(max(_x(max(values)), _x(1)) + 6, middle + 4, label + TIMES, "small")


def _legend(y: float) -> Iterator[str]:
    names = {"native": "with the native core", "pure": "pure Python"}
    for number, (look, name) in enumerate(names.items()):
        x = LEFT + 170 * number
        yield f'<rect class="{look}" x="{x}" y="{y - 11}" width="14" height="{BAR - 2}"/>'
        yield _text(x + 20, y, name, "small")


def _x(ratio: float) -> float:
    share = math.log(ratio / LOWEST) / math.log(HIGHEST / LOWEST)
    return round(LEFT + share * (RIGHT - LEFT), 1)


def _text(x: float, y: float, content: str, look: str, anchor: str = "start") -> str:
    return f'<text class="{look}" x="{x}" y="{y}" text-anchor="{anchor}">{content}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> str:
    return f'<line class="{look}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


if __name__ == "__main__":
    (DOCS / "img/speed.svg").write_text(chart((DOCS / "benchmarks.md").read_text(encoding="utf-8")), encoding="utf-8")
