"""Decoding of internal topics: record types, tombstones, malformed records, compaction."""

from __future__ import annotations

from typing import Any

import kafka_messages
import pytest
from kafka_messages.internal_topics import RECORD_TYPES, write_coordinator_record, write_metadata_record
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from kafka_messages_spark import (
    cluster_metadata,
    consumer_offsets,
    latest,
    remote_log_metadata,
    share_group_state,
    transaction_state,
)

COORDINATORS = {
    "group-coordinator": consumer_offsets,
    "share-coordinator": share_group_state,
    "transaction-coordinator": transaction_state,
}
OTHERS = {"metadata": cluster_metadata, "storage": remote_log_metadata}


def frame(spark: SparkSession, *records: tuple[bytes | None, bytes | None]) -> DataFrame:
    rows = [("t", 0, offset, key, value) for offset, (key, value) in enumerate(records)]
    return spark.createDataFrame(rows, "topic string, partition int, offset long, key binary, value binary")


def rows(df: DataFrame) -> list[Any]:
    found: list[Any] = df.orderBy("offset").collect()
    return found


@pytest.mark.parametrize("log", COORDINATORS)
def test_every_coordinator_record_type_is_decoded(spark: SparkSession, log: str) -> None:
    records, want = [], []
    for name, number, key_name, value_name in RECORD_TYPES:
        if name != log:
            continue
        key, value = getattr(kafka_messages, str(key_name))(), getattr(kafka_messages, str(value_name))()
        for version in {value.LOWEST_SUPPORTED_VERSION, value.HIGHEST_SUPPORTED_VERSION}:
            records.append(write_coordinator_record(key, value, version))
            want.append((number, version, False, None))
        records.append(write_coordinator_record(key))
        want.append((number, None, True, None))
    out = rows(COORDINATORS[log](frame(spark, *records)))

    assert [(row.record_type_id, row.record_version, row.is_tombstone, row.problem) for row in out] == want
    for row in out:
        structs = {name: value for name, value in row.asDict().items() if hasattr(value, "asDict")}
        assert structs.keys() == {row.record_type}
        assert (structs[row.record_type]["value"] is None) == row.is_tombstone
        assert structs[row.record_type]["key"] is not None


@pytest.mark.parametrize("log", OTHERS)
def test_every_keyless_record_type_is_decoded(spark: SparkSession, log: str) -> None:
    messages = [getattr(kafka_messages, str(value))() for name, _, _, value in RECORD_TYPES if name == log]
    records = [(None, write_metadata_record(each, each.HIGHEST_SUPPORTED_VERSION)) for each in messages]
    out = rows(OTHERS[log](frame(spark, *records)))

    assert [row.record_version for row in out] == [each.HIGHEST_SUPPORTED_VERSION for each in messages]
    for row, message in zip(out, messages, strict=True):
        structs = {name: value for name, value in row.asDict().items() if hasattr(value, "asDict")}
        assert structs.keys() == {row.record_type}
        assert row.record_type.replace("_", "") == message.NAME.lower()
        assert (row.problem, row.is_tombstone) == (None, False)


COMMIT = kafka_messages.OffsetCommitKey(group="g", topic="orders", partition=1)
ODD = {
    "unknown type": ((b"\x00\x63rest", b"\x00\x01x"), (None, 99, "group-coordinator has no record type 99")),
    "no key": ((None, b"\x00\x01x"), (None, None, "the record has no key")),
    "nothing": ((None, None), (None, None, "the record has no key")),
    "short key": ((b"\x00", b"\x00\x01x"), (None, None, "record type: 2 bytes needed at offset 0, 1 left")),
    "negative type": ((b"\xff\xff", None), (None, None, "group-coordinator has no record type -1")),
}


def test_undecodable_records_are_kept(spark: SparkSession) -> None:
    good = write_coordinator_record(COMMIT, kafka_messages.OffsetCommitValue(offset=9), 4)
    out = rows(consumer_offsets(frame(spark, *(record for record, _ in ODD.values()), good).coalesce(1)))
    for row, ((key, value), (kind, number, problem)) in zip(out, ODD.values(), strict=False):
        assert (row.key, row.value) == (key, value)
        assert (row.record_type, row.record_type_id) == (kind, number)
        assert problem in row.problem
        assert row.offset_commit is None
    assert (out[-1].offset_commit.key.group, out[-1].offset_commit.value.offset, out[-1].problem) == ("g", 9, None)


