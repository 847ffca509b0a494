"""Where results go: coloured text on a terminal, JSON lines in a pipe."""

from __future__ import annotations

import os
import sys

from .._core.words import wrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import TextIO

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
"""SGR codes of the sixteen colours that terminals adapt to their background."""

_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}
"""Controls that some terminals obey, as U+009B, and that JSON does not escape."""


class Output:
    """Standard output with what was asked for: form, colours, width, whether secrets are shown."""

    def __init__(self, stream: TextIO, form: str, color: str, width: int | None, show_secrets: bool) -> None:
        self._stream = stream
        self._is_terminal = is_terminal = stream.isatty()
        self._progress: Progress | None = None
        self.is_json = form == "json" or (form == "" and not is_terminal)
        is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
        self.has_color = color == "always" or (color == "auto" and is_terminal and not is_plain)
        self._width = width
        self.show_secrets = show_secrets

    @property
    def width(self) -> int:
        """Columns that a line may have."""
        if self._width is None:
            self._width = _terminal_width()
        return max(self._width, 40)

    def record(self, values: Mapping[str, object]) -> None:
        """One line of JSON."""
        import json

        self._write(json.dumps(values, ensure_ascii=False, separators=(", ", ": ")) + "\n")

    def document(self, value: object) -> None:
        """A JSON value: on one line in a pipe, indented on a terminal."""
        import json

        self._write(json.dumps(value, ensure_ascii=False, indent=None if self.is_json else 2) + "\n")

    def line(self, text: str = "") -> None:
        """One line of text."""
        self._write(text + "\n")

    def styled(self, text: str, style: str) -> str:
        """Text in a style, if there are colours."""
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self.has_color and text else text

    def table(self, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Aligned columns below their heads; the last one is wrapped at the width of the output."""
        texts = [[*map(_cell, row)] for row in rows]
        widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
        self._row(list(head), widths, ["dim"] * len(head))
        styles = ["name", *[""] * (len(head) - 1)]
        for row in texts:
            self._row(row, widths, styles)

    def _row(self, row: list[str], widths: list[int], styles: list[str]) -> None:
        start = sum(widths[:-1]) + 2 * (len(widths) - 1)
        last = wrapped(row[-1], max(self.width - start, 12))
        cells = [
            self.styled(cell, style) + " " * (width - len(cell)) if style else cell.ljust(width)
            for cell, width, style in zip([*row[:-1], last[0]], widths, styles, strict=True)
        ]
        self.line("  ".join(cells).rstrip())
        for more in last[1:]:
            self.line(" " * start + more)

    def progress(self, what: str, count: int) -> Progress:
        """A line on standard error that says how far long work is, and is gone before anything is printed here."""
        self._progress = Progress(what, count)
        return self._progress

    def _write(self, text: str) -> None:
        text = text if text.isascii() and "\x7f" not in text else text.translate(_CONTROLS)
        if self._progress is not None and self._is_terminal:
            self._progress.clear()
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _terminal_width() -> int:
    """Columns of the terminal, 100 where there is none."""
    told = os.environ.get("COLUMNS", "")
    if told.isascii() and told.isdigit() and len(told) < 6 and int(told):
        return int(told)
    stdout = sys.__stdout__
    try:
        return 100 if stdout is None else os.get_terminal_size(stdout.fileno()).columns or 100
    except (ValueError, OSError):
        return 100


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def note(text: str) -> None:
    """Something worth knowing beside the result, on standard error."""
    sys.stderr.write(f"note: {text}\n")


class Progress:
    """A line on standard error that says how far work is that takes longer than a moment; only on a terminal."""

    def __init__(self, what: str, count: int) -> None:
        """``count`` is how many of ``what`` there are, 0 if nobody knows."""
        self._what = f"of {count:,} {what}" if count else what
        self._done = 0
        self._next: float | None = None
        self._is_shown = False
        self._is_wanted = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def step(self, by: int = 1) -> None:
        """So much more is done."""
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
        """Take the line away, until there is more to say."""
        if self._is_shown:
            self._is_shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __exit__(self, *error: object) -> None:
        self.clear()
