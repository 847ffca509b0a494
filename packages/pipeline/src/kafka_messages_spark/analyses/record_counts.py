"""Count records by batch headers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ..sources._segment_ranges import ranges
from ..sources._shares import MAX_PARTITION_BYTES
from ._expressions import folder
from .batches import batches_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["count_records"]


def count_records(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    glob: str | None = None,
    recursive: bool = True,
    check_crcs: bool = False,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """Return the record counts of each folder's segments. Unlike ``read_batches``, CRCs are not checked by default.

    ``records`` excludes control records and includes aborted ones. ``uncounted`` is the number of compressed messages of
    formats 0 and 1, whose headers lack a record count. ``corrupt`` counts invalid places and unreadable files.
    """
    files = ranges(
        spark, paths, owner="count_records", glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )
    batches = batches_in(files, check_crcs=check_crcs)
    is_sound = F.col("corrupt").isNull()
    is_data = is_sound & ~F.col("is_control")
    return batches.groupBy(folder().alias("folder"), "topic", "partition").agg(
        F.coalesce(F.sum(F.when(is_data, F.col("records"))), F.lit(0)).cast("bigint").alias("records"),
        F.count(F.when(is_sound, 1)).alias("batches"),
        F.coalesce(F.sum("size"), F.lit(0)).cast("bigint").alias("bytes"),
        F.min("base_offset").alias("first_offset"),
        F.max("last_offset").alias("last_offset"),
        F.max("max_timestamp").alias("max_timestamp"),
        F.count(F.when(is_data & F.col("records").isNull(), 1)).alias("uncounted"),
        F.count(F.when(~is_sound, 1)).alias("corrupt"),
    )
