"""Bar chart of topic sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Bar, Bars, Style
from kafka_messages_spark.jobs._report import size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_SHOWN = 60
# Minimum share of dead bytes for highlighting, like min.cleanable.dirty.ratio.
MIN_DEAD_SHARE = 0.5
KINDS: Mapping[str, Style] = {"not compacted": "calm", "compacted": "good", "at least half dead": "notice"}


def picture(topics: DataFrame, dead: DataFrame, total: int) -> Bars:
    gone = dead.groupBy("topic").agg(F.sum("dead_bytes").alias("dead_bytes"))
    rows = topics.orderBy(F.desc("bytes"), "topic").limit(MAX_SHOWN).select("topic", "bytes", "gain")
    return bars(rows.join(gone, "topic", "left").orderBy(F.desc("bytes"), "topic").collect(), total)


def bars(rows: Sequence[Any], total: int) -> Bars:
    shown_bars = [Bar(row["topic"] or "-", row["bytes"], size(row["bytes"]), _kind(row), _note(row)) for row in rows]
    remark = f"Shows the largest {len(rows)} of {total:,} topics." if len(rows) < total else ""
    kinds = {kind: style for kind, style in KINDS.items() if any(bar.kind == kind for bar in shown_bars)}
    return Bars("Topic sizes and dead bytes", kinds, shown_bars, remark, "bytes")


def _kind(row: Any) -> str:
    not_compacted, compacted, dead = KINDS
    if row["dead_bytes"] is None:
        return not_compacted
    return dead if row["dead_bytes"] >= MIN_DEAD_SHARE * row["bytes"] else compacted


def _note(row: Any) -> str:
    dead = "" if row["dead_bytes"] is None else f"{size(row['dead_bytes'])} dead"
    gain = "" if row["gain"] is None else f"gain {row['gain']:.2f}"
    return "; ".join(each for each in (dead, gain) if each not in ("", "gain 1.00"))
