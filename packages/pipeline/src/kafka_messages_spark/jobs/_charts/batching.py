"""Bar chart of topic sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Bar, Bars, Look
from kafka_messages_spark.jobs._report import size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_SHOWN = 60
# Minimum share of dead bytes for highlighting, like min.cleanable.dirty.ratio.
MUCH = 0.5
KINDS: Mapping[str, Look] = {"not compacted": "calm", "compacted": "good", "half dead or more": "notice"}


def picture(topics: DataFrame, dead: DataFrame, total: int) -> Bars:
    gone = dead.groupBy("topic").agg(F.sum("dead_bytes").alias("dead_bytes"))
    rows = topics.orderBy(F.desc("bytes"), "topic").limit(MAX_SHOWN).select("topic", "bytes", "gain")
    return bars(rows.join(gone, "topic", "left").orderBy(F.desc("bytes"), "topic").collect(), total)


def bars(rows: Sequence[Any], total: int) -> Bars:
    drawn = [Bar(row["topic"] or "-", row["bytes"], size(row["bytes"]), _kind(row), _note(row)) for row in rows]
    remark = f"The largest {len(rows)} of {total:,} topics are drawn." if len(rows) < total else ""
    kinds = {kind: look for kind, look in KINDS.items() if any(bar.kind == kind for bar in drawn)}
    return Bars("Sizes of the topics, and what is dead in them", kinds, drawn, remark, "bytes")


def _kind(row: Any) -> str:
    not_compacted, compacted, dead = KINDS
    if row["dead_bytes"] is None:
        return not_compacted
    return dead if row["dead_bytes"] >= MUCH * row["bytes"] else compacted


def _note(row: Any) -> str:
    dead = "" if row["dead_bytes"] is None else f"of them {size(row['dead_bytes'])} dead"
    gain = "" if row["gain"] is None else f"gain {row['gain']:.2f}"
    return "; ".join(each for each in (dead, gain) if each not in ("", "gain 1.00"))
