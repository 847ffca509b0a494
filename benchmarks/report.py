"""The comparison as Markdown: one table per operation, then the ratios to each peer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from codec import OPERATIONS, Operation
from markdown import number, table
from workloads import Workload


@dataclass(frozen=True)
class Facts:
    """Under which conditions a report was made."""

    command: str
    versions: Mapping[str, str]
    peers: Sequence[str]
    samples: int
    milliseconds: int


@dataclass(frozen=True)
class Measurement:
    """CPU seconds per message of every codec, round by round."""

    workload: Workload
    operation: Operation
    times: Mapping[str, Sequence[float]]

    def microseconds(self, name: str) -> float:
        """The median over the rounds."""
        return median(self.times[name]) * 1e6

    def speedup(self, name: str, baseline: str) -> float:
        """How many times faster than the baseline: the median of the rounds' ratios."""
        return median(theirs / ours for ours, theirs in zip(self.times[name], self.times[baseline], strict=True))

    def spreads(self) -> list[float]:
        """Median over minimum of every codec: how noisy the machine was."""
        return [median(times) / min(times) for times in self.times.values()]


def render(facts: Facts, measurements: Sequence[Measurement]) -> str:
    """The whole report."""
    spreads = [spread for measurement in measurements for spread in measurement.spreads()]
    lines = [
        f"`{facts.command}`",
        "",
        *(f"- {name} {version}" for name, version in facts.versions.items()),
        f"- CPU time per message, median of {facts.samples} samples of about {facts.milliseconds} ms, codecs in turns;"
        " ratios are medians of per-round ratios, above 1 is faster",
        "- all codecs wrote the same bytes, and again after decoding",
        f"- noise: median over minimum is {median(spreads):.2f} typically, {max(spreads):.2f} at worst",
    ]
    for operation in OPERATIONS:
        chosen = [measurement for measurement in measurements if measurement.operation == operation]
        lines += ["", f"### {operation}, µs per message", "", *_table(facts, chosen)]
    lines += ["", *_contents(measurements)]
    return "\n".join(lines)


def _table(facts: Facts, measurements: Sequence[Measurement]) -> list[str]:
    """Times of all codecs; then our builds (without any: the first peer) relative to each peer."""
    codecs = list(facts.versions)
    subjects = [name for name in codecs if name not in facts.peers] or codecs[:1]
    pairs = [(subject, peer) for subject in subjects for peer in facts.peers if peer != subject]
    header = ["workload", "bytes", *codecs, *(f"{subject} vs {peer}" for subject, peer in pairs)]
    rows = []
    for measurement in measurements:
        times = [number(measurement.microseconds(name)) for name in codecs]
        ratios = [f"**{measurement.speedup(subject, peer):.2f}**" for subject, peer in pairs]
        rows.append([measurement.workload.title, f"{measurement.workload.size:,}", *times, *ratios])
    return list(table(header, rows))


def _contents(measurements: Sequence[Measurement]) -> list[str]:
    workloads = {measurement.workload.key: measurement.workload for measurement in measurements}
    return [f"- {workload.title}: {workload.contents}" for workload in workloads.values()]
