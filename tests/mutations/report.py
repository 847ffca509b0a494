"""Results of a session as text."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

from cosmic_ray.work_db import WorkDB
from cosmic_ray.work_item import TestOutcome, WorkItem, WorkResult

from tests.mutations.mutants import part_of, place

ACCEPTED = Path(__file__).with_name("accepted.toml")
NAMES = ("killed", "timed out", "accepted", "survived", "failed to run")


def text(session: WorkDB) -> tuple[str, float]:
    """Return the report, and the percentage of killed mutants; accepted survivors do not count."""
    known = {(each["file"], each["old"], each["new"]) for each in tomllib.loads(ACCEPTED.read_text())["survivor"]}
    results = [(item, result, _name(item, result, known)) for item, result in session.completed_work_items]
    lines = [
        f"{place(item)[0]}:{place(item)[1]}: {name}, {item.mutations[0].operator_name}"
        + "".join(f"\n    {sign}{line}" for sign, line in zip("-+", _change(result), strict=True))
        for item, result, name in sorted(results, key=lambda each: place(each[0]))
        if name in ("survived", "failed to run")
    ]
    parts = sorted({part_of(item) for item, _, _ in results})
    for part in [*parts, "all"]:
        counts = Counter(name for item, _, name in results if part in ("all", part_of(item)))
        lines.append(f"{part}: " + ", ".join(f"{counts[name]} {name}" for name in NAMES if counts[name]))
    counts = Counter(name for _, _, name in results)
    killed = counts["killed"] + counts["timed out"]
    rate = 100 * killed / max(killed + counts["survived"], 1)
    return "\n".join([*lines, f"{rate:.1f} % of {len(results)} mutants killed"]), rate


def _name(item: WorkItem, result: WorkResult, known: set[tuple[str, str, str]]) -> str:
    if result.test_outcome == TestOutcome.SURVIVED:
        return "accepted" if (place(item)[0], *_change(result)) in known else "survived"
    if result.test_outcome != TestOutcome.KILLED:
        return "failed to run"
    return "timed out" if result.output == "timeout" else "killed"


def _change(result: WorkResult) -> tuple[str, str]:
    """Return the changed lines without indentation, before and after the mutation."""
    lines = (result.diff or "").splitlines()[3:]
    old, new = (" ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+")
    return old, new
