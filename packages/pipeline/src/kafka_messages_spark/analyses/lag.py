"""Lag of groups as a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["with_lag_times"]

_LOG = ("topic", "partition")


def with_lag_times(offsets: DataFrame, batches: DataFrame) -> DataFrame:
    """Add ``lag_ms`` to ``groups.committed_offsets``: the age of the batch to read next, relative to the newest record.

    ``batches`` are those of the data segments. ``lag_ms`` may be too large by a batch's duration; it is null if unknown.
    """
    for name in (*_LOG, "first_timestamp", "max_timestamp", "last_offset"):
        require(batches, name, "with_lag_times")
    first, newest = F.unix_millis("first_timestamp"), F.unix_millis("max_timestamp")
    ends = batches.where("last_offset is not null").select(
        *_LOG, F.col("last_offset").alias("at"), first.alias("first"), newest.alias("newest"), F.lit(None).alias("row")
    )
    wanted = offsets.select(
        *_LOG,
        F.col("committed_offset").alias("at"),
        F.lit(None).cast("long").alias("first"),
        F.lit(None).cast("long").alias("newest"),
        F.struct(*offsets.columns).alias("row"),
    )
    ends = ends.withColumn("row", F.col("row").cast(wanted.schema["row"].dataType))
    # In descending order, the last batch seen up to an offset is the first one that contains or follows the offset.
    of_log = Window.partitionBy(*_LOG)
    backwards = of_log.orderBy(F.desc("at"), F.col("row").isNotNull()).rowsBetween(Window.unboundedPreceding, 0)
    found = wanted.unionByName(ends).withColumns(
        {"next": F.last("first", ignorenulls=True).over(backwards), "newest": F.max("newest").over(of_log)}
    )
    behind = F.col("newest") - F.col("next")  # null without batch timestamps
    behind = F.when(behind < 0, F.lit(0)).otherwise(behind)
    lag = F.when(F.col("row.lag") == 0, F.lit(0)).when(F.col("row.lag") > 0, behind).cast("long")
    return found.where("row is not null").select("row.*", lag.alias("lag_ms"))
