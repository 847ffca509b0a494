"""Streaming queries on kafka_log: checkpoints, restarts, failing sinks, internal topics."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark import consumer_offsets, register

batch_writer = pytest.importorskip("kafka_records.segments.batch_writer", reason="kafka_records is not installed")

SECONDS = 120
HAS_LIMITS = find_spec("pyspark.sql.streaming.datasource") is not None
"""True since Spark 4.2."""


def segment(folder: Path, base: int, batches: int, rows: int = 5) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{base:020}.log"
    write = batch_writer.write_batches
    starts = range(base, base + batches * rows, rows)
    data = (write([{"value": b"v", "timestamp": at} for at in range(n, n + rows)], base_offset=n) for n in starts)
    file.write_bytes(b"".join(data))
    return file


def sink(folder: Path) -> Any:
    place = str(folder)
    folder.mkdir(exist_ok=True)

    def write(df: DataFrame, number: int) -> None:
        import json
        from pathlib import Path

        rows = sorted(row.offset for row in df.select("offset").collect())
        fail = Path(place, "fail")
        if fail.exists():
            fail.unlink()
            raise RuntimeError("the sink is full")
        Path(place, f"{number:05}").write_text(json.dumps(rows))

    return write


def written(folder: Path) -> list[list[int]]:
    found = []
    for file in sorted(folder.iterdir()):
        found.append(json.loads(file.read_text()))
        file.unlink()
    return found


class Query:
    def __init__(self, spark: SparkSession, folder: Path) -> None:
        register(spark)
        self.spark = spark
        self.folder = folder
        self.sink = sink(folder / "sink")

    def start(self, available_now: bool, **options: str) -> Any:
        stream = self.spark.readStream.format("kafka_log").options(**options).load(str(self.folder / "log" / "*"))
        writer = stream.writeStream.foreachBatch(self.sink).option(
            "checkpointLocation", str(self.folder / "checkpoint")
        )
        trigger = writer.trigger(availableNow=True) if available_now else writer.trigger(processingTime="0 seconds")
        return trigger.start()

    def run(self, **options: str) -> list[list[int]]:
        query = self.start(True, **options)
        try:
            assert query.awaitTermination(SECONDS)
        finally:
            query.stop()
        return written(self.folder / "sink")


@pytest.fixture
def query(spark: SparkSession, tmp_path: Path) -> Query:
    return Query(spark, tmp_path)


def test_restarted_query_continues_at_its_checkpoint(query: Query) -> None:
    log = query.folder / "log"
    file = segment(log / "orders-0", 0, 4)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2 + 7])
    assert query.run() == [list(range(10))]
    assert query.run() == []
    file.write_bytes(whole)
    segment(log / "orders-0", 20, 1)
    segment(log / "orders-1", 100, 1)
    assert query.run() == [[*range(10, 25), *range(100, 105)]]
    assert query.run() == []


@pytest.mark.nightly
def test_starting_offsets_apply_only_to_a_new_query(query: Query) -> None:
    file = segment(query.folder / "log" / "orders-0", 0, 2)
    start = {"startingOffsets": '{"orders":{"0":7}}'}
    (query.folder / "sink" / "fail").touch()
    with pytest.raises(PySparkException, match="the sink is full"):
        query.run(**start)
    segment(file.parent, 10, 1)
    assert query.run(**start) == [[7, 8, 9], [10, 11, 12, 13, 14]]
    segment(file.parent, 15, 1)
    file.unlink()
    assert query.run(startingOffsets='{"orders":{"0":12}}') == [[15, 16, 17, 18, 19]]
    with pytest.raises(PySparkException, match="ending offset not valid in streaming queries"):
        query.run(endingOffsets="latest")


@pytest.mark.nightly
@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.1 does not call reportLatestOffset")
def test_progress_reports_rows_and_unread_bytes(query: Query) -> None:
    segment(query.folder / "log" / "orders-0", 0, 2)
    last = segment(query.folder / "log" / "orders-0", 10, 3)
    running = query.start(True, maxFilesPerTrigger="1")
    try:
        assert running.awaitTermination(SECONDS)
        # Spark Connect does not report the sum over all sources by name.
        some = [each for each in running.recentProgress if each["sources"][0]["numInputRows"]]
    finally:
        running.stop()
    assert [each["sources"][0]["numInputRows"] for each in some] == [10, 15]
    reported = [json.loads(each["sources"][0]["latestOffset"]) for each in some]
    assert [each["behind"]["bytes"] for each in reported] == [last.stat().st_size, 0]
    (folder,) = json.loads(some[-1]["sources"][0]["endOffset"])["folders"].values()
    assert folder["next"] == 25


def test_batch_planned_by_another_driver_fails_the_query(query: Query) -> None:
    log = query.folder / "log" / "orders-0"
    segment(log, 0, 1)
    running = query.start(False)
    try:
        running.processAllAvailable()
        offsets = query.folder / "checkpoint" / "offsets"
        (offsets / "1").write_bytes((offsets / "0").read_bytes())  # as another driver would
        segment(log, 5, 1)
        with pytest.raises(PySparkException, match="CONCURRENT_STREAM_LOG_UPDATE"):
            running.awaitTermination(SECONDS)
    finally:
        running.stop()
    assert written(query.folder / "sink") == [[0, 1, 2, 3, 4]]


@pytest.mark.nightly
def test_failed_batch_is_repeated(query: Query) -> None:
    file = segment(query.folder / "log" / "orders-0", 0, 2)
    (query.folder / "sink" / "fail").touch()
    with pytest.raises(PySparkException, match="the sink is full"):
        query.run()
    segment(file.parent, 0, 4)
    found = query.run()
    found += query.run()  # before Spark 4.2, availableNow ends after the repeated batch
    assert found == [list(range(10)), list(range(10, 20))]


@pytest.mark.nightly
@pytest.mark.skipif(not HAS_LIMITS, reason="Spark 4.1 has no limits for Python sources")
def test_limits_split_data_into_batches(query: Query) -> None:
    log = query.folder / "log"
    for base in (0, 5, 10):
        os.utime(segment(log / "orders-0", base, 1), (base, base))
    assert query.run(maxFilesPerTrigger="1") == [list(range(5)), list(range(5, 10)), list(range(10, 15))]
    size = segment(log / "orders-0", 15, 1).stat().st_size
    segment(log / "orders-0", 15, 6)
    assert query.run(maxBytesPerTrigger=str(2 * size)) == [list(range(at, at + 10)) for at in (15, 25, 35)]


def test_running_query_reads_new_records(query: Query) -> None:
    folder = query.folder / "log" / "orders-0"
    segment(folder, 0, 1)
    running = query.start(False)
    try:
        running.processAllAvailable()
        segment(folder, 0, 2)
        running.processAllAvailable()
        segment(folder, 10, 1)
        running.processAllAvailable()
    finally:
        running.stop()
    assert written(query.folder / "sink") == [list(range(5)), list(range(5, 10)), list(range(10, 15))]
    assert query.run() == []


COMMIT = kafka_messages.OffsetCommitKey(group="g", topic="orders", partition=1)


def commits(folder: Path, base: int, count: int, *more: tuple[bytes, bytes | None]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    values = (kafka_messages.OffsetCommitValue(offset=at) for at in range(base, base + count))
    records = [write_coordinator_record(COMMIT, value, 4) for value in values] + [*more]
    rows = [{"key": key, "value": value, "timestamp": 1} for key, value in records]
    (folder / f"{base:020}.log").write_bytes(batch_writer.write_batches(rows, base_offset=base))


@pytest.fixture
def offsets(spark: SparkSession, tmp_path: Path) -> Path:
    register(spark)
    tombstone = write_coordinator_record(COMMIT)
    commits(tmp_path / "log" / "__consumer_offsets-7", 0, 3, tombstone)
    commits(tmp_path / "log" / "__consumer_offsets-9", 0, 1, (b"\x00\x63x", b"\x00\x01"))
    return tmp_path / "log"


def test_decode_internal_equals_the_function_consumer_offsets(spark: SparkSession, offsets: Path) -> None:
    reader = spark.read.format("kafka_log").option("mode", "PERMISSIVE")
    want = reader.load(str(offsets / "__consumer_offsets-*")).transform(consumer_offsets)
    found = reader.option("decode", "internal").load(str(offsets / "__consumer_offsets-*"))
    assert found.schema == want.schema
    by = ("partition", "offset")
    assert found.orderBy(*by).collect() == want.orderBy(*by).collect()
    problems = found.where("problem is not null").select("problem").collect()
    assert problems == [("group-coordinator has no record type 99",)]
    assert found.where("is_tombstone").count() == 1


def test_decode_internal_reads_selected_columns(spark: SparkSession, offsets: Path) -> None:
    reader = spark.read.format("kafka_log").option("decode", "internal").option("includeBatchMetadata", "true")
    kind = reader.load(str(offsets / "__consumer_offsets-7")).schema["offset_commit"]
    df = reader.schema(f"offset bigint, offset_commit {kind.dataType.simpleString()}, is_control boolean")
    rows = df.load(str(offsets / "__consumer_offsets-7")).select("offset", "offset_commit.value.offset", "is_control")
    assert sorted(map(tuple, rows.collect()))[:3] == [(0, 0, False), (1, 1, False), (2, 2, False)]
    plain = reader.schema("offset bigint").load(str(offsets / "__consumer_offsets-7"))
    assert sorted(plain.collect()) == [(at,) for at in range(4)]


def test_decode_internal_fails_fast_on_malformed_records(spark: SparkSession, offsets: Path) -> None:
    df = spark.read.format("kafka_log").option("decode", "internal").load(str(offsets / "__consumer_offsets-9"))
    for some in (df, df.select("offset_commit")):
        with pytest.raises(
            PySparkException,
            match=r"__consumer_offsets-9/0+\.log: Malformed records .* The record with offset 1: group-coord",
        ):
            some.collect()


@pytest.mark.nightly
def test_decode_internal_works_in_a_stream(query: Query, offsets: Path) -> None:
    stream = query.spark.readStream.format("kafka_log").options(decode="internal", mode="PERMISSIVE")
    typed = stream.load(str(offsets / "*")).selectExpr("partition", "offset", "offset_commit.value.offset AS committed")
    writer = typed.writeStream.format("parquet").option("path", str(query.folder / "table")).trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(query.folder / "checkpoint"))
    assert writer.start().awaitTermination(SECONDS)
    found = query.spark.read.parquet(str(query.folder / "table")).collect()
    assert sorted(map(tuple, found), key=str)[:2] == [(7, 0, 0), (7, 1, 1)]
    assert len(found) == 6
    file = segment(offsets / "orders-0", 0, 1)
    running = writer.start()
    with pytest.raises(
        PySparkException, match=rf"decode=internal: 'orders' \({file}\) is not an internal topic\. Known are __cl"
    ):
        running.awaitTermination(SECONDS)


def test_decode_internal_rejects_invalid_input(spark: SparkSession, offsets: Path) -> None:
    commits(offsets / "__transaction_state-1", 0, 1)
    commits(offsets / "copy", 0, 1)
    known = "__cluster_metadata, __consumer_offsets, __remote_log_metadata, __share_group_state, __transaction_state"

    def error(path: str, **options: str) -> str:
        with pytest.raises(PySparkException) as caught:
            spark.read.format("kafka_log").options(decode="internal", **options).load(str(offsets / path)).collect()
        return str(caught.value)

    one, two = offsets / "__consumer_offsets-7", offsets / "__transaction_state-1"
    name = f"{0:020}.log"
    assert (
        f"kafka_log: decode=internal decodes one topic, found '__consumer_offsets' ({one}/{name}) "
        f"and '__transaction_state' ({two}/{name}); read each topic separately, with its name or nothing as 'topic'"
    ) in error("__*")
    assert (
        f"kafka_log: decode=internal decodes one topic, found '__share_group_state' (the option 'topic') "
        f"and '__consumer_offsets' ({one}/{name}); read each topic separately, with its name or nothing as 'topic'"
    ) in error("__consumer_offsets-7", topic="__share_group_state")
    assert (
        f"kafka_log: decode=internal: the folder of {offsets}/copy/{name} does not name its topic; "
        "set the option 'topic'"
    ) in error("copy")
    assert "kafka_log: decode=internal: no files found; set the option 'topic'" in error(
        "copy", pathGlobFilter="*.nothing"
    )
    assert (
        f"kafka_log: '__consumer_offset' is not an internal topic; did you mean '__consumer_offsets'? Known are {known}."
    ) in error("copy", topic="__consumer_offset")
    with pytest.raises(PySparkException, match="the option 'topic' is only valid with decode=internal"):
        spark.read.format("kafka_log").option("topic", "__consumer_offsets").load(str(offsets / "copy")).count()
    copy = (
        spark.read.format("kafka_log")
        .options(decode="internal", topic="__consumer_offsets")
        .load(str(offsets / "copy"))
    )
    assert [row.offset_commit.key.group for row in copy.collect()] == ["g"]
