"""The job replicas: logs of one partition on several brokers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses.replicas import CHECKS, compare_logs
from kafka_messages_spark.jobs.replicas import main
from tests.pipeline.job_files import at, of_epoch, segment

WATERMARKS, EPOCHS, CLEANER = (
    f"{name}-checkpoint" for name in ("replication-offset", "leader-epoch", "cleaner-offset")
)


def batch(offsets: Iterable[int], epoch: int, text: str = "", **more: Any) -> bytes:
    offsets = list(offsets)
    rows = [
        {"key": b"k%d%s" % (each, text.encode()), "value": b"v", "offset": each, "timestamp": at(each)}
        for each in offsets
    ]
    return bytes(write_batches(rows, base_offset=offsets[0], leader_epoch=epoch, **more))


def checkpoint(folder: Path, name: str, *entries: str) -> None:
    (folder / name).write_text("".join(f"{line}\n" for line in ("0", len(entries), *entries)))


def run(tmp_path: Path, *folders: Path) -> tuple[int, dict[str, Any]]:
    report = tmp_path / "report.json"
    status = main(
        [*map(str, folders or [tmp_path]), "--quiet", "--report", str(report), "--output", str(tmp_path / "out")]
    )
    return status, json.loads(report.read_text())


def findings(report: dict[str, Any]) -> list[tuple[str, str, str, int, int]]:
    tables = [each["tables"][0]["rows"] for each in report["sections"] if each["title"] == "Findings by severity"]
    names = ("severity", "check", "replica", "offset", "end_offset")
    return [tuple(row[name] for name in names) for rows in tables for row in rows]


def test_149_records_lost_by_a_failover_are_listed_once(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The leader of epoch 0 died before its followers had fetched the last 149 records (acks=1)."""
    dead, survivor, third = (tmp_path / each for each in ("dead", "survivor", "third"))
    before = [batch(range(base, base + 10), 0) for base in range(43_813, 43_913, 10)]
    lost = [batch(range(base, min(base + 10, 44_062)), 0) for base in range(43_913, 44_062, 10)]
    after = [batch(range(base, base + 10), 1, "new") for base in range(43_913, 44_263, 10)]
    for folder, last in ((dead, lost), (survivor, after), (third, after[:-2])):
        segment(folder, "busy-1", *before[:5], base=43_813)
        segment(folder, "busy-1", *before[5:], *last, base=43_863)
        checkpoint(folder, WATERMARKS, "busy 1 43900" if folder is not dead else "busy 1 43920", "busy 0 7")
    checkpoint(dead / "busy-1", EPOCHS, "0 43813")
    assert run(tmp_path, dead, survivor, third)[0] == 1
    rows = spark.read.parquet(str(tmp_path / "out" / "lost_records")).orderBy("offset").collect()
    assert [row["offset"] for row in rows] == list(range(43_913, 44_062))
    assert {(row.topic, row.partition, row.leader_epoch, row.replaced_by_epoch) for row in rows} == {("busy", 1, 0, 1)}
    assert [row.key_hash for row in rows] == [
        hashlib.sha256(b"k%d" % each).hexdigest()[:16] for each in range(43_913, 44_062)
    ]
    assert [int(row.timestamp.timestamp() * 1000) for row in rows] == [at(each) for each in range(43_913, 44_062)]
    assert [row["offset"] for row in rows if row.visible_to_consumers] == list(range(43_913, 43_920))
    assert {row.visible_to_consumers for row in rows} == {True, None}
    assert {tuple(row.replicas) for row in rows} == {(str(dead / "busy-1"),)}


