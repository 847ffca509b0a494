"""Run the checks of segment files in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from ..._core.errors import invalid_argument
from ..._core.spark_types import struct_type
from ...sources._segment_ranges import ranges
from ...sources._shares import MAX_PARTITION_BYTES
from ._range_check import SCHEMA, check_ranges

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


DEPTHS = ("records", "batches")


def check_segments(
    spark: SparkSession,
    paths: Sequence[str],
    *,
    depth: str = "records",
    glob: str | None = None,
    recursive: bool = True,
    max_partition_bytes: int = MAX_PARTITION_BYTES,
) -> DataFrame:
    """Check segment files; ``files`` and ``findings`` take the result.

    ``depth`` is ``batches`` (headers and checksums) or ``records`` (also decode all records).
    Raises PySparkValueError for another depth; a missing path fails the query.
    """
    if depth not in DEPTHS:
        raise invalid_argument(f"check_segments: depth must be one of {', '.join(DEPTHS)}, not {depth!r}")
    found = ranges(
        spark, paths, owner="check_segments", glob=glob, recursive=recursive, max_partition_bytes=max_partition_bytes
    )
    return checked_ranges(found, depth)


def checked_ranges(found: DataFrame, depth: str) -> DataFrame:
    with_records = depth == "records"

    def check(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return check_ranges(rows, with_records)

    return found.mapInArrow(check, struct_type(SCHEMA))
