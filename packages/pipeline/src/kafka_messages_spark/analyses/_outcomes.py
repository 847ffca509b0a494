"""What became of the transactions that records of a log are in, told by the markers behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ._logs import log_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TELLING = ("topic", "partition", "offset", "is_transactional", "is_control", "control_type", "producer_id")
_SHARES = 1024
"""Records outside of transactions need no order: so many shares of them, and no task gets a whole log."""


def has_outcome_columns(records: DataFrame) -> bool:
    """Whether rows have what it takes; those of ``kafka_log`` do with ``includeBatchMetadata``."""
    return set(_TELLING) <= set(records.columns)


def with_outcome(records: DataFrame, name: str = "transaction") -> DataFrame:
    """The same rows and a column: ``committed``, ``aborted`` or ``open`` for records in a transaction, else null.

    It is what the next marker of their producer says. Markers must be among the rows.
    """
    marker = F.when(F.col("is_control") & F.col("control_type").isin("COMMIT", "ABORT"), F.col("control_type"))
    within = F.coalesce(F.col("is_transactional"), F.lit(False))
    share = F.when(within | marker.isNotNull(), F.col("producer_id")).otherwise(-2 - F.pmod("offset", F.lit(_SHARES)))
    # From the end to the beginning: a frame that reaches to the end would be summed up anew for every row.
    backwards = Window.partitionBy(*log_of(records), share).orderBy(F.desc("offset"))
    following = backwards.rowsBetween(Window.unboundedPreceding, -1)
    ended = F.last(marker, ignorenulls=True).over(following)
    outcome = F.when(ended == "COMMIT", "committed").when(ended == "ABORT", "aborted").otherwise("open")
    return records.withColumn(name, F.when(within & marker.isNull(), outcome))
