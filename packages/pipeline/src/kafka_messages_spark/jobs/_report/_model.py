"""Model of a report, with its rendering as text, Markdown, HTML and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    IntegralType,
    NumericType,
    TimestampType,
)

from kafka_messages_spark._charts.formatting import duration, format_path, format_value, size, timestamp

from . import _html, _json, _openmetrics, _text
from ._openmetrics import Gauge
from ._parts import DescriptionList, Heading, JobRun, Paragraph, ReportItem, Table, TableColumn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kafka_messages_spark._charts.model import Picture

Formats = Mapping[str, Callable[[Any], str]]
_UNITS: Mapping[Any, str] = {duration: "ms", size: "bytes"}
_TYPES: Sequence[tuple[type[DataType], str]] = (
    (IntegralType, "integer"),
    (NumericType, "number"),
    (BooleanType, "boolean"),
    (TimestampType, "timestamp"),
    (BinaryType, "bytes"),
    (ArrayType, "list"),
)


@dataclass
class JobReport:
    """Ordered items of a report, and figures for monitoring."""

    title: str
    parts: list[ReportItem] = field(default_factory=list)
    # Numbers under stable names, for JSON and OpenMetrics only.
    figures: dict[str, int | float] = field(default_factory=dict)
    # Metrics with labels, for OpenMetrics only.
    gauges: list[Gauge] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.parts.append(Heading(title, 2))

    def line(self, text: str) -> None:
        self.parts.append(Paragraph(text))

    def picture(self, picture: Picture) -> None:
        """Add a chart for HTML reports."""
        self.parts.append(picture)

    def facts(self, facts: Mapping[str, object] | Iterable[tuple[str, object]]) -> None:
        """Add pairs of a name and a value; pairs with the value None are omitted."""
        pairs = facts.items() if isinstance(facts, Mapping) else facts
        self.parts.append(DescriptionList([(name, value) for name, value in pairs if value is not None]))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[object]], more: int = 0) -> None:
        """Add a table; numeric columns are right-aligned."""
        rows = list(rows)
        made = [
            TableColumn(name.replace(" ", "_"), _type_of(values), right=bool(rows) and all(map(_is_number, values)))
            for name, values in ((name, [row[at] for row in rows]) for at, name in enumerate(columns))
        ]
        self.parts.append(Table(made, rows, more))

    def frame(self, df: DataFrame, limit: int, formats: Formats | None = None) -> int:
        """Add the first ``limit`` rows of a data frame; return the total number of rows."""
        rows = df.select(*(_plain(df, name) for name in df.columns)).limit(limit + 1).collect()
        count = len(rows) if len(rows) <= limit else df.count()
        columns = []
        for each in df.schema.fields:
            type_ = next((name for kind, name in _TYPES if isinstance(each.dataType, kind)), "text")
            show = (formats or {}).get(each.name) or _show(each.name, type_)
            columns.append(
                TableColumn(each.name, type_, show, isinstance(each.dataType, NumericType), _unit(each.name, show)),
            )
        self.parts.append(Table(columns, [tuple(row) for row in rows[:limit]], max(0, count - limit)))
        return count

    def text(self, width: int | None = None) -> str:
        """Return the report as plain text, wrapped at ``width`` characters, if given."""
        return _text.text(self.title, self.parts, width)

    def markdown(self) -> str:
        return _text.markdown(self.title, self.parts)

    def html(self, run: JobRun) -> str:
        return _html.page(self.title, self.parts, run)

    def json(self, run: JobRun) -> str:
        return _json.text(self.title, self.parts, self.figures, run)

    def openmetrics(self, run: JobRun) -> str:
        return _openmetrics.text(self.figures, self.gauges, run)


def _show(name: str, type_: str) -> Callable[[Any], str]:
    if type_ == "timestamp":
        return timestamp
    if name.endswith("_ms"):
        return duration
    return format_path if name == "file" else format_value


def _unit(name: str, show: Callable[[Any], str]) -> str | None:
    suffix = name.rpartition("_")[2] if "_" in name else ""
    return _UNITS.get(show) or (suffix if suffix in _UNITS.values() else None)


def _type_of(values: Sequence[object]) -> str:
    there = [value for value in values if value is not None]
    if not there or not all(map(_is_number, there)):
        return "text"
    return "integer" if all(isinstance(value, int) for value in there) else "number"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(df: DataFrame, name: str) -> Any:
    column = F.col(f"`{name}`")
    return F.unix_millis(column).alias(name) if isinstance(df.schema[name].dataType, TimestampType) else column
