"""Outcome of the transaction of each record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ._logs import log_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COLUMNS = ("topic", "partition", "offset", "is_transactional", "is_control", "control_type", "producer_id")
# Records outside transactions are split into this many groups, so that no task gets a whole log.
_SHARES = 1024


def has_outcome_columns(records: DataFrame) -> bool:
    return set(_COLUMNS) <= set(records.columns)


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
