"""Charts of committed offsets and lag over time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from kafka_messages_spark._charts.model import Chart, Panel, Series
from kafka_messages_spark.analyses._expressions import next_offset

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Maximum pairs of group and topic, partitions of each pair, and points of each partition.
MAX_ROWS, MAX_LINES, MAX_POINTS = 12, 6, 200
_KEY = ("group", "topic", "partition")
Points = list[tuple[int, int | None]]


def picture(history: DataFrame, offsets: DataFrame, batches: DataFrame | None) -> Chart | None:
    """Return the chart of the groups and topics with the most resets, then lag, then commits; None without commits."""
    pairs, chosen, total = _chosen(history, offsets)
    if not pairs:
        return None
    times = F.unix_millis("time")
    commits = history.where("time is not null").join(F.broadcast(chosen), list(_KEY), "left_semi")
    low, high = commits.agg(F.min(times), F.max(times)).collect()[0]
    logs = None
    if batches is not None and low is not None:
        topics = [topic for _, topic in pairs]
        logs = batches.where(F.col("topic").isin(topics) & F.col("corrupt").isNull() & F.col("last_offset").isNotNull())
        high = max(high, logs.agg(F.max(F.unix_millis("max_timestamp"))).collect()[0][0] or high)
    if low is None:
        return None
    points = _last_of_each(commits, _KEY, times, F.col("committed_offset"), F.struct("log_offset"), low, high)
    ends = [] if logs is None else _ends(logs, low, high)
    events = (
        commits.where("is_reset").orderBy(F.desc("time")).select(*_KEY, times.alias("at"), "committed_offset", "kind")
    )
    return chart(pairs, points, ends, events.limit(MAX_POINTS).collect(), total, high)


def _chosen(history: DataFrame, offsets: DataFrame) -> tuple[list[tuple[str, str]], DataFrame, tuple[int, int]]:
    partitions = history.groupBy(*_KEY).agg(F.count_if("is_reset").alias("resets"), F.count("*").alias("commits"))
    partitions = partitions.join(offsets.select(*_KEY, "lag"), list(_KEY), "left")
    order = (F.desc("resets"), F.desc_nulls_last("lag"), F.desc("commits"))
    sums = [F.sum(F.col(name).cast("double")).alias(name) for name in ("resets", "lag", "commits")]
    groups = partitions.groupBy("group", "topic").agg(*sums, F.count("*").alias("partitions"))
    count = groups.agg(F.count("*"), F.sum("partitions")).collect()[0]
    first = groups.orderBy(*order, "group", "topic").limit(MAX_ROWS).select("group", "topic")
    rank = F.row_number().over(Window.partitionBy("group", "topic").orderBy(*order, "partition"))
    chosen = (
        partitions.join(first, ["group", "topic"], "left_semi").withColumn("rank", rank).where(f"rank <= {MAX_LINES}")
    )
    return [(row[0], row[1]) for row in first.collect()], chosen.select(*_KEY), (count[0], count[1] or 0)


def _last_of_each(
    df: DataFrame, key: Sequence[str], time: Any, value: Any, order: Any, low: int, high: int
) -> list[Any]:
    part = F.floor((time - low) * MAX_POINTS / (high - low + 1))
    last = F.max_by(F.struct(time.alias("at"), value.alias("value")), order).alias("last")
    rows = df.groupBy(*key, part.alias("part")).agg(last).select(*key, "last.*")
    return rows.orderBy(*key, "at").collect()


def _ends(logs: DataFrame, low: int, high: int) -> list[Any]:
    time = F.greatest(F.unix_millis("max_timestamp"), F.lit(low))
    return _last_of_each(
        logs, ("topic", "partition"), time, next_offset(F.col("last_offset")), F.col("last_offset"), low, high
    )


def chart(
    pairs: Sequence[tuple[str, str]],
    commits: Sequence[Any],
    ends: Sequence[Any],
    events: Sequence[Any],
    total: tuple[int, int],
    until: int,
) -> Chart:
    offsets = _points(commits, 3)
    logs = _points(ends, 2)
    rows = []
    for pair in pairs:
        partitions = sorted(key[2] for key in offsets if key[:2] == pair)
        committed = [
            Series(f"partition {each}", offsets[*pair, each], color, events=_events(events, (*pair, each)))
            for color, each in enumerate(partitions)
        ]
        known = [(color, each) for color, each in enumerate(partitions) if (pair[1], each) in logs]
        log = [Series(f"end of {pair[1]}-{each}", logs[pair[1], each], color, dashed=True) for color, each in known]
        panels = [Panel(f"{pair[0]} · {pair[1]}: committed offset", [*log, *committed])]
        if known:
            lag = [
                Series(f"partition {each}", _lag(offsets[*pair, each], logs[pair[1], each]), color)
                for color, each in known
            ]
            panels.append(Panel(f"{pair[0]} · {pair[1]}: lag in records", lag, from_zero=True))
        rows.append(panels)
    lines_shown = sum(len([key for key in offsets if key[:2] == pair]) for pair in pairs)
    return Chart("Groups over time (UTC)", rows, _remark(len(pairs), lines_shown, total, bool(ends)), until)


def _remark(pairs: int, lines: int, total: tuple[int, int], with_ends: bool) -> str:
    words = ["Crosses mark resets; a line ends where the offset was removed."]
    if with_ends:
        words.append("Dashed lines show the log end offsets by record time.")
    if pairs < total[0]:
        words.append(f"Shows {pairs} of {total[0]:,} pairs of group and topic, by resets, then by lag.")
    if lines < total[1]:
        words.append(f"Shows {lines} of {total[1]:,} partitions, at most {MAX_LINES} per group and topic.")
    words.append(f"Longer series show the last value in each of {MAX_POINTS} equal parts of the time range.")
    return " ".join(words)


def _points(rows: Sequence[Any], keys: int) -> dict[Any, Points]:
    found: dict[Any, Points] = {}
    for row in rows:
        found.setdefault(tuple(row[:keys]), []).append((row["at"], row["value"]))
    return {key: sorted(points) for key, points in found.items()}


def _lag(committed: Points, ends: Points) -> Points:

    def value(points: Points, at: int) -> int | None:
        place = bisect_right(points, at, key=lambda point: point[0])
        return points[place - 1][1] if place else None

    moments = sorted({at for at, _ in (*committed, *ends)})
    both = ((at, value(committed, at), value(ends, at)) for at in moments)
    return [(at, None if offset is None or end is None else max(0, end - offset)) for at, offset, end in both]


def _events(events: Sequence[Any], key: tuple[str, str, int]) -> list[tuple[int, int, str]]:
    return [
        (each["at"], each["committed_offset"], f"reset to {each['committed_offset']}")
        for each in events
        if tuple(each[:3]) == key
    ]
