"""Replay of a real broker's metadata log, compared with its snapshots and the admin client."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark import cluster_metadata, register
from kafka_messages_spark.analyses import metadata
from kafka_messages_spark.jobs.metadata_diff import main
from tests.support.cluster import COMMITTED, METADATA, Cluster

SALT = {"secretSalt": "the same for all"}


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return Cluster(COMMITTED)


def records(spark: SparkSession, folder: Path, pattern: str) -> DataFrame:
    register(spark)
    reader = spark.read.format("kafka_log").option("includeBatchMetadata", "true")
    return reader.option("pathGlobFilter", pattern).load(str(folder)).transform(cluster_metadata, SALT)


@pytest.mark.nightly
def test_replayed_log_equals_snapshots(spark: SparkSession, cluster: Cluster) -> None:
    folder = Path(cluster.logs) / f"{METADATA}-0"
    log = records(spark, folder, "*.log").persist()
    snapshots = sorted(folder.glob("*.checkpoint"))[1:]
    assert len(snapshots) >= 2
    for path in (snapshots[0], snapshots[-1]):
        found = re.match(r"\d+", path.name)
        assert found
        last = int(found[0]) - 1
        chosen = metadata.records_of(records(spark, folder, path.name))
        state = metadata.image(metadata.replay(chosen)).localCheckpoint()
        replayed = metadata.image(metadata.replay(metadata.records_of(log, up_to=last)))
        assert state.count() > 20
        assert metadata.differences(replayed, state).collect() == []
    log.unpersist()


@pytest.mark.nightly
def test_metadata_diff_equals_admin_client(
    spark: SparkSession, cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert main([str(cluster.logs), "--output", out, "--quiet"]) == 1
    report = capsys.readouterr().out
    after = spark.read.parquet(f"{out}/after").collect()
    of_kind = {
        entity: {row.name: dict(row.fields) for row in after if row.entity == entity} for entity in ("topic", "acl")
    }
    assert set(of_kind["topic"]) == set(cluster.expected["topics"])
    partitions = {row.name for row in after if row.entity == "partition"}
    assert partitions == {
        f"{name}-{each['partition']}"
        for name, topic in cluster.expected["topics"].items()
        for each in topic["partitions"]
    }
    assert len(of_kind["acl"]) == len(cluster.expected["acls"])
    settings = {row.name: row.fields["value"] for row in after if row.entity == "config"}
    assert settings["topic orders: retention.ms"] == cluster.expected["configs"]["TOPIC orders"]["retention.ms"]
    assert [row.problem for row in after if row.problem] == []
    changes = spark.read.parquet(f"{out}/changes")
    assert {row.name for row in changes.where("record_type = 'remove_topic_record'").collect()} >= {"temporary"}
    (quota,) = (row for row in after if row.entity == "client quota")
    assert (quota.name, dict(quota.fields)) == (
        "client-id reports, user ann: consumer_byte_rate",
        {"value": "1048576.0"},
    )
    assert spark.read.parquet(f"{out}/unhandled").count() == 0
    assert "missing" not in report
