"""The state of a cluster out of ``__cluster_metadata``: images at any offset, their differences, and every change between.

Functions take the rows of ``cluster_metadata`` over ``kafka_log`` with ``includeBatchMetadata``: log segments, snapshots
(``.checkpoint``), or both. Secrets are hidden by ``cluster_metadata``; with its option ``secretSalt`` they have marks, and
only then it can be told that a secret changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from ._metadata_replay import BEGIN, END, EVENTS, IGNORED, REPLAYED, RULES, events_of, replayed
from ._records import columns_of
from ._types import struct_type
from .copies import once
from .frames import require

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["changes", "differences", "image", "missing_offsets", "records_of", "replay", "snapshots", "unhandled"]

_SNAPSHOT = r"(\d{20})-\d{10}\.checkpoint$"
_LAST_PLACE = (1 << 63) - 1
_FOREVER = (1 << 63) - 1
_TOPIC = "2"
"""Kafka's ConfigResource.Type.TOPIC."""


def records_of(records: DataFrame, *, up_to: int | None = None, base: int | None = None) -> DataFrame:
    """The records that make the state after the offset ``up_to`` (None: the end), each once.

    That is the latest snapshot that goes no further (nor further than the offset ``base``), and the log behind it.
    Of several copies of that snapshot the longest is taken: each broker writes its own, in an order of its own.
    Added: ``at``, the offset (for records of a snapshot the last that it contains), and ``place`` within a snapshot.
    """
    for name in ("file", "offset", "is_control", "record_type", "timestamp", "leader_epoch"):
        require(records, name, "records_of")
    end = F.regexp_extract("file", _SNAPSHOT, 1)
    placed = records.where("offset is not null").withColumn("snapshot", F.when(end != "", end.cast("long")))
    most = [limit for limit in (up_to, base) if limit is not None]
    usable = F.col("snapshot") <= min(most) + 1 if most else F.col("snapshot").isNotNull()
    copies = placed.where(usable).groupBy("snapshot", "file").agg(F.count("*").alias("records"))
    chosen = copies.agg(F.max_by(F.struct("snapshot", "file"), F.struct("snapshot", "records", "file")).alias("chosen"))
    of_log = F.col("snapshot").isNull() & (F.col("offset") >= F.coalesce("chosen.snapshot", F.lit(0)))
    if up_to is not None:
        of_log = of_log & (F.col("offset") <= up_to)
    kept = placed.crossJoin(F.broadcast(chosen)).where(of_log | (F.struct("snapshot", "file") == F.col("chosen")))
    at = F.coalesce(F.col("snapshot") - 1, "offset")
    place = F.when(F.col("snapshot").isNotNull(), F.col("offset")).otherwise(_LAST_PLACE)
    kept = kept.withColumn("at", at).withColumn("place", place).drop("snapshot", "chosen")
    return once(kept, "place", "at")


def snapshots(records: DataFrame) -> DataFrame:
    """The snapshots among the files: ``file`` and ``end_offset``, the first offset that is not in it."""
    end = F.regexp_extract("file", _SNAPSHOT, 1)
    return records.where(end != "").select("file", end.cast("long").alias("end_offset")).distinct()


def missing_offsets(chosen: DataFrame) -> DataFrame:
    """One row about ``records_of``: its ``first`` and ``last`` offset, how many between are ``missing``, the ``base``
    (first offset behind the snapshot), and ``is_cut``: the snapshot has no footer, so that its end was not copied.

    A state that was made with offsets missing, or of such a snapshot, may be wrong. A log that begins behind 0 without a
    snapshot lacks all that was before it.
    """
    require(chosen, "control_type", "missing_offsets")
    of_log = chosen.where(F.col("place") == _LAST_PLACE).agg(
        F.count("*").alias("count"), F.min("at").alias("first"), F.max("at").alias("last")
    )
    base = chosen.where(F.col("place") != _LAST_PLACE).agg(
        (F.max("at") + 1).alias("base"), (F.count_if(F.col("control_type") == "SNAPSHOT_FOOTER") == 0).alias("footless")
    )
    start = F.coalesce("base", F.lit(0))
    missing = F.when(F.col("count") > 0, F.col("last") + 1 - start - F.col("count")).otherwise(0)
    return of_log.crossJoin(base).select(
        F.coalesce("first", start).alias("first"),
        F.coalesce(F.col("last"), start - 1).alias("last"),
        missing.alias("missing"),
        "base",
        (F.col("footless") & F.col("base").isNotNull()).alias("is_cut"),
    )


def unhandled(records: DataFrame) -> DataFrame:
    """Records that change nothing here because nobody knows how: of unknown types, or not to be decoded.

    Columns: ``record_type``, ``record_type_id``, ``record_version``, ``problem``, ``records``, ``first_offset``.
    """
    known = F.col("record_type").isin("control", *RULES) & F.col("problem").isNull()
    odd = records.where(~F.coalesce(known, F.lit(False)) & F.col("offset").isNotNull())
    return odd.groupBy("record_type", "record_type_id", "record_version", "problem").agg(
        F.count("*").alias("records"), F.min("offset").alias("first_offset")
    )


