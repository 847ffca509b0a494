"""Jobs on the files of a healthy broker with much traffic: only expected findings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark.jobs import encodings, groups, internal_topics, segments, transactions
from tests.interop.busy import ABORTED, COMMITTED, WORKS, busy

FINE, FINDINGS = 0, 1
"""Exit statuses of a job."""
TOPICS = ("consumer_offsets", "transaction_state", "share_group_state", "cluster_metadata")


@pytest.fixture(scope="module")
def logs() -> Iterator[Path]:
    with busy() as folder:
        yield folder


def test_segments_job_reports_gaps_of_compaction_as_info(
    spark: SparkSession, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert segments.main([str(logs), "--output", out, "--quiet"]) == FINE, capsys.readouterr().out
    found = {row.topic for row in spark.read.parquet(f"{out}/findings").where("check = 'gap'").collect()}
    assert found >= {"states", "table"}
    batches = spark.read.parquet(f"{out}/files")
    commits = batches.where("topic = '__consumer_offsets'").agg(F.sum("control_batches")).collect()[0][0]
    assert commits > WORKS * (COMMITTED + ABORTED) / 2


def test_transactions_job_has_no_warnings_or_errors(
    spark: SparkSession, logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert transactions.main([str(logs), "--output", out, "--quiet"]) == FINE
    report = capsys.readouterr().out
    assert "transactional ids  0, of 2 partitions of __transaction_state; 7 removed ids\n" in report
    producers = spark.read.parquet(f"{out}/producers").where("transactional_id <> 'steady'")
    row = producers.agg(F.sum("transactions"), F.sum(F.col("committed") + F.col("aborted"))).collect()[0]
    assert row[0] == WORKS * (COMMITTED + ABORTED)
    assert row[1] > 2 * row[0]


def test_groups_job_reports_offsets_below_the_log_start(spark: SparkSession, logs: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    storms = ("--storm", "1000000")
    assert groups.main([str(logs), "--data", str(logs), *storms, "--output", out, "--quiet"]) == FINDINGS
    outside = spark.read.parquet(f"{out}/offsets").where("place <> 'within'").orderBy("topic").collect()
    assert [(row.group, row.topic, row.partition, row.start_offset, row.place) for row in outside] == [
        ("left-behind", "drained", 0, 10, "below the log"),
        ("left-behind", "input", 0, 120, "below the log"),
    ]
    assert spark.read.parquet(f"{out}/resets").count() == 0
    types = spark.read.parquet(f"{out}/groups").where("type is not null").groupBy("type").count().collect()
    assert {row.type for row in types} >= {"consumer", "share", "streams"}


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.usefixtures("spark")
def test_internal_topics_and_encodings_jobs_have_no_findings(logs: Path, topic: str) -> None:
    assert internal_topics.main([topic, str(logs), "--quiet"]) == FINE
    assert encodings.main([topic, str(logs), "--quiet"]) == FINE
