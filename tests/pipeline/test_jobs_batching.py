"""The job batching, compared with a plain Python computation."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import kafka_messages as km
import pytest
from kafka_messages.internal_topics import read_coordinator_record
from kafka_records import Batch, MissingCodecError, Record, read_batches, write_batch
from kafka_records.crc import plain_crc32c
from kafka_records.segments.batch_writer import write_batches
from kafka_records.segments.names import ending_of, topic_of
from pyspark.sql import SparkSession

from kafka_messages_spark.jobs.batching import main
from tests.pipeline.job_files import at, coordinator, data, marker, segment
from tests.support.cluster import COMMITTED, Cluster

HEADER = 61
"""Bytes of a batch before its records."""
OFFSETS, STATE = "__consumer_offsets", "__transaction_state"


@dataclass(frozen=True)
class Written:
    topic: str
    partition: int
    batch: Batch
    uncompressed: int


def batches_of_example(cluster: Cluster) -> Iterator[Written]:
    for path in sorted(cluster.logs.glob("*/*.log")):
        topic, partition = topic_of(str(path))
        if topic is None or partition is None or ending_of(str(path)):
            continue
        for batch in read_batches(path.read_bytes()):
            if not batch.is_control:
                yield Written(topic, partition, batch, plain_size(cluster, topic, partition, batch))


def plain_size(cluster: Cluster, topic: str, partition: int, batch: Batch) -> int:
    try:
        return HEADER + len(batch.decompressed())
    except MissingCodecError:
        consumed = [cluster.records[topic, partition, each] for each in range(batch.base_offset, batch.last_offset + 1)]
        records = [
            Record(-1, row["timestamp"], row["key"], row["value"], tuple(row["headers"] or ())) for row in consumed
        ]
        return len(write_batch(records, base_offset=batch.base_offset))


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[ceil(share * len(values)) - 1]


@pytest.fixture(scope="module")
def example() -> tuple[Cluster, list[Written]]:
    cluster = Cluster(COMMITTED)
    return cluster, list(batches_of_example(cluster))


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("tables")
    assert main([str(COMMITTED / "logs"), "--output", f"{out}/t", "--quiet"]) == 0
    return lambda name: [row.asDict() for row in spark.read.parquet(f"{out}/t/{name}").collect()]


LEVELS: dict[str, Callable[[Written], tuple[object, ...]]] = {
    "topics": lambda each: (each.topic,),
    "partitions": lambda each: (each.topic, each.partition),
    "producers": lambda each: (each.topic, each.batch.producer_id),
    "compressions": lambda each: (each.topic, each.batch.compression),
}


@pytest.mark.parametrize("level", LEVELS)
def test_sums_equal_a_plain_computation(level: str, example: tuple[Cluster, list[Written]], tables: Any) -> None:
    wanted: defaultdict[tuple[object, ...], list[Written]] = defaultdict(list)
    for each in example[1]:
        wanted[LEVELS[level](each)].append(each)
    found = {tuple(list(row.values())[: len(next(iter(wanted)))]): row for row in tables(level) if row["batches"]}
    assert found.keys() == wanted.keys()
    for key, some in wanted.items():
        sizes, counts = [each.batch.size for each in some], [each.batch.count for each in some]
        row = found[key]
        assert (row["batches"], row["records"], row["bytes"]) == (len(some), sum(counts), sum(sizes))
        assert row["uncompressed_bytes"] == sum(each.uncompressed for each in some), key
        assert row["gain"] == pytest.approx(row["uncompressed_bytes"] / row["bytes"])
        assert (row["median_bytes"], row["p95_bytes"]) == (percentile(sizes, 0.5), percentile(sizes, 0.95))
        assert (row["median_records"], row["p95_records"]) == (percentile(counts, 0.5), percentile(counts, 0.95))
        assert row["single"] == counts.count(1)
        first = min(first_time(each.batch) for each in some)
        last = max(each.batch.max_timestamp for each in some)
        rate = pytest.approx(sum(counts) * 1000 / (last - first)) if last > first else None
        assert row["records_per_second"] == rate
        assert row["timestamp_type"] == some[0].batch.timestamp_type


def first_time(batch: Batch) -> int:
    is_elsewhere = batch.timestamp_type == "LogAppendTime" or batch.delete_horizon is not None
    return batch.max_timestamp if is_elsewhere else batch.base_timestamp


@dataclass
class Kept:
    key: bytes
    bytes: int
    is_tombstone: bool


def logs(written: list[Written], topics: set[str]) -> dict[tuple[str, int], dict[int, Kept]]:
    found: dict[tuple[str, int], dict[int, Kept]] = defaultdict(dict)
    for each in written:
        if each.topic not in topics:
            continue
        records = each.batch.records()
        weights = [len(record.key or b"") + len(record.value or b"") + 8 for record in records]
        ends = [sum(weights[: at + 1]) * each.batch.size // sum(weights) for at in range(len(records))]
        for record, begin, end in zip(records, [0, *ends], ends, strict=False):
            assert record.key is not None
            found[each.topic, each.partition][record.offset] = Kept(record.key, end - begin, record.value is None)
    return found


def test_dead_records_equal_a_plain_computation(example: tuple[Cluster, list[Written]], tables: Any) -> None:
    wanted = logs(example[1], {OFFSETS, STATE, "settings"})
    found = {(row["topic"], row["partition"]): row for row in tables("dead")}
    assert found.keys() == wanted.keys()
    for log, records in wanted.items():
        last = {record.key: offset for offset, record in sorted(records.items())}
        superseded = [record for offset, record in records.items() if last[record.key] != offset]
        tombstones = [records[offset] for offset in last.values() if records[offset].is_tombstone]
        row = found[log]
        total = sum(record.bytes for record in records.values())
        of_log = [each for each in example[1] if (each.topic, each.partition) == log]
        assert total == sum(each.batch.size for each in of_log)
        gone = sum(record.bytes for record in (*superseded, *tombstones))
        assert (row["records"], row["keys"]) == (len(records), len(last) - len(tombstones))
        assert (row["superseded"], row["tombstones"]) == (len(superseded), len(tombstones))
        assert (row["bytes"], row["dead_bytes"]) == (total, gone)
        assert row["dead_percent"] == pytest.approx(100 * gone / total)
        assert row["dirty_bytes"] == total  # these files have no checkpoint file


def test_offsets_by_group_equal_a_plain_computation(example: tuple[Cluster, list[Written]], tables: Any) -> None:
    wanted: Counter[tuple[Any, str | None]] = Counter()
    sizes: Counter[tuple[Any, str | None]] = Counter()
    for records in logs(example[1], {OFFSETS}).values():
        for record in records.values():
            key = read_coordinator_record("group-coordinator", record.key, None).key
            group = getattr(key, "group", None) or getattr(key, "group_id", None)
            place = group, key.topic if isinstance(key, km.OffsetCommitKey) else None
            wanted[place] += 1
            sizes[place] += record.bytes
    assert len(wanted) > 8
    found = tables("offsets_by_group")
    assert {(row["group"], row["topic"]): row["records"] for row in found} == wanted
    assert {(row["group"], row["topic"]): row["bytes"] for row in found} == sizes


def run(paths: list[Path], tmp_path: Path, *more: str) -> tuple[int, dict[str, Any]]:
    place = tmp_path / "report.json"
    status = main([*map(str, paths), *more, "--report", str(place), "--quiet"])
    return status, json.loads(place.read_text())


def rows(report: dict[str, Any], title: str) -> list[dict[str, Any]]:
    return [
        row for part in report["sections"] if part["title"] == title for each in part["tables"] for row in each["rows"]
    ]


def kinds(report: dict[str, Any]) -> dict[str, int]:
    return {each["kind"]: each["count"] for each in report["findings"]}


def singles(offset: int, count: int, producer: int, every: float) -> list[bytes]:
    return [
        data(offset + each, each * every, producer=producer, sequence=each, transactional=False)
        for each in range(count)
    ]


@pytest.mark.nightly
def test_single_record_batches_and_enlarging_compression_are_found(spark: SparkSession, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    slow, busy, few = singles(0, 20, 1, 0.2), singles(20, 20, 2, 0.06), singles(40, 19, 3, 0.01)
    burst = singles(59, 20, 4, 0.01)
    segment(logs, "orders-0", *slow, *busy, *few, *burst)
    segment(logs, "__share_group_state-0", *singles(0, 30, -1, 0.01))
    enlarged = [data(each, each, compression="gzip") for each in range(20)]
    segment(logs, "small-0", *enlarged)
    good = [{"value": b"x" * 1000}] * 20
    segment(logs, "large-0", *(write_batches(good, base_offset=20 * each, compression="gzip") for each in range(20)))
    status, report = run([logs], tmp_path, "--busy", "20")
    assert status == 1
    assert kinds(report) == {"batches of one record": 2, "compression that enlarges": 1}
    more = sum(map(len, enlarged)) - sum(len(data(each, each)) for each in range(20))
    found = [(row["topic"], row["producer_id"], row["detail"]) for row in rows(report, "Findings")]
    assert found == [
        ("orders", 2, "20 of 20 batches have one record, at 18 records a second"),
        ("orders", 4, "20 of 20 batches have one record, within 190 ms"),
        ("small", None, f"20 batches are {more} bytes larger than without compression"),
    ]
    assert run([logs], tmp_path)[0] == 0


@pytest.mark.nightly
def test_uncleaned_compacted_log_is_a_finding(spark: SparkSession, tmp_path: Path) -> None:
    def keyed(offset: int, key: bytes, value: bytes | None, **more: Any) -> bytes:
        return write_batches([{"key": key, "value": value, "timestamp": at(offset)}], base_offset=offset, **more)

    logs = tmp_path / "logs"
    first = [keyed(each, b"k", b"value") for each in range(30)]
    one = len(first[0])
    tombstone = keyed(30, b"gone", None)
    segment(logs, "states-0", *first, tombstone)
    segment(logs, "states-0", keyed(31, b"k", b"value"), keyed(32, b"k", b"value"), base=31)
    segment(logs, "orders-0", *first)
    (logs / "cleaner-offset-checkpoint").write_text("0\n1\nstates 0 10\n")
    status, report = run([logs], tmp_path, "--busy", "20")
    assert (status, kinds(report)) == (1, {"not cleaned": 1})
    assert rows(report, "Dead records in compacted topics") == [
        {
            "topic": "states",
            "partition": 0,
            "records": 33,
            "keys": 1,
            "bytes": 32 * one + len(tombstone),
            "dead_bytes": 31 * one + len(tombstone),
            "dead_percent": pytest.approx(100 * (31 * one + len(tombstone)) / (32 * one + len(tombstone))),
            "cleanable_bytes": 29 * one,
            "dirty_bytes": 22 * one + len(tombstone),
        }
    ]
    detail = f"{29 * one} of {30 * one + len(tombstone)} bytes in closed segments are superseded"
    assert [row["detail"] for row in rows(report, "Findings")] == [detail]
    (logs / "cleaner-offset-checkpoint").unlink()
    assert rows(run([logs], tmp_path)[1], "Dead records in compacted topics") == []
    given = rows(run([logs], tmp_path, "--compacted", "states")[1], "Dead records in compacted topics")
    assert [(row["topic"], row["dirty_bytes"]) for row in given] == [("states", 32 * one + len(tombstone))]


@pytest.mark.nightly
def test_aborted_and_keyless_records_are_dead(spark: SparkSession, tmp_path: Path) -> None:
    def keyed(offset: int, key: bytes | None, producer: int) -> bytes:
        rows = [{"key": key, "value": b"v", "timestamp": at(offset)}]
        producer_fields: dict[str, Any] = (
            {} if producer < 0 else {"producer_id": producer, "producer_epoch": 0, "base_sequence": 0}
        )
        return write_batches(rows, base_offset=offset, is_transactional=producer >= 0, **producer_fields)

    batches = [keyed(0, b"k", -1), keyed(1, b"k", 1), marker("ABORT", 2, 2, 1), keyed(3, b"k", 2), keyed(4, None, -1)]
    logs = tmp_path / "logs"
    segment(logs, "states-0", *batches)
    (row,) = rows(run([logs], tmp_path, "--compacted", "states")[1], "Dead records in compacted topics")
    assert (row["records"], row["keys"], row["dead_bytes"]) == (4, 1, len(batches[1]) + len(batches[4]))


def test_empty_tables_are_omitted_from_the_report(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path / "logs", "orders-0", data(0))
    assert main([str(tmp_path / "logs"), "--quiet"]) == 0
    report = capsys.readouterr().out
    assert sum(line.startswith("topic ") for line in report.splitlines()) == len(("Topics", "Producers"))
    assert "Compression ratios" not in report


def test_replicas_are_counted_once(spark: SparkSession, tmp_path: Path) -> None:
    commits = [
        coordinator(each, each, km.OffsetCommitKey(group="g", topic="orders"), km.OffsetCommitValue(offset=each), 4)
        for each in range(4)
    ]
    for broker, kept in (("one", commits), ("two", commits[2:])):
        segment(tmp_path / "logs" / broker, f"{OFFSETS}-0", *kept)
        segment(tmp_path / "logs" / broker, "orders-0", data(0, count=3, compression="gzip"))
    _, report = run([tmp_path / "logs"], tmp_path)
    figures = report["figures"]
    assert (figures["batches"], figures["records"], figures["topics"]) == (5, 7, 2)
    assert figures["bytes"] == sum(map(len, commits)) + len(data(0, count=3, compression="gzip"))
    assert figures["uncompressed_bytes"] == sum(map(len, commits)) + len(data(0, count=3))
    assert [(row["group"], row["records"]) for row in rows(report, "Groups by size in __consumer_offsets")] == [
        ("g", 4)
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("magic", [0, 1])
def test_older_message_formats_are_measured(magic: int, spark: SparkSession, tmp_path: Path) -> None:
    rows_of = [{"key": b"k" * each, "value": b"some words " * each} for each in range(20)]
    compressed = write_batches(rows_of, compression="gzip", magic=magic)
    segment(tmp_path / "logs", "old-0", compressed, write_batches(rows_of, base_offset=20, magic=magic))
    figures = run([tmp_path / "logs"], tmp_path)[1]["figures"]
    plain = len(write_batches(rows_of, magic=magic))
    assert (figures["records"], figures["batches"]) == (40, 21)
    assert (figures["bytes"], figures["uncompressed_bytes"]) == (len(compressed) + plain, 2 * plain)


def test_unreadable_batches_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    bad = bytearray(data(1, count=3, compression="gzip"))
    bad[70:74] = b"\xff" * 4
    bad[17:21] = plain_crc32c(bytes(bad[21:])).to_bytes(4, "big")
    corrupt = data(4)[:-1] + b"?"
    logs = tmp_path / "logs"
    segment(logs, "orders-0", data(0), bytes(bad), corrupt, data(5))
    segment(logs, f"{OFFSETS}-0", corrupt)
    (logs / "cleaner-offset-checkpoint").write_text("0\n2\n")
    status, report = run([logs], tmp_path)
    assert (status, kinds(report)) == (1, {"unreadable": 4})
    assert report["figures"]["batches"] == 2
    reported = {(row["topic"], row["position"]): row["reason"] for row in rows(report, "Unreadable")}
    assert reported[None, None] == "damaged checkpoint, ignored: line 2 declares 2 entries, but there are 0"
    assert reported["orders", len(data(0))].startswith("the gzip data is damaged: ")


@pytest.mark.nightly
def test_input_without_batches_has_no_findings(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "logs"
    segment(logs, "empty-0")
    segment(logs, "__cluster_metadata-0", data(0), name=f"{1:020}-{1:010}.checkpoint")
    status, report = run([logs], tmp_path)
    assert (status, report["figures"]["batches"], report["findings"]) == (0, 0, [])
    capsys.readouterr()
    assert main([str(logs), "--compacted", "other", "--quiet"]) == 2
    error = "batching: error: --compacted: no segments of other in these files\n"
    assert capsys.readouterr().err.endswith(error)
