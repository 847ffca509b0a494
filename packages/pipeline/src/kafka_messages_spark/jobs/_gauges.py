"""Gauges of OpenMetrics reports. Names with the prefixes of kminion and Burrow mean the same as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from kafka_messages_spark._core.errors import invalid_argument
from kafka_messages_spark.analyses.lag import STATUSES
from kafka_messages_spark.jobs._report import PREFIX, Gauge

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Maximum rows of a data frame in a report.
MAX_ROWS = 1_000_000
_WORDS = ", ".join(f"{number} {status}" for number, status in enumerate(STATUSES))
_KMINION, _OURS = "kminion_kafka_consumer_group", f"{PREFIX}_consumer_group_topic_partition"
_LABELS = {"group_id": "group", "topic_name": "topic", "partition_id": "partition"}
# Columns and descriptions of gauges by name.
_LAG = {
    f"{_KMINION}_topic_partition_lag": ("lag", "Records from the committed offset to the log end."),
    f"{_OURS}_time_lag_seconds": ("time_lag", "Time from the next record to read to the newest of the partition."),
    f"{_OURS}_oldest_unread_seconds": ("oldest_unread", "Time from the next record to read to the time of the report."),
}
_OF_TOPICS = {
    f"{_KMINION}_topic_lag": ("lag", "Sum of the lag of the topic's partitions."),
    f"{_KMINION}_topic_offset_sum": ("offsets", "Sum of the committed offsets of the topic's partitions."),
}
_SHARES = {f"{PREFIX}_share_group_topic_partition_lag": ("lag", "Records that are neither completed nor archived.")}


def lag_gauges(owner: str, tables: Mapping[str, DataFrame]) -> list[Gauge]:
    """Return gauges of the tables of the job ``groups``; raise PySparkValueError above ``MAX_ROWS`` rows of a table."""
    number = F.array_position(F.array(*map(F.lit, STATUSES)), F.col("status")) - 1
    seconds = {name: F.col(f"{name}_ms") / 1000 for name in ("time_lag", "oldest_unread")}
    known = tables["offsets"].where("lag is not null").withColumns({**seconds, "number": number})
    sums = {"lag": "lag", "committed_offset": "offsets"}
    wide = [F.sum(F.col(column).cast("decimal(38,0)")).alias(name) for column, name in sums.items()]
    topics, groups = known.groupBy("group", "topic").agg(*wide), tables["groups"].withColumn("number", number)
    found = [
        *_gauges(owner, known, _LABELS, _LAG),
        *_gauges(owner, topics, dict(list(_LABELS.items())[:2]), _OF_TOPICS),
        *_gauges(owner, groups, {"group_id": "group"}, {f"{_KMINION}_members": ("members", "Members of the group.")}),
    ]
    for status, of, labels in (
        ("burrow_kafka_consumer_status", groups, ("group",)),
        ("burrow_kafka_topic_partition_status", known, ("group", "topic", "partition")),
    ):
        names = {"consumer_group" if label == "group" else label: label for label in labels}
        found += _gauges(owner, of, names, {status: ("number", f"Status by Burrow's rules: {_WORDS}.")})
    if (shares := tables.get("share_offsets")) is not None:  # a topic that was created anew has two IDs
        newest = shares.groupBy(*_LABELS.values()).agg(F.max("lag").alias("lag"))
        found += _gauges(owner, newest.where("lag is not null"), _LABELS, _SHARES)
    return found


def _gauges(
    owner: str, df: DataFrame, labels: Mapping[str, str], metrics: Mapping[str, tuple[str, str]]
) -> list[Gauge]:
    columns = [*labels.values(), *(column for column, _ in metrics.values())]
    rows = df.select(*columns).orderBy(*labels.values()).limit(MAX_ROWS + 1).collect()
    if len(rows) > MAX_ROWS:
        raise invalid_argument(f"{owner}: --report: more than {MAX_ROWS} rows for OpenMetrics; write tables (--output)")
    keys = [{label: row[column] for label, column in labels.items()} for row in rows]
    return [
        Gauge(name, text, [(key, row[column]) for key, row in zip(keys, rows, strict=True)])
        for name, (column, text) in metrics.items()
    ]
