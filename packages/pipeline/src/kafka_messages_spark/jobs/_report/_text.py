"""Plain text and Markdown of reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from textwrap import wrap

from kafka_messages_spark._charts.formatting import rows_omitted

from ._parts import DescriptionList, Heading, Paragraph, ReportItem, Table

_GAP, _INDENT = "  ", "    "


def text(title: str, parts: Sequence[ReportItem], width: int | None) -> str:
    written = [_underlined(title, "=", width), *(_text(part, width) for part in parts)]
    return "\n\n".join(part for part in written if part) + "\n"


def markdown(title: str, parts: Sequence[ReportItem]) -> str:
    return "\n\n".join(part for part in (f"# {_escaped(title)}", *map(_markdown, parts)) if part) + "\n"


def _underlined(text: str, line: str, width: int | None) -> str:
    lines = _wrapped(text, width)
    return "\n".join([*lines, line * max(map(len, lines))])


def _text(part: ReportItem, width: int | None) -> str:
    if isinstance(part, Heading):
        return _underlined(part.text, "-", width)
    if isinstance(part, Paragraph):
        return "\n".join(_wrapped(part.text, width))
    if isinstance(part, DescriptionList):
        return "\n".join(_facts(part, width))
    return "\n".join(_rows(part, width)) if isinstance(part, Table) else ""


def _facts(part: DescriptionList, width: int | None) -> list[str]:
    names = max((len(name) for name, _ in part.texts), default=0) + len(_GAP)
    space = None if width is None else width - names
    lines: list[str] = []
    for name, value in part.texts:
        if space is not None and space < 1:  # the names leave no space
            lines += [*_wrapped(name, width), *_wrapped(value, width, _INDENT)]
            continue
        first, *others = _wrapped(value, space) or [""]
        lines += [f"{name:{names}}{first}".rstrip(), *(" " * names + line for line in others)]
    return lines


def _rows(part: Table, width: int | None) -> list[str]:
    titles = part.titles
    words = [titles, *part.texts]
    widths = [max(map(len, column)) for column in zip(*words, strict=True)]
    count = len(widths) if width is None else max(1, _fitting(widths, width))
    lines = []
    for line in words:
        cells = [
            word.rjust(width_of) if column.right else word.ljust(width_of)
            for word, width_of, column in zip(line[:count], widths, part.columns, strict=False)
        ]
        whole = _GAP.join(cells).rstrip()
        lines += [whole] if count > 1 else _wrapped(whole, width) or [""]
        if line is not titles:
            rest = zip(titles[count:], line[count:], strict=True)
            if details := "; ".join(f"{name} {word}" for name, word in rest if word not in ("", "-")):
                lines += _wrapped(details, width, _INDENT)
    return [*lines, *_wrapped(rows_omitted(part.more), width)] if part.more else lines


def _fitting(widths: Sequence[int], space: int) -> int:
    ends = accumulate(each + len(_GAP) for each in widths)
    return sum(end - len(_GAP) <= space for end in ends)


def _wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    if width is None:
        return [text]
    indent = indent[: width - 1]
    return wrap(text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _markdown(part: ReportItem) -> str:
    if isinstance(part, Heading):
        return f"{'#' * part.level} {_escaped(part.text)}"
    if isinstance(part, Paragraph):
        return _escaped(part.text)
    if isinstance(part, DescriptionList):
        return _grid(("", ""), ("---", "---"), part.texts) if part.texts else ""
    if not isinstance(part, Table):
        return ""
    rule = ["--:" if column.right else "---" for column in part.columns]
    return _grid(part.titles, rule, part.texts) + (f"\n\n{rows_omitted(part.more)}" if part.more else "")


def _grid(titles: Sequence[str], rule: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(_escaped, line))} |" for line in (titles, *rows)]
    return "\n".join([lines[0], f"| {' | '.join(rule)} |", *lines[1:]])


# Markdown syntax; underscores inside words are plain text.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&$]|(?<!\w)_|_(?!\w)")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
