"""Record of all fuzzing runs in .work/fuzz.jsonl, one line per run."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = Path(".work/fuzz.jsonl")


@dataclass(frozen=True)
class Run:
    """A fuzzing run: build of the core, seed, duration, and number of cases of each kind."""

    build: str
    seed: int
    seconds: float
    counts: dict[str, int]


def keep(run: Run, record: Path = RECORD) -> None:
    """Append a run; safe for concurrent runs."""
    record.parent.mkdir(parents=True, exist_ok=True)
    with record.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")


def runs(record: Path = RECORD) -> list[Run]:
    if not record.exists():
        return []
    return [Run(**json.loads(line)) for line in record.read_text(encoding="utf-8").splitlines()]


def sums(record: Path = RECORD) -> dict[str, Counter[str]]:
    """Return the total number of cases by build and kind."""
    found: dict[str, Counter[str]] = {}
    for run in runs(record):
        found.setdefault(run.build, Counter()).update(run.counts | {"runs": 1})
    return found
