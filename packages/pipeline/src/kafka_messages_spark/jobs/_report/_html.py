"""Self-contained HTML pages of reports."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

from kafka_messages_spark._charts.document import styles
from kafka_messages_spark._charts.formatting import Markup, element, markup, rows_omitted, timestamp
from kafka_messages_spark._charts.svg import figure

from ._json import made_by
from ._parts import DescriptionList, Heading, JobFinding, JobRun, Paragraph, ReportItem, Table, TableColumn

# Largest integer that JavaScript represents exactly; larger ones sort as text.
_LARGEST = 1 << 53
# Maximum length of an unbroken word, and minimum lengths of text for wider columns.
_NAME, _SENTENCE, _LONG = 48, 32, 120


def page(title: str, parts: Sequence[ReportItem], run: JobRun) -> str:
    style, script = (files(__package__).joinpath(name).read_text("utf-8") for name in ("page.css", "page.js"))
    style = styles() + style
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'"
    body = element("main", _header(title, run), *map(_part, parts), _footer(run))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{markup(policy)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{element('title', title)}\n<style>{style}</style>\n</head>\n<body>\n{body}\n<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


def _digest(content: str) -> str:
    return f"sha256-{b64encode(sha256(content.encode()).digest()).decode()}"


def _header(title: str, run: JobRun) -> Markup:
    count = sum(each.count for each in run.findings if each.severity != "info")
    word = f"{count:,} finding{'' if count == 1 else 's'}" if count else "no findings"
    status = element("p", word, class_=f"status {'found' if count else 'fine'}")
    kinds = element("ul", *map(_finding, run.findings), class_="findings") if run.findings else ""
    return element("header", element("h1", title), status, kinds)


def _finding(finding: JobFinding) -> Markup:
    return element(
        "li",
        element("b", f"{finding.count:,}"),
        f" {finding.kind} ",
        element("small", finding.severity),
        class_=finding.severity,
    )


def _part(part: ReportItem) -> Markup:
    if isinstance(part, Heading):
        return element(f"h{part.level}", part.text)
    if isinstance(part, Paragraph):
        return element("p", part.text)
    if isinstance(part, DescriptionList):
        return _facts(part.texts)
    return _table(part) if isinstance(part, Table) else figure(part)


def _facts(words: Sequence[tuple[str, str]]) -> Markup:
    if not words:
        return Markup()
    return element("dl", *(element("div", element("dt", name), element("dd", value)) for name, value in words))


def _table(table: Table) -> Markup:
    numbers = [column.type in ("integer", "number", "timestamp") for column in table.columns]
    head = element("tr", *(element("th", column.title, scope="col", class_=_look(column)) for column in table.columns))
    rows = (
        element(
            "tr",
            *(
                element(
                    "td",
                    word,
                    class_=_look(column) or _width_class(word),
                    data_value=_key(value) if number and word != "-" else None,
                )
                for column, number, word, value in zip(table.columns, numbers, words, row, strict=True)
            ),
        )
        for row, words in zip(table.rows, table.texts, strict=True)
    )
    made = element("table", element("thead", head), element("tbody", *rows))
    below = element("p", rows_omitted(table.more), class_="remark") if table.more else ""
    wide = element("div", made, class_="wide", tabindex="0", role="region", aria_label=", ".join(table.titles[:3]))
    return element("section", wide, below, class_="table")


def _look(column: TableColumn) -> str | None:
    if column.right:
        return "number"
    return {"timestamp": "time"}.get(column.type, "file" if column.name == "file" else None)


def _width_class(word: str) -> str | None:
    if " " not in word:
        return "word" if len(word) <= _NAME else None
    return "longer" if len(word) > _LONG else "long" if len(word) > _SENTENCE else None


def _key(value: Any) -> str | None:
    return str(value) if isinstance(value, int | float) and abs(value) < _LARGEST else None


def _footer(run: JobRun) -> Markup:
    given = {name: value for name, value in run.arguments.items() if value not in (None, False, [], "")}
    words = [(name.replace("_", "-"), _written(value)) for name, value in given.items()]
    made = (
        f"{made_by()}, job {run.job}, {timestamp(round(run.created.timestamp() * 1000))}, exit status {run.exit_status}"
    )
    return element("footer", element("details", element("summary", "Inputs"), _facts(words)), element("p", made))


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_written, value))
    return json.dumps(value) if isinstance(value, Mapping | bool) else str(value)
