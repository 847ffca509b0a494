"""History of groups in ``__consumer_offsets``.

``records`` are rows of ``consumer_offsets``; ``includeBatchMetadata`` is needed to recognize aborted transactions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._expressions import has_outcome_columns, timestamp_of, with_outcome
from .copies import once

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = [
    "commit_storms",
    "committed_offsets",
    "group_states",
    "offset_commits",
    "offset_history",
    "removed_offsets",
    "resets",
]

# Minimum offset increase that counts as a jump.
JUMP = 1_000_000
# Minimum commits of a partition per minute in a storm; a consumer that commits every 5 s makes 12.
STORM = 30

_KEY = ("group", "topic", "partition")
_LOG = ("log_topic", "log_partition", "log_offset")
_MINUTE = 60_000
_MEMBER_TYPES = ("consumer_group_member_metadata", "share_group_member_metadata", "streams_group_member_metadata")
_GROUP_TYPES = {
    "group_metadata": "classic",
    "consumer_group_metadata": "consumer",
    "share_group_metadata": "share",
    "streams_group_metadata": "streams",
}


def offset_commits(records: DataFrame) -> DataFrame:
    """Return one row per commit or removal of an offset; copies of a record count once.

    ``committed_offset`` is null for a removal; ``leader_epoch`` is -1 or null if unknown. ``transaction`` is
    ``committed``, ``aborted``, ``open`` or null. Columns with the prefix ``log_`` locate the record.
    """
    for name in ("offset_commit", "legacy_offset_commit", "is_tombstone", "topic", "partition", "offset"):
        require(records, name, "offset_commits")
    new, old = F.col("offset_commit"), F.col("legacy_offset_commit")

    def of_value(name: str) -> Column:
        return F.coalesce(new["value"][name], old["value"][name])

    is_commit = F.col("record_type").isin("offset_commit", "legacy_offset_commit") & F.col("problem").isNull()
    if has_outcome_columns(records):
        commits = with_outcome(records.where(is_commit | F.col("is_control"))).where(is_commit)
    else:
        commits = records.where(is_commit).withColumn("transaction", F.lit(None).cast("string"))
    keys = [F.coalesce(new["key"][name], old["key"][name]) for name in _KEY]
    # The keys suffice, because all records of a group are in one partition; the folder name may lack its number.
    return once(commits, *keys, "offset").select(
        *(key.alias(name) for key, name in zip(keys, _KEY, strict=True)),
        of_value("offset").alias("committed_offset"),
        new["value"]["leader_epoch"].alias("leader_epoch"),
        of_value("metadata").alias("metadata"),
        new["value"]["topic_id"].alias("topic_id"),
        F.coalesce(timestamp_of(of_value("commit_timestamp")), "timestamp").alias("time"),
        "is_tombstone",
        *_log_columns(),
        "transaction",
    )


def _log_columns() -> list[Column]:
    return [F.col(name).alias(f"log_{name}") for name in ("topic", "partition", "offset")]


def offset_history(commits: DataFrame, records: DataFrame | None = None, *, jump: int = JUMP) -> DataFrame:
    """Return the commits and removals that took effect, each compared with the previous one of its group and partition.

    ``kind`` is ``first``, ``same``, ``forward``, ``jump`` (by ``jump`` or more), ``backward`` or ``removed``. ``members``
    is the group size, or null without ``records``. ``is_reset`` marks ``jump``, ``backward``, and, in a group without
    members, ``forward``.
    """
    effective = commits.where("transaction is null or transaction = 'committed'")
    in_order = Window.partitionBy(*_KEY).orderBy(*_LOG)
    change = F.try_subtract(F.col("committed_offset"), F.col("previous_offset"))
    kind = (
        F.when(F.col("is_tombstone"), "removed")
        .when(F.col("previous_offset").isNull(), "first")
        .when(F.col("change") < 0, "backward")
        .when(F.col("change") == 0, "same")
        .when(F.col("change") >= jump, "jump")
        .otherwise("forward")
    )
    history = effective.withColumns(
        {
            "previous_offset": F.lag("committed_offset").over(in_order),
            "previous_time": F.lag("time").over(in_order),
        }
    )
    history = history.withColumns(
        {
            "change": change,
            "interval_ms": F.unix_millis("time") - F.unix_millis("previous_time"),
        }
    ).withColumn("kind", kind)
    history = _with_members(history, records)
    while_empty = (F.col("members") == 0) & F.col("kind").isin("forward", "backward", "jump")
    return history.withColumn(
        "is_reset", F.col("kind").isin("backward", "jump") | F.coalesce(while_empty, F.lit(False))
    )


def _with_members(history: DataFrame, records: DataFrame | None) -> DataFrame:
    if records is None:
        return history.withColumn("members", F.lit(None).cast("long"))
    known = member_counts(records)
    window = Window.partitionBy("group").orderBy(*_LOG).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    both = history.withColumn("is_commit", F.lit(True)).unionByName(known, allowMissingColumns=True)
    both = both.withColumn("members", F.last("members", ignorenulls=True).over(window))
    return both.where("is_commit").drop("is_commit")


def member_counts(records: DataFrame) -> DataFrame:
    for name in ("group_metadata", *_MEMBER_TYPES):
        require(records, name, "member_counts")
    metadata = F.col("group_metadata")
    size = F.coalesce(F.size(metadata["value"]["members"]), F.lit(0))
    classic = records.where("record_type = 'group_metadata' and problem is null").select(
        metadata["key"]["group"].alias("group"), size.cast("long").alias("members"), *_log_columns()
    )
    group_id, member_id = (
        F.coalesce(*(F.col(f"{name}.key.{field}") for name in _MEMBER_TYPES)) for field in ("group_id", "member_id")
    )
    members = records.where(F.col("record_type").isin(*_MEMBER_TYPES) & F.col("problem").isNull()).select(
        group_id.alias("group"), member_id.alias("member"), (~F.col("is_tombstone")).alias("there"), *_log_columns()
    )
    of_member = Window.partitionBy("group", "member").orderBy(*_LOG)
    was_there = F.coalesce(F.lag("there").over(of_member), F.lit(False))
    members = members.withColumn("change", F.col("there").cast("long") - was_there.cast("long"))
    in_order = Window.partitionBy("group").orderBy(*_LOG).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    members = members.withColumn("members", F.sum("change").over(in_order))
    return classic.unionByName(members.select("group", "members", *_LOG)).dropDuplicates(["group", "log_offset"])


def resets(history: DataFrame) -> DataFrame:
    """Return the resets in ``history``; ``what`` describes each one."""
    why = (
        F.when(F.col("kind") == "backward", "went back")
        .when(F.col("kind") == "jump", "jumped ahead")
        .otherwise("was set ahead while the group had no members")
    )
    return history.where("is_reset").select(
        *_KEY,
        "time",
        "previous_offset",
        "committed_offset",
        "change",
        "members",
        F.when(
            (F.col("members") == 0) & (F.col("kind") != "forward"),
            F.concat(why, F.lit(" while the group had no members")),
        )
        .otherwise(why)
        .alias("what"),
        "metadata",
        "log_partition",
        "log_offset",
    )


def commit_storms(commits: DataFrame, *, least: int = STORM) -> DataFrame:
    """Return the periods in which a group committed a partition's offset ``least`` or more times within a minute.

    ``peak`` is the highest number of commits within a minute. Aborted commits count.
    """
    times = commits.where("not is_tombstone and time is not null").withColumn("at", F.unix_millis("time"))
    times = _in_last_minute(times)
    # The next commit that ends a busy minute, found in descending order.
    backwards = Window.partitionBy(*_KEY).orderBy(F.desc("at")).rangeBetween(Window.unboundedPreceding, 0)
    full = F.last(F.when(F.col("before") >= least, F.col("at")), ignorenulls=True).over(backwards)
    in_order = Window.partitionBy(*_KEY).orderBy("at")
    busy = times.withColumn("full", full).where(F.col("full") - F.col("at") < _MINUTE)
    is_new = F.coalesce(F.col("at") - F.lag("at").over(in_order) >= _MINUTE, F.lit(True))
    busy = busy.withColumn("is_new", is_new.cast("long"))
    storm = F.sum("is_new").over(in_order.rangeBetween(Window.unboundedPreceding, 0))
    return (
        busy.withColumn("storm", storm)
        .groupBy(*_KEY, "storm")
        .agg(
            F.min("time").alias("start"),
            F.max("time").alias("end"),
            F.count("*").alias("commits"),
            F.max("before").alias("peak"),
        )
        .drop("storm")
    )


def _in_last_minute(times: DataFrame) -> DataFrame:
    moves = F.array(
        F.struct(F.col("at").alias("moment"), F.lit(1).alias("one")),
        F.struct((F.col("at") + _MINUTE).alias("moment"), F.lit(-1).alias("one")),
    )
    moving = times.withColumn("move", F.explode(moves))
    until = Window.partitionBy(*_KEY).orderBy("move.moment", "move.one")
    counted = moving.withColumn("before", F.sum("move.one").over(until.rangeBetween(Window.unboundedPreceding, 0)))
    return counted.where("move.one = 1").drop("move")


def removed_offsets(history: DataFrame) -> DataFrame:
    """Return deleted and expired offsets; ``idle_ms`` is the time since the last commit."""
    return history.where("kind = 'removed'").select(
        *_KEY,
        "time",
        "previous_offset",
        "previous_time",
        F.col("interval_ms").alias("idle_ms"),
        "log_partition",
        "log_offset",
    )


def committed_offsets(history: DataFrame, partitions: DataFrame | None = None) -> DataFrame:
    """Return the last committed offset of each group and partition.

    ``start_offset``, ``end_offset``, ``lag`` and ``place`` (``within``, ``below the log`` or ``beyond the log``) compare it
    with ``partitions``, the result of ``transactions.partition_offsets`` for the data segments. They are null without
    ``partitions``, and for partitions that it lacks.
    """
    last = F.max_by(F.struct("*"), F.struct(*_LOG)).alias("last")
    now = history.groupBy(*_KEY).agg(last).select("last.*").where("not is_tombstone")
    now = now.select(*_KEY, "committed_offset", "leader_epoch", "metadata", "time", "members", "log_partition")
    if partitions is None:
        missing = {"start_offset": "long", "end_offset": "long", "lag": "long", "place": "string"}
        return now.withColumns({name: F.lit(None).cast(kind) for name, kind in missing.items()})
    ends = partitions.select(
        "topic", "partition", F.col("log_start_offset").alias("start_offset"), F.col("next_offset").alias("end_offset")
    )
    offset, end = F.col("committed_offset"), F.col("end_offset")
    place = F.when(offset < F.col("start_offset"), "below the log").when(offset > end, "beyond the log")
    return now.join(ends, ["topic", "partition"], "left").select(
        *now.columns,
        "start_offset",
        "end_offset",
        F.when(end.isNotNull(), F.greatest(F.try_subtract(end, offset), F.lit(0))).alias("lag"),
        F.when(end.isNotNull(), F.coalesce(place, F.lit("within"))).alias("place"),
    )


def group_states(records: DataFrame) -> DataFrame:
    """Return the last state of each group with group records; groups with only offset commits are omitted.

    ``type`` is classic, consumer, share or streams; ``generation`` is the epoch of groups that are not classic.
    """
    key = F.coalesce(
        F.col("group_metadata.key.group"), *(F.col(f"{name}.key.group_id") for name in list(_GROUP_TYPES)[1:])
    )
    epoch = F.coalesce(
        F.col("group_metadata.value.generation"), *(F.col(f"{name}.value.epoch") for name in list(_GROUP_TYPES)[1:])
    )
    kinds = F.create_map(*(F.lit(word) for pair in _GROUP_TYPES.items() for word in pair))
    found = records.where(F.col("record_type").isin(*_GROUP_TYPES) & F.col("problem").isNull()).select(
        key.alias("group"),
        kinds[F.col("record_type")].alias("type"),
        F.col("group_metadata.value.protocol_type").alias("protocol_type"),
        epoch.alias("generation"),
        F.col("is_tombstone").alias("removed"),
        F.col("timestamp").alias("time"),
        *_log_columns(),
    )
    place = F.struct(*_LOG)
    latest = found.groupBy("group").agg(F.max_by(F.struct("*"), place).alias("last")).select("last.*")
    counts = member_counts(records).groupBy("group").agg(F.max_by("members", place).alias("members"))
    return latest.join(counts, "group", "left").select(
        "group", "type", "protocol_type", "generation", "members", "removed", "time"
    )