def replay(chosen: DataFrame, *, start: int | None = None) -> DataFrame:
    """Replay ``records_of``, each topic, broker, resource and so on by itself; for ``image`` and ``changes``.

    With ``start`` there is also the image after that offset, and each change behind it.
    """
    columns = ["at", "place", "timestamp", "leader_epoch", "record_type"]
    columns += [name for name in columns_of("metadata") if name in RULES]

    found = chosen.where("problem is null").select(*columns).mapInArrow(events_of, struct_type(EVENTS))
    found = _with_cascades(_in_force(found))

    def group(table: pa.Table) -> pa.Table:
        return replayed(table, start)

    return found.groupBy("group").applyInArrow(group, struct_type(REPLAYED))


def _in_force(events: DataFrame) -> DataFrame:
    """Without the records of transactions that were aborted, or have no end (KIP-868)."""
    marks = events.where("entity = ''").where(F.col("action") != IGNORED).select("at", "action", F.lit(0).alias("log"))
    in_order = Window.partitionBy("log").orderBy("at")
    begun = marks.withColumns({"next": F.lead("action").over(in_order), "until": F.lead("at").over(in_order)})
    begun = begun.where((F.col("action") == BEGIN) & ~F.col("next").eqNullSafe(F.lit(END)))
    dropped = begun.select(F.col("at").alias("since"), F.coalesce("until", F.lit(_FOREVER)).alias("until"))
    inside = (F.col("at") > F.col("since")) & (F.col("at") < F.col("until"))
    return events.where("entity <> ''").join(F.broadcast(dropped), inside, "left_anti")


def _with_cascades(events: DataFrame) -> DataFrame:
    """Records that reach further than their own group: to the settings of a topic that goes, to partitions by name."""
    names = ("group", "entity", "key", "action", "topic_id", "topic_name")
    rest = [name for name in EVENTS.names if name not in names]
    topics = events.where("record_type = 'topic_record'").select(
        F.col("topic_id").alias("its_id"), F.col("topic_name").alias("its_name"), F.col("at").alias("since")
    )
    its_settings = F.to_json(F.array(F.lit("config"), F.lit(_TOPIC), F.col("its_name")))
    removed = events.where("record_type = 'remove_topic_record'").join(topics, F.col("topic_id") == F.col("its_id"))
    of_settings = removed.select(*rest, its_settings.alias("group"), *_renamed(names[1:], entity="config"))
    cleared = events.where("record_type = 'clear_elr_record'")
    reaches = F.col("topic_name").isin("") | (F.col("topic_name") == F.col("its_name"))
    of_partitions = cleared.join(topics, reaches & (F.col("since") <= F.col("at"))).select(
        *rest,
        F.to_json(F.array(F.lit("topic"), F.col("its_id"))).alias("group"),
        *_renamed(names[1:]),
    )
    own = events.where("record_type <> 'clear_elr_record'")
    return own.unionByName(of_settings).unionByName(of_partitions)


def _renamed(names: tuple[str, ...], **values: str) -> list[Column]:
    return [F.lit(values[name]).alias(name) if name in values else F.col(name) for name in names]


def image(replay: DataFrame, what: str = "after") -> DataFrame:
    """The entities there are ``after`` all records, or ``before`` the changes: ``entity``, ``key`` (JSON), ``name``,
    ``fields`` (map of texts), ``offset`` and ``timestamp`` of the last record about it, and ``problem``."""
    columns = ("entity", "key", "name", "fields", "offset", "timestamp", "record_type", "problem")
    return replay.where(F.col("what") == what).select(*columns)


def changes(replay: DataFrame) -> DataFrame:
    """What each record behind ``start`` did, in the order of the log: ``offset``, ``timestamp``, ``leader_epoch`` (of the
    controller that wrote it), ``record_type``, ``entity``, ``key``, ``name``, ``change`` (added, changed, removed,
    unchanged), ``changes`` (structs ``field``, ``before``, ``after``) and ``problem``."""
    return replay.where("what = 'change'").select(
        "offset",
        "timestamp",
        "leader_epoch",
        "record_type",
        "entity",
        "key",
        "name",
        "change",
        "changes",
        "problem",
    )


def differences(before: DataFrame, after: DataFrame) -> DataFrame:
    """What differs between two images: ``change`` (added, removed, changed), ``entity``, ``key``, ``name``, ``changes``
    (structs ``field``, ``before``, ``after``), ``offset`` and ``timestamp`` of the last record about it."""
    old = before.select("entity", "key", *(F.col(name).alias(f"old_{name}") for name in ("name", "fields")))
    joined = old.join(after, ["entity", "key"], "full")
    had, has = F.col("old_fields"), F.col("fields")
    empty = F.array().cast("array<string>")
    names = F.array_union(F.coalesce(F.map_keys(had), empty), F.coalesce(F.map_keys(has), empty))
    each = F.transform(
        names,
        lambda name: F.struct(
            name.alias("field"), F.try_element_at(had, name).alias("before"), F.try_element_at(has, name).alias("after")
        ),
    )
    different = F.filter(each, lambda change: ~change["before"].eqNullSafe(change["after"]))
    kind = F.when(had.isNull(), "added").when(has.isNull(), "removed").otherwise("changed")
    return (
        joined.withColumn("changes", different)
        .withColumn("change", kind)
        .where("change <> 'changed' or size(changes) > 0")
        .select(
            "change", "entity", "key", F.coalesce("name", "old_name").alias("name"), "changes", "offset", "timestamp"
        )
    )
