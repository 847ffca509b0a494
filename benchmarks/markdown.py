"""Markdown tables of reports."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> Iterator[str]:
    """Yield the lines of a table with ``texts`` text columns, then numbers."""
    yield _row(header)
    yield _row(["---"] * texts + ["--:"] * (len(header) - texts))
    yield from map(_row, rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def number(value: float) -> str:
    """Return a number with three significant digits, or from 100 on as an integer."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"
