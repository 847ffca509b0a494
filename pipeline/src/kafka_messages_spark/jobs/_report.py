"""Reports for people: facts, texts and bounded tables, as text or Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import NumericType, TimestampType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WIDEST = 80
"""Longer texts in cells of a table are cut."""
_LONGEST = 1 << 15
"""No path has more characters."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_GAP, _INDENT = "  ", "    "

Formats = Mapping[str, Callable[[Any], str]]


@dataclass(frozen=True)
class Heading:
    """The beginning of a section."""

    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    """A line of text."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows of words. ``more`` rows were left out."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: frozenset[int] = frozenset()
    """Columns with numbers, which stand at the right."""
    more: int = 0


@dataclass
class Report:
    """What a job found, from its title down; what is added first stands first."""

    title: str
    parts: list[Heading | Paragraph | Table] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.parts.append(Heading(title, 2))

    def line(self, text: str) -> None:
        self.parts.append(Paragraph(text))

    def facts(self, facts: Mapping[str, object] | Iterable[tuple[str, object]]) -> None:
        """Names and values, a line each; a value of None is left out."""
        pairs = facts.items() if isinstance(facts, Mapping) else facts
        rows = [(name, shown(value, _LONGEST)) for name, value in pairs if value is not None]
        self.parts.append(Table((), rows))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], more: int = 0) -> None:
        """Rows of values; a column of nothing but numbers stands at the right."""
        rows = list(rows)
        numbers = {at for at in range(len(columns)) if rows and all(_is_number(row[at]) for row in rows)}
        self.parts.append(Table(columns, [[shown(value) for value in row] for row in rows], frozenset(numbers), more))

    def frame(self, df: DataFrame, limit: int, formats: Formats | None = None) -> int:
        """The first rows of a data frame, in its order; returns how many there are in all.

        ``formats`` says how the values of a column are shown. Only the rows that are shown come to the driver.
        """
        rows = df.select(*(_plain(df, name) for name in df.columns)).limit(limit + 1).collect()
        count = len(rows) if len(rows) <= limit else df.count()
        right = [at for at, each in enumerate(df.schema.fields) if isinstance(each.dataType, NumericType)]
        by_name: dict[str, Callable[[Any], str]] = {
            each.name: timestamp for each in df.schema.fields if isinstance(each.dataType, TimestampType)
        }
        by_name |= {"file": place} | dict(formats or {})
        words = [[by_name.get(name, shown)(row[name]) for name in df.columns] for row in rows[:limit]]
        titles = [name.replace("_", " ") for name in df.columns]
        self.parts.append(Table(titles, words, frozenset(right), count - len(words)))
        return count

    def text(self, width: int | None = None) -> str:
        """The report for a terminal.

        With ``width``, in characters, no line is longer than that: columns of a table that have no room beside the
        others stand below each row, with their names, and what is too long for a line goes on in the next.
        """
        parts = [_underlined(self.title, "=", width), *(_text(part, width) for part in self.parts)]
        return "\n\n".join(part for part in parts if part) + "\n"

    def markdown(self) -> str:
        """The report as GitHub's Markdown."""
        parts = [f"# {self.title}", *map(_markdown, self.parts)]
        return "\n\n".join(part for part in parts if part) + "\n"


def shown(value: object, widest: int = _WIDEST) -> str:
    """A value as a word: nothing that would break a line or a table."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "-"
    text = str(value).translate(_CONTROL)
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def place(value: object) -> str:
    """A file as a word: of a long path its end, which tells partition and segment."""
    text = shown(value, widest=_LONGEST)
    return text if len(text) <= _WIDEST else f"…{text[1 - _WIDEST :]}"


_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}


def timestamp(milliseconds: int | None) -> str:
    """A time in UTC, to the millisecond; Kafka's -1 is none."""
    if milliseconds is None or milliseconds == -1:
        return "-"
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(" ", "milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return f"{milliseconds} ms"


def duration(milliseconds: int | None) -> str:
    """A length of time with its two largest units: ``2h 5m``."""
    if milliseconds is None:
        return "-"
    sign, rest = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    if rest < 1000:
        return f"{sign}{rest}ms"
    words = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count}{unit}")
        elif words:
            break
    return sign + " ".join(words[:2])


def size(count: int | None) -> str:
    """A number of bytes with a unit: ``1.5 MiB``."""
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(df: DataFrame, name: str) -> Any:
    """A column that comes to the driver alike on Spark classic and Connect, whatever their time zones."""
    column = F.col(f"`{name}`")
    return F.unix_millis(column).alias(name) if isinstance(df.schema[name].dataType, TimestampType) else column


def _underlined(text: str, line: str, width: int | None) -> str:
    lines = _wrapped(text, width)
    return "\n".join([*lines, line * max(map(len, lines))])


def _more(count: int) -> str:
    return f"... and {count:,} more"


def _text(part: Heading | Paragraph | Table, width: int | None) -> str:
    if isinstance(part, Heading):
        return _underlined(part.text, "-", width)
    if isinstance(part, Paragraph):
        return "\n".join(_wrapped(part.text, width))
    return "\n".join(_facts(part, width) if not part.columns else _rows(part, width))


def _facts(part: Table, width: int | None) -> list[str]:
    """Names, and beside them values, of as many lines as they take."""
    names = max((len(name) for name, _ in part.rows), default=0) + len(_GAP)
    room = None if width is None else width - names
    lines: list[str] = []
    for name, value in part.rows:
        if room is not None and room < 1:  # no room beside the names
            lines += [*_wrapped(name, width), *_wrapped(value, width, _INDENT)]
            continue
        first, *more = _wrapped(value, room) or [""]
        lines += [f"{name:{names}}{first}".rstrip(), *(" " * names + line for line in more)]
    return lines


def _rows(part: Table, width: int | None) -> list[str]:
    """A header and rows, with as many columns as there is room for; under each row the others, if they say anything."""
    words = [part.columns, *part.rows]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    count = len(widths) if width is None else max(1, _fitting(widths, width))
    lines = []
    for line in words:
        cells = [
            word.rjust(widths[at]) if at in part.right else word.ljust(widths[at])
            for at, word in enumerate(line[:count])
        ]
        whole = _GAP.join(cells).rstrip()
        lines += [whole] if count > 1 else _wrapped(whole, width) or [""]
        if line is not part.columns:
            rest = zip(part.columns[count:], line[count:], strict=True)
            if told := "; ".join(f"{name} {word}" for name, word in rest if word not in ("", "-")):
                lines += _wrapped(told, width, _INDENT)
    return [*lines, *_wrapped(_more(part.more), width)] if part.more else lines


def _fitting(widths: Sequence[int], room: int) -> int:
    """How many columns have room, gaps between them included."""
    ends = accumulate(each + len(_GAP) for each in widths)
    return sum(end - len(_GAP) <= room for end in ends)


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """A text in lines of a width; without one, in one line."""
    if width is None:
        return [text]
    indent = indent[: width - 1]
    return wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _markdown(part: Heading | Paragraph | Table) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {part.text}"
    if isinstance(part, Paragraph):
        return part.text
    columns: Sequence[str] = part.columns or ("", "")
    if not part.rows and not part.columns:
        return ""
    rule = ["--:" if at in part.right else "---" for at in range(len(columns))]
    lines = [f"| {' | '.join(word.replace('|', chr(92) + '|') for word in line)} |" for line in (columns, *part.rows)]
    lines.insert(1, f"| {' | '.join(rule)} |")
    return "\n".join(lines) + (f"\n\n{_more(part.more)}" if part.more else "")
