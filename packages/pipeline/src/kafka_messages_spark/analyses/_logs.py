"""What tells logs apart among the files of many: topic and partition, or the folder that does not say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


NAME_OFFSET = r"[/\\]([0-9]{20})(?:-[A-Za-z0-9_-]{22})?\.log[^/\\]*$"
"""The offset in the name of a segment, also of one in tiered storage, for ``regexp_extract``."""


SNAPSHOT = r"([0-9]{20})-[0-9]{10}\.checkpoint$"
"""The end of the name of a snapshot of the metadata: the first offset that is not in it."""


def next_offset(offset: Column) -> Column:
    """The next offset; behind the highest number that offsets can be, which only damage gives, that one again."""
    return F.coalesce(F.try_add(offset, F.lit(1)), offset)


def folder(path: str = "file") -> Column:
    """The folder of the file, or above the folder, that a column names."""
    return F.regexp_extract(path, r"^(.*)[/\\][^/\\]*$", 1)


def log_of(records: DataFrame) -> list[Column]:
    """Columns that are the same for the rows of one log, and no others."""
    columns = [F.col("topic"), F.col("partition")]
    if "file" not in records.columns:
        return columns
    return [*columns, F.when(F.col("topic").isNull() | F.col("partition").isNull(), folder())]
