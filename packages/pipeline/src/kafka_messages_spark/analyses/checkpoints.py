"""Checkpoint files of log directories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kafka_records.index_files import LEADER_EPOCH
from pyspark.sql import functions as F

from ..sources._checkpoint_files import CheckpointFiles
from ._expressions import NAME_OFFSET, folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = [
    "CLEANER_OFFSET",
    "HIGH_WATERMARK",
    "LEADER_EPOCH",
    "LOG_START_OFFSET",
    "high_watermarks",
    "log_start_offsets",
    "read_checkpoints",
]

# File of log start offsets above the first base offset, for example after DeleteRecords.
LOG_START_OFFSET = "log-start-offset-checkpoint"
CLEANER_OFFSET = "cleaner-offset-checkpoint"
# File of high watermarks; brokers write it every few seconds.
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
    """Return the entries of the checkpoint files ``name`` in the log directories of the segments in ``paths``.

    ``LEADER_EPOCH`` names the files in the folders of partitions; only their entries have a ``leader_epoch``.
    A damaged file is one row with ``file`` and ``problem``. A missing path fails the query.
    """
    return CheckpointFiles.load(spark, paths, owner=owner, glob=glob, recursive=recursive, name=name)


def log_start_offsets(files: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Return ``first_segment`` and ``last_segment`` (base offsets), and ``checkpoint``, for each partition.

    ``files`` has ``path``, ``topic`` and ``partition``. ``first_segment`` is the highest one of the replicas: each has all
    records from its own on. ``checkpoint`` is the highest log start offset in their checkpoint files, or null.
    """
    name = F.regexp_extract("path", NAME_OFFSET, 1)
    replica = folder("path").alias("replica")
    named = files.select("topic", "partition", replica, F.when(name != "", name.cast("long")).alias("name_offset"))
    replicas = named.groupBy("topic", "partition", "replica").agg(
        F.min("name_offset").alias("first"), F.max("name_offset").alias("last")
    )
    segments = replicas.groupBy("topic", "partition").agg(
        F.max("first").alias("first_segment"), F.max("last").alias("last_segment")
    )
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    highest = entries.agg(F.max("offset").alias("checkpoint"))
    known = segments.where("topic is not null and partition is not null")
    return known.join(highest, ["topic", "partition"], "left")


def high_watermarks(checkpoints: DataFrame) -> DataFrame:
    """Return each partition's highest high watermark in the checkpoint files of replicas; the actual one may be higher."""
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    return entries.agg(F.max("offset").alias("high_watermark"))
