"""Markdown report on other languages: time ratios, and the ratios that exceed their maximum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markdown import number, table
from report import BenchmarkSetup, Measurement, conditions, contents

TITLES = {
    "decode": "decode to objects",
    "encode": "encode to a new buffer",
    "encode+reuse": "encode to a buffer that they reuse, ours to new `bytes`",
}
# Maximum time ratio to another language by operation: decoding has to create Python objects, encoding reads them.
BOUNDS = {"decode": 3.0, "encode": 1.0, "encode+reuse": 1.0}


@dataclass(frozen=True)
class Ratio:
    workload: str
    language: str
    value: float

    def __str__(self) -> str:
        return f"{self.workload} {self.language} {self.value:.1f}"


def render(setup: BenchmarkSetup, measurements: Sequence[Measurement], skipped: Mapping[str, Sequence[str]]) -> str:
    lines = [
        *conditions(setup, measurements, "below 1 ours takes less time"),
        "- CPU time is that of whole processes; each codec decoded our bytes and wrote them again, the same",
        *(f"- {name} skipped: not installed: {', '.join(commands)}" for name, commands in skipped.items()),
    ]
    for operation, title in TITLES.items():
        chosen = [measurement for measurement in measurements if measurement.operation == operation]
        if chosen:
            lines += ["", f"### {title}, µs per message", "", *_table(setup, chosen)]
            lines += ["", *_summary(setup, operation, chosen)]
    return "\n".join([*lines, "", *contents(measurements)])


def _theirs(setup: BenchmarkSetup) -> list[str]:
    return [name for name in setup.versions if name not in setup.ours]


def _ratios(setup: BenchmarkSetup, measurement: Measurement) -> list[Ratio]:
    # Uses the first of our codecs.
    return [Ratio(measurement.workload.key, name, measurement.speedup(name, setup.ours[0])) for name in _theirs(setup)]


def _table(setup: BenchmarkSetup, measurements: Sequence[Measurement]) -> Iterator[str]:
    rows = []
    for measurement in measurements:
        times = [number(measurement.microseconds(name)) for name in setup.versions]
        ratios = [f"**{ratio.value:.2f}**" for ratio in _ratios(setup, measurement)]
        rows.append([measurement.workload.title, f"{measurement.workload.size:,}", *times, *ratios])
    header = ["workload", "bytes", *setup.versions, *(f"{setup.ours[0]} / {name}" for name in _theirs(setup))]
    return table(header, rows)


def _summary(setup: BenchmarkSetup, operation: str, measurements: Sequence[Measurement]) -> Iterator[str]:
    ratios = [ratio for measurement in measurements for ratio in _ratios(setup, measurement)]
    if not ratios:
        return
    bound = BOUNDS[operation]
    behind = [ratio for ratio in ratios if ratio.value > bound]
    within = "ahead of them" if bound == 1 else f"within {bound:g} times their time"
    yield f"{setup.ours[0]} is {within} in {len(ratios) - len(behind)} of {len(ratios)}."
    if behind:
        yield f"Not in: {', '.join(map(str, sorted(behind, key=lambda ratio: -ratio.value)))}."
