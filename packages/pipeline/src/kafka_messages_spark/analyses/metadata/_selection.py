"""Records that determine the state at an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ...columns.frames import require
from .._expressions import SNAPSHOT, next_offset
from ..copies import once
from ._events import RULES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_LAST_PLACE = (1 << 63) - 1


def records_of(records: DataFrame, *, up_to: int | None = None, base: int | None = None) -> DataFrame:
    """Return records of the latest snapshot within ``up_to`` and ``base``, and of the log from there up to ``up_to``.

    The snapshot contains no offset above ``up_to`` or ``base``. Adds ``at``, the offset (for a snapshot, the last
    offset that it contains), and ``place``, the offset in the snapshot.
    """
    for name in ("file", "offset", "is_control", "record_type", "timestamp", "leader_epoch"):
        require(records, name, "records_of")
    end = F.regexp_extract("file", SNAPSHOT, 1)
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
    """Return ``file`` and exclusive ``end_offset`` of the snapshots."""
    end = F.regexp_extract("file", SNAPSHOT, 1)
    return records.where(end != "").select("file", end.cast("long").alias("end_offset")).distinct()


def last_offset(records: DataFrame) -> int | None:
    """Return the last offset of the log and the snapshots, or None without records."""
    end = F.regexp_extract("file", SNAPSHOT, 1)
    at = F.when(end != "", end.cast("long") - 1).otherwise(F.col("offset"))
    last: int | None = records.where("offset is not null").agg(F.max(at)).collect()[0][0]
    return last


def missing_offsets(chosen: DataFrame) -> DataFrame:
    """Return one row about the result of ``records_of``.

    ``first`` and ``last`` are log offsets; ``missing`` counts missing offsets from the snapshot's end (or 0) to ``last``.
    ``base`` is the first offset after the snapshot, or null. ``is_cut`` is true for a snapshot without footer.
    """
    require(chosen, "control_type", "missing_offsets")
    of_log = chosen.where(F.col("place") == _LAST_PLACE).agg(
        F.count("*").alias("count"), F.min("at").alias("first"), F.max("at").alias("last")
    )
    base = chosen.where(F.col("place") != _LAST_PLACE).agg(
        next_offset(F.max("at")).alias("base"),
        (F.count_if(F.col("control_type") == "SNAPSHOT_FOOTER") == 0).alias("footless"),
    )
    start = F.coalesce("base", F.lit(0))
    missing = F.when(F.col("count") > 0, next_offset(F.col("last")) - start - F.col("count")).otherwise(0)
    return of_log.crossJoin(base).select(
        F.coalesce("first", start).alias("first"),
        F.coalesce(F.col("last"), start - 1).alias("last"),
        missing.alias("missing"),
        "base",
        (F.col("footless") & F.col("base").isNotNull()).alias("is_cut"),
    )


def unhandled(records: DataFrame) -> DataFrame:
    """Count malformed records, and records of unknown types, by type, version and problem."""
    known = F.col("record_type").isin("control", *RULES) & F.col("problem").isNull()
    odd = records.where(~F.coalesce(known, F.lit(False)) & F.col("offset").isNotNull())
    return odd.groupBy("record_type", "record_type_id", "record_version", "problem").agg(
        F.count("*").alias("records"), F.min("offset").alias("first_offset")
    )
