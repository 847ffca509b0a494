"""Verdicts on open transactions: ongoing, late or hanging (KIP-664)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import LOG
from ._verdicts import COORDINATOR, cases, limitation, note, with_coordinator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


# Default of the broker's transaction.max.timeout.ms.
MAX_TIMEOUT_MS = 900_000


def open_transactions(
    transactions: DataFrame,
    partitions: DataFrame,
    states: DataFrame | None = None,
    *,
    as_of: datetime | int,
    max_timeout_ms: int = MAX_TIMEOUT_MS,
    unread: int = 0,
) -> DataFrame:
    """Return the open ``transactions`` (from ``find_transactions``) with coordinator state and ``verdict``.

    ``partitions`` is ``partition_offsets`` of the same batches. ``states`` is ``coordinator_states`` or None. ``as_of``
    is an aware datetime or Unix milliseconds. ``unread`` counts ``__transaction_state`` partitions missing in ``states``.

    ``verdict`` is ``ongoing`` (within the timeout), ``late`` (beyond it), ``hanging`` (the coordinator has no such
    transaction) or ``unknown``. ``reason`` explains the verdict; ``note`` and ``limitation`` name uncertainties.
    """
    now = F.lit(as_of if isinstance(as_of, int) else round(as_of.timestamp() * 1000))
    state = partitions.select(*LOG, "gaps", F.col("last_timestamp").alias("partition_last"), "corrupt")
    found = transactions.where("status = 'open'").join(state, [*LOG])
    found = found.withColumn("age_ms", now - F.unix_millis("first_timestamp"))
    if states is None:
        null = {name: F.lit(None).cast(kind) for name, kind in COORDINATOR.items()}
        found = found.withColumns(null)
        verdict = F.lit("unknown")
        reason = F.when(
            F.col("age_ms") > max_timeout_ms, F.lit("__transaction_state was not read; older than the maximum timeout")
        ).otherwise("__transaction_state was not read")
    else:
        found = with_coordinator(found, states)
        verdict, reason = F.lit("ongoing"), F.lit("known to the coordinator, within its timeout")
        for condition, kind, text in reversed(cases(now, unread)):
            verdict = F.when(condition, kind).otherwise(verdict)
            reason = F.when(condition, text).otherwise(reason)
    return (
        found.withColumn("verdict", verdict)
        .withColumn("reason", reason)
        .withColumn("note", note())
        .withColumn("limitation", limitation())
        .select(
            "verdict",
            *LOG,
            "producer_id",
            "producer_epoch",
            "transactional_id",
            "state",
            "first_offset",
            "last_offset",
            "batches",
            "records",
            "bytes",
            "first_timestamp",
            "last_timestamp",
            "age_ms",
            "coordinator_epoch",
            "timeout_ms",
            "start_time",
            "last_update_time",
            "may_begin_earlier",
            "reason",
            "note",
            "limitation",
        )
    )
