"""Markdown report: times and ratios by operation, and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from codec import OPERATIONS
from markdown import number, table
from memory import Held
from workloads import Workload


@dataclass(frozen=True)
class BenchmarkSetup:
    """Conditions of a report; the first of ``ours`` is the reference."""

    command: str
    versions: Mapping[str, str]
    ours: Sequence[str]
    samples: int
    milliseconds: int

    def pairs(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return the pairs to compare: each of our codecs, or else the first, with all after it."""
        subjects = [name for name in names if name in self.ours] or names[:1]
        return [(one, other) for one in subjects for other in names[names.index(one) + 1 :]]


@dataclass(frozen=True)
class Measurement:
    workload: Workload
    operation: str
    times: Mapping[str, Sequence[float]]

    def microseconds(self, name: str) -> float:
        return median(self.times[name]) * 1e6

    def speedup(self, name: str, baseline: str) -> float:
        """Return the median ratio of the baseline to this codec."""
        return median(theirs / ours for ours, theirs in zip(self.times[name], self.times[baseline], strict=True))

    def spreads(self) -> list[float]:
        return [median(times) / min(times) for times in self.times.values()]


TITLES: Mapping[str, str] = {
    "decode": "decode",
    "encode": "encode",
    "build+encode": "build and encode",
}


def render(setup: BenchmarkSetup, measurements: Sequence[Measurement], held: Sequence[Held]) -> str:
    lines = [
        *conditions(setup, measurements),
        "- all codecs wrote the same bytes, and again after decoding",
    ]
    for operation in OPERATIONS:
        chosen = [measurement for measurement in measurements if measurement.operation == operation]
        if chosen:
            lines += ["", f"### {TITLES[operation]}, µs per message", "", *_times(setup, chosen)]
    lines += ["", "### memory, bytes held by a decoded message", "", *_memory(setup, held)]
    lines += ["", *contents(measurements)]
    return "\n".join(lines)


def conditions(
    setup: BenchmarkSetup, measurements: Sequence[Measurement], ratios: str = "above 1 is faster"
) -> Iterator[str]:
    spreads = [spread for measurement in measurements for spread in measurement.spreads()]
    yield from (f"`{setup.command}`", "")
    yield from (f"- {name} {version}" for name, version in setup.versions.items())
    yield (
        f"- CPU time per message, median of {setup.samples} samples of about {setup.milliseconds} ms, codecs in turns;"
        f" ratios are medians of per-round ratios, {ratios}"
    )
    if spreads:
        yield f"- noise: median over minimum is {median(spreads):.2f} typically, {max(spreads):.2f} at worst"


def contents(measurements: Sequence[Measurement]) -> Iterator[str]:
    workloads = {measurement.workload.key: measurement.workload for measurement in measurements}
    yield from (f"- {workload.title}: {workload.contents}" for workload in workloads.values())


def _times(setup: BenchmarkSetup, measurements: Sequence[Measurement]) -> Iterator[str]:
    codecs = [name for name in setup.versions if name in measurements[0].times]
    pairs = setup.pairs(codecs)
    rows = []
    for measurement in measurements:
        times = [number(measurement.microseconds(name)) for name in codecs]
        ratios = [f"**{measurement.speedup(one, other):.2f}**" for one, other in pairs]
        rows.append([measurement.workload.title, f"{measurement.workload.size:,}", *times, *ratios])
    return table(["workload", "bytes", *codecs, *(f"{one} vs {other}" for one, other in pairs)], rows)


def _memory(setup: BenchmarkSetup, held: Sequence[Held]) -> Iterator[str]:
    codecs = list(setup.versions)
    pairs = setup.pairs(codecs)
    rows = []
    for each in held:
        amounts = [f"{each.bytes[name]:,.0f}" for name in codecs]
        ratios = [f"**{each.bytes[one] / each.bytes[other]:.2f}**" for one, other in pairs]
        rows.append([each.title, f"{each.size:,}", *amounts, *ratios])
    return table(["workload", "bytes", *codecs, *(f"{one} / {other}" for one, other in pairs)], rows)
