"""Known failures: ids of cases that a testee is expected to fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from .result import Report, Result


def known_failures(path: str | Path) -> list[str]:
    """Read a file with an id or pattern per line, and comments after ``#``. Raises OSError."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [text for line in lines if (text := line.partition("#")[0].strip())]


def mark_known(report: Report, patterns: Sequence[str]) -> None:
    """Mark known failures, so that they do not fail the run; let known failures that pass fail it.

    A pattern with ``*`` may match cases that pass; one that matches no failure fails the run, as an entry without use.
    """
    report.results = [_marked(each, patterns) for each in report.results]
    for pattern in patterns:
        outcomes = {each.outcome for each in report.results if fnmatchcase(each.id, pattern)}
        if outcomes and not outcomes & {"known", "not run"}:
            problem = "listed as a known failure, but passes; remove the entry"
            report.results.append(Result(pattern, "failed", problem))


def _marked(result: Result, patterns: Sequence[str]) -> Result:
    is_known = result.outcome == "failed" and any(fnmatchcase(result.id, each) for each in patterns)
    return replace(result, outcome="known") if is_known else result
