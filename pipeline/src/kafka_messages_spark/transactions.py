"""Transactions in data partitions, and what their coordinator knows of them: which are open, hang, or block readers.

A transaction of a partition is what one producer wrote there up to its marker (KIP-98). ``find_transactions`` takes the
rows of ``batches.read_batches`` (or ``batches.batches_of``); ``coordinator_states`` those of ``transaction_state``.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ._logs import NAME_OFFSET, folder
from ._times import timestamp_of
from ._types import struct_type
from ._verdicts import COORDINATOR, cases, note, with_coordinator
from ._whole_transactions import READ, SCHEMA, whole
from .copies import once
from .frames import require

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = [
    "STATES",
    "coordinator_states",
    "find_transactions",
    "open_transactions",
    "partition_offsets",
    "producers",
    "stable_offsets",
    "whole_transactions",
]

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
MAX_TIMEOUT_MS = 900_000
"""Default of the broker's ``transaction.max.timeout.ms``: no transaction may be open for longer."""

_LOG = ("topic", "partition")
_WINDOW_START = Window.unboundedPreceding


def find_transactions(batches: DataFrame) -> DataFrame:
    """Every transaction of every partition, a row each: completed ones, and those without a marker.

    Columns: ``topic``, ``partition``, ``producer_id``, ``producer_epoch`` (the highest of its batches), ``status``
    (committed, aborted, open), ``first_offset`` and ``last_offset`` of its data (null for a marker without data),
    ``batches``, ``records``, ``bytes`` (stored), ``first_timestamp`` and ``last_timestamp`` of its data,
    ``marker_offset``, ``marker_timestamp``, ``marker_epoch``, ``duration_ms`` from the first record to the marker, and
    ``may_begin_earlier``: the log was cut at its beginning, by retention, and a part of the transaction may have gone.

    A marker ends what its producer wrote with the marker's epoch or a lower one; markers of older epochs, which no
    broker takes, are ``stale_markers``. Copies of a batch count once, as ``copies.once`` has it. Where the folder of a
    file does not say its topic, the folder is the topic.
    """
    named = _named(batches, "find_transactions")
    is_marker = F.col("is_control") & F.col("control_type").isin("COMMIT", "ABORT")
    is_told = is_marker | (F.col("is_transactional") & ~F.col("is_control"))
    some = once(named.where((F.col("producer_id") >= 0) & is_told), *_LOG, "producer_id", "base_offset")
    some = some.withColumn("marker", is_marker)
    in_order = Window.partitionBy(*_LOG, "producer_id").orderBy("base_offset")
    before = in_order.rowsBetween(_WINDOW_START, -1)
    highest_epoch = F.max("producer_epoch").over(in_order.rowsBetween(_WINDOW_START, Window.currentRow))
    some = some.withColumn("ends", F.col("marker") & (F.col("producer_epoch") >= highest_epoch))
    some = some.withColumn("number", F.coalesce(F.sum(F.col("ends").cast("long")).over(before), F.lit(0)))
    found = some.groupBy(*_LOG, "producer_id", "number").agg(*_of_transaction())
    found = found.where("batches > 0 or marker_offset is not null")
    start = named.groupBy(*_LOG).agg(F.min("base_offset").alias("log_start"))
    cut = (F.col("number") == 0) & (F.col("log_start") > 0)
    cut = cut & ((F.col("batches") == 0) | (F.col("first_sequence") > 0))
    status = F.when(F.col("outcome") == "COMMIT", "committed").when(F.col("outcome") == "ABORT", "aborted")
    return found.join(start, [*_LOG]).select(
        *_LOG,
        "producer_id",
        "producer_epoch",
        status.otherwise("open").alias("status"),
        "first_offset",
        "last_offset",
        "batches",
        "records",
        "bytes",
        "first_timestamp",
        "last_timestamp",
        "marker_offset",
        "marker_timestamp",
        "marker_epoch",
        (F.unix_millis("marker_timestamp") - F.unix_millis("first_timestamp")).alias("duration_ms"),
        cut.alias("may_begin_earlier"),
        "stale_markers",
    )


def _of_transaction() -> list[Column]:
    """Aggregates over the batches between two markers, and the marker."""
    data, ends = ~F.col("marker"), F.col("ends")
    data_offset = F.when(data, F.col("base_offset"))
    first_timestamp = F.coalesce("first_timestamp", "max_timestamp")

    def of_data(name: str) -> Column:
        return F.when(data, F.col(name))

    def of_marker(name: str) -> Column:
        return F.max(F.when(ends, F.col(name)))

    return [
        F.coalesce(F.max(of_data("producer_epoch")), of_marker("producer_epoch")).alias("producer_epoch"),
        of_marker("control_type").alias("outcome"),
        F.min(data_offset).alias("first_offset"),
        F.max(of_data("last_offset")).alias("last_offset"),
        F.count(data_offset).alias("batches"),
        F.coalesce(F.sum(of_data("records")), F.lit(0)).alias("records"),
        F.sum(of_data("size")).alias("bytes"),
        F.min_by(first_timestamp, data_offset).alias("first_timestamp"),
        F.max(of_data("max_timestamp")).alias("last_timestamp"),
        F.min_by("base_sequence", data_offset).alias("first_sequence"),
        of_marker("base_offset").alias("marker_offset"),
        of_marker("max_timestamp").alias("marker_timestamp"),
        of_marker("producer_epoch").alias("marker_epoch"),
        F.count_if(F.col("marker") & ~ends).alias("stale_markers"),
    ]


