"""JSON reports in the format of ``report.schema.json``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from kafka_messages_spark._charts.formatting import timestamp

from ._parts import DescriptionList, Heading, JobRun, Paragraph, ReportItem, Table, TableColumn

# Version of the format, incremented when a name is added or removed, or changes its meaning.
VERSION = 1


def text(title: str, parts: Sequence[ReportItem], figures: Mapping[str, int | float], run: JobRun) -> str:
    content = {
        "format_version": VERSION,
        "job": run.job,
        "title": title,
        "made_by": made_by(),
        "created": run.created.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "inputs": run.arguments,
        "exit_status": run.exit_status,
        "findings": [asdict(finding) for finding in run.findings],
        "figures": figures,
        "sections": _sections(parts),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def made_by() -> str:
    name = "kafka-messages-spark"
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return name


def _sections(parts: Sequence[ReportItem]) -> list[dict[str, Any]]:
    sections: list[dict[str, Any]] = [_section(None)]
    for part in parts:
        if isinstance(part, Heading):
            sections.append(_section(part.text))
        elif isinstance(part, Paragraph):
            sections[-1]["texts"].append(part.text)
        elif isinstance(part, DescriptionList):
            sections[-1]["facts"] += [{"name": name, "value": value_of(value)} for name, value in part.pairs]
        elif isinstance(part, Table):
            sections[-1]["tables"].append(_table(part))
    return sections


def _section(title: str | None) -> dict[str, Any]:
    return {"title": title, "texts": [], "facts": [], "tables": []}


def _table(table: Table) -> dict[str, Any]:
    columns = [
        {"name": each.name, "type": each.type} | ({"unit": each.unit} if each.unit else {}) for each in table.columns
    ]
    rows = [
        {column.name: _cell(column, value) for column, value in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]
    return {"columns": columns, "rows": rows, "more": table.more}


def _cell(column: TableColumn, value: Any) -> Any:
    if column.type == "timestamp":
        shown = timestamp(value)
        return None if shown == "-" else shown.replace(" ", "T", 1) if shown.endswith("Z") else shown
    return value_of(value)


def value_of(value: Any) -> Any:
    """Return a JSON value: bytes as hex, times as ISO 8601, non-finite numbers as strings."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): value_of(each) for name, each in value.items()}
    if hasattr(value, "asDict"):
        return {name: value_of(each) for name, each in value.asDict().items()}
    if isinstance(value, Sequence):
        return [value_of(each) for each in value]
    return str(value)
