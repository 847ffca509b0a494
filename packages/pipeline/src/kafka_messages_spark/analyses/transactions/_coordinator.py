"""Last states of transactional IDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ...columns.frames import require
from .._expressions import timestamp_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Names of states by number, as in Kafka's TransactionState.
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


def coordinator_states(records: DataFrame) -> DataFrame:
    """Return the last state of each transactional ID, from rows of ``transaction_state``.

    ``state`` is one of ``STATES``, ``state N`` for an unknown number, or null after a tombstone. Producer IDs are -1 for
    none; ``producer_ids`` lists all that the transactional ID has had.
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
