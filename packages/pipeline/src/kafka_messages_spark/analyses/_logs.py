"""Offsets in file names, and columns that identify a log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# Pattern of the base offset in a segment's path; names in tiered storage have a suffix.
NAME_OFFSET = r"[/\\]([0-9]{20})(?:-[A-Za-z0-9_-]{22})?\.log[^/\\]*$"


# Pattern of the exclusive end offset in a snapshot's name.
SNAPSHOT = r"([0-9]{20})-[0-9]{10}\.checkpoint$"


def next_offset(offset: Column) -> Column:
    return F.coalesce(F.try_add(offset, F.lit(1)), offset)


def folder(path: str = "file") -> Column:
    return F.regexp_extract(path, r"^(.*)[/\\][^/\\]*$", 1)


def log_of(records: DataFrame) -> list[Column]:
    columns = [F.col("topic"), F.col("partition")]
    if "file" not in records.columns:
        return columns
    return [*columns, F.when(F.col("topic").isNull() | F.col("partition").isNull(), folder())]
