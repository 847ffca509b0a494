"""Decode a real broker's files and compare them with Kafka's own tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kafka_messages
import pytest
from kafka_messages.json import from_json
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from kafka_messages_spark import (
    cluster_metadata,
    consumer_offsets,
    latest,
    register,
    share_group_state,
    transaction_state,
)
from kafka_messages_spark.analyses import groups, metadata, traffic
from kafka_messages_spark.analyses.transactions import coordinator_states
from kafka_messages_spark.jobs.segments import main as segments_job
from kafka_messages_spark.jobs.transactions import main as transactions_job
from tests.support.cluster import (
    COMMITTED,
    METADATA,
    Cluster,
    differences,
    milliseconds,
)

Row = dict[str, Any]
TABLES = {
    METADATA: cluster_metadata,
    "__consumer_offsets": consumer_offsets,
    "__share_group_state": share_group_state,
    "__transaction_state": transaction_state,
}


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster(COMMITTED)


def log(spark: SparkSession, cluster: Cluster, pattern: str = "*") -> DataFrame:
    register(spark)
    df = spark.read.format("kafka_log").option("includeBatchMetadata", True).option("includeHeaders", True)
    return df.load(f"{cluster.logs}/{pattern}").withColumn("file", F.substring_index("file", "/logs/", -1))


def table(spark: SparkSession, cluster: Cluster, topic: str) -> DataFrame:
    return log(spark, cluster, f"{topic}-*").transform(lambda df: TABLES[topic](df, {"showSecrets": "true"}))


@pytest.mark.nightly
def test_rows_equal_the_records_that_a_consumer_read(spark: SparkSession, cluster: Cluster) -> None:
    df = log(spark, cluster).where(f"NOT is_control AND topic <> '{METADATA}' AND file NOT LIKE '%-delete/%'")
    found = {
        (row.topic, row.partition, row.offset): {
            **{name: row[name] for name in ("topic", "partition", "offset", "timestampType")},
            "timestamp": milliseconds(row.timestamp),
            "key": row.key and bytes(row.key),
            "value": None if row.value is None else bytes(row.value),
            "headers": row.headers and [(header.key, header.value) for header in row.headers],
        }
        for row in df.collect()
    }
    assert found == cluster.records


@pytest.mark.parametrize("topic", TABLES)
def test_tables_equal_dump_tool_output(spark: SparkSession, cluster: Cluster, topic: str) -> None:
    rows = table(spark, cluster, topic).where("NOT is_control").orderBy("file", "offset").collect()
    want = cluster.decoded(topic)
    assert len(want) > 20
    assert [(row.file, row.offset, row.problem) for row in rows] == [(each.file, each.offset, None) for each in want]
    for row, record in zip(rows, want, strict=True):
        assert (row.record_type_id, row.record_version) == (record.type, record.version)
        assert row.is_tombstone == (record.value is None)
        struct = row[row.record_type].asDict(recursive=True)
        key, value = record.messages(topic)
        if topic == METADATA:
            assert list(differences(record.value, struct, value, row.record_type)) == []
        else:
            assert list(differences(record.key, struct["key"], key, f"{row.record_type}.key")) == []
            assert list(differences(record.value, struct["value"], value, f"{row.record_type}.value")) == []


@pytest.mark.nightly
def test_group_offsets_and_states_equal_admin_client(spark: SparkSession, cluster: Cluster) -> None:
    records = table(spark, cluster, "__consumer_offsets")
    commits = groups.offset_commits(records)
    history = groups.offset_history(commits, records).localCheckpoint()
    found: dict[str, Row] = {}
    for row in groups.committed_offsets(history).collect():
        offset = {"offset": row.committed_offset, "leader_epoch": row.leader_epoch, "metadata": row.metadata}
        found.setdefault(row.group, {})[f"{row.topic}-{row.partition}"] = offset
    expected = cluster.expected["groups"]
    assert found == {name: group["offsets"] for name, group in expected.items() if group["offsets"]}

    states = {row.group: row for row in groups.group_states(records).collect()}
    of_admin = {(name, group["type"].lower(), group["members"]) for name, group in expected.items()}
    of_admin |= {(name, "share", 0) for name in cluster.expected["share_groups"]}
    assert {(name, row.type, row.members) for name, row in states.items() if not row.removed} <= of_admin
    assert {name for name, row in states.items() if row.removed} == {"closed", "retired"}
    assert states["shipping"].members == 1

    resets = {(row.group, row.topic, row.partition, row.committed_offset) for row in groups.resets(history).collect()}
    assert resets == {("billing", "orders", 0, 3), ("audit", "orders", 0, 0)}
    storms = groups.commit_storms(commits).collect()
    assert [(row.group, row.topic, row.partition, row.commits) for row in storms] == [("chatty", "clicks", 0, 40)]
    removed = {(row.group, row.partition) for row in groups.removed_offsets(history).collect()}
    assert removed == {("billing", 2), ("closed", 0), ("closed", 1)}


def test_transactional_ids_equal_admin_client(spark: SparkSession, cluster: Cluster) -> None:
    rows = table(spark, cluster, "__transaction_state").transform(coordinator_states).collect()
    latest_rows = table(spark, cluster, "__transaction_state").transform(latest)
    values = {row.transaction_log.key.transactional_id: row.transaction_log.value for row in latest_rows.collect()}
    found = {
        name: {
            "state": next(row.state for row in rows if row.transactional_id == name),
            "producer_id": value.producer_id,
            "producer_epoch": value.producer_epoch,
            "timeout_ms": value.transaction_timeout_ms,
            "start_ms": None if value.transaction_start_timestamp_ms < 0 else value.transaction_start_timestamp_ms,
            "partitions": sorted(
                f"{of.topic}-{n}" for of in value.transaction_partitions or () for n in of.partition_ids
            ),
        }
        for name, value in values.items()
    }
    assert found == cluster.expected["transactions"]


def test_share_group_start_offsets_equal_admin_client(spark: SparkSession, cluster: Cluster) -> None:
    records = table(spark, cluster, "__share_group_state").orderBy("partition", "offset").collect()
    topics = {topic["id"]: name for name, topic in cluster.expected["topics"].items()}
    starts: dict[str, dict[str, int]] = {}
    for row in records:
        key, value = row.share_snapshot or row.share_update
        group = starts.setdefault(key.group_id, {})
        place = f"{topics[key.topic_id]}-{key.partition}"
        if value is None:
            del group[place]
        elif value.start_offset >= 0:  # -1 in an update: unchanged
            group[place] = value.start_offset
    expected = {group: described["start_offsets"] for group, described in cluster.expected["share_groups"].items()}
    assert {group: offsets for group, offsets in starts.items() if offsets} == expected


RESOURCES = {2: "TOPIC", 4: "BROKER", 16: "CLIENT_METRICS", 32: "GROUP"}
"""Numbers of ConfigResource.Type."""


def as_expected(entities: list[Any]) -> Row:
    found: dict[str, list[tuple[Any, Row]]] = {}
    for row in entities:
        found.setdefault(row.entity, []).append((json.loads(row.key), row.fields))
    configs: dict[str, Row] = {}
    for (kind, name, config), fields in found["config"]:
        # The admin client reports configurations of all brokers as those of each broker.
        configs.setdefault(f"{RESOURCES[kind]} {name or 1}", {})[config] = fields["value"]
    quotas = [
        {
            "entity": {each["entity_type"]: each["entity_name"] for each in entity},
            "values": {name: float(fields["value"])},
        }
        for (entity, name), fields in found["client quota"]
    ]
    return {
        "features": {key[0]: int(fields["feature_level"]) for key, fields in found["feature"]},
        "topics": {fields["name"]: key[0] for key, fields in found["topic"]},
        "partitions": {row.name for row in entities if row.entity == "partition"},
        "configs": configs,
        "acls": sorted([fields["resource_name"], fields["principal"], fields["host"]] for _, fields in found["acl"]),
        "quotas": quotas,
        "scram": {key[0] for key, _ in found["scram credential"]},
    }


@pytest.mark.parametrize(
    "base", [pytest.param(-1, id="the log"), pytest.param(None, id="the last snapshot", marks=pytest.mark.nightly)]
)
def test_metadata_image_equals_admin_client(spark: SparkSession, cluster: Cluster, base: int | None) -> None:
    records = table(spark, cluster, METADATA)
    chosen = metadata.records_of(records, base=base)
    expected = cluster.expected
    assert as_expected(metadata.image(metadata.replay(chosen)).collect()) == {
        # kraft.version is in control records.
        "features": {name: level for name, level in expected["features"].items() if name != "kraft.version"},
        "topics": {name: topic["id"] for name, topic in expected["topics"].items()},
        "partitions": {
            f"{name}-{each['partition']}" for name, topic in expected["topics"].items() for each in topic["partitions"]
        },
        "configs": expected["configs"],
        "acls": sorted([acl[1], acl[3], acl[4]] for acl in expected["acls"]),
        "quotas": expected["quotas"],
        "scram": expected["scram"].keys(),
    }
    assert metadata.unhandled(records).count() == 0
    assert metadata.snapshots(records).count() >= 3


def test_open_and_hanging_transactions_are_found(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    status = transactions_job([str(cluster.logs), "--output", str(tmp_path)])
    found = spark.read.parquet(str(tmp_path / "open_transactions")).collect()
    leaders = {
        (partition, each["producer_id"], each["producer_epoch"], each["transaction_start_offset"])
        for partition, producers in cluster.expected["producers"].items()
        for each in producers
        if each["transaction_start_offset"] is not None
    }
    opened = {(f"{row.topic}-{row.partition}", row.producer_id, row.producer_epoch, row.first_offset) for row in found}
    assert opened == leaders
    late = cluster.expected["late"]
    hanging = [row for row in found if row.verdict == "hanging"]
    assert [(row.transactional_id, row.topic, row.partition, row.first_offset) for row in hanging] == [
        (late["transactional_id"], late["topic"], late["partition"], late["offset"])
    ]
    assert {row.transactional_id for row in found if row.verdict == "ongoing"} == {"pay-ongoing"}
    assert status != 0


def test_undamaged_files_have_no_findings_above_info(spark: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    assert segments_job([str(cluster.logs), "--output", str(tmp_path)]) == 0
    files = spark.read.parquet(str(tmp_path / "files")).agg(F.sum("batches"), F.sum("records")).collect()[0]
    assert tuple(files) == (len(cluster.batches), sum(batch["count"] for batch in cluster.batches))


@pytest.fixture(scope="module")
def pairs(spark: SparkSession, cluster: Cluster) -> DataFrame:
    register(spark)
    return traffic.pair(spark.read.format("kafka_frames").load(str(cluster.traffic))).localCheckpoint()


def test_traffic_pairs_equal_the_request_log(pairs: DataFrame, cluster: Cluster) -> None:
    names = ("connection", "correlation_id", "api_key", "api_version", "client_id")
    rows = pairs.select(*names, "request_problem", "response_problem", F.isnull("response"))
    logged = {
        (connection, number, each["requestApiKey"], each["requestApiVersion"], each["clientId"], None, None, False)
        for (connection, number), each in cluster.requests.items()
    }
    assert {tuple(row) for row in rows.collect()} == logged
    assert len(logged) > 300


@pytest.mark.parametrize("name", ["OffsetCommit", "CreateTopics", "ShareGroupHeartbeat", "Fetch"])
def test_decoded_traffic_equals_the_request_log(pairs: DataFrame, cluster: Cluster, name: str) -> None:
    keep = ["connection", "correlation_id", "api_version"]
    for decode, side in ((traffic.decode_requests, "Request"), (traffic.decode_responses, "Response")):
        rows = decode(pairs, name + side, keep=keep).collect()
        assert rows
        for row in rows:
            logged = cluster.requests[row.connection, row.correlation_id][side.lower()]
            message = from_json(getattr(kafka_messages, name + side), without_sizes(logged), row.api_version)
            struct = row.message.asDict(recursive=True)
            assert list(differences(logged, struct, message)) == []


def without_sizes(logged: Any) -> Any:
    if isinstance(logged, list):
        return [without_sizes(each) for each in logged]
    if not isinstance(logged, dict):
        return logged
    return {
        name.removesuffix("SizeInBytes"): "" if name.endswith("SizeInBytes") else without_sizes(value)
        for name, value in logged.items()
    }
