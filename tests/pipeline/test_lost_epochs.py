"""Leader epochs that a failover lost, and their records in the jobs."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from kafka_messages import OffsetCommitKey, OffsetCommitValue
from kafka_records.segments.batch_writer import write_batches
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses.copies import lost_epochs, without_lost
from kafka_messages_spark.jobs import batching, groups, inventory, transactions
from tests.pipeline.job_files import at, coordinator, data, of_epoch, segment

# Per replica: epoch, first and last offset of batches; then epochs and start offsets in leader-epoch-checkpoint.
Replica = tuple[list[tuple[int, int, int]], list[tuple[int, int]]]
CASES: dict[str, tuple[list[Replica], dict[int, int]]] = {
    "healthy": ([([(0, 0, 9), (1, 10, 19)], [(0, 0), (1, 10)]), ([(0, 0, 9), (1, 10, 12)], [(0, 0), (1, 10)])], {}),
    "replaced": ([([(0, 0, 9)], [(0, 0)]), ([(0, 0, 4), (1, 5, 5)], [(0, 0), (1, 5)])], {0: 5}),
    "replaced, without checkpoints": ([([(0, 0, 9)], []), ([(0, 0, 4), (1, 5, 5)], [])], {0: 5}),
    "new leader without records": ([([(0, 0, 9)], []), ([(0, 0, 4)], [(0, 0), (1, 5)])], {0: 5}),
    "new leader without records or checkpoint": ([([(0, 0, 9)], [(0, 0)]), ([(0, 0, 4)], [])], {}),
    "leader that failed before its first record": (
        [([(0, 0, 3)], [(0, 0), (1, 4)]), ([(0, 0, 5), (2, 6, 6)], [(0, 0), (2, 6)])],
        {},
    ),
    "two failovers to brokers that lack records": (
        [
            ([(0, 0, 9)], [(0, 0)]),
            ([(0, 0, 4), (1, 5, 8)], [(0, 0), (1, 5)]),
            ([(0, 0, 6), (2, 7, 7)], [(0, 0), (2, 7)]),
        ],
        {0: 7, 1: 5},
    ),
    "current log without its beginning": ([([(0, 0, 3), (1, 4, 5)], []), ([(2, 8, 9)], [(2, 8)])], {}),
    "lost epoch from the start of the current log on": ([([(1, 4, 11)], []), ([(2, 8, 9)], [(2, 8)])], {1: 8}),
    "beginning only in a replica without checkpoint": (
        [([(2, 8, 9)], [(2, 8)]), ([(0, 0, 3), (2, 8, 9)], []), ([(1, 4, 7)], [])],
        {},
    ),
    "compacted epoch": (
        [([(0, 0, 3), (1, 4, 5), (2, 6, 7)], []), ([(0, 0, 1), (2, 6, 7)], [(0, 0), (1, 4), (2, 6)])],
        {},
    ),
    "compacted epoch, without checkpoints": (
        [([(0, 0, 3), (1, 4, 5), (2, 6, 7)], []), ([(0, 0, 1), (2, 6, 7)], [])],
        {},
    ),
    "replica with decreasing epochs": ([([(0, 0, 9)], []), ([(9, 1, 1), (0, 2, 9)], [])], {}),
}


def test_lost_epochs_follow_the_log_of_the_newest_leader(spark: SparkSession) -> None:
    batches, entries = [], []
    for case, (replicas, _) in CASES.items():
        for at_replica, (spans, chain) in enumerate(replicas):
            folder = f"/{at_replica}/{case}-0"
            batches += [(case, 0, f"{folder}/0.log", epoch, first, last) for epoch, first, last in spans]
            entries += [(case, 0, f"{folder}/leader-epoch-checkpoint", epoch, start, None) for epoch, start in chain]
    log = "topic string, partition int, file string, leader_epoch int"
    found = lost_epochs(
        spark.createDataFrame(batches, f"{log}, base_offset long, last_offset long"),
        spark.createDataFrame(entries, f"{log}, offset long, problem string"),
    )
    lost: dict[str, dict[int, int]] = {case: {} for case in CASES}
    for row in found.collect():
        lost[row.topic][row.leader_epoch] = row.lost_from
    assert lost == {case: expected for case, (_, expected) in CASES.items()}


def test_snapshots_are_no_part_of_the_log(spark: SparkSession) -> None:
    batches = [
        ("old/__cluster_metadata-0/0.log", 1, 0, 5),
        ("new/__cluster_metadata-0/0.log", 1, 0, 2),
        ("new/__cluster_metadata-0/0.log", 2, 3, 3),
        ("new/__cluster_metadata-0/4-2.checkpoint", 2, 0, 0),
        ("old/__cluster_metadata-0/9-1.checkpoint", 1, 0, 8),
    ]
    rows = spark.createDataFrame(batches, "file string, leader_epoch int, base_offset long, last_offset long")
    rows = rows.selectExpr("'__cluster_metadata' as topic", "0 as partition", "*")
    lost = lost_epochs(rows)
    assert [tuple(row) for row in lost.collect()] == [("__cluster_metadata", 0, 1, 3)]
    assert sorted(tuple(row)[2:] for row in without_lost(rows, lost).collect()) == sorted(batches[1:])


def epochs(folder: Path, *entries: str) -> None:
    (folder / "leader-epoch-checkpoint").write_text("\n".join(("0", str(len(entries)), *entries, "")))


def commit(offset: int, topic: str, committed: int) -> bytes:
    key = OffsetCommitKey(group="app", topic=topic, partition=0)
    return of_epoch(0, coordinator(offset, offset, key, OffsetCommitValue(offset=committed), 4))


@pytest.mark.parametrize(
    ("job", "table", "expected"),
    [
        (inventory, "topics", {"records": 100}),
        (batching, "topics", {"records": 100}),
        (transactions, "partitions", {"next_offset": 100}),
        pytest.param(groups, "offsets", {"end_offset": 100, "lag": 5}, marks=pytest.mark.nightly),
    ],
    ids=["inventory", "batching", "transactions", "groups"],
)
def test_checkpoint_in_a_skipped_folder_does_not_end_the_log(
    spark: SparkSession, tmp_path: Path, job: ModuleType, table: str, expected: dict[str, int]
) -> None:
    logs, out = tmp_path / "logs", str(tmp_path / "out")
    for broker in "ab":
        segment(logs / broker, "orders-0", *(of_epoch(0, data(offset, count=10)) for offset in range(0, 100, 10)))
    segment(logs / "a", "__consumer_offsets-0", commit(0, "orders", 95))
    for broker, ending in (("a", "delete"), ("b", "stray")):
        old = f"orders-0.6d1b8b86e12e4d75bb6cf74f72c640c6-{ending}"
        segment(logs / broker, old, of_epoch(0, data(0, count=10)))
        epochs(logs / broker / old, "0 0", "5 20")
    damaged = "orders-1.6d1b8b86e12e4d75bb6cf74f72c640c6-delete"
    segment(logs / "a", damaged, data(0))
    (logs / "a" / damaged / "leader-epoch-checkpoint").write_text("?")
    more = ["--data", str(logs)] if job is groups else []
    assert job.main([str(logs), *more, "--output", out, "--quiet"]) == 0
    (row,) = spark.read.parquet(f"{out}/{table}").where("topic = 'orders'").collect()
    assert {name: row[name] for name in expected} == expected


@pytest.mark.nightly
def test_commits_that_a_failover_lost_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    segment(logs / "dead", "__consumer_offsets-0", *(commit(offset, "orders", 3 + offset) for offset in range(3)))
    segment(logs / "alive", "__consumer_offsets-0", commit(0, "orders", 3))
    epochs(logs / "alive" / "__consumer_offsets-0", "0 0", "1 1")
    segment(logs / "alive", "orders-0", data(0, count=6))
    for name, more in (("full", []), *((name, ["--state", str(tmp_path / "state")]) for name in ("written", "stored"))):
        out = str(tmp_path / name)
        assert groups.main([str(logs), "--data", str(logs), "--output", out, "--quiet", *more]) == 0
        (row,) = spark.read.parquet(f"{out}/offsets").collect()
        assert (row.committed_offset, row.lag) == (3, 3)
        assert spark.read.parquet(f"{out}/commits").count() == 1


def test_topic_is_unread_if_its_commits_were_lost(spark: SparkSession, tmp_path: Path) -> None:
    logs, out = tmp_path / "logs", str(tmp_path / "out")
    segment(logs / "dead", "__consumer_offsets-0", commit(0, "orders", 3), commit(1, "clicks", 3))
    segment(logs / "alive", "__consumer_offsets-0", commit(0, "orders", 3), of_epoch(1, commit(1, "orders", 4)))
    for topic in ("orders", "clicks"):
        segment(logs / "alive", f"{topic}-0", data(0, count=6))
    segment(logs / "dead", "gone-0", of_epoch(0, data(0, count=6)))
    segment(logs / "alive", "gone-0")
    epochs(logs / "alive" / "gone-0", "1 0")
    assert inventory.main([str(logs), "--output", out, "--quiet"]) == 0
    rows = {row.topic: row.flags for row in spark.read.parquet(f"{out}/topics").collect()}
    assert {name: rows[name] for name in ("orders", "clicks", "gone")} == {
        "orders": ["tiny"],
        "clicks": ["unread", "tiny"],
        "gone": ["unread", "empty"],
    }


@pytest.mark.parametrize("states", [0, pytest.param(2, marks=pytest.mark.nightly)], ids=["full", "state"])
def test_records_that_a_failover_lost_are_not_dead(spark: SparkSession, tmp_path: Path, states: int) -> None:
    logs = tmp_path / "logs"

    def keyed(offset: int, *keys: bytes) -> bytes:
        rows = [{"key": key, "value": bytes(50), "timestamp": at(offset)} for key in keys]
        return of_epoch(0, write_batches(rows, base_offset=offset))

    kept = keyed(0, b"a", b"b")
    segment(logs / "dead", "table-0", kept, keyed(2, b"a", b"a", b"b"))
    segment(logs / "alive", "table-0", kept)
    epochs(logs / "alive" / "table-0", "0 0", "1 2")
    more = ["--state", str(tmp_path / "state")] if states else []
    for run in range(states or 1):
        out = str(tmp_path / str(run))
        assert batching.main([str(logs), "--compacted", "table", "--output", out, "--quiet", *more]) == 0
        (row,) = spark.read.parquet(f"{out}/dead").collect()
        assert (row.records, row.keys, row.dead_bytes, row.bytes) == (2, 2, 0, len(kept))


def test_damaged_epochs_of_other_topics_are_not_reported(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    for place in ("a/orders-0", "b/orders-0", "b/other-0"):
        segment(logs, place, data(0, count=3))
    (logs / "b" / "other-0" / "leader-epoch-checkpoint").write_text("?")
    assert batching.main([str(logs), "--topic", "orders", "--quiet"]) == 0
    capsys.readouterr()
    assert batching.main([str(logs), "--output", str(tmp_path / "out"), "--quiet"]) == 1
    (row,) = spark.read.parquet(f"{tmp_path}/out/unreadable").collect()
    reason = "damaged checkpoint, ignored: line 1, '?', does not end with a newline"
    assert (row.topic, row.partition, row.reason) == ("other", 0, reason)