def partition_offsets(batches: DataFrame, starts: DataFrame | None = None) -> DataFrame:
    """What there is of each partition: ``files``, ``batches``, ``first_offset``, ``next_offset``, ``last_timestamp``, and
    ``corrupt`` places, of which nobody knows what was there.

    ``log_start_offset`` is where the log begins for its readers: at the offset in the name of the first file, or where
    ``starts`` (``checkpoints.log_start_offsets``) says that it does, as DeleteRecords leaves it. With ``starts`` there are
    also partitions that have only empty files, which is what retention leaves of an idle one, and the log ends no earlier
    than at the offset in the name of its last file.

    ``gaps`` are the offsets that are missing between files (structs ``start`` and ``end``, ``end`` excluded): files that
    were not copied, or what compaction left nothing of.
    """
    is_sound = F.col("corrupt").isNull() if "corrupt" in batches.columns else F.lit(True)
    files = (
        _with_names(batches, "partition_offsets")
        .groupBy(*_LOG, "file")
        .agg(
            F.count_if(is_sound).alias("batches"),
            F.count_if(~is_sound).alias("corrupt"),
            F.min(F.coalesce("base_offset", "last_offset")).alias("first_offset"),
            (F.max("last_offset") + 1).alias("next_offset"),
            F.max("max_timestamp").alias("last_timestamp"),
        )
    )
    before = Window.partitionBy(*_LOG).orderBy("first_offset", "next_offset").rowsBetween(_WINDOW_START, -1)
    reached = F.max("next_offset").over(before)
    gap = F.when(
        F.col("first_offset") > F.col("reached"),
        F.struct(F.col("reached").alias("start"), F.col("first_offset").alias("end")),
    )
    name = F.regexp_extract("file", NAME_OFFSET, 1)
    begins = F.when(name != "", F.least(name.cast("long"), "first_offset")).otherwise(F.col("first_offset"))
    partitions = (
        files.withColumns({"reached": reached, "begins": begins})
        .groupBy(*_LOG)
        .agg(
            F.count_if(F.col("batches") > 0).alias("files"),
            F.sum("batches").alias("batches"),
            F.min("first_offset").alias("first_offset"),
            F.max("next_offset").alias("next_offset"),
            F.max("last_timestamp").alias("last_timestamp"),
            F.sort_array(F.collect_list(gap)).alias("gaps"),
            F.sum("corrupt").alias("corrupt"),
            F.min("begins").alias("log_start_offset"),
        )
        .where("batches > 0")
    )
    return partitions if starts is None else _with_starts(partitions, starts)


