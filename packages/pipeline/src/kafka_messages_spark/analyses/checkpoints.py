"""The checkpoint files in a broker's log directories: where its logs begin, what is replicated, where its cleaner was."""

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

LOG_START_OFFSET = "log-start-offset-checkpoint"
"""Partitions whose log begins behind the first offset of their first segment, as DeleteRecords leaves them."""
CLEANER_OFFSET = "cleaner-offset-checkpoint"
"""Partitions that the cleaner has compacted, up to the offset."""
HIGH_WATERMARK = "replication-offset-checkpoint"
"""Partitions with the offset up to which all replicas in sync have them, as it was a few seconds before."""


def read_checkpoints(
    spark: SparkSession,
    paths: Sequence[str],
    name: str = LOG_START_OFFSET,
    *,
    glob: str | None = None,
    recursive: bool = True,
    owner: str = "read_checkpoints",
) -> DataFrame:
    """The entries of the checkpoint files ``name`` in the log directories that the segments of some paths lie in.

    ``paths`` are files, folders or patterns as ``kafka_log`` takes them: of segments, or of folders with segments. The
    log directory of a segment is the folder above its own. Columns: ``file``, ``topic``, ``partition``, ``offset``, and
    ``problem``. Where there is no such file there are no rows. Of one that is damaged nothing is believed: it is one row
    with nothing but ``file`` and ``problem``. Only a path that is not there ends the query.
    """
    return CheckpointFiles.load(spark, paths, owner=owner, glob=glob, recursive=recursive, name=name)


def log_start_offsets(files: DataFrame, checkpoints: DataFrame) -> DataFrame:
    """Where logs begin and end by the names of their files and by checkpoints; for ``transactions.partition_offsets``.

    ``files`` has the columns ``path``, ``topic`` and ``partition``, ``checkpoints`` is ``read_checkpoints``. A row for
    each partition with a name: ``topic``, ``partition``, ``checkpoint`` (null: none), ``first_segment`` and
    ``last_segment``, the lowest and the highest offset in the name of a file.

    Of several replicas the highest checkpoint counts. The leader decides where a log begins, the others hear of it later,
    each writes it down once a minute, and it never goes back: the highest is the newest.
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
    """The high watermark of each partition that ``checkpoints`` (``read_checkpoints`` of ``HIGH_WATERMARK``) names.

    Columns: ``topic``, ``partition``, ``high_watermark``. Brokers write it down every five seconds
    (``replica.high.watermark.checkpoint.interval.ms``) and when they stop, so it is the least that was replicated. Of
    several replicas the highest counts: followers hear of it later.
    """
    entries = checkpoints.where("problem is null").groupBy("topic", "partition")
    return entries.agg(F.max("offset").alias("high_watermark"))
