"""Logs that end below their high watermark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import folder, text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOG = ("directory", "topic", "partition")


def below_watermark(summary: DataFrame, watermarks: DataFrame) -> DataFrame:
    is_log = F.col("name_offset").isNotNull() & F.col("topic").isNotNull() & ~F.col("file").endswith(".checkpoint")
    end = F.max(F.greatest("next_offset", "name_offset"))
    directory = folder("folder").alias("directory")
    logs = summary.where(is_log).groupBy(directory, "topic", "partition")
    ends = logs.agg(end.alias("end"), F.max_by("file", "name_offset").alias("file"))
    marks = watermarks.where("problem is null").select(
        folder().alias("directory"), "topic", "partition", F.col("offset").alias("mark")
    )
    mark, end = F.col("mark"), F.col("end")
    detail = text(
        "ends at offset ", end, ", below the high watermark ", mark, ": truncated, or copied before the checkpoint"
    )
    return (
        ends.join(F.broadcast(marks), [*_LOG])
        .where(mark > end)
        .select(
            "file",
            F.lit("high_watermark").alias("check"),
            F.lit("info").alias("severity"),
            F.lit(None).cast("long").alias("position"),
            end.alias("offset"),
            (mark - end).alias("count"),
            detail.alias("detail"),
        )
    )
