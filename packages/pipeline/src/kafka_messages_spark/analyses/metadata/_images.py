"""Cluster images, their differences, and the changes between."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Window
from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from ...columns._records import columns_of
from ._entities import REPLAYED, replayed
from ._events import BEGIN, END, EVENTS, IGNORED, RULES, events_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


_FOREVER = (1 << 63) - 1
# ConfigResource.Type.TOPIC
_TOPIC = "2"


def replay(
    chosen: DataFrame, *, start: int | None = None, keep: Callable[[DataFrame], DataFrame] = lambda rows: rows
) -> DataFrame:
    """Replay the result of ``records_of``; with ``start``, also return the image at that offset and each later change.

    ``keep`` is called with each data frame that is read more than once, and may cache it.
    """
    columns = ["at", "place", "timestamp", "leader_epoch", "record_type"]
    columns += [name for name in columns_of("metadata") if name in RULES]

    events = chosen.where("problem is null").select(*columns).mapInArrow(events_of, struct_type(EVENTS))
    found = _with_cascades(keep(_in_force(keep(events))))

    def group(table: pa.Table) -> pa.Table:
        return replayed(table, start)

    return found.groupBy("group").applyInArrow(group, struct_type(REPLAYED))


def _in_force(events: DataFrame) -> DataFrame:
    """Drop records of metadata transactions that were aborted or not ended (KIP-868)."""
    marks = events.where("entity = ''").where(F.col("action") != IGNORED).select("at", "action", F.lit(0).alias("log"))
    in_order = Window.partitionBy("log").orderBy("at")
    begun = marks.withColumns({"next": F.lead("action").over(in_order), "until": F.lead("at").over(in_order)})
    begun = begun.where((F.col("action") == BEGIN) & ~F.col("next").eqNullSafe(F.lit(END)))
    dropped = begun.select(F.col("at").alias("since"), F.coalesce("until", F.lit(_FOREVER)).alias("until"))
    inside = (F.col("at") > F.col("since")) & (F.col("at") < F.col("until"))
    return events.where("entity <> ''").join(F.broadcast(dropped), inside, "left_anti")


def _with_cascades(events: DataFrame) -> DataFrame:
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
    """Return the entities of the last state (``what`` is ``after``), or of the state at ``start`` (``before``).

    ``key`` is JSON, ``fields`` a map of strings.
    """
    columns = ("entity", "key", "name", "fields", "offset", "timestamp", "record_type", "problem")
    return replay.where(F.col("what") == what).select(*columns)


def changes(replay: DataFrame) -> DataFrame:
    """Return one row per record after ``start`` and affected entity, unordered.

    ``change`` is added, changed, removed or unchanged; ``changes`` has structs ``field``, ``before``, ``after``.
    """
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
    """Return the entities that differ between two images; ``change`` and ``changes`` are as in ``changes()``."""
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
