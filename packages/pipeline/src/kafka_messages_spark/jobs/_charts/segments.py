"""Bar chart of segment sizes."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Bar, Bars, Style
from kafka_messages_spark.jobs._report import size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_SHOWN = 60
KINDS: Mapping[str, Style] = {"ok": "good", "info": "calm", "warning": "notice", "error": "bad"}


def picture(files: DataFrame, found: DataFrame, total: int) -> Bars:
    worst = (F.desc(f"{severity}_findings") for severity in ("error", "warning", "info"))
    rows = files.orderBy(*worst, F.desc("size"), "file").limit(MAX_SHOWN).select("file", "size", "verdict").collect()
    odd = [row["file"] for row in rows if row["verdict"] != "ok"]
    checks = found.where(F.col("file").isin(odd)).groupBy("file", "severity").agg(F.sort_array(F.collect_set("check")))
    return bars(rows, checks.collect() if odd else [], total)


def bars(rows: Sequence[Any], checks: Sequence[Any], total: int) -> Bars:
    notes: dict[str, list[str]] = {}
    for file, severity, names in sorted(checks, key=lambda row: (row[0], list(KINDS).index(row[1]) * -1)):
        notes.setdefault(file, []).append(f"{severity}: {', '.join(names)}")
    above = posixpath.dirname(posixpath.commonprefix([row["file"] for row in rows])) if len(rows) > 1 else ""
    shown_bars = [
        Bar(
            row["file"].removeprefix(above).lstrip("/"),
            row["size"],
            size(row["size"]),
            row["verdict"],
            "; ".join(notes.get(row["file"], [])),
        )
        for row in rows
    ]
    remark = f"Files below {above}." if above else ""
    if len(rows) < total:
        remark += f" Shows {len(rows)} of {total:,} files: files with findings by severity, then the largest."
    kinds = {kind: style for kind, style in KINDS.items() if any(bar.kind == kind for bar in shown_bars)}
    return Bars("Segment sizes and findings", kinds, shown_bars, remark.strip(), "bytes")
