"""Column expressions of several analyses: logs, offsets, times, text and transaction outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LOG = ("topic", "partition")
# Pattern of the base offset in a segment's path; names in tiered storage have a suffix.
NAME_OFFSET = r"[/\\]([0-9]{20})(?:-[A-Za-z0-9_-]{22})?\.log[^/\\]*$"
# Pattern of the exclusive end offset in a snapshot's name.
SNAPSHOT = r"([0-9]{20})-[0-9]{10}\.checkpoint$"
# End of the year 9999, the limit of Python's and SQL's dates.
_LAST_MS = 253_402_300_799_999
_OUTCOME_COLUMNS = ("topic", "partition", "offset", "is_transactional", "is_control", "control_type", "producer_id")
# Records outside transactions are split into this many groups, so that no task gets a whole log.
_SHARES = 1024


def next_offset(offset: Column) -> Column:
    return F.coalesce(F.try_add(offset, F.lit(1)), offset)


def folder(path: str = "file") -> Column:
    return F.regexp_extract(path, r"^(.*)[/\\][^/\\]*$", 1)


def log_of(records: DataFrame) -> list[Column]:
    columns = [F.col("topic"), F.col("partition")]
    if "file" not in records.columns:
        return columns
    return [*columns, F.when(F.col("topic").isNull() | F.col("partition").isNull(), folder())]


def with_names(batches: DataFrame, owner: str) -> DataFrame:
    """Use the path of the folder as topic of batches without a topic."""
    for name in ("topic", "partition", "file", "base_offset", "last_offset", "producer_id", "control_type"):
        require(batches, name, owner)
    names = {"topic": F.coalesce("topic", folder()), "partition": F.coalesce("partition", F.lit(-1))}
    return batches.withColumns(names)


def timestamp_of(milliseconds: Column) -> Column:
    """Return milliseconds since the epoch as a timestamp, or null below 0 and after the year 9999."""
    return F.when(milliseconds.between(0, _LAST_MS), F.timestamp_millis(milliseconds))


def text(*parts: Column | str) -> Column:
    return F.concat(*(F.lit(part) if isinstance(part, str) else part.cast("string") for part in parts))


def has_outcome_columns(records: DataFrame) -> bool:
    return set(_OUTCOME_COLUMNS) <= set(records.columns)


def with_outcome(records: DataFrame, name: str = "transaction") -> DataFrame:
    """Add the outcome of a record's transaction as column ``name``: ``committed``, ``aborted``, ``open``, or null for none.

    The rows must include control records.
    """
    marker = F.when(F.col("is_control") & F.col("control_type").isin("COMMIT", "ABORT"), F.col("control_type"))
    within = F.coalesce(F.col("is_transactional"), F.lit(False))
    share = F.when(within | marker.isNotNull(), F.col("producer_id")).otherwise(-2 - F.pmod("offset", F.lit(_SHARES)))
    # In descending order, because Spark recomputes a frame that ends at the last row once per row.
    backwards = Window.partitionBy(*log_of(records), share).orderBy(F.desc("offset"))
    following = backwards.rowsBetween(Window.unboundedPreceding, -1)
    ended = F.last(marker, ignorenulls=True).over(following)
    outcome = F.when(ended == "COMMIT", "committed").when(ended == "ABORT", "aborted").otherwise("open")
    return records.withColumn(name, F.when(within & marker.isNull(), outcome))
