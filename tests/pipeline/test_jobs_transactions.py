"""The job transactions: open transactions and verdicts by coordinator state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from kafka_messages import TransactionLogKey, TransactionLogValue
from kafka_messages.internal_topics import write_coordinator_record
from kafka_messages.messages.transaction_log_value import PartitionsSchema
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession

from kafka_messages_spark import register
from kafka_messages_spark.analyses import transactions
from kafka_messages_spark.analyses.batches import batches_of, read_batches
from kafka_messages_spark.analyses.transactions._grouping import READ, whole
from kafka_messages_spark.jobs.transactions import main
from tests.pipeline.job_files import at, coordinator, data, marker, of_epoch, segment

PRODUCERS = range(100, 113)
AGAIN = "was copied first, copy both again and compare"
OLDER_STATES = f"it began after the last record of __transaction_state; if that {AGAIN}"
OLDER_DATA = f"its state is newer than the last record of the partition; if the data {AGAIN}"
STATES = {name: number for number, name in enumerate(transactions.STATES)}


def state(offset: int, seconds: float, name: str, producer: int, status: str, **more: Any) -> bytes:
    of_topic = PartitionsSchema(topic="orders", partition_ids=[0])
    fields: dict[str, Any] = {
        "producer_id": producer,
        "producer_epoch": 0,
        "transaction_timeout_ms": 60_000,
        "transaction_status": STATES[status],
        "transaction_partitions": [of_topic],
        "transaction_start_timestamp_ms": at(seconds),
        "transaction_last_update_timestamp_ms": at(seconds),
    }
    value = TransactionLogValue(**fields | more)
    return coordinator(offset, seconds, TransactionLogKey(transactional_id=name), value, 1)


def other_partition() -> list[Any]:
    return [PartitionsSchema(topic="orders", partition_ids=[1])]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    done = [
        data(0, 0, count=3, producer=1, compression="lz4"),
        data(3, 1, producer=2),
        data(4, 5, count=2, producer=1, sequence=3),
        marker("COMMIT", 6, 10, 1),
        marker("ABORT", 7, 11, 2, epoch=1),
        data(8, 12),
        data(9, 13, producer=3, transactional=False),
    ]
    segment(folder, "orders-0", *done)
    # The last transaction began ten seconds before the end, the others a hundred.
    seconds = dict.fromkeys(PRODUCERS, 20.0) | {100: 110.0}
    opened = [data(10 + at, seconds[each], producer=each) for at, each in enumerate(PRODUCERS)]
    segment(folder, "orders-0", *opened, data(40, 120), base=10)
    segment(folder, "payments-2", data(500, 1, count=2, producer=1, sequence=9), marker("COMMIT", 502, 10, 1), base=500)
    log = [
        state(0, 110, "fine", 100, "Ongoing"),
        state(1, 20, "slow", 101, "Ongoing"),
        state(2, 20, "none", 103, "Ongoing"),
        state(3, 21, "none", 103, "CompleteAbort", transaction_partitions=None),
        state(4, 20, "epoch", 104, "Ongoing", producer_epoch=1),
        state(5, 20, "elsewhere", 105, "Ongoing", transaction_partitions=other_partition()),
        state(6, 20, "moved", 106, "Ongoing"),
        state(7, 30, "moved", 999, "Ongoing", previous_producer_id=106),
        state(8, 20, "gone", 107, "Empty"),
        coordinator(9, 30, TransactionLogKey(transactional_id="gone")),
        state(10, 119, "ending", 108, "PrepareCommit", producer_epoch=1),
        state(11, 20, "stuck", 109, "PrepareAbort", producer_epoch=1),
        state(12, 115, "exhausted", 998, "PrepareCommit", previous_producer_id=110),
        state(13, 20, "dead", 111, "Dead"),
        state(14, 130, "later", 112, "CompleteCommit", transaction_partitions=None),
    ]
    segment(folder, "__transaction_state-0", *log)
    return folder


WANT = {
    100: ("ongoing", "fine", "known to the coordinator, within its timeout"),
    101: ("late", "slow", "open longer than its timeout of 60000 ms"),
    102: ("hanging", None, "no transactional id has this producer id"),
    103: ("hanging", "none", "the coordinator has no open transaction: CompleteAbort"),
    104: ("hanging", "epoch", "the coordinator's transaction has epoch 1"),
    105: ("hanging", "elsewhere", "the partition is not in the coordinator's transaction"),
    106: ("hanging", "moved", "the transactional id has producer id 999 now"),
    107: ("hanging", "gone", "the coordinator has removed the transactional id"),
    108: ("ongoing", "ending", "the coordinator is ending the transaction: PrepareCommit"),
    109: ("late", "stuck", "the marker is missing: PrepareAbort beyond the timeout"),
    110: ("ongoing", "exhausted", "the coordinator is ending the transaction: PrepareCommit"),
    111: ("hanging", "dead", "the coordinator has no open transaction: Dead"),
    112: ("hanging", "later", "the coordinator has no open transaction: CompleteCommit"),
}


def test_open_transactions_have_the_expected_verdicts(
    spark: SparkSession, cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main([str(cluster), "--as-of", str(at(120)), "--output", str(out), "--quiet"]) == 1
    report = capsys.readouterr().out
    table = spark.read.parquet(str(out / "open_transactions"))
    rows = {row.producer_id: row for row in table.collect()}
    assert {each: (row.verdict, row.transactional_id, row.reason) for each, row in rows.items()} == WANT
    fine, later = rows[100], rows[112]
    assert (fine.topic, fine.partition, fine.first_offset, fine.last_offset, fine.records) == ("orders", 0, 10, 10, 1)
    assert (fine.age_ms, fine.state, fine.timeout_ms, fine.coordinator_epoch) == (10_000, "Ongoing", 60_000, 0)
    assert later.limitation == OLDER_DATA
    assert fine.note is fine.limitation is None
    assert "open               8 hanging, 2 late, 3 ongoing" in report
    assert "transactional ids  11, of 1 partitions of __transaction_state; 1 removed ids\n" in report
    assert "completed          1 committed, 1 aborted transactions\n" in report
    assert "by partition       2 committed, 1 aborted, counted once per partition\n" in report
    assert report.index("hanging  orders") < report.index("late     orders") < report.index("ongoing  orders")
    assert report.partition("blocked read_committed consumers")[2].splitlines()[4].split() == [
        "orders",
        "0",
        "10",
        "41",
        "31",
        "13",
    ]

    done = spark.read.parquet(str(out / "completed_transactions")).orderBy("topic", "marker_offset").collect()
    actual = [(row.topic, row.producer_id, row.status, row.first_offset, row.last_offset, row.records) for row in done]
    assert actual == [
        ("orders", 1, "committed", 0, 5, 5),
        ("orders", 2, "aborted", 3, 3, 1),
        ("payments", 1, "committed", 500, 501, 2),
    ]
    assert [row.duration_ms for row in done] == [10_000, 10_000, 9_000]
    assert [row.may_begin_earlier for row in done] == [False, False, True]
    assert [(row.marker_offset, row.marker_epoch) for row in done] == [(6, 0), (7, 1), (502, 0)]

    stable = {row.topic: row for row in spark.read.parquet(str(out / "partitions")).collect()}
    assert (stable["orders"].last_stable_offset, stable["orders"].next_offset) == (10, 41)
    assert (stable["orders"].blocked_offsets, stable["orders"].open, stable["orders"].files) == (31, 13, 2)
    assert (stable["payments"].last_stable_offset, stable["payments"].blocked_offsets) == (503, 0)
    by_id = {row.producer_id: row for row in spark.read.parquet(str(out / "producers")).collect()}
    assert (by_id[1].committed, by_id[1].partitions, by_id[1].records, by_id[1].longest_duration_ms) == (
        2,
        2,
        7,
        10_000,
    )
    assert [by_id[number].transactions for number in (1, 2, 106)] == [1, 1, 0]
    assert (by_id[106].transactional_id, by_id[106].open) == ("moved", 1)
    states = {row.transactional_id: row for row in spark.read.parquet(str(out / "coordinator_states")).collect()}
    assert (states["gone"].state, states["gone"].producer_ids) == (None, [107])
    assert states["moved"].producer_ids == [106, 999]
    assert [(each.topic, each.partition) for each in states["elsewhere"].partitions] == [("orders", 1)]
    assert spark.read.parquet(str(out / "unreadable")).count() == 0


@pytest.mark.nightly
def test_default_time_of_verdicts_is_the_newest_timestamp(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(cluster), "--limit", "2", "--exit-zero", "--quiet"]) == 0
    report = capsys.readouterr().out
    assert "as of              2026-09-21 14:15:30.000Z, the newest record read\n" in report
    assert "... and 11 more" in report


@pytest.mark.nightly
def test_report_mentions_missing_timestamps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, "orders-0")
    assert main([str(tmp_path), "--quiet"]) == 0
    assert "as of              unknown, no timestamps found\n" in capsys.readouterr().out
    assert main([str(tmp_path), "--quiet", "--as-of", "0"]) == 0
    assert "as of              1970-01-01 00:00:00.000Z\n" in capsys.readouterr().out


def test_verdicts_are_unknown_without_coordinator(
    spark: SparkSession, cluster: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(cluster / "orders-0"), "--as-of", str(at(20 + 901))]) == 1
    report = capsys.readouterr().out
    assert "transactional ids  not read" in report
    assert "open               13 unknown" in report
    assert report.count("__transaction_state was not read; older than the maximum timeout") == 12


def test_transactions_from_records_equal_those_from_batches(spark: SparkSession, cluster: Path) -> None:
    register(spark)
    reader = spark.read.format("kafka_log").option("includeBatchMetadata", "true").option("mode", "PERMISSIVE")
    records = reader.option("recursiveFileLookup", "true").load(str(cluster))
    found = [
        transactions.find_transactions(batches).drop("bytes").orderBy("topic", "producer_id", "first_offset").collect()
        for batches in (batches_of(records), read_batches(spark, [str(cluster)]))
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 16


def test_markers_of_older_producer_epochs_end_no_transaction(spark: SparkSession, tmp_path: Path) -> None:
    log = [
        marker("COMMIT", 5, 1, 1),
        data(6, 2, producer=2, epoch=3),
        marker("ABORT", 7, 3, 2, epoch=2),
        data(8, 4, producer=3),
        data(9, 5, producer=3, epoch=1),
        marker("ABORT", 10, 6, 3, epoch=1),
        marker("ABORT", 11, 7, 3, epoch=2),
    ]
    segment(tmp_path / "a", "t-0", *log, base=5)
    segment(tmp_path / "b", "t-0", *log[:4], base=5)  # another replica
    found = transactions.find_transactions(read_batches(spark, [str(tmp_path)]))
    rows = found.orderBy("producer_id", "marker_offset").collect()
    assert [(row.producer_id, row.producer_epoch, row.status, row.batches, row.marker_offset) for row in rows] == [
        (1, 0, "committed", 0, 5),
        (2, 3, "open", 1, None),
        (3, 1, "aborted", 2, 10),
        (3, 2, "aborted", 0, 11),
    ]
    assert [row.stale_markers for row in rows] == [0, 1, 0, 0]
    assert [row.may_begin_earlier for row in rows] == [True, False, False, False]


def test_transactions_of_several_partitions_are_combined(spark: SparkSession, tmp_path: Path) -> None:
    logs: dict[str, list[bytes]] = {name: [] for name in ("a-0", "a-1", "b-0")}
    offsets = dict.fromkeys(logs, 0)

    def run(producer: int, seconds: float, kind: str, *partitions: str, epoch: int = 0, ends: int = 0) -> None:
        for number, name in enumerate(partitions):
            at_offset = offsets[name]
            sequence = at_offset if epoch == 0 else 0
            logs[name].append(data(at_offset, seconds, producer=producer, epoch=epoch, sequence=sequence))
            moment = seconds + 0.5 + number / 1000
            logs[name].append(marker(kind, at_offset + 1, moment, producer, epoch=epoch + ends))
            offsets[name] = at_offset + 2

    run(1, 0, "COMMIT", "a-0", "a-1", "b-0")
    run(1, 1, "COMMIT", "b-0")
    run(1, 2, "COMMIT", "a-1")
    run(1, 2.4, "ABORT", "a-0")  # begins before the marker of the previous transaction
    run(1, 2.8, "ABORT", "a-0")
    run(2, 3, "COMMIT", "a-0", epoch=5, ends=1)
    run(2, 3, "COMMIT", "a-1", epoch=6, ends=1)  # at the same time, with another epoch
    for name, batches in logs.items():
        segment(tmp_path, name, *batches)
    found = transactions.find_transactions(read_batches(spark, [str(tmp_path)]))
    rows = transactions.whole_transactions(found).orderBy("producer_id", "first_timestamp", "producer_epoch").collect()
    assert [(row.producer_id, row.producer_epoch, row.status, row.partitions, row.records) for row in rows] == [
        (1, 0, "committed", 3, 3),
        (1, 0, "committed", 1, 1),
        (1, 0, "committed", 1, 1),
        (1, 0, "aborted", 1, 1),
        (1, 0, "aborted", 1, 1),
        (2, 6, "committed", 1, 1),
        (2, 7, "committed", 1, 1),
    ]
    assert (rows[0].marker_timestamp - rows[0].first_timestamp).total_seconds() == 0.502
    assert found.count() == 9


@pytest.mark.nightly
def test_verdict_is_unknown_if_coordinator_partitions_are_missing(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "orders-0", data(0, 1, producer=5), data(1, 2, producer=6))
    segment(tmp_path, "__transaction_state-1", state(0, 3, "done", 6, "CompleteCommit", transaction_partitions=None))
    segment(tmp_path, "__transaction_state-3")
    assert main([str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 1
    report = capsys.readouterr().out
    assert "ids  1, of 2 partitions of __transaction_state; at least 2 not read\n" in report
    rows = spark.read.parquet(str(tmp_path / "out" / "open_transactions")).orderBy("producer_id").collect()
    assert [(row.verdict, row.reason) for row in rows] == [
        (
            "unknown",
            "no transactional id has this producer id, but at least 2 partitions of __transaction_state were not read",
        ),
        ("hanging", "the coordinator has no open transaction: CompleteCommit"),
    ]


@pytest.mark.nightly
def test_coordinator_record_of_older_leader_epoch_is_ignored(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = state(0, 1, "busy", 5, "CompleteCommit", transaction_partitions=None)
    lost = state(1, 2, "busy", 5, "Ongoing")
    kept = state(1, 3, "other", 6, "Empty", transaction_partitions=None)
    segment(tmp_path / "dead", "__transaction_state-0", begun, lost)
    segment(tmp_path / "alive", "__transaction_state-0", begun, of_epoch(1, kept))
    segment(tmp_path, "orders-0", data(0, 0, producer=5))
    assert main([str(tmp_path), "--quiet", "--output", str(tmp_path / "out")]) == 1
    assert "open               1 hanging\n" in capsys.readouterr().out
    rows = spark.read.parquet(str(tmp_path / "out" / "coordinator_states")).orderBy("transactional_id").collect()
    assert [(row.transactional_id, row.state) for row in rows] == [("busy", "CompleteCommit"), ("other", "Empty")]


@pytest.mark.parametrize("at_offset", [1, 2])
def test_data_replaced_by_a_newer_leader_epoch_is_ignored(at_offset: int, spark: SparkSession, tmp_path: Path) -> None:
    before = [data(0, 0, producer=4), *(data(each, each) for each in range(1, at_offset))]
    lost = data(at_offset, 1, producer=5)
    segment(tmp_path / "dead", "orders-0", *(of_epoch(0, each) for each in (*before, lost)))
    later = (data(1, 2, count=2), marker("COMMIT", 3, 3, 4))
    segment(tmp_path / "alive", "orders-0", *(of_epoch(1, each) for each in later))
    found = transactions.find_transactions(read_batches(spark, [str(tmp_path)])).collect()
    assert [(row.producer_id, row.status, row.first_offset) for row in found] == [(4, "committed", 0)]


@pytest.mark.nightly
def test_data_or_states_copied_earlier_are_a_limitation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, "__transaction_state-0", state(0, 3, "busy", 5, "CompleteCommit", transaction_partitions=None))
    segment(tmp_path, "orders-0", data(0, 2.5, producer=5))
    segment(tmp_path, "orders-1", data(0, 4, producer=5))
    assert main([str(tmp_path), "--quiet"]) == 1
    report = capsys.readouterr().out
    first, second = (line for line in report.splitlines() if line.startswith("hanging "))
    assert first.split()[1:3] == ["orders", "0"]
    assert "copied" not in first + second
    assert "Limitations\n-----------\n\n" + f"1 hanging: {OLDER_STATES}.\n\n1 hanging: {OLDER_DATA}.\n" in report


def test_corrupt_marker_is_mentioned_in_the_note(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = bytearray(marker("COMMIT", 1, 2, 1))
    bad[-1] ^= 1
    segment(tmp_path, "t-0", data(0, 0, producer=1), bytes(bad), data(2))
    segment(tmp_path, "t-1", data(0, 0, producer=1))
    assert main([str(tmp_path), "--quiet"]) == 1
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("unknown ")]
    assert [row.rpartition("not read")[2].strip() for row in rows] == ["corrupt ranges in the partition: 1", "-"]


def test_missing_offsets_after_an_open_transaction_are_reported(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, "t-0", data(0, 0, producer=1))
    segment(tmp_path, "t-0", data(50, 9), base=50)
    assert main([str(tmp_path)]) == 1
    assert "49 later offsets are not in these files" in capsys.readouterr().out


@pytest.mark.nightly
def test_corrupt_batches_and_records_are_reported(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = bytearray(data(1, 1, producer=1))
    bad[-1] ^= 1
    segment(tmp_path, "t-0", data(0, 0, producer=1), bytes(bad), marker("COMMIT", 2, 2, 1), b"what is this" * 20)
    key = TransactionLogKey(transactional_id="x")
    name, value = write_coordinator_record(key, TransactionLogValue(), 1)
    assert value is not None
    segment(tmp_path, "__transaction_state-0", write_batches([{"key": name, "value": b"\0\x63" + value[2:]}]))
    assert main([str(tmp_path), "--output", str(tmp_path / "out"), "--format", "json"]) == 1
    report = capsys.readouterr().out
    assert "1 committed, 0 aborted" in report
    rows = spark.read.json(str(tmp_path / "out" / "unreadable")).orderBy("position").collect()
    assert [(row.topic, row.offset, row.position) for row in rows] == [
        ("__transaction_state", 0, None),
        ("t", None, 70),
        ("t", None, 218),
    ]
    assert rows[0].reason.startswith("TransactionLogValue has no version 99")
    assert rows[1].reason.startswith("checksum mismatch: stored 0x")


def test_invalid_input_exits_with_2(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def error(*arguments: str) -> str:
        assert main(["--quiet", *arguments]) == 2
        return capsys.readouterr().err.splitlines()[-1]

    there = str(segment(tmp_path, "t-0", data(0)))
    missing = str(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    empty = str(tmp_path / "empty")
    assert error(missing) == f"transactions: error: [PATH_NOT_FOUND] Path does not exist: {missing}."
    assert error(empty) == f"transactions: error: no segments in {empty}"
    assert error(there, "--transaction-state", there) == (
        f"transactions: error: no segments of __transaction_state in {there}; found segments of t"
    )
    assert error(there, "--output", str(tmp_path), "--format", "nonsense") == (
        "transactions: error: --format: unknown format 'nonsense'"
    )
    with pytest.raises(SystemExit) as stop:
        main([there, "--as-of", "yesterday"])
    assert stop.value.code == 2
    assert "milliseconds since the epoch, got 'yesterday'" in capsys.readouterr().err


def test_overlapping_times_do_not_merge_transactions_of_two_producer_epochs() -> None:
    columns: dict[str, list[object]] = {name: [] for name in READ}
    for epoch, partition, end in ((1, 0, 100), (1, 1, 160), (2, 0, 150), (2, 1, 170)):
        row = ("t", partition, 7, "committed", 1, 10, 10_000 + epoch, end, epoch)
        for name, value in zip(READ, row, strict=True):
            columns[name].append(value)
    found = whole(pa.table(columns)).to_pylist()
    assert [(row["producer_epoch"], row["partitions"]) for row in found] == [(1, 2), (2, 2)]
