"""Verdicts on open transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Columns and types that with_coordinator adds.
COORDINATOR = {
    "transactional_id": "string",
    "state": "string",
    "state_producer_id": "long",
    "state_previous_id": "long",
    "coordinator_epoch": "short",
    "timeout_ms": "int",
    "start_time": "timestamp",
    "last_update_time": "timestamp",
    "is_listed": "boolean",
    "newest_state": "timestamp",
}


def with_coordinator(found: DataFrame, states: DataFrame) -> DataFrame:
    owner = F.max_by("transactional_id", F.struct("timestamp", "coordinator_offset")).alias("transactional_id")
    owners = states.select("*", F.explode("producer_ids").alias("of_producer")).groupBy("of_producer").agg(owner)
    known = states.select(
        F.col("transactional_id").alias("of_id"),
        "state",
        F.col("producer_id").alias("state_producer_id"),
        F.col("previous_producer_id").alias("state_previous_id"),
        F.col("producer_epoch").alias("coordinator_epoch"),
        "timeout_ms",
        "start_time",
        "last_update_time",
        "partitions",
    )
    joined = found.join(owners, F.col("producer_id") == F.col("of_producer"), "left")
    joined = joined.join(known, F.col("transactional_id") == F.col("of_id"), "left")
    is_this = F.struct(F.col("topic").alias("topic"), F.col("partition").alias("partition"))
    newest = states.agg(F.max("timestamp").alias("newest_state"))
    return joined.withColumn("is_listed", F.array_contains("partitions", is_this)).crossJoin(F.broadcast(newest))


def cases(now: Column, unread: int) -> list[tuple[Column, str, Column]]:
    state, own_id, own_epoch = F.col("state"), F.col("producer_id"), F.col("producer_epoch")
    its_id, its_epoch, timeout = F.col("state_producer_id"), F.col("coordinator_epoch"), F.col("timeout_ms")
    is_ending = state.isin("PrepareCommit", "PrepareAbort", "PrepareEpochFence")
    is_ongoing = state == "Ongoing"
    other_id = (its_id != own_id) & ~(is_ending & (F.col("state_previous_id") == own_id))
    # An ending transaction may already have a higher epoch (KIP-890, or fencing).
    other_epoch = (is_ongoing & (its_epoch != own_epoch)) | (is_ending & (its_epoch < own_epoch))
    since_start, since_end = (now - F.unix_millis(name) for name in ("start_time", "last_update_time"))
    unknown = "no transactional id has this producer id"
    unsure = f"{unknown}, but at least {unread} partitions of __transaction_state were not read"
    return [
        (F.col("transactional_id").isNull(), *(("unknown", text(unsure)) if unread else ("hanging", text(unknown)))),
        (state.isNull(), "hanging", text("the coordinator has removed the transactional id")),
        (other_id, "hanging", text("the transactional id has producer id ", its_id, " now")),
        (~is_ongoing & ~is_ending, "hanging", text("the coordinator has no open transaction: ", state)),
        (other_epoch, "hanging", text("the coordinator's transaction has epoch ", its_epoch)),
        (~F.col("is_listed"), "hanging", text("the partition is not in the coordinator's transaction")),
        (is_ongoing & (since_start > timeout), "late", text("open longer than its timeout of ", timeout, " ms")),
        (is_ending & (since_end > timeout), "late", text("the marker is missing: ", state, " beyond the timeout")),
        (is_ending, "ongoing", text("the coordinator is ending the transaction: ", state)),
    ]


def note() -> Column:
    missing = F.aggregate(
        F.filter("gaps", lambda gap: gap["start"] > F.col("first_offset")),
        F.lit(0).cast("long"),
        lambda total, gap: F.try_add(total, gap["end"] - gap["start"]),
    )
    corrupt = F.col("corrupt")
    texts = F.concat_ws(
        "; ",
        F.when(missing > 0, F.concat(missing.cast("string"), F.lit(" later offsets are not in these files"))),
        F.when(corrupt > 0, F.concat(F.lit("corrupt ranges in the partition: "), corrupt.cast("string"))),
        F.when(F.col("may_begin_earlier"), "may begin before these files"),
    )
    return F.when(texts != "", texts)


def limitation() -> Column:
    """Return why ``hanging`` is uncertain if files may have been copied at different times; otherwise null."""
    is_hanging = F.col("verdict") == "hanging"
    newer = is_hanging & (F.col("last_update_time") > F.col("partition_last"))
    older = is_hanging & (F.col("first_timestamp") > F.col("newest_state"))
    return F.when(older, F.lit(OLDER_STATES)).when(newer, F.lit(OLDER_DATA))


_AGAIN = "was copied first, copy both again and compare"
OLDER_STATES = f"it began after the last record of __transaction_state; if that {_AGAIN}"
OLDER_DATA = f"its state is newer than the last record of the partition; if the data {_AGAIN}"
