"""All jobs on the files of three brokers before, during and after an incident, compared with Kafka's tools."""

from __future__ import annotations

import hashlib
import json
import struct
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses.batches import read_batches
from tests.interop.dump import Json, dump
from tests.interop.kafka import Java
from tests.interop.make import WORK
from tests.interop.three import DELETED, HIGH_WATERMARKS, LEFT_BEHIND, LOST, MOVED, Three, Written, three
from tests.interop.tools import Partition, ToolOutput
from tests.support.job_runs import Outcome, findings, run

FINE, FINDINGS = 0, 1
"""Exit statuses of a job."""
BROKERS = ("1", "2", "3")
INTERNAL = ("consumer_offsets", "transaction_state", "cluster_metadata")
METADATA = "__cluster_metadata"
CONTROL_KEYS = {"ABORT": struct.pack(">hh", 0, 0), "COMMIT": struct.pack(">hh", 0, 1)}
Capture: TypeAlias = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Three]:
    with three() as made:
        yield made


@pytest.fixture(scope="module")
def dumped(cluster: Three) -> dict[str, list[Json]]:
    """Return the batches of each broker in the copies after the kill, by Kafka's dump tool."""
    java = Java.prepare(WORK)
    return {broker: list(dump(java, cluster.killed / broker)) for broker in BROKERS}


def tables(spark: SparkSession, done: Outcome, name: str, where: str = "true") -> list[Any]:
    return spark.read.parquet(f"{done.tables}/{name}").where(where).collect()


def output_of(cluster: Three, copy: str) -> ToolOutput:
    return {"healthy": cluster.before, "killed": cluster.during, "back": cluster.after}[copy]


def place_of(batch: Json) -> Partition:
    topic, _, number = batch["file"].split("/")[0].rpartition("-")
    return topic, int(number)


def records_of(dumped: dict[str, list[Json]], topic: str) -> dict[tuple[int, int], Json]:
    """Return the data records in the logs of a topic, by partition and offset."""
    return {
        (place_of(batch)[1], record["offset"]): record
        for batches in dumped.values()
        for batch in batches
        if batch["file"].startswith(f"{topic}-") and batch["file"].endswith(".log") and not batch["isControl"]
        for record in batch["records"]
    }


def test_incident_has_lost_and_deleted_records(cluster: Three) -> None:
    for partition in LOST:
        assert cluster.lost[partition][0].offset == cluster.before.ends[partition]
    assert [cluster.during.ends[each] > cluster.lost[each][-1].offset for each in LOST] == [True, False, False]
    assert cluster.during.ends[LOST[2]] == cluster.before.ends[LOST[2]]
    moved = [cluster.moving / broker / "shipments-0" / f"{0:020}.log" for broker in "12"]
    assert 0 < moved[1].stat().st_size < moved[0].stat().st_size
    assert cluster.during.topics[MOVED[0]]["partitions"][MOVED[1]]["Isr"] == [1, 2]
    assert cluster.during.starts[DELETED] > LEFT_BEHIND
    assert len(list(cluster.killed.glob("*/basket-*-delete"))) == 3
    assert {each.name.split(".")[0] for each in cluster.back.glob("3/*-stray")} == {"basket-0", "shipments-0"}


def test_batches_equal_those_of_the_dump_tool(
    cluster: Three, dumped: dict[str, list[Json]], spark: SparkSession
) -> None:
    names = ("baseOffset", "lastOffset", "count", "partitionLeaderEpoch", "size", "crc", "isTransactional", "isControl")
    columns = ("base_offset", "last_offset", "records", "leader_epoch", "size", "crc", "is_transactional", "is_control")
    for broker, batches in dumped.items():
        logs = cluster.killed / broker
        rows = read_batches(spark, [str(logs), *map(str, logs.glob("*-delete"))]).collect()
        found = {(row.file, row.position): tuple(row[name] for name in columns) for row in rows}
        wanted = {(f"{logs}/{each['file']}", each["position"]): tuple(each[n] for n in names) for each in batches}
        assert found == wanted
        assert all(row.crc_ok for row in rows)


@pytest.mark.parametrize("copy", ["healthy", "killed"])
def test_transactions(copy: str, cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture) -> None:
    output = output_of(cluster, copy)
    done = run("transactions", [str(getattr(cluster, copy))], tmp_path / "out", capfd)
    opened = {
        (row.topic, row.partition, row.producer_id, row.first_offset)
        for row in tables(spark, done, "open_transactions")
    }
    assert opened == set(output.hanging)
    assert findings(done) == ({"hanging": 1} if opened else {})
    assert done.exit_status == (FINDINGS if opened else FINE)
    states = tables(spark, done, "coordinator_states")
    assert {row.transactional_id: (row.state, row.producer_id) for row in states} == output.transactions
    rows = {(row.topic, row.partition): row for row in tables(spark, done, "partitions")}
    assert {each: rows[each].log_start_offset for each in output.starts} == output.starts
    assert {each: rows[each].next_offset for each in output.ends} == output.ends
    assert not tables(spark, done, "completed_transactions", "topic = 'orders'")


