"""Rebalances of every group type, from single records and from a real broker."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Row, SparkSession

from kafka_messages_spark.analyses._generations import READ, generations
from kafka_messages_spark.analyses.internal_topics import consumer_offsets
from kafka_messages_spark.analyses.lag import with_lag_times
from kafka_messages_spark.analyses.rebalances import rebalances
from kafka_messages_spark.sources import register

LOGS = Path(__file__).parents[2] / "examples" / "cluster" / "logs"
ONE, TWO, THREE = (
    {"member_id": f"{name}-1", "instance_id": None, "client_id": name, "client_host": "/h"} for name in ("a", "b", "c")
)
_MEMBERS = pa.list_(pa.struct([(name, pa.string()) for name in ONE]))
_TYPES = {"generation": pa.int32(), "members": _MEMBERS, "is_tombstone": pa.bool_(), "state_ms": pa.int64()}
_TYPES |= {"time_ms": pa.int64(), "log_partition": pa.int32(), "log_offset": pa.int64()}
_SCHEMA = pa.schema([(name, _TYPES.get(name, pa.string())) for name in READ])


def rebalances_of(*events: dict[str, Any]) -> list[tuple[Any, ...]]:
    common = {"group": "g", "type": "t", "is_tombstone": False, "log_topic": "__consumer_offsets", "log_partition": 0}
    rows = [common | {"log_offset": at, "time_ms": 1000 * at} | event for at, event in enumerate(events)]
    mixed = pa.Table.from_pylist(rows[1::2] + rows[::2], schema=_SCHEMA)
    found = generations(mixed).to_pylist()
    return [
        (row["generation"], row["members"], *map(clients, (row["joined"], row["left"])), row["took_ms"])
        for row in found
    ]


def clients(members: list[dict[str, str]] | None) -> str | None:
    return None if members is None else "".join(each["client_id"] for each in members)


def classic(generation: int, *members: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": "generation", "generation": generation, "members": list(members)} | more


def epoch(number: int, **more: Any) -> dict[str, Any]:
    return {"event": "epoch", "generation": number} | more


def member(who: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"event": "member", "member_id": who["member_id"], "members": [who]} | more


def reached(who: dict[str, Any], number: int | None, **more: Any) -> dict[str, Any]:
    return {"event": "settled", "member_id": who["member_id"], "generation": number} | more


GONE = {"is_tombstone": True, "members": None}


def test_classic_group_has_a_row_per_generation() -> None:
    assert rebalances_of(
        classic(0),
        classic(1, ONE, TWO, state_ms=750),
        classic(2, TWO, THREE, state_ms=2000),
        classic(2, TWO, THREE),
        classic(3),
        {"event": "generation", **GONE},
        classic(0),
        classic(1, ONE, state_ms=-1),
    ) == [
        (1, 2, "ab", "", 250),
        (2, 2, "c", "a", 0),
        (3, 0, "", "bc", None),
        (1, 1, "a", "", None),
    ]


def test_compacted_classic_group_has_unknown_first_members() -> None:
    assert rebalances_of(classic(17, ONE, TWO), classic(18, TWO)) == [(17, 2, None, None, None), (18, 1, "", "a", None)]


def test_replaced_static_member_is_a_rebalance() -> None:
    again = THREE | {"instance_id": "i"}
    assert rebalances_of(classic(1, ONE), classic(1, again), classic(1, again)) == [
        (1, 1, "a", "", None),
        (1, 1, "c", "a", None),
    ]


def test_consumer_group_has_a_row_per_epoch() -> None:
    assert rebalances_of(
        member(ONE),
        epoch(1),
        reached(ONE, 1),
        member(TWO),
        epoch(2),
        reached(TWO, 2),
        reached(ONE, 2),
        reached(ONE, 2),
        epoch(3),
        epoch(4),
        reached(ONE, 4),
        member(TWO, **GONE),
        epoch(5),
        reached(ONE, 5),
        member(ONE, **GONE),
        reached(ONE, None, is_tombstone=True),
        epoch(6),
        epoch(0, **GONE),
    ) == [
        (1, 1, "a", "", 1000),
        (2, 2, "b", "", 2000),
        (3, 2, "", "", None),
        (4, 2, "", "", None),
        (5, 1, "", "b", 1000),
        (6, 0, "", "a", None),
    ]


def test_compacted_consumer_group_has_unknown_first_members() -> None:
    assert rebalances_of(member(ONE), member(TWO), epoch(9), member(ONE, **GONE), epoch(10)) == [
        (9, 2, None, None, None),
        (10, 1, "", "a", None),
    ]


def test_member_at_another_epoch_does_not_end_the_rebalance() -> None:
    assert rebalances_of(reached(ONE, 7), member(ONE), epoch(7), reached(ONE, 9)) == [(7, 1, None, None, None)]


def test_rebalances_of_a_real_broker_are_found(spark: SparkSession) -> None:
    register(spark)
    log = spark.read.format("kafka_log").option("includeBatchMetadata", "true").load(f"{LOGS}/__consumer_offsets-*")
    rows = rebalances(consumer_offsets(log)).orderBy("log_partition", "log_offset").collect()
    found = {(row.group, row.type, row.generation): (row.members, names(row.joined), names(row.left)) for row in rows}
    assert found == {
        ("closed", "classic", 1): (1, ["closed"], []),
        ("closed", "classic", 2): (0, [], ["closed"]),
        ("shipping", "classic", 1): (1, ["shipping"], []),
        ("billing", "classic", 1): (1, ["billing"], []),
        ("billing", "classic", 2): (0, [], ["billing"]),
        ("audit", "consumer", 2): (1, ["audit-1"], []),
        ("audit", "consumer", 3): (0, [], ["audit-1"]),
        ("workers", "share", 2): (1, ["workers"], []),
        ("workers", "share", 3): (1, [], []),
        ("workers", "share", 4): (0, [], ["workers"]),
        ("retired", "share", 2): (1, ["retired"], []),
        ("retired", "share", 3): (1, [], []),
        ("retired", "share", 4): (0, [], ["retired"]),
    }
    assert all((row.took_ms is None) == (row.members == 0) for row in rows)


def names(members: list[Row]) -> list[str]:
    return [each.instance_id or each.client_id for each in members]


def test_lag_times_are_ages_of_the_next_batch(spark: SparkSession) -> None:
    batch = "topic string, partition int, first_timestamp timestamp, max_timestamp timestamp, last_offset long"
    at = {second: f"timestamp_seconds({second})" for second in (10, 19, 20, 29, 40, 49)}
    spans = [(at[10], at[19], 4), (at[20], at[29], 9), (at[40], at[49], 20)]
    sql = " union all ".join(f"select 't', 0, {first}, {last}, {end}L" for first, last, end in spans)
    batches = spark.sql(f"select * from ({sql}) as t(topic, partition, first_timestamp, max_timestamp, last_offset)")
    assert [field.name for field in batches.schema] == [part.split()[0] for part in batch.split(", ")]
    places = [(0, 21), (4, 17), (5, 16), (9, 12), (10, 11), (20, 1), (21, 0), (30, 0), (-5, 26)]
    values = ", ".join(f"('g', 't', 0, {offset}L, 0L, {lag}L)" for offset, lag in places)
    values += ", ('g', 'other', 0, 1L, null, cast(null as long))"
    offsets = spark.sql(
        f"select * from values {values} as t(group, topic, partition, committed_offset, start_offset, lag)"
    )
    rows = with_lag_times(offsets, batches, 60_000).collect()
    waiting = {row.committed_offset: row.oldest_unread_ms for row in rows if row.topic == "t"}
    assert waiting == {-5: 50_000, 0: 50_000, 4: 50_000, 5: 40_000, 9: 40_000, 10: 20_000, 20: 20_000, 21: 0, 30: 0}
    assert {row.oldest_unread_ms for row in with_lag_times(offsets, batches, 15_000).collect()} == {5000, 0, None}
    found = {(row.topic, row.committed_offset): row.time_lag_ms for row in rows}
    assert found == {
        ("t", -5): 39_000,
        ("t", 0): 39_000,
        ("t", 4): 39_000,
        ("t", 5): 29_000,
        ("t", 9): 29_000,
        ("t", 10): 9_000,
        ("t", 20): 9_000,
        ("t", 21): 0,
        ("t", 30): 0,
        ("other", 1): None,
    }
