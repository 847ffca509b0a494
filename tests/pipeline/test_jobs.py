"""The jobs: from segment files to tables and a report."""

from __future__ import annotations

from pathlib import Path

import kafka_messages
import pytest
from kafka_messages.records import write_coordinator_record
from kafka_messages_spark.jobs.internal_topics import main
from pyspark.sql import SparkSession

batch_writer = pytest.importorskip("kafka_messages.arrow.batch_writer", reason="nothing writes segments for the tests")

REPORT = """\
Records of an internal topic
============================

record type    records  tombstones  problems  first offset  last offset
offset_commit        4           1         0             0            3
unreadable           2           0         2             4            4
"""


def test_internal_topics(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each record type is a table, what cannot be read is one too, and the report counts everything."""
    assert spark
    keys = [kafka_messages.OffsetCommitKey(group=name, topic="orders", partition=1) for name in ("a", "b", "a")]
    pairs = [write_coordinator_record(key, kafka_messages.OffsetCommitValue(offset=7), 4) for key in keys]
    pairs += [write_coordinator_record(keys[1]), (b"\x00\x63", b"?")]
    records = [{"key": key, "value": value} for key, value in pairs]
    folder = tmp_path / "__consumer_offsets-3"
    folder.mkdir()
    junk = batch_writer.write_batches(records, base_offset=5)[:-1] + b"\xff"
    (folder / f"{0:020}.log").write_bytes(batch_writer.write_batches(records) + junk)

    assert main(["consumer_offsets", str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().out == REPORT
    table = spark.read.parquet(str(tmp_path / "out" / "offset_commit"))
    commits = table.orderBy("offset").select("partition", "record.key.group", "record.value.offset").collect()
    assert commits == [(3, "a", 7), (3, "b", 7), (3, "a", 7), (3, "b", None)]
    unreadable = spark.read.parquet(str(tmp_path / "out" / "unreadable"))
    assert unreadable.where("corrupt is null").select("key").collect() == [(b"\x00\x63",)]

    assert main(["consumer_offsets", str(tmp_path), "--latest", "--exit-zero"]) == 0
    assert "offset_commit        1 " in capsys.readouterr().out
