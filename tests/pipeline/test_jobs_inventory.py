"""The job inventory: sizes, settings, readers and flags of topics."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import UUID

import kafka_messages as km
import pytest
from kafka_messages.internal_topics import write_coordinator_record
from kafka_records.segments.batch_writer import write_batches
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from pyspark.sql import SparkSession

from kafka_messages_spark.jobs import batching
from kafka_messages_spark.jobs.inventory import main
from tests.pipeline.job_files import at, coordinator, data, marker, metadata, of_epoch, segment
from tests.support.leaks import leaked, secret

DAY = 86_400
SECRET = secret("inventory")
IDS = {name: UUID(int=(1 << 64) + at) for at, name in enumerate(("orders", "old", "bare", "shared", "gone", "large"))}
BOTH, ONE = [1, 2], [1]


def partition(topic: str, number: int, replicas: list[int]) -> km.PartitionRecord:
    return km.PartitionRecord(
        partition_id=number,
        topic_id=IDS[topic],
        replicas=replicas,
        isr=replicas[:1],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
    )


def setting(topic: str, name: str, value: str | None, kind: int = 2) -> km.ConfigRecord:
    return km.ConfigRecord(resource_type=kind, resource_name=topic, name=name, value=value)


STATE = [
    *(km.TopicRecord(name=name, topic_id=IDS[name]) for name in IDS),
    *(partition("orders", number, BOTH) for number in range(3)),
    *(partition(name, 0, ONE) for name in ("old", "gone", "large")),
    *(partition(name, 0, BOTH) for name in ("bare", "shared")),
    setting("orders", "retention.ms", "1"),
    setting("orders", "retention.ms", "3600000"),
    setting("orders", "cleanup.policy", "compact,delete"),
    setting("old", "retention.bytes", "-1"),
    setting("shared", "retention.ms", "5"),
    setting("shared", "retention.ms", None),
    setting("shared", "acme.password", SECRET),
    setting("bare", "retention.ms", "7", 4),
]


def commit(topic: str, offset: int | None, group: str = "g") -> tuple[km.OffsetCommitKey, km.OffsetCommitValue | None]:
    return km.OffsetCommitKey(group=group, topic=topic), None if offset is None else km.OffsetCommitValue(offset=offset)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cluster")
    one, two = folder / "1", folder / "2"
    first = [data(0, 40 * DAY, count=4, compression="gzip"), data(4, 40 * DAY + 9, count=2)]
    segment(one, "orders-0", *first)
    segment(one, "orders-0", data(6, 40 * DAY + 20), base=6)
    segment(two, "orders-0", *first)
    segment(two, "orders-1", data(0, 40 * DAY, count=2, producer=3), marker("COMMIT", 2, 40 * DAY, 3))
    segment(one, "old-0", data(0, 0, count=5))
    segment(one, "bare-0")
    segment(two, "bare-0")
    segment(two, "shared-0", data(0, 40 * DAY - 1))
    segment(one, "large-0", write_batches([{"value": bytes(600_000), "timestamp": at(20 * DAY)}] * 2))
    segment(two, "raw-0", data(0, 40 * DAY))
    segment(two, "damaged-0", b"\x01" * 200)
    segment(two, "torn-0", b"\x01" * 200, data(0))
    commits = [commit("orders", 3), commit("orders", 3, "h"), commit("old", 2), commit("old", None), commit("raw", 1)]
    versions = [(key, value, None if value is None else 4) for key, value in commits]
    segment(one, "__consumer_offsets-0", *(coordinator(place, 41, *each) for place, each in enumerate(versions)))
    key = km.ShareSnapshotKey(group_id="s", topic_id=IDS["shared"], partition=0)
    name, value = write_coordinator_record(key, km.ShareSnapshotValue(start_offset=0), 0)
    segment(one, "__share_group_state-0", write_batches([{"key": name, "value": value, "timestamp": at(41)}]))
    segment(one, "__cluster_metadata-0", metadata(0, 0, *STATE))
    segment(two, "__cluster_metadata-0", metadata(0, 0, *STATE))
    return folder


FLAGS = {
    "__cluster_metadata": ["stale", "tiny"],
    "__consumer_offsets": ["stale", "tiny", "deleted"],
    "__share_group_state": ["stale", "tiny", "deleted"],
    "bare": ["unread", "empty"],
    "damaged": ["unread", "deleted"],
    "gone": ["unread", "unreplicated", "no files"],
    "large": ["unread", "unreplicated"],
    "old": ["stale", "tiny", "unreplicated"],
    "orders": [],
    "raw": ["tiny", "deleted"],
    "shared": ["tiny"],
    "torn": ["unread", "tiny", "deleted"],
}


def test_topics_are_listed_with_sizes_settings_and_flags(
    spark: SparkSession, cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, places = str(tmp_path / "out"), {kind: tmp_path / f"report.{kind}" for kind in ("html", "json", "prom", "md")}
    reports = [word for place in places.values() for word in ("--report", str(place))]
    assert main([str(cluster), "--output", out, "--quiet", *reports]) == 1
    printed = capsys.readouterr().out
    rows = {row.topic: row for row in spark.read.parquet(f"{out}/topics").collect()}
    assert {name: row.flags for name, row in rows.items()} == FLAGS
    settings = {
        name: (row.replication_factor, row.partitions, row.retention_ms, row.retention_bytes, row.retention_source)
        for name, row in rows.items()
    }
    assert settings == {
        **dict.fromkeys(
            ("__consumer_offsets", "__share_group_state", "__cluster_metadata"), (None, 1, None, None, "unknown")
        ),
        "bare": (2, 1, None, None, "broker"),
        "damaged": (None, 1, None, None, "unknown"),
        "gone": (1, 1, None, None, "broker"),
        "large": (1, 1, None, None, "broker"),
        "old": (1, 1, None, -1, "topic"),
        "orders": (2, 3, 3_600_000, None, "topic"),
        "raw": (None, 1, None, None, "unknown"),
        "shared": (2, 1, None, None, "broker"),
        "torn": (None, 1, None, None, "unknown"),
    }
    sizes = {path: path.stat().st_size for path in cluster.rglob("*.log") if path.parent.name.startswith("orders")}
    orders = rows["orders"]
    assert orders.stored_bytes == sum(sizes.values())
    assert orders.bytes == sum(size for path, size in sizes.items() if path.parts[-3:-1] != ("2", "orders-0"))
    assert (orders.replicas, orders.files, orders.records, orders.batches, orders.groups) == (3, 4, 9, 4, 2)
    assert (orders.cleanup_policy, orders.compression, orders.median_records) == ("compact,delete", "gzip, none", 2)
    assert (rows["shared"].groups, rows["old"].groups, rows["torn"].unreadable) == (1, 1, 1)
    content = json.loads(places["json"].read_text())
    assert content["figures"] == {
        "topics": 12,
        "partitions": 14,
        "bytes": sum(row.bytes for row in rows.values()),
        "stored_bytes": sum(row.stored_bytes for row in rows.values()),
        "stale": 4,
        "unread": 5,
        "tiny": 7,
        "empty": 1,
        "unreplicated": 3,
        "no_files": 1,
        "deleted": 5,
    }
    found = {each["kind"]: (each["severity"], each["count"]) for each in content["findings"]}
    assert found.pop("unreadable") == ("error", 1)
    assert set(found.values()) == {("info", content["figures"][kind.replace(" ", "_")]) for kind in found}
    for line in (
        "as of          2026-10-31 14:13:40.000Z, the newest record read\n",
        f"metadata       up to offset {len(STATE) - 1}\n",
        "group offsets  1 partitions of __consumer_offsets, 1 partitions of __share_group_state\n",
        "flags          4 stale, 5 unread, 7 tiny, 1 empty, 3 unreplicated, 1 no files, 5 deleted\n",
    ):
        assert line in printed
    families = {each.name: each.samples for each in text_string_to_metric_families(places["prom"].read_text())}
    assert [each.value for each in families["kafka_messages_spark_inventory_stored_bytes"]] == [
        content["figures"]["stored_bytes"]
    ]
    written = [printed.encode(), *(place.read_bytes() for place in places.values())]
    assert [leaked(text, [SECRET.encode()]) for text in written] == [[]] * 5
    assert places["html"].read_text().count("<tr>") == 1 + len(rows) + 2


@pytest.mark.nightly
def test_unknown_flags_are_missing_without_internal_topics(
    spark: SparkSession, cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    paths = [str(cluster / broker / topic) for broker, topic in (("1", "old-0"), ("1", "orders-0"), ("1", "bare-0"))]
    assert main([*paths, "--as-of", str(at(45 * DAY)), "--stale-days", "5", "--output", out, "--quiet"]) == 0
    printed = capsys.readouterr().out
    rows = {row.topic: row.flags for row in spark.read.parquet(f"{out}/topics").collect()}
    assert rows == {"bare": ["empty"], "old": ["stale", "tiny"], "orders": []}
    for line in (
        "as of          2026-11-05 14:13:20.000Z\n",
        "metadata       no segments of __cluster_metadata: retention and replication are unknown\n",
        "group offsets  no segments of __consumer_offsets: unread topics are unknown\n",
    ):
        assert line in printed


@pytest.mark.nightly
def test_records_that_a_failover_lost_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    kept, *lost = (of_epoch(0, data(first, count=count)) for first, count in ((0, 4), (4, 2), (6, 3), (9, 3)))
    segment(tmp_path / "dead", "orders-0", kept, *lost)
    segment(tmp_path / "alive", "orders-0", kept, of_epoch(1, data(4, count=3)))
    # The new leader has not written anything yet.
    segment(tmp_path / "dead", "quiet-0", kept, *lost)
    segment(tmp_path / "alive", "quiet-0", kept)
    (tmp_path / "alive" / "quiet-0" / "leader-epoch-checkpoint").write_text("0\n2\n0 0\n1 4\n")
    for name, job in (("inventory", main), ("batching", batching.main)):
        assert job([str(tmp_path), "--output", str(tmp_path / name), "--quiet"]) == 0
        rows = spark.read.parquet(f"{tmp_path}/{name}/topics").collect()
        assert {row.topic: (row.batches, row.records) for row in rows} == {"orders": (2, 7), "quiet": (1, 4)}


@pytest.mark.nightly
def test_damaged_leader_epoch_does_not_hide_records(spark: SparkSession, tmp_path: Path) -> None:
    batches = [of_epoch(2, data(offset)) for offset in range(4)]
    segment(tmp_path / "one", "orders-0", batches[0], of_epoch(1 << 20, batches[1]), *batches[2:])
    segment(tmp_path / "two", "orders-0", *batches[:3])
    assert main([str(tmp_path), "--output", str(tmp_path / "out"), "--quiet"]) == 0
    (row,) = spark.read.parquet(f"{tmp_path}/out/topics").collect()
    assert (row.batches, row.records) == (4, 4)
