"""Open transactions with their owners and verdicts: which are ongoing, late, or hang (KIP-664)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ._batches import LOG
from ._verdicts import COORDINATOR, cases, limitation, note, with_coordinator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


MAX_TIMEOUT_MS = 900_000
"""Default of the broker's ``transaction.max.timeout.ms``: no transaction may be open for longer."""


def open_transactions(
    transactions: DataFrame,
    partitions: DataFrame,
    states: DataFrame | None = None,
    *,
    as_of: datetime | int,
    max_timeout_ms: int = MAX_TIMEOUT_MS,
    unread: int = 0,
) -> DataFrame:
    """The open ones of ``find_transactions``, with their owners and a ``verdict``.

    ``partitions`` is ``partition_offsets`` of the same batches, ``states`` is ``coordinator_states``, or None if
    ``__transaction_state`` was not read. ``as_of`` is the time to judge at, a datetime with a zone or milliseconds.

    ``verdict`` is ``ongoing`` (the coordinator has the same transaction, within its timeout), ``late`` (the same, beyond
    it), ``hanging`` (KIP-664: the coordinator has no such transaction, so it never ends by itself), or ``unknown``:
    without states, or where nobody has the producer, and ``unread`` partitions of ``__transaction_state``, such as those
    of other brokers, are not in ``states``. ``reason`` says why, ``note`` what in the input makes it uncertain, and
    ``limitation`` what copies that were made one after the other cannot show. Added are also ``age_ms``,
    ``transactional_id``, ``state``, ``coordinator_epoch``, ``timeout_ms``, ``start_time`` and ``last_update_time``.
    """
    now = F.lit(as_of if isinstance(as_of, int) else round(as_of.timestamp() * 1000))
    facts = partitions.select(*LOG, "gaps", F.col("last_timestamp").alias("partition_last"), "corrupt")
    found = transactions.where("status = 'open'").join(facts, [*LOG])
    found = found.withColumn("age_ms", now - F.unix_millis("first_timestamp"))
    if states is None:
        null = {name: F.lit(None).cast(kind) for name, kind in COORDINATOR.items()}
        found = found.withColumns(null)
        verdict = F.lit("unknown")
        reason = F.when(
            F.col("age_ms") > max_timeout_ms, F.lit("__transaction_state was not read; older than any timeout allows")
        ).otherwise("__transaction_state was not read")
    else:
        found = with_coordinator(found, states)
        verdict, reason = F.lit("ongoing"), F.lit("the coordinator has it, within its timeout")
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
