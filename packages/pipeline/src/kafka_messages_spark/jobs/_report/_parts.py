"""What reports are made of, whatever they are printed as: headings, texts, facts, tables and pictures."""

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
    """The beginning of a section."""

    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    """A line of text."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Names and values, a line each."""

    pairs: Sequence[tuple[str, Any]]

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(name, format_value(value, MAX_LENGTH)) for name, value in self.pairs]


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: what its values are, and how they are shown."""

    name: str
    type: str = "text"
    """``integer``, ``number``, ``boolean``, ``timestamp`` (milliseconds since 1970), ``bytes``, ``list`` or ``text``."""
    show: Callable[[Any], str] = format_value
    right: bool = False
    """Numbers stand at the right."""
    unit: str | None = None
    """Of numbers: ``ms`` or ``bytes``, if they have one."""

    @property
    def title(self) -> str:
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class Table:
    """Rows of values. ``more`` rows were left out."""

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Any]]
    more: int = 0

    @property
    def titles(self) -> list[str]:
        return [column.title for column in self.columns]

    @property
    def words(self) -> list[list[str]]:
        """The rows as they are shown."""
        return [[column.show(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]


ReportItem = Heading | Paragraph | Facts | Table | Picture


@dataclass(frozen=True)
class Finding:
    """Things of one kind to look at; those of the severity ``info`` are to be expected."""

    kind: str
    severity: Severity
    count: int


@dataclass(frozen=True)
class JobRun:
    """Of which run of a job a report is, and how that ended."""

    job: str
    arguments: Mapping[str, Any]
    findings: Sequence[Finding]
    exit_status: int
    created: datetime
