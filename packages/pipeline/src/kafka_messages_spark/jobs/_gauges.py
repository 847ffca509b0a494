"""Gauges of OpenMetrics reports. Names with the prefixes of kminion and Burrow mean the same as there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses.lag import STATUSES
from kafka_messages_spark.jobs._report import PREFIX, Gauge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# Maximum rows of a data frame in a report.
MAX_ROWS = 1_000_000
_PARTITION = ("group", "topic", "partition")
# Labels of kminion.
_LABELS = ("group_id", "topic_name", "partition_id")
_KMINION = "kminion_kafka_consumer_group"
_OURS = f"{PREFIX}_consumer_group_topic_partition"


def lag_gauges(owner: str, tables: Mapping[str, DataFrame], now: int | None) -> list[Gauge]:
    """Return gauges of the tables of the job ``groups``; raise PySparkValueError above ``MAX_ROWS`` rows of a table."""
    known = _rows(owner, tables["offsets"].where("lag is not null").orderBy(*_PARTITION))
    shares = tables.get("share_offsets")
    if shares is not None:  # a topic that was created anew has two IDs
        shares = (
            shares.where("lag is not null").groupBy(*_PARTITION).agg(F.max("lag").alias("lag")).orderBy(*_PARTITION)
        )
    of_shares = [] if shares is None else _rows(owner, shares)
    topics: dict[tuple[str, str], list[Row]] = {}
    for row in known:
        topics.setdefault((row["group"], row["topic"]), []).append(row)

    def by_partition(name: str, text: str, value: Callable[[Row], Any], *labels: str) -> Gauge:
        return Gauge(name, text, [(_labels(row, labels or _LABELS), value(row)) for row in known])

    def by_topic(name: str, text: str, column: str) -> Gauge:
        sums = {key: sum(row[column] for row in rows) for key, rows in topics.items()}
        return Gauge(name, text, [({"group_id": key[0], "topic_name": key[1]}, total) for key, total in sums.items()])

    of_groups = _rows(owner, tables["groups"].select("group", "members", "status").orderBy("group"))
    members = [({"group_id": row["group"]}, row["members"]) for row in of_groups]
    statuses = [({"consumer_group": row["group"]}, _number(row["status"])) for row in of_groups]
    words = ", ".join(f"{number} {status}" for number, status in enumerate(STATUSES))
    return [
        by_partition(
            f"{_KMINION}_topic_partition_lag",
            "Records from the committed offset to the log end.",
            lambda row: row["lag"],
        ),
        by_topic(f"{_KMINION}_topic_lag", "Sum of the lag of the topic's partitions.", "lag"),
        by_topic(
            f"{_KMINION}_topic_offset_sum",
            "Sum of the committed offsets of the topic's partitions.",
            "committed_offset",
        ),
        Gauge(f"{_KMINION}_members", "Members of the group.", members),
        Gauge("burrow_kafka_consumer_status", f"Status of the group: {words}.", statuses),
        by_partition(
            "burrow_kafka_topic_partition_status",
            f"Status of the partition: {words}.",
            lambda row: _number(row["status"]),
            *("consumer_group", "topic", "partition"),
        ),
        by_partition(
            f"{_OURS}_time_lag_seconds",
            "Time from the next record to read to the newest record of the partition.",
            lambda row: _seconds(row["time_lag_ms"]),
        ),
        by_partition(
            f"{_OURS}_oldest_unread_seconds",
            "Time from the next record to read to the time of the report.",
            lambda row: _seconds(row["oldest_unread_ms"]),
        ),
        Gauge(
            f"{PREFIX}_share_group_topic_partition_lag",
            "Records from the start offset to the log end that are not completed.",
            [(_labels(row, _LABELS), row["lag"]) for row in of_shares],
        ),
        Gauge(f"{PREFIX}_groups_as_of_timestamp_seconds", "Time of the report.", [({}, _seconds(now))]),
    ]


def _labels(row: Row, names: Sequence[str]) -> dict[str, object]:
    return {name: row[column] for name, column in zip(names, _PARTITION, strict=True)}


def _rows(owner: str, df: DataFrame) -> Sequence[Row]:
    rows = df.limit(MAX_ROWS + 1).collect()
    if len(rows) > MAX_ROWS:
        raise invalid_argument(f"{owner}: --report: more than {MAX_ROWS} rows for OpenMetrics; write tables (--output)")
    return rows


def _number(status: str | None) -> int | None:
    return None if status is None else STATUSES.index(status)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