def test_key_of_a_malformed_value_is_decoded(spark: SparkSession) -> None:
    key, value = write_coordinator_record(COMMIT, kafka_messages.OffsetCommitValue(offset=9), 4)
    assert value is not None
    values = value[:-3], b"\x00\x63" + value[2:], b"\x00"
    broken, newer, short = rows(consumer_offsets(frame(spark, *((key, each) for each in values))))
    for row in (broken, newer, short):
        assert (row.record_type, row.is_tombstone) == ("offset_commit", False)
        assert (row.offset_commit.key.group, row.offset_commit.value) == ("g", None)
    assert broken.problem.startswith("OffsetCommitValue v4: ")
    assert newer.problem.startswith("OffsetCommitValue has no version 99, only versions ")
    assert short.problem == "OffsetCommitValue: version: 2 bytes needed at offset 0, 1 left"
    with pytest.raises(PySparkException, match=r"Parse Mode: FAILFAST\. .* row 0: OffsetCommitValue v4: "):
        consumer_offsets(frame(spark, (key, value[:-3])), {"mode": "FAILFAST"}).collect()


def test_malformed_metadata_records_are_reported(spark: SparkSession) -> None:
    topic = write_metadata_record(kafka_messages.TopicRecord(name="orders"), 0)
    values = [topic, b"\x81\x00" + topic[1:], b"\x00" + topic[1:], b"\x01\xe8\x07\x00", b"\x01", b"", None, b"\xff" * 9]
    out = rows(cluster_metadata(frame(spark, *((None, value) for value in values)).coalesce(1)))
    assert [row.topic_record.name for row in out[:2]] == ["orders", "orders"]
    assert [row.record_type for row in out] == ["topic_record"] * 2 + [None] * 6
    assert all(row.problem for row in out[2:])
    assert out[3].problem == "metadata has no record type 1000"
    assert not any(row.is_tombstone for row in out)


def test_control_record_has_type_control(spark: SparkSession) -> None:
    df = frame(spark, (b"\x00\x00\x00\x01", b"\x00\x00\x00\x00\x00\x00")).selectExpr("*", "true AS is_control")
    (row,) = rows(consumer_offsets(df))
    assert (row.record_type, row.record_type_id, row.is_tombstone, row.problem) == ("control", None, False, None)


def test_argument_record_types_selects_struct_columns(spark: SparkSession) -> None:
    key, value = write_coordinator_record(COMMIT, kafka_messages.OffsetCommitValue(), 4)
    out = consumer_offsets(frame(spark, (key, value)), record_types=["group_metadata"])
    assert out.columns[-2:] == ["problem", "group_metadata"]
    assert rows(out)[0].record_type == "offset_commit"
    with pytest.raises(ValueError, match=r"^consumer_offsets: unknown record type 'offset_commi'; did you mean 'offs"):
        consumer_offsets(frame(spark, (key, value)), record_types=["offset_commi"])


def test_latest_drops_older_records_and_deleted_keys(spark: SparkSession) -> None:
    records = [(b"a", b"1"), (b"b", b"1"), (b"a", b"2"), (b"b", None), (None, b"x"), (None, b"y")]
    df = frame(spark, *records)
    assert [(row.key, row.value) for row in rows(latest(df))] == [(b"a", b"2"), (None, b"x"), (None, b"y")]
    assert [row.offset for row in rows(latest(df, tombstones=True))] == [2, 3, 4, 5]
    assert df.transform(consumer_offsets).transform(latest).count() == 3


def test_invalid_data_frames_are_rejected(spark: SparkSession) -> None:
    df = frame(spark, (b"", b""))
    with pytest.raises(ValueError, match=r"^consumer_offsets: unknown column 'key'"):
        consumer_offsets(df.drop("key"))
    with pytest.raises(ValueError, match=r"^consumer_offsets: the column 'value' must be binary, not string$"):
        consumer_offsets(df.withColumn("value", df.value.cast("string")))
    with pytest.raises(ValueError, match=r"The function `transaction_state` doesn't support the DROPMALFORMED mode"):
        transaction_state(df, {"mode": "DROPMALFORMED"})
    with pytest.raises(ValueError, match=r"^cluster_metadata: the column 'problem' already exists; rename it first$"):
        cluster_metadata(df.selectExpr("*", "1 AS problem"))
