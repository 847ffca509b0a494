"""Timeline of metadata changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Lane, Mark, Style, Timeline
from kafka_messages_spark.jobs._report import timestamp

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Maximum number of changes, of changes with labels, of letters of a label, and of names in a tooltip.
MAX_SHOWN, NAMED, _LETTERS, _NAMED_IN_NOTE = 500, 60, 44, 12
KINDS: Mapping[str, Style] = {"added": "good", "changed": "notice", "removed": "bad", "unchanged": "calm"}


def picture(changes: DataFrame) -> Timeline:
    timed = changes.where("timestamp is not null and change is not null")
    last = timed.orderBy(F.desc("offset"), "entity", "name").limit(MAX_SHOWN + 1)
    names = ("offset", "entity", "name", "change")
    rows = last.select(*names, F.unix_millis("timestamp").alias("time")).collect()
    return timeline(rows[:MAX_SHOWN], timed.count() if len(rows) > MAX_SHOWN else len(rows))


def timeline(rows: Sequence[Any], total: int) -> Timeline:
    lanes: dict[str, list[Mark]] = {}
    for simultaneous in _simultaneous(rows):
        row, kind = simultaneous[0], _kind(simultaneous[0])
        lanes.setdefault(row["entity"], []).append(
            Mark(row["time"], row["time"], kind, _note(simultaneous), _text(simultaneous, len(rows)))
        )
    remark = f"Shows the last {len(rows):,} of {total:,} changes." if len(rows) < total else ""
    if len(rows) > NAMED:
        remark += " Numbers at marks count simultaneous changes."
    there = {mark.kind for marks in lanes.values() for mark in marks}
    kinds = {kind: style for kind, style in KINDS.items() if kind in there}
    shown_lanes = [Lane(entity, lanes[entity]) for entity in sorted(lanes)]
    return Timeline("Changes in the metadata over time (UTC)", kinds, shown_lanes, remark.strip())


def _simultaneous(rows: Sequence[Any]) -> list[list[Any]]:
    found: dict[tuple[Any, ...], list[Any]] = {}
    for number, row in enumerate(sorted(rows, key=lambda row: row["offset"])):
        own = number if len(rows) <= NAMED else None
        found.setdefault((row["entity"], row["change"], row["time"], own), []).append(row)
    return list(found.values())


def _kind(row: Any) -> str:
    return row["change"] if row["change"] in KINDS else "changed"


def _note(simultaneous: Sequence[Any]) -> str:
    names = ", ".join(str(row["name"]) for row in simultaneous[:_NAMED_IN_NOTE])
    others = f" and {len(simultaneous) - _NAMED_IN_NOTE} more" if simultaneous[_NAMED_IN_NOTE:] else ""
    first, last = simultaneous[0]["offset"], simultaneous[-1]["offset"]
    offsets = f"offset {first}" if first == last else f"offsets {first} to {last}"
    return f"{simultaneous[0]['change']} · {names}{others} · {timestamp(simultaneous[0]['time'])} · {offsets}"


def _text(simultaneous: Sequence[Any], total: int) -> str:
    if total > NAMED:
        return str(len(simultaneous)) if len(simultaneous) > 1 else ""
    name = str(simultaneous[0]["name"])
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"
