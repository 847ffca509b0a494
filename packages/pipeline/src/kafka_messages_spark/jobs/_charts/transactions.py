"""Timeline of transactions by partition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Lane, Mark, Style, Timeline
from kafka_messages_spark.jobs._report import duration

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MAX_BARS, MAX_LANES = 300, 40
OPEN, BLOCKS = "open", "open, blocking read_committed"
KINDS: Mapping[str, Style] = {"committed": "good", "aborted": "notice", OPEN: "busy", BLOCKS: "bad"}
_PARTITION = ("topic", "partition")


def picture(found: DataFrame, opened: DataFrame, stable: DataFrame, total: int, now: int | None) -> Timeline:
    start = F.unix_millis(F.coalesce("first_timestamp", "last_timestamp", "marker_timestamp")).alias("start")
    bars = found.select("*", start).orderBy(F.col("status") != "open", F.desc("start"), *_PARTITION, "first_offset")
    names = (*_PARTITION, "producer_id", "status", "first_offset", "last_offset", "marker_offset", "records", "start")
    rows = bars.limit(MAX_BARS).select(*names, F.unix_millis("marker_timestamp").alias("end")).collect()
    judged = opened.select(*_PARTITION, "producer_id", "first_offset", "verdict", "transactional_id").limit(MAX_BARS)
    waits = stable.where("blocked_offsets > 0").orderBy(F.desc("blocked_offsets"), *_PARTITION).limit(MAX_LANES)
    waiting = waits.select(*_PARTITION, "last_stable_offset", "next_offset", "blocked_offsets")
    return timeline(rows, judged.collect(), waiting.collect(), total, now)


def timeline(
    rows: Sequence[Any], judged: Sequence[Any], waiting: Sequence[Any], total: int, now: int | None
) -> Timeline:
    verdicts = {(*_of(row), row["producer_id"], row["first_offset"]): row for row in judged}
    stable = {_of(row): row for row in waiting}
    lanes: dict[tuple[Any, Any], list[Mark]] = {place: [] for place in stable}
    for row in rows:
        if row["start"] is not None and row["start"] >= 0:
            verdict = verdicts.get((*_of(row), row["producer_id"], row["first_offset"]))
            lanes.setdefault(_of(row), []).append(_mark(row, verdict, _first(row, rows, stable)))
    partitions = [place for place in lanes if lanes[place]][:MAX_LANES]
    count = sum(len(lanes[place]) for place in partitions)
    remark = "Bars extend from the first record to the marker, or to the newest timestamp if open."
    if count < total:
        remark += f" Shows {count:,} of {total:,} transactions, counted once per partition: open ones, then the newest."
    shown_lanes = [Lane(f"{topic}-{partition}", lanes[topic, partition]) for topic, partition in partitions]
    return Timeline("Transactions of each partition over time (UTC)", KINDS, shown_lanes, remark, now)


def _of(row: Any) -> tuple[Any, Any]:
    return row["topic"], row["partition"]


def _first(row: Any, rows: Sequence[Any], stable: Mapping[tuple[Any, Any], Any]) -> Any | None:
    if row["status"] != "open" or _of(row) not in stable:
        return None
    begins = [each["first_offset"] for each in rows if each["status"] == "open" and _of(each) == _of(row)]
    return stable[_of(row)] if row["first_offset"] == min(begins, key=lambda each: (each is None, each)) else None


def _mark(row: Any, verdict: Any | None, blocks: Any | None) -> Mark:
    end = None if row["status"] == "open" else row["end"]
    words = [
        row["status"] if verdict is None else verdict["verdict"],
        f"producer {row['producer_id']}",
        None if verdict is None else verdict["transactional_id"],
        "no data" if row["first_offset"] is None else f"offsets {row['first_offset']} to {row['last_offset']}",
        None if row["marker_offset"] is None else f"marker {row['marker_offset']}",
        f"{row['records']} records",
        None if end is None else duration(end - row["start"]),
    ]
    text = ""
    if blocks is not None:
        count = blocks["blocked_offsets"]
        blocked = f"{count:,} blocked offset{'' if count == 1 else 's'}"
        text = f"{words[0]}: last stable offset {blocks['last_stable_offset']}, {blocked}"
    elif verdict is not None and verdict["verdict"] != "ongoing":
        text = str(words[0])
    kind = BLOCKS if blocks is not None else row["status"]
    return Mark(row["start"], end, kind, " · ".join(word for word in words if word), text)
