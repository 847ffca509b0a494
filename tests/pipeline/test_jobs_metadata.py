"""The job metadata_diff: replay, comparison and list of changes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import kafka_messages as km
import pytest
from kafka_messages.messages.client_quota_record import EntityData
from kafka_messages.messages.register_broker_record import BrokerEndpoint
from kafka_records.segments.batch_writer import write_batches, write_control_batch
from pyspark.sql import SparkSession

from kafka_messages_spark.analyses.metadata._entities import EntityReplay, apply_change
from kafka_messages_spark.analyses.metadata._events import RULES
from kafka_messages_spark.analyses.metadata._names import name_of
from kafka_messages_spark.columns._records import columns_of
from kafka_messages_spark.jobs.metadata_diff import main
from tests.pipeline.job_files import at, metadata, segment

ORDERS, PAYMENTS, AGAIN = UUID(int=1 << 64), UUID(int=2 << 64), UUID(int=3 << 64)
LOG = "__cluster_metadata-0"


def test_every_metadata_record_type_has_a_rule() -> None:
    assert set(columns_of("metadata")) == set(RULES)


def partition(topic: UUID, number: int, **more: Any) -> km.PartitionRecord:
    fields: dict[str, Any] = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "leader_epoch": 0, "partition_epoch": 0}
    return km.PartitionRecord(partition_id=number, topic_id=topic, **fields | more)


def quota(key: str, value: float = 0.0, *, remove: bool = False) -> km.ClientQuotaRecord:
    entity = [EntityData(entity_type="user", entity_name="ann"), EntityData(entity_type="client-id")]
    return km.ClientQuotaRecord(entity=entity, key=key, value=value, remove=remove)


def config(name: str, value: str | None, resource: str = "orders", kind: int = 2) -> km.ConfigRecord:
    return km.ConfigRecord(resource_type=kind, resource_name=resource, name=name, value=value)


BEFORE = [
    km.FeatureLevelRecord(name="metadata.version", feature_level=25),
    km.RegisterBrokerRecord(broker_id=1, broker_epoch=7, end_points=[BrokerEndpoint(name="A", host="h", port=9092)]),
    km.TopicRecord(name="orders", topic_id=ORDERS),
    partition(ORDERS, 0),
    partition(ORDERS, 1),
    km.TopicRecord(name="payments", topic_id=PAYMENTS),
    partition(PAYMENTS, 0, eligible_leader_replicas=[2]),
    config("retention.ms", "1"),
    config("ssl.keystore.password", "swordfish", "1", 4),
    km.UserScramCredentialRecord(name="ann", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096),
    quota("producer_byte_rate", 5.0),
    quota("consumer_byte_rate", 6.0),
]
CHANGES = [
    km.NoOpRecord(),
    km.PartitionChangeRecord(partition_id=0, topic_id=ORDERS, isr=[2], leader=2),
    km.PartitionChangeRecord(partition_id=0, topic_id=ORDERS, leader_recovery_state=0),
    km.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=7, fenced=-1),
    km.BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=7, in_controlled_shutdown=1),
    km.ClearElrRecord(topic_name=""),
    config("retention.ms", "2"),
    config("ssl.keystore.password", "tuna", "1", 4),
    quota("consumer_byte_rate", remove=True),
    quota("producer_byte_rate", 5.0),
    km.BeginTransactionRecord(name="doomed"),
    km.RemoveTopicRecord(topic_id=PAYMENTS),
    km.AbortTransactionRecord(reason="no"),
    km.BeginTransactionRecord(name="fine"),
    km.RemoveTopicRecord(topic_id=ORDERS),
    km.TopicRecord(name="orders", topic_id=AGAIN),
    km.EndTransactionRecord(),
    partition(AGAIN, 0),
    km.PartitionChangeRecord(partition_id=9, topic_id=AGAIN, leader=1),
    km.UnregisterBrokerRecord(broker_id=5, broker_epoch=1),
    km.BeginTransactionRecord(name="never ends"),
    km.FeatureLevelRecord(name="metadata.version", feature_level=0),
]


@pytest.mark.nightly
def test_differences_between_offsets_of_a_log_are_found(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    start = len(BEFORE)
    batches = [metadata(0, 0, *BEFORE), metadata(start, 10, *CHANGES, epoch=3)]
    end = start + len(CHANGES)
    batches.append(write_batches([{"value": b"\x01\xe8\x07\x00new", "timestamp": at(20)}], base_offset=end))
    segment(tmp_path, LOG, *batches)
    out = str(tmp_path / "out")
    assert main([str(tmp_path), "--before-offset", str(start - 1), "--output", out, "--quiet"]) == 1
    report = capsys.readouterr().out
    found = spark.read.parquet(f"{out}/differences").orderBy("entity", "name", "change").collect()
    changes = {
        (row.entity, row.name, row.change): {each.field: (each.before, each.after) for each in row.changes}
        for row in found
    }
    assert set(changes) == {
        ("broker", "1", "changed"),
        ("client quota", "client-id (default), user ann: consumer_byte_rate", "removed"),
        ("config", "broker 1: ssl.keystore.password", "changed"),
        ("config", "topic orders: retention.ms", "removed"),
        ("partition", "orders-0", "added"),
        ("partition", "orders-9", "added"),
        ("partition", "orders-0", "removed"),
        ("partition", "orders-1", "removed"),
        ("partition", "payments-0", "changed"),
        ("topic", "orders", "added"),
        ("topic", "orders", "removed"),
    }
    assert changes["broker", "1", "changed"] == {
        "fenced": ("true", "false"),
        "in_controlled_shutdown": ("false", "true"),
    }
    assert changes["partition", "payments-0", "changed"] == {"eligible_leader_replicas": ("[2]", "[]")}

    rows = spark.read.parquet(f"{out}/changes").orderBy("offset", "entity", "name").collect()
    by_offset = {row.offset - start: row for row in rows}
    moved = {each.field: (each.before, each.after) for each in by_offset[1].changes}
    assert moved == {
        "isr": ("[1, 2]", "[2]"),
        "leader": ("1", "2"),
        "leader_epoch": ("0", "1"),
        "partition_epoch": ("0", "1"),
    }
    assert [each.field for each in by_offset[2].changes] == ["partition_epoch"]
    assert (by_offset[1].leader_epoch, by_offset[1].record_type) == (3, "partition_change_record")
    assert by_offset[9].change == "unchanged"
    assert {row.change for row in rows if row.offset == start + 14} == {"removed"}
    assert sorted(row.name for row in rows if row.offset == start + 14) == [
        "orders",
        "orders-0",
        "orders-1",
        "topic orders: retention.ms",
    ]
    assert start + 11 not in {row.offset for row in rows}
    assert (by_offset[18].change, by_offset[18].problem) == ("added", "changes an entity that does not exist")
    assert (by_offset[19].change, by_offset[19].problem) == ("unchanged", "removes an entity that does not exist")
    assert max(by_offset) == 19
    (odd,) = spark.read.parquet(f"{out}/unhandled").collect()
    assert (odd.record_type, odd.records, odd.first_offset) == (None, 1, end)
    assert odd.problem == "metadata has no record type 1000"
    for text in (
        report,
        *(str(spark.read.parquet(f"{out}/{name}").collect()) for name in ("before", "after", "changes")),
    ):
        assert "swordfish" not in text
        assert "tuna" not in text
    for text in ("Unsupported records, ignored", "Changes with problems", "removes an entity that does not exist"):
        assert text in report


def snapshot(folder: Path, records: Sequence[Any], *, is_cut: bool = False, end: int = 50) -> Path:
    header = write_control_batch("SNAPSHOT_HEADER", bytes(12), offset=0)
    footer = write_control_batch("SNAPSHOT_FOOTER", bytes(3), offset=1 + len(records))
    name = f"{end:020}-{2 if end else 0:010}.checkpoint"
    return segment(folder, LOG, header, metadata(1, 0, *records), b"" if is_cut else footer, name=name)


@pytest.mark.nightly
def test_snapshot_is_compared_with_snapshot_and_later_log(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = snapshot(tmp_path / "a", BEFORE)
    new = tmp_path / "b"
    snapshot(new, BEFORE)
    replayed_twice = [config("retention.ms", "old"), *CHANGES[6:8]]
    segment(new, LOG, metadata(49, 0, *replayed_twice), base=49)
    assert main([str(old), str(new), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "before  a snapshot up to offset 49\n" in report
    assert "after  a snapshot up to offset 49 and the log up to offset 51\n" in report
    lines = [line.split() for line in report.splitlines()]
    assert ["config", "0", "0", "2"] in lines
    assert ["changed", "config", "topic", "orders:", "retention.ms", "value", "1", "→", "2"] in lines
    assert main([str(old), str(new), "--after-offset", "49", "--quiet"]) == 0
    assert "No differences." in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.parametrize(("whole", "part"), [("b", "c"), ("c", "b")])
def test_complete_copy_of_a_snapshot_is_preferred(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], whole: str, part: str
) -> None:
    one = snapshot(tmp_path / "a", BEFORE)
    snapshot(tmp_path / "all" / whole, [*BEFORE[6:], *BEFORE[:6]])
    cut = snapshot(tmp_path / "all" / part, BEFORE[:6], is_cut=True)
    assert main([str(one), str(tmp_path / "all"), "--quiet"]) == 0
    assert "No differences." in capsys.readouterr().out
    assert main([str(cut), str(cut), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "No differences." in report
    assert report.count("The snapshot up to offset 49 is truncated: the state may be wrong.") == 2


@pytest.mark.nightly
def test_show_secrets_prints_secrets(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    segment(tmp_path, LOG, metadata(0, 0, *BEFORE))
    out = str(tmp_path / "out")
    assert main([str(tmp_path), "--show-secrets", "--output", out, "--quiet"]) == 1
    assert "value swordfish" in capsys.readouterr().out
    rows = spark.read.parquet(f"{out}/after").collect()
    fields = {row.name: dict(row.fields) for row in rows}
    assert fields["broker 1: ssl.keystore.password"]["value"] == "swordfish"
    scram = fields["ann SCRAM-SHA-256"]
    assert (scram["salt"], scram["stored_key"], scram["server_key"]) == ("73", "6b", "76")


@pytest.mark.nightly
def test_redaction_hashes_reveal_changed_secrets(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path / "a", LOG, metadata(0, 0, *BEFORE))
    segment(tmp_path / "b", LOG, metadata(0, 0, *BEFORE, config("ssl.keystore.password", "tuna", "1", 4)))
    assert main([str(tmp_path / "a"), str(tmp_path / "a"), "--quiet"]) == 0
    capsys.readouterr()
    assert main([str(tmp_path / "a"), str(tmp_path / "b"), "--quiet"]) == 1
    report = capsys.readouterr().out
    (line,) = (line for line in report.splitlines() if line.startswith("changed"))
    mark = r"\(redacted [0-9a-f]{8}\)"
    want = rf"changed +config +broker 1: ssl\.keystore\.password +value ({mark}) → ({mark})"
    found = re.fullmatch(want, line)
    assert found
    assert found[1] != found[2]


@pytest.mark.nightly
def test_missing_and_reversed_offsets_are_reported(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment(tmp_path, LOG, metadata(5, 0, BEFORE[0]), metadata(9, 0, BEFORE[2]), base=5)
    assert main([str(tmp_path), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "8 offsets are missing before offset 9: the state may be wrong." in report
    assert "before  an empty cluster\n" in report
    assert main([str(tmp_path), "--before-offset", "7", "--after-offset", "6", "--quiet"]) == 2
    want = "metadata_diff: error: --after-offset 6 is below 7, the offset of the first state\n"
    assert capsys.readouterr().err.endswith(want)


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["before", "after"])
def test_offset_past_the_end_is_rejected(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], side: str
) -> None:
    segment(tmp_path, LOG, metadata(0, 0, *BEFORE))
    last = len(BEFORE) - 1
    for paths in ([str(tmp_path)], [str(tmp_path)] * 2):
        assert main([*paths, f"--{side}-offset", "9999", "--quiet"]) == 2
        where = f"the end of the log in {tmp_path}, which is offset {last}"
        assert capsys.readouterr().err == f"metadata_diff: error: --{side}-offset 9999 is past {where}\n"
    assert main([str(tmp_path), f"--{side}-offset", str(last), "--quiet", "--exit-zero"]) == 0


@pytest.mark.nightly
def test_acl_codes_are_printed_as_words(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known: dict[str, Any] = {"resource_type": 7, "pattern_type": 3, "operation": 13, "permission_type": 3}
    unknown: dict[str, Any] = {"resource_type": 99, "pattern_type": 4, "operation": 98, "permission_type": 2}
    acls = [
        km.AccessControlEntryRecord(id=UUID(int=number), resource_name="ann", principal="User:x", host="*", **kinds)
        for number, kinds in enumerate((known, unknown), start=1)
    ]
    segment(tmp_path, LOG, metadata(0, 0, *acls))
    assert main([str(tmp_path), "--quiet"]) == 1
    report = capsys.readouterr().out.partition("Changes in")[0]
    assert "resource_type user; " in report
    assert "pattern_type literal; " in report
    assert "operation create tokens; " in report
    assert "permission_type allow" in report
    assert "resource_type 99; " in report
    assert "pattern_type prefixed; " in report
    assert "operation 98; " in report
    assert "permission_type deny" in report


@pytest.mark.nightly
def test_bootstrap_snapshot_is_the_initial_state(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = snapshot(tmp_path, BEFORE[:2], end=0)
    segment(tmp_path, LOG, metadata(0, 0, *BEFORE[2:4]))
    assert main([str(tmp_path), "--output", str(tmp_path / "out"), "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "before  the bootstrap snapshot\nafter   the bootstrap snapshot and the log up to offset 1\n" in report
    assert spark.read.parquet(str(tmp_path / "out" / "before")).count() > 0
    assert main([str(first), str(tmp_path), "--after-offset", "0", "--quiet"]) == 1
    report = capsys.readouterr().out
    assert "before  the bootstrap snapshot\n" in report
    assert "after  the bootstrap snapshot and the log up to offset 0\n" in report
    cut = snapshot(tmp_path / "cut", BEFORE[:2], is_cut=True, end=0)
    assert main([str(cut), str(first), "--quiet"]) == 1
    assert "The bootstrap snapshot is truncated: the state may be wrong." in capsys.readouterr().out


def test_broker_registration_changes_are_applied() -> None:
    before = {"fenced": True, "in_controlled_shutdown": False, "log_dirs": ["a"], "cordoned_log_dirs": ["b"]}
    change = {"fenced": 0, "in_controlled_shutdown": 0, "log_dirs": None, "cordoned_log_dirs": None, "broker_epoch": 1}
    kind = "broker_registration_change_record"
    assert apply_change(before, kind, change) == before
    assert apply_change(before, kind, change | {"fenced": -1, "log_dirs": ["c"], "cordoned_log_dirs": []}) == {
        "fenced": False,
        "in_controlled_shutdown": False,
        "log_dirs": ["c"],
        "cordoned_log_dirs": [],
    }
    assert apply_change(before, "unfence_broker_record", {"epoch": 1})["fenced"] is False
    assert apply_change(before, "fence_broker_record", {"epoch": 1})["fenced"] is True


def test_entity_names_are_formatted() -> None:
    acl = {"permission_type": 2, "resource_type": 99, "pattern_type": 4, "operation": 98, "principal": "User:x"}
    acl |= {"resource_name": "pre", "host": "*"}
    assert name_of("acl", ["id"], acl) == "User:x may not 98 99 pre* from *"
    assert name_of("acl", ["id"], {}) == "id"
    assert name_of("config", [4, "", "a.b"], {}) == "broker (default): a.b"
    assert name_of("scram credential", ["ann", 9], {}) == "ann 9"
    assert name_of("producer ids", [], {}) == "producer ids"
    assert name_of("partition", ["id", 3], {}) == "id-3"


def test_entity_unchanged_after_the_start_is_in_both_states() -> None:
    event = {"at": 3, "place": 0, "timestamp": None, "leader_epoch": 1, "record_type": "feature_level_record"}
    event |= {
        "entity": "feature",
        "key": json.dumps(["f"]),
        "action": "set",
        "fields": json.dumps({"feature_level": 1}),
    }
    rows: Sequence[dict[str, Any]] = EntityReplay(5).run([event])
    assert [(row["what"], row["name"], row["fields"]) for row in rows] == [
        ("before", "f", [("feature_level", "1")]),
        ("after", "f", [("feature_level", "1")]),
    ]
    assert [row["what"] for row in EntityReplay(None).run([event])] == ["after"]
