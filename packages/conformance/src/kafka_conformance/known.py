"""Known failures: ids of cases that a testee is expected to fail."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from .result import Report, ReportError, Result


def known_failures(path: str | Path) -> list[str]:
    """Read a file with an id or pattern per line, and comments after ``#``. Raises OSError and ReportError."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not a file of known failures: {error}") from None
    return [text for line in lines if (text := line.partition("#")[0].strip())]


def mark_known(report: Report, patterns: Sequence[str], ids: Iterable[str]) -> None:
    """Mark known failures, so that they do not fail the run; let entries without a failure fail it.

    A pattern with ``*`` may match cases that pass. ``ids`` are those of all cases, also of cases that did not run.
    """
    for pattern in patterns:
        if not fnmatch.filter(ids, pattern):
            report.results.append(Result(pattern, "failed", "listed as a known failure, but there is no such case"))
    report.results = [_marked(each, patterns) for each in report.results]
    for pattern in patterns:
        outcomes = {each.outcome for each in report.results if fnmatch.fnmatchcase(each.id, pattern)}
        if outcomes == {"passed"}:
            problem = "listed as a known failure, but passes; remove the entry"
            report.results.append(Result(pattern, "failed", problem))


def _marked(result: Result, patterns: Sequence[str]) -> Result:
    is_known = result.outcome == "failed" and any(fnmatch.fnmatchcase(result.id, each) for each in patterns)
    return replace(result, outcome="known") if is_known else result
