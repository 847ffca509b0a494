"""Charts collect a bounded number of rows and choose the right ones."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark.jobs._charts import batching, groups, metadata, segments, transactions
from tests.pipeline.job_files import at

WORST = 7
"""A group with resets, whose name is in the middle."""


@pytest.mark.nightly
def test_groups_chart_selects_the_worst_group(spark: SparkSession) -> None:
    time = F.timestamp_millis(F.lit(at(0)) + F.col("log_offset") * 1000)
    commits = spark.range(20 * 9 * 500).select(
        F.concat(F.lit("g"), F.lpad((F.col("id") % 20).cast("string"), 2, "0")).alias("group"),
        F.lit("t").alias("topic"),
        (F.floor(F.col("id") / 20) % 9).cast("int").alias("partition"),
        F.floor(F.col("id") / 180).alias("log_offset"),
    )
    is_reset = (F.col("group") == f"g{WORST:02}") & (F.col("log_offset") == 250)
    history = commits.select(
        *("group", "topic", "partition", "log_offset"),
        time.alias("time"),
        (F.col("log_offset") * 10).alias("committed_offset"),
        F.lit(False).alias("is_tombstone"),
        is_reset.alias("is_reset"),
        F.when(is_reset, "backward").otherwise("forward").alias("kind"),
    )
    offsets = (
        commits.select("group", "topic", "partition").distinct().withColumn("lag", F.col("partition").cast("long"))
    )
    batches = spark.range(1000).select(
        F.lit("t").alias("topic"),
        (F.col("id") % 9).cast("int").alias("partition"),
        F.lit(None).cast("struct<reason:string>").alias("corrupt"),
        (F.col("id") * 6).alias("last_offset"),
        F.timestamp_millis(F.lit(at(-100)) + F.col("id") * 700).alias("max_timestamp"),
    )
    chart = groups.picture(history, offsets, batches)
    assert chart is not None
    assert len(chart.rows) == groups.MAX_ROWS
    first = chart.rows[0]
    assert [panel.title for panel in first] == [
        f"g{WORST:02} · t: committed offset",
        f"g{WORST:02} · t: lag in records",
    ]
    committed = [each for each in first[0].series if not each.dashed]
    assert [each.name for each in committed] == [f"partition {each}" for each in range(3, 9)]  # the highest lag
    most = [max(len(each.points) for each in panel.series) for panel in first]
    assert most[0] <= groups.MAX_POINTS
    assert most[1] <= 2 * groups.MAX_POINTS  # lag changes when either line changes
    assert [each.points[-1] for each in committed] == [(at(499), 4990)] * 6
    assert [[event[:2] for event in each.events] for each in committed] == [[(at(250), 2500)]] * 6
    assert "12 of 20 pairs of group and topic" in chart.remark
    assert "72 of 180 partitions" in chart.remark
    lag = {each.name: each.points for each in first[1].series}
    assert lag["partition 3"][-1] == (at(-100) + 993 * 700, 993 * 6 + 1 - 4990)


def test_transactions_chart_is_limited(spark: SparkSession) -> None:
    start = F.timestamp_millis(F.lit(at(0)) + F.col("id") * 1000)
    is_open = F.col("id") < 5
    found = spark.range(transactions.MAX_BARS + 100).select(
        *(
            F.lit("t").alias("topic"),
            (F.col("id") % 2).cast("int").alias("partition"),
            F.col("id").alias("producer_id"),
        ),
        F.when(is_open, "open").otherwise("committed").alias("status"),
        *(F.col("id").alias(name) for name in ("first_offset", "last_offset", "records")),
        F.when(~is_open, F.col("id")).alias("marker_offset"),
        *(start.alias("first_timestamp"), start.alias("last_timestamp")),
        F.when(~is_open, start).alias("marker_timestamp"),
    )
    opened = found.where("status = 'open'").withColumns({"verdict": F.lit("late"), "transactional_id": F.lit("x")})
    waits = "topic string, partition int, last_stable_offset long, next_offset long, blocked_offsets long"
    stable = spark.createDataFrame([("t", 1, 1, 400, 399), ("t", 0, 400, 400, 0)], waits)
    timeline = transactions.picture(found, opened, stable, transactions.MAX_BARS + 100, at(500))
    assert [lane.name for lane in timeline.lanes] == ["t-1", "t-0"]
    marks = [mark for lane in timeline.lanes for mark in lane.marks]
    assert len(marks) == transactions.MAX_BARS
    assert sum(mark.end is None for mark in marks) == 5
    assert min(mark.start for mark in marks if mark.end is not None) == at(105)
    assert [mark.text for mark in marks if mark.kind == transactions.BLOCKS] == [
        "late: last stable offset 1, 399 blocked offsets"
    ]
    assert timeline.remark.endswith(
        "Shows 300 of 400 transactions, counted once per partition: open ones, then the newest."
    )


def test_metadata_and_segments_charts_are_limited(spark: SparkSession) -> None:
    changes = spark.range(metadata.MAX_SHOWN + 30).select(
        *(F.col("id").alias("offset"), F.lit("topic").alias("entity"), F.lit("n").alias("name")),
        *(F.lit("added").alias("change"), F.timestamp_millis(F.lit(at(0)) + F.col("id")).alias("timestamp")),
    )
    timeline = metadata.picture(changes)
    assert min(mark.start for mark in timeline.lanes[0].marks) == at(0) + 30
    assert timeline.remark.startswith("Shows the last 500 of 530 changes. Numbers at marks count")
    counts = [F.when(F.col("id") == 3, 1).otherwise(0).alias("error_findings"), F.lit(0).alias("warning_findings")]
    files = spark.range(80).select(
        F.concat(F.lit("logs/t-0/"), F.lpad(F.col("id").cast("string"), 20, "0"), F.lit(".log")).alias("file"),
        *(F.col("id").alias("size"), *counts, F.lit(0).alias("info_findings")),
        F.when(F.col("id") == 3, "error").otherwise("ok").alias("verdict"),
    )
    found = files.where("size = 3").select("file", F.lit("error").alias("severity"), F.lit("corrupt").alias("check"))
    bars = segments.picture(files, found, 80)
    assert [(bar.value, bar.kind, bar.note) for bar in bars.bars[:2]] == [
        (3, "error", "error: corrupt"),
        (79, "ok", ""),
    ]
    assert bars.bars[0].name == f"{3:020}.log"
    assert len(bars.bars) == segments.MAX_SHOWN
    assert bars.remark.startswith("Files below logs/t-0. Shows 60 of 80 files")


def test_batching_chart_selects_the_largest_topics(spark: SparkSession) -> None:
    columns = "topic string, bytes long, gain double"
    small = [(f"t{number:02}", number, None) for number in range(1, batching.MAX_SHOWN)]
    topics = spark.createDataFrame([*small, ("orders", 1000, 1.5), (None, 900, None), ("states", 800, 0.9)], columns)
    dead = spark.createDataFrame(
        [("orders", 0, 100), ("orders", 1, 200), ("states", 0, 400)], "topic string, partition int, dead_bytes long"
    )
    drawn = batching.picture(topics, dead, batching.MAX_SHOWN + 2)
    assert [(bar.name, bar.value, bar.kind, bar.note) for bar in drawn.bars[:4]] == [
        ("orders", 1000, "compacted", "300 B dead; gain 1.50"),
        ("-", 900, "not compacted", ""),
        ("states", 800, "at least half dead", "400 B dead; gain 0.90"),
        (f"t{batching.MAX_SHOWN - 1:02}", batching.MAX_SHOWN - 1, "not compacted", ""),
    ]
    assert len(drawn.bars) == batching.MAX_SHOWN
    assert list(drawn.kinds) == ["not compacted", "compacted", "at least half dead"]
    assert drawn.remark == "Shows the largest 60 of 62 topics."
