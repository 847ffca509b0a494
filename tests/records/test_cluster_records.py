"""Log files of a real cluster, read without Spark; compared with Kafka's consumer, dump tool and admin client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from kafka_messages.internal_topics import LOGS, read_coordinator_record, read_metadata_record
from kafka_messages.json import to_json
from kafka_records.segments.reader import read_segments

from tests.support.cluster import (
    COMMIT_TYPE,
    COMMITTED,
    COORDINATORS,
    METADATA,
    Cluster,
    Commit,
    as_printed,
    committed_offsets,
    milliseconds,
    topic_of,
)

Row = dict[str, Any]


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    """Return the cluster in the repository; tests/interop overrides this fixture with a new cluster."""
    return Cluster(COMMITTED)


@pytest.fixture(scope="module")
def rows(cluster: Cluster) -> list[Row]:
    """Return every record of every file, control records included, in file order."""
    return list(read(cluster))


def read(cluster: Cluster) -> Iterator[Row]:
    files = sorted(path for path in cluster.logs.rglob("*") if path.is_file())
    with read_segments(files, batch_metadata=True) as batches:
        for batch in batches:
            for row in batch.to_pylist():
                yield row | {"file": row["file"].split("/logs/")[-1]}


def test_cluster_files_cover_codecs_transactions_and_record_types(cluster: Cluster) -> None:
    batches = cluster.batches
    assert {batch["compression"] for batch in batches} == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert {batch["timestampType"] for batch in batches} == {"CreateTime", "LogAppendTime"}
    assert any(batch["deleteHorizon"] for batch in batches)
    assert len({batch["file"] for batch in batches if batch["file"].endswith(".checkpoint")}) >= 3
    assert {state["state"] for state in cluster.expected["transactions"].values()} == {
        "CompleteAbort",
        "CompleteCommit",
        "Empty",
        "Ongoing",
    }
    types = {record.type for topic in COORDINATORS for record in cluster.decoded(topic)}
    assert types >= {0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15}
    assert len({record.type for record in cluster.decoded(METADATA)}) >= 15


def test_records_equal_those_of_kafkas_consumer(cluster: Cluster, rows: list[Row]) -> None:
    found = {}
    for row in rows:
        if row["is_control"] or row["topic"] == METADATA or "-delete/" in row["file"]:
            continue
        headers = row["headers"] and [(header["key"], header["value"]) for header in row["headers"]]
        found[row["topic"], row["partition"], row["offset"]] = {
            "topic": row["topic"],
            "partition": row["partition"],
            "offset": row["offset"],
            "timestamp": milliseconds(row["timestamp"]),
            "timestampType": row["timestampType"],
            "key": row["key"],
            "value": row["value"],
            "headers": headers,
        }
    assert len(found) > 300
    assert found == cluster.records


def test_batches_equal_those_of_kafkas_dump_tool(cluster: Cluster, rows: list[Row]) -> None:
    found = [
        (
            *(row["file"], row["position"], row["base_offset"], row["offset"], milliseconds(row["timestamp"])),
            *(row["leader_epoch"], row["producer_id"], row["producer_epoch"], row["base_sequence"], row["magic"]),
            *(row["compression"], row["is_transactional"], row["is_control"], row["timestampType"]),
            row["delete_horizon"] and milliseconds(row["delete_horizon"]),
        )
        for row in rows
    ]
    want = [
        (
            *(batch["file"], batch["position"], batch["baseOffset"], record["offset"], record["timestamp"]),
            *(batch["partitionLeaderEpoch"], batch["producerId"], batch["producerEpoch"], batch["baseSequence"]),
            *(batch["magic"], batch["compression"], batch["isTransactional"], batch["isControl"]),
            *(["CreateTime", "LogAppendTime"].index(batch["timestampType"]), batch["deleteHorizon"]),
        )
        for batch in cluster.batches
        for record in batch["records"]
    ]
    assert found == want


CONTROL_NAMES = {
    "COMMIT": "COMMIT",
    "ABORT": "ABORT",
    "LeaderChange": "LEADER_CHANGE",
    "SnapshotHeader": "SNAPSHOT_HEADER",
    "SnapshotFooter": "SNAPSHOT_FOOTER",
    "KRaftVersion": "KRAFT_VERSION",
    "KRaftVoters": "KRAFT_VOTERS",
}
"""Kafka's ControlRecordType by the name that the dump tool prints."""


