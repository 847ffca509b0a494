"""The job groups: resets, storms, removed offsets and lag."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import kafka_messages
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from kafka_messages.messages.group_metadata_value import MemberMetadata
from kafka_records.segments.batch_writer import write_batches
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses import groups
from kafka_messages_spark.jobs.groups import main
from tests.pipeline.job_files import START, at, coordinator, data, marker, of_epoch, segment


def commit(group: str, offset: int | None, seconds: float, partition: int = 0) -> tuple[bytes, bytes | None]:
    key = kafka_messages.OffsetCommitKey(group=group, topic="orders", partition=partition)
    if offset is None:
        return write_coordinator_record(key)
    value = kafka_messages.OffsetCommitValue(offset=offset, metadata=f"m{offset}", commit_timestamp=at(seconds))
    return write_coordinator_record(key, value, 4)


def members(group: str, *names: str) -> tuple[bytes, bytes | None]:
    some = [MemberMetadata(member_id=name) for name in names]
    value = kafka_messages.GroupMetadataValue(protocol_type="consumer", generation=3, members=some)
    return write_coordinator_record(kafka_messages.GroupMetadataKey(group=group), value, 3)


def member(group: str, name: str, *, there: bool = True) -> tuple[bytes, bytes | None]:
    key = kafka_messages.ConsumerGroupMemberMetadataKey(group_id=group, member_id=name)
    if not there:
        return write_coordinator_record(key)
    return write_coordinator_record(key, kafka_messages.ConsumerGroupMemberMetadataValue(client_id="c"), 0)


def epoch(group: str, number: int) -> tuple[bytes, bytes | None]:
    key = kafka_messages.ConsumerGroupMetadataKey(group_id=group)
    return write_coordinator_record(key, kafka_messages.ConsumerGroupMetadataValue(epoch=number), 0)


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("groups")

    def batch(offset: int, *records: tuple[float, tuple[bytes, bytes | None]]) -> bytes:
        rows = [{"key": key, "value": value, "timestamp": at(seconds)} for seconds, (key, value) in records]
        return write_batches(rows, base_offset=offset)

    first = [
        (0.0, members("billing", "one", "two")),
        (1.0, commit("billing", 10, 1)),
        (2.0, commit("billing", 25, 2)),
        (3.0, commit("billing", 20, 3)),
        (4.0, members("billing")),
        (5.0, commit("billing", 24, 5)),
        (6.0, commit("billing", 24, 6)),
        (7.0, commit("billing", 5000, 7)),
        (90.0, commit("billing", None, 0)),
        (100.0, commit("billing", 7, 100)),
    ]
    in_transactions = [
        data_commit(10, commit("exact", 4, 200), producer=1),
        data_commit(11, commit("exact", 99, 201), producer=2),
        marker("COMMIT", 12, 202, 1),
        marker("ABORT", 13, 203, 2),
        data_commit(14, commit("exact", 50, 204), producer=1),
    ]
    segment(folder, "__consumer_offsets-0", batch(0, *first), *in_transactions)
    second = [
        (0.0, member("audit", "a")),
        (1.0, member("audit", "b")),
        (2.0, epoch("audit", 2)),
        (3.0, member("audit", "a", there=False)),
        (4.0, member("audit", "a", there=False)),
        *((10 + each, commit("audit", 100 + each, 10 + each, 1)) for each in range(40)),
        (60.0, (b"\0\x63", b"?")),
    ]
    legacy = kafka_messages.LegacyOffsetCommitKey(group="old", topic="orders", partition=1)
    value = kafka_messages.LegacyOffsetCommitValue(offset=1, commit_timestamp=at(0))
    segment(folder, "__consumer_offsets-1", batch(0, *second), coordinator(50, 70, legacy, value, 0))
    segment(folder, "orders-0", data(8, count=30), base=8)
    segment(folder, "orders-1", data(0, count=120))
    return folder


LAG = ("lag", "time_lag_ms", "oldest_unread_ms", "status")


def data_commit(offset: int, record: tuple[bytes, bytes | None], producer: int) -> bytes:
    rows = [{"key": record[0], "value": record[1], "timestamp": START}]
    more = {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0}
    return write_batches(rows, base_offset=offset, is_transactional=True, **more)  # type: ignore[arg-type]  # integers


def test_groups_job_reports_resets_and_lag(
    spark: SparkSession, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, metrics, as_json = (str(tmp_path / name) for name in ("out", "lag.prom", "lag.json"))
    reports = ["--report", metrics, "--report", as_json]
    argv = [str(log), "--data", str(log), "--output", out, "--jump", "1000", "--quiet", *reports]
    assert main([*argv, "--as-of", str(at(300))]) == 1
    report = capsys.readouterr().out
    rows = spark.read.parquet(f"{out}/history").where("group = 'billing'").orderBy("log_offset").collect()
    assert [(row.kind, row.committed_offset, row.previous_offset, row.members, row.is_reset) for row in rows] == [
        ("first", 10, None, 2, False),
        ("forward", 25, 10, 2, False),
        ("backward", 20, 25, 2, True),
        ("forward", 24, 20, 0, True),
        ("same", 24, 24, 0, False),
        ("jump", 5000, 24, 0, True),
        ("removed", None, 5000, 0, False),
        ("first", 7, None, 0, False),
    ]
    assert (rows[2].change, rows[2].interval_ms, rows[2].metadata, rows[2].leader_epoch) == (-5, 1000, "m20", -1)

    found = spark.read.parquet(f"{out}/resets").orderBy("time").collect()
    assert [row.what for row in found] == [
        "went back",
        "was set ahead while the group had no members",
        "jumped ahead while the group had no members",
    ]
    (gone,) = spark.read.parquet(f"{out}/removed_offsets").collect()
    assert (gone.group, gone.previous_offset, gone.idle_ms) == ("billing", 5000, 83_000)
    (storm,) = spark.read.parquet(f"{out}/storms").collect()
    assert (storm.group, storm.partition, storm.commits, storm.peak) == ("audit", 1, 40, 40)
    assert (storm.end - storm.start).total_seconds() == 39

    exact = spark.read.parquet(f"{out}/commits").where("group = 'exact'").orderBy("log_offset").collect()
    assert [(row.committed_offset, row.transaction) for row in exact] == [
        (4, "committed"),
        (99, "aborted"),
        (50, "open"),
    ]
    offsets = {row.group: row for row in spark.read.parquet(f"{out}/offsets").collect()}
    assert {name: (row.committed_offset, row.lag, row.place) for name, row in offsets.items()} == {
        "audit": (139, 0, "beyond the log"),
        "billing": (7, 31, "below the log"),
        "exact": (4, 34, "below the log"),
        "old": (1, 119, "within"),
    }
    ages = {name: (row.time_lag_ms, row.oldest_unread_ms, row.status, row.complete) for name, row in offsets.items()}
    assert ages == {
        "audit": (0, 0, "OK", 1.0),
        "billing": (29_000, 300_000, "STOP", 0.1),
        "exact": (29_000, 300_000, "STOP", 0.1),
        "old": (119_000, 300_000, "STOP", 0.1),
    }
    assert "as of            2026-09-21 14:18:20.000Z\n" in report
    assert "status           1 OK, 0 WARN, 3 ERR\n" in report
    content = json.loads(Path(as_json).read_text())
    (lags,) = (each["tables"][0] for each in content["sections"] if each["title"] == "Lag by partition")
    assert [tuple(row.values()) for row in lags["rows"]] == [
        ("old", "orders", 1, 1, 120, 119, 119_000, 300_000, "STOP", "2026-09-21T14:13:20.000Z"),
        ("exact", "orders", 0, 4, 38, 34, 29_000, 300_000, "STOP", "2026-09-21T14:13:20.000Z"),
        ("billing", "orders", 0, 7, 38, 31, 29_000, 300_000, "STOP", "2026-09-21T14:13:20.000Z"),
        ("audit", "orders", 1, 139, 120, 0, 0, 0, "OK", None),
    ]
    assert [column["name"] for column in lags["columns"]][5:] == [*LAG, "unread_since"]
    figures = content["figures"]
    assert (figures["partitions"], figures["lag"], figures["oldest_unread_ms"], figures["err"]) == (4, 184, 300_000, 3)
    assert {"kind": "group with status ERR", "severity": "info", "count": 3} in content["findings"]
    families = {each.name: each.samples for each in text_string_to_metric_families(Path(metrics).read_text())}
    assert {
        (*each.labels.values(), each.value) for each in families["kminion_kafka_consumer_group_topic_partition_lag"]
    } == {
        ("old", "orders", "1", 119),
        ("exact", "orders", "0", 34),
        ("billing", "orders", "0", 31),
        ("audit", "orders", "1", 0),
    }
    assert {
        each.labels["group_id"]: each.value for each in families["kminion_kafka_consumer_group_topic_offset_sum"]
    } == {
        "old": 1,
        "exact": 4,
        "billing": 7,
        "audit": 139,
    }
    assert {each.labels["group_id"]: each.value for each in families["kminion_kafka_consumer_group_members"]} == {
        "audit": 1,
        "billing": 0,
    }
    waiting = families["kafka_messages_spark_consumer_group_topic_partition_oldest_unread_seconds"]
    assert {each.value for each in waiting} == {0, 300}
    statuses = families["burrow_kafka_topic_partition_status"]
    assert {each.labels["consumer_group"]: each.value for each in statuses} == {
        "old": 4,
        "exact": 4,
        "billing": 4,
        "audit": 1,
    }
    (as_of,) = families["kafka_messages_spark_as_of_timestamp_seconds"]
    assert as_of.value == at(300) / 1000
    by_name = {row.group: row for row in spark.read.parquet(f"{out}/groups").collect()}
    audit, billing = by_name["audit"], by_name["billing"]
    assert (audit.type, audit.generation, audit.members, audit.removed, audit.storms) == ("consumer", 2, 1, False, 1)
    assert (billing.type, billing.protocol_type, billing.members, billing.resets) == ("classic", "consumer", 0, 3)
    (bad,) = spark.read.parquet(f"{out}/unreadable").collect()
    assert (bad.topic, bad.partition, bad.offset, bad.reason) == (
        "__consumer_offsets",
        1,
        45,
        "group-coordinator has no record type 99",
    )
    for line in ("resets           3\n", "removed offsets  1\n", "outside the log  3\n", "Commit storms\n-----"):
        assert line in report


@pytest.mark.nightly
def test_group_with_unknown_lag_is_sorted_last(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known, unknown = commit("known", 10, 0), commit("a-unknown", 7, 1, partition=5)
    rows = [{"key": key, "value": value} for key, value in (known, unknown)]
    segment(tmp_path, "__consumer_offsets-0", write_batches(rows))
    segment(tmp_path, "orders-0", data(0, count=30))
    out, reports = str(tmp_path / "out"), [str(tmp_path / f"report.{kind}") for kind in ("json", "html")]
    argv = [str(tmp_path), "--data", str(tmp_path), "--sort", "lag", "--output", out, "--quiet"]
    assert main([*argv, "--report", reports[0], "--report", reports[1]]) == 0
    groups_of_report = capsys.readouterr().out.partition("Groups\n------\n")[2].splitlines()
    assert [(line.split()[0], line.split()[-4]) for line in groups_of_report[2:4]] == [
        ("known", "20"),
        ("a-unknown", "-"),
    ]
    table = spark.read.parquet(f"{out}/groups").collect()
    assert {row.group: row.lag for row in table} == {"known": 20, "a-unknown": None}
    tables = [table for each in json.loads(Path(reports[0]).read_text())["sections"] for table in each["tables"]]
    assert [(row["group"], row["lag"]) for row in tables[0]["rows"]] == [("known", 20), ("a-unknown", None)]
    assert str((1 << 63) - 1) not in Path(reports[1]).read_text()


@pytest.mark.nightly
def test_option_group_selects_a_group(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(log), "--group", "old", "--quiet", "--exit-zero"]) == 0
    report = capsys.readouterr().out
    assert "groups           1\n" in report
    assert "outside the log  unknown without --data" in report
    assert "billing" not in report


def test_as_of_requires_data(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(log), "--as-of", "2026-11-21", "--quiet"]) == 2
    assert capsys.readouterr().err == "groups: error: --as-of requires --data\n"


def test_input_of_another_topic_is_rejected(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(log / "orders-0"), "--quiet"]) == 2
    place = log / "orders-0"
    want = f"groups: error: no segments of __consumer_offsets in {place}; found segments of orders\n"
    assert capsys.readouterr().err.endswith(want)


def test_commit_storms_are_found(spark: SparkSession) -> None:
    times = [*range(50_000, 70_000, 1000), *range(200_000, 220_000, 1000), *range(400_000, 900_000, 5000)]
    rows = [("g", "t", 0, False, at(0) + time) for time in times]
    commits = spark.createDataFrame(rows, "group string, topic string, partition int, is_tombstone boolean, at long")
    commits = commits.selectExpr("group", "topic", "partition", "is_tombstone", "timestamp_millis(at) AS time")
    found = groups.commit_storms(commits, least=20).orderBy("start").collect()
    assert [(row.commits, row.peak, (row.end - row.start).total_seconds()) for row in found] == [(20, 20, 19)] * 2


def test_commit_storms_equal_a_plain_python_count(spark: SparkSession) -> None:
    chance = Random(1)
    rows = []
    for partition in range(4):
        moment = 0
        for _ in range(300):
            moment += chance.choice([0, 0, 1, 900, 3000, 59_999, 60_000])
            rows.append(("g", "t", partition, False, at(0) + moment))
    commits = spark.createDataFrame(rows, "group string, topic string, partition int, is_tombstone boolean, at long")
    commits = commits.selectExpr("group", "topic", "partition", "is_tombstone", "timestamp_millis(at) AS time")
    found = groups.commit_storms(commits, least=12).orderBy("partition", "start").collect()
    actual = [tuple(row[name] if name in ("commits", "peak") else millis(row[name]) for name in NAMES) for row in found]
    want = []
    for partition in range(4):
        times = [row[-1] for row in rows if row[2] == partition]
        before = {time: sum(time - 60_000 < each <= time for each in times) for time in times}
        busy = [time for time in times if any(time <= each < time + 60_000 and before[each] >= 12 for each in times)]
        storms: list[list[int]] = []
        for time in busy:
            if not storms or time - storms[-1][-1] >= 60_000:
                storms.append([])
            storms[-1].append(time)
        want += [(each[0], each[-1], len(each), max(before[time] for time in each)) for each in storms]
    assert actual == want
    assert len(want) > 4


NAMES = ("start", "end", "commits", "peak")


def millis(time: datetime) -> int:
    return round(time.replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.nightly
def test_unreplicated_commit_of_an_earlier_leader_is_dropped(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def written(offset: int, record: tuple[bytes, bytes | None]) -> bytes:
        key, value = record
        return write_batches([{"key": key, "value": value, "timestamp": at(offset)}], base_offset=offset)

    first = written(0, commit("moved", 30, 0))
    segment(tmp_path / "dead", "__consumer_offsets-0", first, written(1, commit("moved", 1, 1)))
    segment(tmp_path / "alive", "__consumer_offsets-0", first, of_epoch(1, written(1, commit("other", 5, 2))))
    assert main([str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 0, capsys.readouterr().out
    history = spark.read.parquet(str(tmp_path / "out" / "history")).orderBy("group").collect()
    assert [(row.group, row.committed_offset) for row in history] == [("moved", 30), ("other", 5)]


@pytest.mark.nightly
def test_folders_without_topic_name_count_as_partitions(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, group in (("a", "one"), ("b", "two"), ("replica of b", "two")):
        first, second = ((each, commit(group, each, each)) for each in (1, 2))
        rows = [{"key": key, "value": value, "timestamp": at(time)} for time, (key, value) in (first, second)]
        later = [data_commit(2, commit(group, 9, 3), producer=4)]
        if name == "a":
            later.append(marker("ABORT", 3, 4, 4))
        else:
            later.append(marker("COMMIT", 3, 4, 4))
        segment(tmp_path, name, write_batches(rows), *later)
    assert main([str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 0
    report = capsys.readouterr().out
    assert "log              3 partitions, 12 records;" in report
    history = spark.read.parquet(str(tmp_path / "out" / "history")).orderBy("group", "log_offset").collect()
    assert [(row.group, row.committed_offset, row.kind) for row in history] == [
        ("one", 1, "first"),
        ("one", 2, "forward"),
        ("two", 1, "first"),
        ("two", 2, "forward"),
        ("two", 9, "forward"),
    ]


@pytest.mark.nightly
def test_folders_of_deleted_and_stray_partitions_are_skipped(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs, ids = tmp_path / "logs", [32 * digit for digit in "abc"]
    rows = [{"key": key, "value": value} for key, value in (commit("app", 5, 0), commit("app", 7, 0, 1))]
    odd = [{"key": key, "value": value} for key, value in (commit("app", 1, 0), commit("app", 1, 0, 1))]
    segment(logs, "__consumer_offsets-0", write_batches(rows, leader_epoch=2))
    segment(logs, f"__consumer_offsets-0.{ids[0]}-stray", write_batches(odd, leader_epoch=9))
    segment(logs, "orders-0", data(0, count=6))
    segment(logs, f"orders-0.{ids[1]}-delete", data(0, count=90, leader_epoch=9))
    segment(logs, f"orders-0.{ids[1]}-delete", data(90), base=90)
    segment(logs, f"orders-1.{ids[2]}-future", data(0, count=10))
    out = str(tmp_path / "out")
    assert main([str(logs), "--data", str(logs), "--output", out, "--quiet"]) == 0
    offsets = spark.read.parquet(f"{out}/offsets").orderBy("partition").collect()
    assert [(row.partition, row.committed_offset, row.end_offset, row.lag) for row in offsets] == [
        (0, 5, 6, 1),
        (1, 7, 10, 3),
    ]
    left_out = [line for line in capsys.readouterr().out.splitlines() if line.startswith("skipped")]
    assert left_out == [
        f"skipped  {logs}/__consumer_offsets-0.{ids[0]}-stray: a stray replica",
        f"skipped  {logs}/orders-0.{ids[1]}-delete: a partition that is being deleted",
    ]

    stray = str(logs / f"__consumer_offsets-0.{ids[0]}-stray")
    assert main([stray, "--data", f"{logs}/*-delete", "--output", f"{out}/named", "--quiet"]) == 0
    offsets = spark.read.parquet(f"{out}/named/offsets").where("partition = 0").collect()
    assert [(row.committed_offset, row.end_offset) for row in offsets] == [(1, 91)]
    assert "skipped" not in capsys.readouterr().out


def test_input_with_only_deleted_partitions_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, f"__consumer_offsets-0.{32 * 'a'}-delete", data(0))
    (tmp_path / "server.log").write_text("no segment")
    assert main([str(tmp_path), "--quiet"]) == 2
    assert capsys.readouterr().err == (
        f"groups: error: no segments in {tmp_path}; "
        f"a partition that is being deleted: {tmp_path}/__consumer_offsets-0.{32 * 'a'}-delete; "
        f"not a segment: {tmp_path}/server.log\n"
    )
