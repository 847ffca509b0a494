"""Checkpoint files of log directories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from ..sources._checkpoint_files import CheckpointFiles
from ._logs import NAME_OFFSET

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "CLEANER_OFFSET",
    "HIGH_WATERMARK",
    "LOG_START_OFFSET",
    "high_watermarks",
    "log_start_offsets",
    "read_checkpoints",
]

# Log start offsets above the first base offset, for example after DeleteRecords.
LOG_START_OFFSET = "log-start-offset-checkpoint"
CLEANER_OFFSET = "cleaner-offset-checkpoint"
# High watermarks; brokers write the file every few seconds.
HIGH_WATERMARK = "replication-offset-checkpoint"


def read_checkpoints(
    spark: SparkSession,
    paths: Sequence[str],
    name: str = LOG_START_OFFSET,
    *,
    glob: str | None = None,
    recursive: bool = True,
    owner: str = "read_checkpoints",
) -> DataFrame:
    """Return the entries of checkpoint files in the log directories of the segments in ``paths``.

    A damaged file is one row with ``file`` and ``problem``. A missing path fails the query.
    """
    return CheckpointFiles.load(spark, paths, owner=owner, glob=glob, recursive=recursive, name=name)


def log_start_offsets(files: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Return ``first_segment`` and ``last_segment`` (base offsets), and ``checkpoint`` or null, for each partition.

    ``files`` has ``path``, ``topic`` and ``partition``. ``checkpoint`` is the highest log start offset of all replicas.
    """
    name = F.regexp_extract("path", NAME_OFFSET, 1)
    named = files.select("topic", "partition", F.when(name != "", name.cast("long")).alias("name_offset"))
    segments = named.groupBy("topic", "partition").agg(
        F.min("name_offset").alias("first_segment"), F.max("name_offset").alias("last_segment")
    )
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    highest = entries.agg(F.max("offset").alias("checkpoint"))
    known = segments.where("topic is not null and partition is not null")
    return known.join(highest, ["topic", "partition"], "left")


def high_watermarks(checkpoints: DataFrame) -> DataFrame:
    """Return the highest checkpointed high watermark of each partition's replicas; the current one may be higher."""
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    return entries.agg(F.max("offset").alias("high_watermark"))