@pytest.mark.parametrize("copy", ["healthy", "killed"])
def test_lag(copy: str, cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture) -> None:
    output, logs = output_of(cluster, copy), str(getattr(cluster, copy))
    done = run("groups", [logs, "--data", logs], tmp_path / "out", capfd)
    rows = tables(spark, done, "offsets")
    assert {(row.group, row.topic, row.partition): (row.committed_offset, row.lag) for row in rows} == {
        each: (committed, max(lag, 0)) for each, (committed, lag) in output.lags.items()
    }
    lost = {place: records[0].offset for place, records in cluster.lost.items()} if copy == "killed" else {}
    places = {}
    for (group, topic, number), (committed, lag) in output.lags.items():
        partition = (topic, number)
        if lag < 0:
            places[group, *partition] = "beyond the log"
        elif committed < output.starts[partition]:
            places[group, *partition] = "below the log"
        elif committed > lost.get(partition, committed):
            places[group, *partition] = "diverged"
    assert {(row.group, row.topic, row.partition): row.place for row in rows if row.place != "within"} == places
    assert findings(done) == ({"offset outside the log": len(places)} if places else {})
    assert len(places) == (0 if copy == "healthy" else 4)


@pytest.mark.parametrize("copy", ["healthy", "moving", "killed", "back"])
def test_lost_records(copy: str, cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture) -> None:
    logs = getattr(cluster, copy)
    done = run("replicas", [str(logs / broker) for broker in BROKERS], tmp_path / "out", capfd)
    rows = tables(spark, done, "lost_records")
    if copy in ("healthy", "back"):
        assert (done.exit_status, findings(done), rows) == (FINE, {}, [])
        return
    assert (done.exit_status, findings(done)) == (FINDINGS, {"diverged": len(LOST)})
    lines = (logs / "3" / HIGH_WATERMARKS).read_text(encoding="utf-8").splitlines()[2:]
    marks = {(topic, int(number)): int(offset) for topic, number, offset in map(str.split, lines)}
    wanted = [
        (*place, each.offset, each.epoch, key_hash(each), each.control or None, each.offset < marks[place] or None)
        for place, lost in cluster.lost.items()
        for each in lost
    ]
    found = [
        (
            row.topic,
            row.partition,
            row.offset,
            row.leader_epoch,
            row.key_hash,
            row.control_type,
            row.visible_to_consumers,
        )
        for row in rows
    ]
    assert sorted(found, key=lambda row: row[:3]) == wanted
    assert len({row[-1] for row in wanted}) == 2
    assert all(row.replicas == [str(logs / "3" / f"{row.topic}-{row.partition}")] for row in rows)
    newest = {(row.topic, row.partition): row for row in tables(spark, done, "replicas", "rank = 0")}
    if copy == "killed":
        ends = {place: end for place, end in cluster.during.ends.items() if end}
        assert {place: newest[place].log_end_offset for place in ends} == ends


def key_hash(written: Written) -> str:
    key = CONTROL_KEYS[written.control] if written.key is None else written.key
    return hashlib.sha256(key).hexdigest()[:16]