def test_control_records_equal_those_of_kafkas_dump_tool(cluster: Cluster, rows: list[Row]) -> None:
    found = [(row["file"], row["offset"], row["control_type"]) for row in rows if row["is_control"]]
    want = [
        (batch["file"], record["offset"], CONTROL_NAMES[record["control"]["type"]])
        for batch in cluster.batches
        if batch["isControl"]
        for record in batch["records"]
    ]
    assert found == want
    assert {kind for _, _, kind in found} == set(CONTROL_NAMES.values())


@pytest.mark.parametrize("topic", COORDINATORS)
def test_coordinator_records_equal_kafkas_decoding(cluster: Cluster, rows: list[Row], topic: str) -> None:
    want = cluster.decoded(topic)
    chosen = [row for row in rows if row["topic"] == topic and not row["is_control"]]
    assert [(row["file"], row["offset"]) for row in chosen] == [(record.file, record.offset) for record in want]
    for row, record in zip(chosen, want, strict=True):
        found = read_coordinator_record(LOGS[topic], row["key"], row["value"])
        assert (found.type, found.value_version) == (record.type, record.version)
        assert to_json(found.key, 0) == record.key
        assert as_printed(to_json(found.value, found.value_version or 0) if found.value else None) == record.value


def test_metadata_records_equal_kafkas_decoding(cluster: Cluster, rows: list[Row]) -> None:
    want = cluster.decoded(METADATA)
    chosen = [row for row in rows if row["topic"] == METADATA and not row["is_control"]]
    assert [(row["file"], row["offset"]) for row in chosen] == [(record.file, record.offset) for record in want]
    for row, record in zip(chosen, want, strict=True):
        found = read_metadata_record(row["value"])
        assert (found.type, found.version) == (record.type, record.version)
        assert to_json(found.message, found.version) == record.value


def test_next_offsets_equal_those_of_kafkas_admin_client(cluster: Cluster, rows: list[Row]) -> None:
    with read_segments(sorted(cluster.logs.rglob("*.log"))) as reader:
        for _ in reader:
            pass
        ends: dict[str, int] = {}
        for report in reader.reports:
            assert not report.corrupt
            assert not report.incomplete_tail
            if topic_of(str(report.file).split("/logs/")[-1]) == report.topic != METADATA:
                place = f"{report.topic}-{report.partition}"
                ends[place] = max(ends.get(place, 0), report.next_offset or 0)
    assert ends == {
        f"{topic}-{each['partition']}": each["end"]
        for topic, described in cluster.expected["topics"].items()
        for each in described["partitions"]
    }


def test_committed_offsets_equal_those_of_kafkas_admin_client(cluster: Cluster, rows: list[Row]) -> None:
    commits = []
    for row in rows:
        if row["topic"] != "__consumer_offsets":
            continue
        fields = row["partition"], row["offset"], row["producer_id"], row["is_transactional"], row["control_type"]
        if row["is_control"]:
            commits.append(Commit(*fields))
            continue
        record = read_coordinator_record("group-coordinator", row["key"], row["value"])
        if record.type == COMMIT_TYPE:
            key = to_json(record.key, 0)
            value = to_json(record.value, record.value_version or 0) if record.value else None
            what = value and {
                "offset": value["offset"],
                "leader_epoch": value["leaderEpoch"],
                "metadata": value["metadata"],
            }
            commits.append(Commit(*fields, str(key["group"]), f"{key['topic']}-{key['partition']}", what))
    expected = {
        group: described["offsets"] for group, described in cluster.expected["groups"].items() if described["offsets"]
    }
    assert committed_offsets(commits) == expected
    assert expected.keys() == {"audit", "billing", "chatty", "exactly-once", "shipping"}
