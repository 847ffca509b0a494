"""Table of corrupt batches, records and checkpoint files."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

COLUMNS = ("file", "topic", "partition", "position", "offset", "reason")


def corrupt_batches(batches: DataFrame) -> DataFrame:
    offset = F.lit(None).cast("long").alias("offset")
    reason = F.col("corrupt.reason").alias("reason")
    return batches.where("corrupt is not null").select("file", "topic", "partition", "position", offset, reason)


def bad_records(records: DataFrame) -> DataFrame:
    file = F.col("file") if "file" in records.columns else F.lit(None).cast("string").alias("file")
    return records.where("corrupt is not null or problem is not null").select(
        file,
        "topic",
        "partition",
        F.col("corrupt.position").alias("position"),
        "offset",
        F.coalesce("corrupt.reason", "problem").alias("reason"),
    )


def damaged_checkpoints(checkpoints: DataFrame) -> DataFrame:
    nowhere = [F.lit(None).cast("long").alias(name) for name in ("position", "offset")]
    problem = F.col("problem").alias("reason")
    return checkpoints.where("problem is not null").select("file", "topic", "partition", *nowhere, problem)