@pytest.mark.parametrize("copy", ["killed", "back"])
def test_inventory(copy: str, cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture) -> None:
    output, logs = output_of(cluster, copy), getattr(cluster, copy)
    done = run("inventory", [str(logs)], tmp_path / "out", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    rows = {row.topic: row for row in tables(spark, done, "topics")}
    dead = {"basket"} if copy == "killed" else set()
    assert rows.keys() == output.topics.keys() | {METADATA} | dead
    stored: dict[str, int] = defaultdict(int)
    for (topic, _), sizes in output.sizes.items():
        stored[topic] += sum(sizes.values())
    for path in logs.glob("3/*-[0-9]/*.log") if copy == "killed" else ():
        stored[path.parent.name.rpartition("-")[0]] += path.stat().st_size
    for topic, described in output.topics.items():
        row, configs, partitions = rows[topic], described["configs"], described["partitions"]
        assert row.stored_bytes == stored[topic], topic
        assert row.partitions == len(partitions)
        assert row.replication_factor == min(len(each["Replicas"]) for each in partitions.values())
        own = (row.retention_ms, row.retention_bytes)
        if row.retention_source == "topic":
            shown = (configs.get(name) for name in ("retention.ms", "retention.bytes"))
            assert own == tuple(None if value is None else int(value) for value in shown)
        else:
            assert (own, configs.get("retention.ms")) == ((None, None), "-1")
        assert row.cleanup_policy == configs.get("cleanup.policy")
    assert {topic for topic, row in rows.items() if row.retention_source == "topic"} == {"clicks", "payments"}
    if copy == "back":
        ends = [end for (topic, _), end in output.ends.items() if topic == "orders"]
        assert rows["orders"].records == sum(ends)


def test_batching(
    cluster: Three, dumped: dict[str, list[Json]], spark: SparkSession, tmp_path: Path, capfd: Capture
) -> None:
    done = run("batching", [str(cluster.killed)], tmp_path / "out", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    rows = {(row.topic, row.partition): row for row in tables(spark, done, "partitions")}
    leaders = {
        (topic, number): str(each["leader"])
        for topic, described in cluster.during.topics.items()
        if described["configs"].get("cleanup.policy") != "compact" and topic != DELETED[0]
        for number, each in described["partitions"].items()
    }
    # The log of the new leader of this partition ends without a record of its own.
    del leaders[LOST[2]]
    for place, leader in leaders.items():
        batches = [each for each in dumped[leader] if each["file"].startswith(f"{place[0]}-{place[1]}/")]
        data = [each for each in batches if not each["isControl"]]
        found = (rows[place].batches, rows[place].records, rows[place].bytes, rows[place].control_batches)
        sums = (len(data), sum(each["count"] for each in data), sum(each["size"] for each in data))
        assert found == (*sums, len(batches) - len(data)), place


@pytest.mark.parametrize("copy", ["moving", "killed"])
def test_segments_are_intact(copy: str, cluster: Three, tmp_path: Path, capfd: Capture) -> None:
    done = run("segments", [str(getattr(cluster, copy))], tmp_path / "out", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})


def test_metadata_changes(cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture) -> None:
    done = run("metadata_diff", [str(cluster.healthy / "1"), str(cluster.killed / "1")], tmp_path / "out", capfd)
    assert done.exit_status == FINDINGS
    for table, output in (("before", cluster.before), ("after", cluster.during)):
        fields = {row.name: row.fields for row in tables(spark, done, table, "entity = 'partition'")}
        found = {
            name: {key: json.loads(each[key.lower()]) for key in ("leader", "Replicas", "Isr")}
            for name, each in fields.items()
        }
        wanted = {
            f"{topic}-{number}": each
            for topic, described in output.topics.items()
            for number, each in described["partitions"].items()
        }
        assert found == wanted
        ids = {row.name: json.loads(row.key)[-1] for row in tables(spark, done, table, "entity = 'topic'")}
        assert ids.keys() == output.topics.keys()
    rows = tables(spark, done, "differences")
    changed = {row.name for row in rows if row.entity == "partition"}
    one, other = cluster.before.topics, cluster.during.topics
    differ = {
        f"{topic}-{number}"
        for topic, described in one.items()
        for number, each in described["partitions"].items()
        if other.get(topic, {"partitions": {}})["partitions"].get(number) != each
    }
    assert changed >= differ >= {"orders-0", "orders-1", "orders-2", "shipments-0", "basket-0", "basket-1"}
    assert {(row.change, row.entity, row.name) for row in rows if row.entity in ("topic", "config")} == {
        ("removed", "topic", "basket"),
        ("added", "config", "topic clicks: retention.bytes"),
        ("added", "config", "topic payments: retention.ms"),
        ("added", "config", "topic shipments: follower.replication.throttled.replicas"),
        ("added", "config", "broker 2: follower.replication.throttled.rate"),
    }


def test_changes_of_the_metadata_log_are_listed(
    cluster: Three, spark: SparkSession, tmp_path: Path, capfd: Capture
) -> None:
    done = run("metadata_diff", [str(cluster.killed)], tmp_path / "out", capfd)
    rows = tables(spark, done, "changes", "entity = 'partition' and change = 'changed'")
    unclean = {("leader", "3", "2"), ("leader_recovery_state", "0", "1"), ("leader_epoch", "0", "1")}
    elected = [row.name for row in rows if unclean <= set(map(tuple, row.changes))]
    assert sorted(elected) == [f"{topic}-{number}" for topic, number in LOST]


@pytest.mark.parametrize("topic", INTERNAL)
def test_internal_topics(
    topic: str,
    cluster: Three,
    dumped: dict[str, list[Json]],
    spark: SparkSession,
    tmp_path: Path,
    capfd: Capture,
) -> None:
    records = records_of(dumped, f"__{topic}")
    done = run("internal_topics", [topic, str(cluster.killed)], tmp_path / "internal", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    figures = json.loads(done.outputs["report.json"])["figures"]
    assert sum(figures.values()) == len(records)
    done = run("encodings", [topic, str(cluster.killed)], tmp_path / "encodings", capfd)
    assert (done.exit_status, findings(done)) == (FINE, {})
    parts = [part for each in records.values() for part in (each.get("key"), each["payload"]) if part is not None]
    assert json.loads(done.outputs["report.json"])["figures"]["messages"] == len(parts)
