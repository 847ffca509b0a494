"""Draw docs/img/speed.svg from the tables of docs/benchmarks.md.

python benchmarks/speed_chart.py
"""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "packages" / "pipeline" / "src"))

from kafka_messages_spark._charts.document import document
from kafka_messages_spark._charts.model import Bar, Bars, Style

DOCS = Path(__file__).parents[1] / "docs"
PEERS = ("kio", "kafka-python")
OPERATIONS = ("decode", "encode")

# Columns of the two tables, in the order of the bars.
NATIVE = (4, 5, 9, 10)
PURE = (1, 2, 3, 4)

KINDS: Mapping[str, Style] = {"with the native core": "good", "pure Python": "calm"}
TIMES = "\N{MULTIPLICATION SIGN}"


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
    values = ratios(page)
    names = [f"{operation}, vs. {peer}" for operation in OPERATIONS for peer in PEERS]
    bars = [
        _bar(name if kind == "with the native core" else "", kind, values[implementation][number])
        for number, name in enumerate(names)
        for kind, implementation in zip(KINDS, values, strict=True)
    ]
    remark = (
        f"Bars start at 1{TIMES}, the speed of the peer; a bar to the left is slower. "
        "Bars: median of the workloads W1 to W7; in parentheses: slowest to fastest."
    )
    axis = "times as fast as the peer"
    picture = Bars("Speed relative to kio and kafka-python", KINDS, bars, remark, axis, origin=1)
    return document("Bar chart: decoding and encoding speed relative to kio and kafka-python", [picture])


def _bar(name: str, kind: str, values: list[float]) -> Bar:
    median = statistics.median(values)
    return Bar(name, median, _factor(median), kind, f"({_factor(min(values))} to {_factor(max(values))})")


def _factor(ratio: float) -> str:
    return (f"{ratio:.0f}" if ratio >= 100 else f"{ratio:.2g}") + TIMES


if __name__ == "__main__":
    (DOCS / "img/speed.svg").write_text(chart((DOCS / "benchmarks.md").read_text(encoding="utf-8")), encoding="utf-8")
