"""What could not be read, as one table of all jobs: corrupt batches, records, and checkpoint files."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

COLUMNS = ("file", "topic", "partition", "position", "offset", "reason")
"""Columns of the table of what could not be read: corrupt batches, files, and records."""


def corrupt_batches(batches: DataFrame) -> DataFrame:
    """What is corrupt among batches, or among records that were read with ``file``, in the columns of ``COLUMNS``."""
    offset = F.lit(None).cast("long").alias("offset")
    reason = F.col("corrupt.reason").alias("reason")
    return batches.where("corrupt is not null").select("file", "topic", "partition", "position", offset, reason)


def bad_records(records: DataFrame) -> DataFrame:
    """Corrupt batches, and records with a ``problem``, of an internal topic, in the columns of ``COLUMNS``."""
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
    """Checkpoint files that are not believed, in the columns of ``COLUMNS``."""
    nowhere = [F.lit(None).cast("long").alias(name) for name in ("position", "offset")]
    problem = F.col("problem").alias("reason")
    return checkpoints.where("problem is not null").select("file", "topic", "partition", *nowhere, problem)
