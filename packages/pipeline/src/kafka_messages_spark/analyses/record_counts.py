"""How many records there are, by the headers of their batches: nothing is decompressed, and no record is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ..sources._segment_ranges import ranges
from ..sources._shares import MAX_PARTITION_BYTES
from ._logs import folder
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
    """The records of segment files by their headers: one row for each folder, which is a copy of a partition.

    Columns: ``folder``, ``topic``, ``partition``, ``records`` (without control records), ``batches`` (all sound ones),
    ``bytes`` (as stored), ``first_offset`` and ``last_offset`` (of all batches; the first is null where a header does not
    tell it), ``max_timestamp``, ``uncounted`` (compressed messages of formats 0 and 1, whose headers do not say how many
    records are in them: ``records`` is without these), and ``corrupt`` (places that are no sound batch, and files that
    cannot be read). Records of transactions that were aborted count. A folder whose files are empty has no row.

    ``paths`` and the other arguments are those of ``read_batches``, but that checksums are not looked at unless
    ``check_crcs`` is true. Raises as it does.
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
