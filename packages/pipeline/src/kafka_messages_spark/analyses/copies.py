"""Copies of a log: what the folders of several replicas hold, each record once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from ..columns.frames import require
from ._logs import log_of

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["counts", "once"]

_RANK = "kafka_messages_copy"
_CONTENT = ("key", "value", "timestamp")
"""What is the same in all copies of a record, whatever the cleaner made of its batch."""


def once(rows: DataFrame, *keys: Column | str) -> DataFrame:
    """Each record once, by topic, partition and offset, however many files hold it.

    ``rows`` are of ``kafka_log``, best with ``includeBatchMetadata``, before or after they were decoded. Of copies that
    differ, that with the highest leader epoch is kept, as Kafka's replicas agree (KIP-101); of equal ones the first by
    the name of the file. A record that is in one copy alone (the others were cut short, damaged, or cleaned earlier) is
    kept, and so are control records. Rows of corrupt batches have no offset, and all of them stay. Files whose folder
    does not say topic and partition are told apart by their folder.

    ``keys`` say what else there is to be one of, the number within a log last, such as ``base_offset`` for the rows of
    batches; of those the copy with the most records is kept, which the cleaner has not come to. Snapshots have offsets of
    their own: leave their rows out.
    """
    if not keys:
        require(rows, "offset", "once")
        keys = (*log_of(rows), "offset")
    number = F.col(keys[-1]) if isinstance(keys[-1], str) else keys[-1]
    order = [F.col("problem").isNotNull()] if "problem" in rows.columns else []
    order += [F.col("leader_epoch").desc_nulls_last()] if "leader_epoch" in rows.columns else []
    order += [F.col("records").desc_nulls_last()] if "records" in rows.columns else []
    order += [F.col(name) for name in ("file", "position") if name in rows.columns]
    window = Window.partitionBy(*keys).orderBy(*(order or [number]))
    ranked = rows.withColumn(_RANK, F.row_number().over(window))
    return ranked.where((F.col(_RANK) == 1) | number.isNull()).drop(_RANK)


def counts(rows: DataFrame) -> DataFrame:
    """One row about what ``once`` keeps: ``records``, their ``copies`` that it leaves out, and ``differing``: offsets of
    which there are copies with another key, value or timestamp. Control records do not count."""
    require(rows, "offset", "counts")
    some = rows.where("offset is not null")
    if "is_control" in rows.columns:
        some = some.where("is_control is null or not is_control")
    content = F.xxhash64(*(name for name in _CONTENT if name in rows.columns))
    keys = [key.alias(f"key_{at}") for at, key in enumerate([*log_of(rows), F.col("offset")])]
    each = some.groupBy(*keys).agg(F.count("*").alias("held"), (F.min(content) != F.max(content)).alias("differs"))
    return each.agg(
        F.count("*").alias("records"),
        F.coalesce(F.sum(F.col("held") - 1), F.lit(0)).alias("copies"),
        F.count_if("differs").alias("differing"),
    )
