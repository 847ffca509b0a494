"""Changes of metadata on a time line, a lane for each kind of entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark.jobs._report import timestamp
from kafka_messages_spark.jobs._report._pictures import Lane, Look, Mark, Timeline

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST, NAMED, _LETTERS = 500, 60, 44
"""Changes that are drawn, how many of those have names beside them, and how long such names are."""
KINDS: Mapping[str, Look] = {"added": "good", "changed": "notice", "removed": "bad", "unchanged": "calm"}


def picture(changes: DataFrame) -> Timeline:
    """The last changes of the log; a record that has several is one change of each entity."""
    timed = changes.where("timestamp is not null and change is not null")
    last = timed.orderBy(F.desc("offset"), "entity", "name").limit(MOST + 1)
    names = ("offset", "entity", "name", "change", "record_type")
    rows = last.select(*names, F.unix_millis("timestamp").alias("time")).collect()
    return timeline(rows[:MOST], timed.count() if len(rows) > MOST else len(rows))


def timeline(rows: Sequence[Any], total: int) -> Timeline:
    """The picture of some changes of ``total``."""
    lanes: dict[str, list[Mark]] = {}
    for row in sorted(rows, key=lambda row: row["offset"]):
        kind = row["change"] if row["change"] in KINDS else "changed"
        name = str(row["name"])
        note = f"{row['change']} · {name} · {timestamp(row['time'])} · offset {row['offset']} · {row['record_type']}"
        text = "" if len(rows) > NAMED else name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
        lanes.setdefault(row["entity"], []).append(Mark(row["time"], row["time"], kind, note, text))
    remark = f"The last {len(rows):,} of {total:,} changes are drawn." if len(rows) < total else ""
    there = {mark.kind for marks in lanes.values() for mark in marks}
    kinds = {kind: look for kind, look in KINDS.items() if kind in there}
    drawn = [Lane(entity, lanes[entity]) for entity in sorted(lanes)]
    return Timeline("Changes in the metadata over time (UTC)", kinds, drawn, remark)
