"""Tables, reports and errors of jobs."""

from __future__ import annotations

from pathlib import Path

import kafka_messages
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from pyspark.sql import SparkSession
from pyspark.sql.types import IntegerType, StructType

from kafka_messages_spark import register
from kafka_messages_spark.jobs import Job, JobReport, parser, run, segments
from kafka_messages_spark.jobs.internal_topics import main
from kafka_messages_spark.sources import KafkaLogDataSource
from tests.pipeline.job_files import at, data, marker, metadata, segment

pytest.importorskip("kafka_records.segments.batch_writer", reason="nothing writes segments for the tests")

from kafka_records.segments import batch_writer

REPORT = """\
Records of an internal topic
============================

selected  5 records of 1 partition, from 1 file

record type    records  tombstones  problems  first offset  last offset
offset_commit        4           1         0             0            3
unreadable           2           0         2             4            4
"""


def test_internal_topics_job_writes_tables_and_report(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
    (row,) = unreadable.where("corrupt is null").select("key", "value").collect()
    assert row == (b"(redacted)", b"(redacted)")
    (row,) = unreadable.where("corrupt is not null").select("key", "corrupt.bytes", "corrupt.size").collect()
    assert row == (None, b"(redacted)", len(junk))

    shown = ["--show-secrets", "--output", str(tmp_path / "shown"), "--quiet"]
    assert main(["consumer_offsets", str(tmp_path), *shown]) == 1
    unreadable = spark.read.parquet(str(tmp_path / "shown" / "unreadable"))
    assert unreadable.where("corrupt is null").select("key", "value").collect() == [(b"\x00\x63", b"?")]
    assert unreadable.where("corrupt is not null").select("corrupt.bytes").collect() == [(junk,)]
    capsys.readouterr()

    assert main(["consumer_offsets", str(tmp_path), "--latest", "--exit-zero"]) == 0
    assert "offset_commit        1 " in capsys.readouterr().out


def test_latest_ignores_aborted_and_open_transactions(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def commit(group: str, offset: int, record_offset: int, producer: int = -1) -> bytes:
        key = kafka_messages.OffsetCommitKey(group=group, topic="orders", partition=1)
        name, value = write_coordinator_record(key, kafka_messages.OffsetCommitValue(offset=offset), 4)
        records = [{"key": name, "value": value, "timestamp": at(record_offset)}]
        if producer < 0:
            return batch_writer.write_batches(records, base_offset=record_offset)
        return batch_writer.write_batches(
            records,
            base_offset=record_offset,
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )

    log = [commit(group, 5, offset) for offset, group in enumerate(("aborted", "committed", "open"))]
    log += [commit("aborted", 9, 3, 7), commit("committed", 9, 4, 8), commit("open", 9, 5, 9)]
    log += [marker("ABORT", 6, 7, 7), marker("COMMIT", 7, 8, 8), commit("committed", 11, 8, 7)]
    segment(tmp_path, "__consumer_offsets-0", *log)
    arguments = ["consumer_offsets", str(tmp_path), "--latest", "--quiet", "--output", str(tmp_path / "out")]
    assert main(arguments) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == ["offset_commit", "3", "0", "0", "0", "4"]
    rows = spark.read.parquet(str(tmp_path / "out" / "offset_commit")).select("record.key.group", "record.value.offset")
    assert sorted(map(tuple, rows.collect())) == [("aborted", 5), ("committed", 9), ("open", 5)]


def test_record_type_without_fields_has_a_table(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = [
        kafka_messages.NoOpRecord(),
        kafka_messages.BeginTransactionRecord(name="b"),
        kafka_messages.EndTransactionRecord(),
    ]
    segment(tmp_path, "__cluster_metadata-0", metadata(0, 0, *some))
    assert main(["cluster_metadata", str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 0
    found = {
        name: spark.read.parquet(str(tmp_path / "out" / name)) for name in ("no_op_record", "end_transaction_record")
    }
    assert {name: [row.offset for row in table.collect()] for name, table in found.items()} == {
        "no_op_record": [0],
        "end_transaction_record": [2],
    }
    assert "record" not in found["no_op_record"].columns
    begun = spark.read.parquet(str(tmp_path / "out" / "begin_transaction_record"))
    assert [row.record.name for row in begun.collect()] == ["b"]


def test_unwritable_output_exits_with_2(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = segment(tmp_path, "t-0", data(0))
    setting = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
    before = spark.conf.get(setting)
    assert segments.main([str(place), "--quiet", "--output", str(place)]) == 2
    captured = capsys.readouterr()
    assert "files    1, 1 without findings" in captured.out
    assert "segments: error: ParentNotDirectoryException: Parent path is not a directory: " in captured.err
    assert str(place) in captured.err.splitlines()[-1]
    assert spark.conf.get(setting) == before


def test_registered_source_is_used(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job registers the data source only in a session that has none, and in one that another program started."""

    class Registered(KafkaLogDataSource):
        def schema(self) -> StructType:
            return StructType().add("here", IntegerType())

    names = []

    def work(job: Job) -> None:
        names.append(job.read([str(tmp_path)]).columns)

    segment(tmp_path, "orders-0", data(0))
    try:
        spark.dataSource.register(Registered)
        assert run("Title", parser("own", ""), [], work) == 0
        monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
        assert run("Title", parser("own", ""), [], work) == 0
    finally:
        register(spark)
    assert [each[0] for each in names] == ["here", "key"]


def test_long_paths_are_shortened(spark: SparkSession) -> None:
    long = f"s3://bucket/{'cluster/' * 20}orders-3/00000000000000000042.log"
    report = JobReport("t")
    report.frame(spark.createDataFrame([("a/b.log", long), (long, "x")], "file string, other string"), 5)
    first, second = report.text().splitlines()[-2:]
    assert first == f"{'a/b.log':80}  {long[:79]}…"
    assert second == f"…{long[-79:]}  x"


def test_missing_module_in_workers_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    def work(job: object) -> None:
        raise RuntimeError(
            "[PYTHON_DATA_SOURCE_ERROR] ...\nModuleNotFoundError: No module named 'pyarrow'\n SQLSTATE: 38000"
        )

    assert run("Title", parser("own", ""), [], work) == 2
    assert capsys.readouterr().err == (
        "own: error: the Python of Spark's workers has no module 'pyarrow': install numpy, pyarrow, "
        "pandas, kafka_messages, kafka_records and kafka_messages_spark there (PYSPARK_PYTHON, --archives, --py-files)\n"
    )