def test_healthy_replicas_have_no_findings(tmp_path: Path) -> None:
    """One follower lags, retention removed a segment of one replica only, and the cleaner ran on one broker only."""
    one, two = tmp_path / "one", tmp_path / "two"
    batches = [batch(range(base, base + 10), base // 40) for base in range(0, 100, 10)]
    segment(one, "orders-0", *batches[:5])
    segment(one, "orders-0", *batches[5:], base=50)
    segment(two, "orders-0", *batches[5:8], base=50)
    segment(one, "states-0", *batches)
    segment(two, "states-0", batches[0], batch([10, 17, 19], 0), *batches[8:])
    segment(one, "plain-0", *batches)
    segment(two, "plain-0", *batches[3:], base=0)
    segment(one, "alone-0", *batches)
    segment(one, "idle-0", base=50)
    segment(two, "idle-0", base=50)
    for folder in (one, two):
        checkpoint(folder, WATERMARKS, "orders 0 80", "states 0 100", "plain 0 100", "idle 0 50", "deleted 0 1")
    checkpoint(two, CLEANER, "plain 0 60")
    for partition, chain in (("orders-0", ["0 0", "1 40", "2 80"]), ("idle-0", ["3 50"])):
        checkpoint(one / partition, EPOCHS, *chain)
        checkpoint(two / partition, EPOCHS, *chain[:2])
    status, report = run(tmp_path, one, two)
    assert status == 0
    assert findings(report) == [("info", "behind", str(two / "orders-0"), 80, 100)]
    assert report["figures"] == {
        "partitions": 5,
        "compared_partitions": 4,
        "replicas": 9,
        "lost_records": 0,
        "visible_lost_records": 0,
    }


def test_every_check_finds_its_fault(spark: SparkSession, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    marker = of_epoch(0, write_control_batch("COMMIT", offset=60, producer_id=1, producer_epoch=0))
    batches = [batch(range(base, base + 10), 0) for base in range(0, 100, 10)]
    others = [batch(range(40, 50), 0, "x"), batch(range(50, 55), 0), batch(range(55, 60), 0)]
    for topic in ("cut", "gap", "other", "short"):
        segment(one, f"{topic}-0", *batches)
    segment(two, "cut-0", *batches[:5], batches[5][:-3])
    segment(two, "gap-0", *batches[:4], *batches[6:])
    segment(two, "other-0", *batches[:4], *others, *batches[6:])
    segment(two, "short-0", *batches[:5])
    segment(one, "split-0", *batches[:5])
    segment(two, "split-0", *batches[:5], batch(range(50, 60), 0), marker)
    checkpoint(one / "split-0", EPOCHS, "0 0", "3 50")
    checkpoint(two / "split-0", EPOCHS, "0 0")
    checkpoint(two, WATERMARKS, "short 0 70", "split 0 55")
    status, report = run(tmp_path, one, two)
    assert status == 1
    place = {name: str(two / f"{name}-0") for name in ("cut", "gap", "other", "short", "split")}
    assert findings(report) == [
        ("error", "differs", place["other"], 40, 60),
        ("error", "diverged", place["split"], 50, 61),
        ("warning", "incomplete_tail", place["cut"], 50, 100),
        ("warning", "missing", place["gap"], 40, 60),
        ("warning", "missing", str(one / "other-0"), 55, 60),
        ("warning", "truncated", place["short"], 50, 70),
    ]
    assert {each["kind"] for each in report["findings"]} | {"behind"} == set(CHECKS)
    rows = spark.read.parquet(str(tmp_path / "out" / "lost_records")).orderBy("offset").collect()
    assert [(row["offset"], row.visible_to_consumers) for row in rows] == [
        (each, True if each < 55 else None) for each in range(50, 61)
    ]
    assert {row.leader_epoch for row in rows} == {0}
    assert [row.control_type for row in rows] == [None] * 10 + ["COMMIT"]
    assert (report["figures"]["lost_records"], report["figures"]["visible_lost_records"]) == (10, 5)


def logs(**replicas: dict[str, Any]) -> dict[str, tuple[int | None, list[str]]]:
    """Compare replicas given by leader epochs with first and end offset, and by entries of the checkpoint."""
    names = ("kind", "replica", "leader_epoch", "start", "end", "count", "traces")
    seen: list[tuple[Any, ...]] = []
    for name, given in replicas.items():
        seen += [("batches", name, epoch, *ends, 1, False) for epoch, ends in given["batches"].items()]
        seen += [("file", name, None, 0, 0, None, None)]
        seen += [("epoch", name, epoch, start, None, None, None) for epoch, start in given.get("chain", {}).items()]
    rows = compare_logs([dict(zip(names, each, strict=True)) for each in seen])
    return {row["replica"]: (row["diverges_at"], [found["check"] for found in row["found"]]) for row in rows}


def test_leader_epochs_tell_the_newest_replica() -> None:
    """The highest epoch of the whole log counts, not that of an offset (KIP-279)."""
    assert logs(
        a={"batches": {5: (0, 100), 7: (100, 120)}},
        b={"batches": {5: (0, 90), 6: (90, 105)}},
        c={"batches": {5: (0, 95)}},
    ) == {"a": (None, []), "b": (90, ["diverged"]), "c": (None, ["behind"])}


def test_epoch_without_records_ends_earlier_ones_if_all_checkpoints_are_known() -> None:
    dead = {"batches": {5: (0, 100)}, "chain": {5: 0}}
    elected = {"batches": {5: (0, 90)}, "chain": {5: 0, 6: 90}}
    assert logs(dead=dead, elected=elected) == {"dead": (90, ["diverged"]), "elected": (None, [])}
    dead = {"batches": {5: (0, 100)}}
    assert logs(dead=dead, elected=elected) == {"dead": (None, []), "elected": (None, ["behind"])}


def test_epochs_in_cleaned_logs_are_compared_where_they_are_known() -> None:
    cleaned = {"batches": {5: (40, 60), 6: (95, 120)}}
    assert logs(one={"batches": {5: (0, 80), 6: (80, 120)}}, two=cleaned) == {"one": (None, []), "two": (None, [])}
    stale = {"batches": {5: (0, 100)}}
    assert logs(stale=stale, two=cleaned)["stale"] == (95, ["diverged"])
    assert logs(stale=stale, two=cleaned | {"chain": {5: 0, 6: 90}})["stale"] == (90, ["diverged"])


def test_log_that_ends_below_its_own_leader_epoch_is_truncated() -> None:
    found = logs(one={"batches": {5: (0, 90)}, "chain": {5: 0, 6: 95}}, two={"batches": {5: (0, 100)}})
    assert found == {"one": (None, ["truncated"]), "two": (None, [])}
