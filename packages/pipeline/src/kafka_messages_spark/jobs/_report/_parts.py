"""Items of reports: headings, paragraphs, description lists, tables and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from kafka_messages_spark._charts.formatting import MAX_LENGTH, format_value
from kafka_messages_spark._charts.model import Picture

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Heading:
    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class DescriptionList:
    pairs: Sequence[tuple[str, Any]]

    @property
    def texts(self) -> list[tuple[str, str]]:
        return [(name, format_value(value, MAX_LENGTH)) for name, value in self.pairs]


@dataclass(frozen=True)
class TableColumn:
    name: str
    # integer, number, boolean, timestamp (milliseconds since the epoch), bytes, list or text.
    type: str = "text"
    show: Callable[[Any], str] = format_value
    right: bool = False
    # ms, bytes or None.
    unit: str | None = None

    @property
    def title(self) -> str:
        return self.name.removesuffix("_ms").replace("_", " ")


@dataclass(frozen=True)
class Table:
    """Rows of values; ``more`` is the number of omitted rows."""

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Any]]
    more: int = 0

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    @property
    def texts(self) -> list[list[str]]:
        return [[column.show(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]


ReportItem = Heading | Paragraph | DescriptionList | Table | Picture


@dataclass(frozen=True)
class JobFinding:
    """Number of findings of one kind; severity ``info`` is expected behavior."""

    kind: str
    severity: Severity
    count: int


@dataclass(frozen=True)
class JobRun:
    """Metadata of a job's run."""

    job: str
    arguments: Mapping[str, Any]
    findings: Sequence[JobFinding]
    exit_status: int
    created: datetime
