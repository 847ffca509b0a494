"""What fuzzing has done so far: a line for each run, with its seed, beside the repository's own files in .work."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

RECORD = Path(".work/fuzz.jsonl")


@dataclass(frozen=True)
class Run:
    """One run: which build of the core, the seed that repeats it, how long, and how many cases of each sort."""

    build: str
    seed: int
    seconds: float
    counts: dict[str, int]


def keep(run: Run, record: Path = RECORD) -> None:
    """Add a run; runs at the same time may."""
    record.parent.mkdir(parents=True, exist_ok=True)
    with record.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(run)) + "\n")


def sums(record: Path = RECORD) -> dict[str, Counter[str]]:
    """Cases of each sort over all runs, by build."""
    found: dict[str, Counter[str]] = {}
    if record.exists():
        for line in record.read_text(encoding="utf-8").splitlines():
            run = Run(**json.loads(line))
            found.setdefault(run.build, Counter()).update(run.counts | {"runs": 1})
    return found
