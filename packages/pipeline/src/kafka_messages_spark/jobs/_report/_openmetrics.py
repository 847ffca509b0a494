"""Reports as OpenMetrics text: the figures and findings of a job, and its gauges with labels.

Source: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md, version 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ._parts import JobRun

# Prefix of names that other exporters do not have.
PREFIX = "kafka_messages_spark"
Labels = Mapping[str, object]
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}


@dataclass(frozen=True)
class Gauge:
    """A metric; samples with the value None are omitted, and metrics without samples, too."""

    name: str
    help: str
    samples: Iterable[tuple[Labels, int | float | None]]


def text(figures: Mapping[str, int | float], gauges: Sequence[Gauge], run: JobRun) -> str:
    job = {"job": run.job}
    of_job = [
        Gauge(f"{PREFIX}_{run.job}_{name}", f"Figure of the job {run.job}.", [({}, value)])
        for name, value in figures.items()
    ]
    found = [(job | {"kind": each.kind, "severity": each.severity}, each.count) for each in run.findings]
    common = [
        Gauge(f"{PREFIX}_findings", "Findings of the last run.", found),
        Gauge(
            f"{PREFIX}_created_timestamp_seconds", "Time of the last run.", [(job, round(run.created.timestamp(), 3))]
        ),
    ]
    return "\n".join([*(line for each in (*common, *of_job, *gauges) for line in _lines(each)), "# EOF\n"])


def _lines(gauge: Gauge) -> Iterator[str]:
    samples = [(labels, value) for labels, value in gauge.samples if value is not None]
    if not samples:
        return
    yield f"# TYPE {gauge.name} gauge"
    yield f"# HELP {gauge.name} {gauge.help}"
    for labels, value in samples:
        pairs = ",".join(f'{name}="{_escaped(str(label))}"' for name, label in labels.items())
        yield f"{gauge.name}{{{pairs}}} {value}" if pairs else f"{gauge.name} {value}"


def _escaped(label: str) -> str:
    return re.sub(r'[\\"\n]', lambda found: _ESCAPES[found[0]], label)
