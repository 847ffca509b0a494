"""What transaction coordinators last wrote of each transactional id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ...columns.frames import require
from .._times import timestamp_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


STATES = (
    "Empty",
    "Ongoing",
    "PrepareCommit",
    "PrepareAbort",
    "CompleteCommit",
    "CompleteAbort",
    "Dead",
    "PrepareEpochFence",
)
"""Names of the states by number, as Kafka's TransactionState has them."""


def coordinator_states(records: DataFrame) -> DataFrame:
    """What the coordinators last wrote of each transactional id, from the rows of ``transaction_state``.

    Columns: ``transactional_id``, ``producer_id``, ``previous_producer_id``, ``next_producer_id`` (-1 for none),
    ``producer_epoch``, ``state`` (see ``STATES``; null: removed by a tombstone), ``timeout_ms``, ``start_time`` and
    ``last_update_time``, ``partitions`` (structs ``topic`` and ``partition``), ``coordinator_partition`` and
    ``coordinator_offset`` of the record, its ``timestamp``, and ``producer_ids``: all that it had in these rows.
    """
    for name in ("transaction_log", "is_tombstone", "partition", "offset", "timestamp"):
        require(records, name, "coordinator_states")
    value = F.col("transaction_log.value")
    listed = F.transform(
        value["transaction_partitions"],
        lambda each: F.transform(
            each["partition_ids"], lambda number: F.struct(each["topic"].alias("topic"), number.alias("partition"))
        ),
    )
    names = F.array(*map(F.lit, STATES))
    number = value["transaction_status"].cast("int")
    unknown = F.concat(F.lit("state "), number.cast("string"))
    state = F.when(number.between(0, len(STATES) - 1), F.get(names, number)).otherwise(unknown)
    each = records.where("record_type = 'transaction_log' and problem is null").select(
        F.col("transaction_log.key.transactional_id").alias("transactional_id"),
        value["producer_id"].alias("producer_id"),
        value["previous_producer_id"].alias("previous_producer_id"),
        value["next_producer_id"].alias("next_producer_id"),
        value["producer_epoch"].alias("producer_epoch"),
        F.when(~F.col("is_tombstone"), state).alias("state"),
        value["transaction_timeout_ms"].alias("timeout_ms"),
        timestamp_of(value["transaction_start_timestamp_ms"]).alias("start_time"),
        timestamp_of(value["transaction_last_update_timestamp_ms"]).alias("last_update_time"),
        F.coalesce(F.flatten(listed), F.array().cast("array<struct<topic:string,partition:int>>")).alias("partitions"),
        F.col("partition").alias("coordinator_partition"),
        F.col("offset").alias("coordinator_offset"),
        "timestamp",
    )
    had = F.array("producer_id", "previous_producer_id", "next_producer_id")
    ids = F.filter(F.array_distinct(F.flatten(F.collect_set(had))), lambda number: number >= 0)
    latest = F.max_by(F.struct("*"), F.struct("coordinator_offset", "timestamp")).alias("latest")
    return (
        each.groupBy("transactional_id")
        .agg(latest, F.sort_array(ids).alias("producer_ids"))
        .select("latest.*", "producer_ids")
    )