def _with_starts(partitions: DataFrame, starts: DataFrame) -> DataFrame:
    """``partition_offsets`` with what names of files and checkpoints say."""
    both = partitions.join(starts, [*_LOG], "full").where("batches > 0 or last_segment is not null")
    none = F.array().cast(partitions.schema["gaps"].dataType)
    known = {
        "files": F.coalesce("files", F.lit(0)),
        "batches": F.coalesce("batches", F.lit(0)),
        "corrupt": F.coalesce("corrupt", F.lit(0)),
        "next_offset": F.greatest("next_offset", "last_segment"),
        "gaps": F.coalesce("gaps", none),
        # Where old segments are in tiered storage, the log begins before the first file, and the checkpoint says so.
        "log_start_offset": F.coalesce("checkpoint", "log_start_offset", "first_segment"),
    }
    return both.withColumns(known).select(*partitions.columns)


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
    of other brokers, are not in ``states``. ``reason`` says why, ``note`` what in the input makes it uncertain. Added are
    also ``age_ms``, ``transactional_id``, ``state``, ``coordinator_epoch``, ``timeout_ms``, ``start_time`` and
    ``last_update_time``.
    """
    now = F.lit(as_of if isinstance(as_of, int) else round(as_of.timestamp() * 1000))
    facts = partitions.select(*_LOG, "gaps", F.col("last_timestamp").alias("partition_last"), "corrupt")
    found = transactions.where("status = 'open'").join(facts, [*_LOG])
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
        .select(
            "verdict",
            *_LOG,
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
        )
    )


def stable_offsets(transactions: DataFrame, partitions: DataFrame) -> DataFrame:
    """``partition_offsets`` with what open transactions do to readers of committed data (``read_committed``).

    Added: ``open`` transactions, ``last_stable_offset`` (the first offset of the oldest one; readers stop there),
    ``blocked_offsets`` behind it, and ``oldest_open_timestamp``. The high watermark is not known from files: the end of
    the log stands in its place.
    """
    opened = (
        transactions.where("status = 'open'")
        .groupBy(*_LOG)
        .agg(
            F.count("*").alias("open"),
            F.min("first_offset").alias("first_open"),
            F.min("first_timestamp").alias("oldest_open_timestamp"),
        )
    )
    # A transaction that begins below the log's beginning holds readers back from there on (Kafka's UnifiedLog).
    stable = F.when(F.col("open").isNull(), F.col("next_offset")).otherwise(
        F.greatest("first_open", "log_start_offset")
    )
    return partitions.join(opened, [*_LOG], "left").select(
        *partitions.columns,
        F.coalesce("open", F.lit(0)).alias("open"),
        stable.alias("last_stable_offset"),
        (F.col("next_offset") - stable).alias("blocked_offsets"),
        "oldest_open_timestamp",
    )


def whole_transactions(transactions: DataFrame) -> DataFrame:
    """The completed ones of ``find_transactions``, a row for each transaction whatever the number of its partitions.

    Columns: ``producer_id``, ``producer_epoch`` (of the markers), ``status``, ``partitions``, ``records``, ``bytes``,
    ``first_timestamp`` and ``marker_timestamp`` (of the last marker). What is one transaction is told by the epoch, which
    each transaction raises at transaction version 2 (KIP-890). Where producers keep their epoch it is told by partitions
    and times: two that follow each other at once in different partitions may then count as one.
    """
    times = {name: F.unix_millis(name) for name in ("first_timestamp", "marker_timestamp")}
    done = transactions.where("status <> 'open'").withColumns(times).select(*READ)
    found = done.groupBy("producer_id").applyInArrow(whole, struct_type(SCHEMA))
    return found.select(
        *(name for name in SCHEMA.names if not name.endswith("_ms")),
        timestamp_of(F.col("first_ms")).alias("first_timestamp"),
        timestamp_of(F.col("last_marker_ms")).alias("marker_timestamp"),
    )


def producers(transactions: DataFrame, states: DataFrame | None = None) -> DataFrame:
    """What each transactional producer did, over all partitions, with its transactional id if ``states`` tell it.

    ``transactions`` are completed ones as ``whole_transactions`` counts them; ``committed``, ``aborted`` and ``open`` count
    each of them in every partition that it wrote to.
    """
    whole = whole_transactions(transactions).groupBy("producer_id").agg(F.count("*").alias("transactions"))
    found = transactions.groupBy("producer_id").agg(
        F.min("producer_epoch").alias("first_epoch"),
        F.max("producer_epoch").alias("last_epoch"),
        F.count_distinct(*_LOG).alias("partitions"),
        F.count_if(F.col("status") == "committed").alias("committed"),
        F.count_if(F.col("status") == "aborted").alias("aborted"),
        F.count_if(F.col("status") == "open").alias("open"),
        F.count_if(F.col("records") == 0).alias("without_data"),
        F.sum("records").alias("records"),
        F.sum("bytes").alias("bytes"),
        F.min("first_timestamp").alias("first_timestamp"),
        F.max(F.coalesce("marker_timestamp", "last_timestamp")).alias("last_timestamp"),
        F.avg("duration_ms").cast("long").alias("mean_duration_ms"),
        F.max("duration_ms").alias("longest_duration_ms"),
        F.sum("stale_markers").alias("stale_markers"),
    )
    found = found.join(whole, "producer_id", "left").fillna(0, ["transactions"])
    if states is None:
        return found.withColumn("transactional_id", F.lit(None).cast("string"))
    owners = states.select("transactional_id", F.explode("producer_ids").alias("producer_id"))
    owners = owners.groupBy("producer_id").agg(F.max("transactional_id").alias("transactional_id"))
    return found.join(owners, "producer_id", "left")


def _named(batches: DataFrame, owner: str) -> DataFrame:
    """Sound batches with a topic."""
    named = _with_names(batches, owner)
    return named.where("corrupt is null") if "corrupt" in batches.columns else named


def _with_names(batches: DataFrame, owner: str) -> DataFrame:
    """All batches with a topic; where the folder does not say it, that is the folder."""
    for name in ("topic", "partition", "file", "base_offset", "last_offset", "producer_id", "control_type"):
        require(batches, name, owner)
    names = {"topic": F.coalesce("topic", folder()), "partition": F.coalesce("partition", F.lit(-1))}
    return batches.withColumns(names)
