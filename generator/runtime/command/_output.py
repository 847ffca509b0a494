"""Where results go: coloured text on a terminal, JSON lines in a pipe."""

from __future__ import annotations

import os
import sys

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


class Output:
    """Standard output with what was asked for: form, colours, width, whether secrets are shown."""

    def __init__(self, stream: TextIO, form: str, color: str, width: int | None, show_secrets: bool) -> None:
        self._stream = stream
        is_terminal = stream.isatty()
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
        last = wrapped(row[-1], max(self.width - start, 20))
        cells = [
            self.styled(cell, style) + " " * (width - len(cell)) if style else cell.ljust(width)
            for cell, width, style in zip([*row[:-1], last[0]], widths, styles, strict=True)
        ]
        self.line("  ".join(cells).rstrip())
        for more in last[1:]:
            self.line(" " * start + more)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _terminal_width() -> int:
    """Columns of the terminal, 100 where there is none."""
    told = os.environ.get("COLUMNS", "")
    if told.isascii() and told.isdigit() and int(told):
        return int(told)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 100  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 100


def _cell(value: object) -> str:
    return "" if value is None else str(value)


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` characters, cut at blanks where that is possible; one at least."""
    lines: list[str] = []
    while len(text) > width:
        at = text.rfind(" ", 1, width + 1)
        if at < width // 3:
            at = width
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip()
    return [*lines, text]


def note(text: str) -> None:
    """Something worth knowing beside the result, on standard error."""
    sys.stderr.write(f"note: {text}\n")


def printable(text: str) -> str:
    """Text of a message on a terminal: what is not printable there, and could change its state, is escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
