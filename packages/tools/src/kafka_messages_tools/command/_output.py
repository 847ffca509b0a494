"""Output of the command: text, optionally colored, or JSON lines."""

from __future__ import annotations

import os
import sys

from ..text import safe, wrapped
from ._columns import GAP, column_widths, folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

# SGR codes of the 16 standard colors, which terminals adapt to their background.
STYLES = {
    "dim": "2",
    "bold": "1",
    "name": "36",
    "value": "32",
    "number": "35",
    "fault": "1;31",
    "secret": "33",
    "title": "1;4",
}

_STYLED = rf"(\x1b\[(?:0|{'|'.join(STYLES.values())})m)"


class Output:
    def __init__(self, stream: TextIO, is_json: bool, color: str, width: int | None, show_secrets: bool) -> None:
        self._stream = stream
        self._is_terminal = is_terminal = stream.isatty()
        self._progress: ProgressBar | None = None
        self.is_json = is_json
        is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.has_color = color == "always" or (color == "auto" and is_terminal and not is_plain)
        self._width = width
        self.show_secrets = show_secrets

    @property
    def width(self) -> int:
        return max(terminal_width() if self._width is None else self._width, 40)

    @property
    def row_width(self) -> int | None:
        """Maximum width of a row; None for a pipe without ``--width``, so that each row stays on one line."""
        return self.width if self._is_terminal or self._width is not None else None

    def wrap_pipe(self, columns: int) -> None:
        """Wrap rows also in a pipe, unless ``--width`` is given."""
        if self._width is None and not self._is_terminal:
            self._width = columns

    def record(self, values: Mapping[str, object]) -> None:
        import json

        self._write(json.dumps(values, ensure_ascii=False, separators=(", ", ": ")) + "\n")

    def document(self, value: object) -> None:
        import json

        is_indented = self._is_terminal and not self.is_json
        self._write(json.dumps(value, ensure_ascii=False, indent=2 if is_indented else None) + "\n")

    def line(self, text: str = "") -> None:
        self._write(text + "\n")

    def styled(self, text: str, style: str) -> str:
        text = safe(text)
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.has_color and text else text

    def table(self, head: Sequence[str], rows: Iterable[Sequence[object]], *, has_groups: bool = False) -> None:
        """Print an aligned table, with wide cells wrapped.

        With ``has_groups``, the values of the first column become headings if the table is too wide.
        """
        texts = [[*map(_cell, row)] for row in rows]
        whole = sum(max(map(len, column)) + GAP for column in zip(head, *texts, strict=True)) - GAP
        limit = self.row_width or (max(_columns(), 40) if _columns() else whole)
        if has_groups and whole > limit:
            self._groups(head, texts)
            return
        widths = column_widths([head, *texts], limit)
        self._row(head, widths, ["dim"] * len(head))
        styles = ["name", *[""] * (len(head) - 1)]
        for row in texts:
            self._row(row, widths, styles)

    def _groups(self, head: Sequence[str], texts: list[list[str]]) -> None:
        rows = [[f"  {row[1]}", *row[2:]] for row in texts]
        names = [f"  {head[1]}", *head[2:]]
        widths = column_widths([names, *rows], self.width)
        self.line(self.styled(head[0], "dim"))
        self._row(names, widths, ["dim"] * len(names))
        above = None
        for text, row in zip(texts, rows, strict=True):
            if text[0] != above:
                above = text[0]
                self.line(self.styled(above, "name"))
            self._row(row, widths, [""] * len(row))

    def _row(self, row: Sequence[str], widths: list[int], styles: list[str]) -> None:
        cells = [folded(cell, width) for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            line = []
            for lines, width, style in zip(cells, widths, styles, strict=True):
                text = lines[number] if number < len(lines) else ""
                line.append(self.styled(text, style) + " " * (width - len(text)) if style else text.ljust(width))
            self.line("  ".join(line).rstrip())

    def wrapped(self, text: str, indent: str = "  ") -> None:
        limit = self.row_width or len(text)
        first = wrapped(text, limit)[0]
        self.line(first)
        if rest := text[len(first) :].lstrip():
            for line in wrapped(rest, limit - len(indent)):
                self.line(f"{indent}{line}")

    def progress(self, what: str, count: int) -> ProgressBar:
        self._progress = ProgressBar(what, count)
        return self._progress

    def _write(self, text: str) -> None:
        parts = [text]
        if self.has_color:
            import re

            parts = re.split(_STYLED, text)
        parts[::2] = [safe(part, lines=True) for part in parts[::2]]
        text = "".join(parts)
        if self._progress is not None and self._is_terminal:
            self._progress.clear()
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def terminal_width() -> int:
    if columns := _columns():
        return columns
    stdout = sys.__stdout__
    try:
        return 100 if stdout is None else os.get_terminal_size(stdout.fileno()).columns or 100
    except (ValueError, OSError):
        return 100


def _columns() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 6 else 0


def _cell(value: object) -> str:
    return "" if value is None else safe(str(value))


def note(text: str) -> None:
    sys.stderr.write(f"note: {safe(text)}\n")


class ProgressBar:
    def __init__(self, what: str, count: int) -> None:
        self._what = f"of {count:,} {what}" if count else what
        self._done = 0
        self._next: float | None = None
        self._is_shown = False
        self._is_wanted = sys.stderr.isatty()

    def __enter__(self) -> ProgressBar:
        return self

    def step(self, by: int = 1) -> None:
        self._done += by
        if not self._is_wanted:
            return
        from time import monotonic

        now = monotonic()
        if self._next is None:
            self._next = now + 0.5
        elif now >= self._next:
            self._next = now + 0.2
            self._is_shown = True
            sys.stderr.write(f"\r{self._done:,} {self._what}")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __exit__(self, *error: object) -> None:
        self.clear()
