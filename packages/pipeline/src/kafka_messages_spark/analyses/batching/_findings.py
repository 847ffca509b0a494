"""Findings about batching, compression and log cleaning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from .._expressions import text
from ._sums import at_level

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

# Minimum batches, or records of a compacted partition, for a finding.
BUSY = 100
_SINGLE_SHARE = 0.9
_PER_SECOND = 10
_DEAD_SHARE = 0.75
_NONE = {"partition": "int", "producer_id": "long", "compression": "string"}


def findings(found: DataFrame, dead: DataFrame, busy: int = BUSY) -> DataFrame:
    """Return the findings in ``found`` (the result of ``sums``) and ``dead``.

    Each needs at least ``busy`` batches, or for ``not cleaned`` as many records.

    - ``batches of one record``: at least 90 % of a producer's batches have one record, at 10 records per second or more.
      Topics whose names start with ``__`` are excluded.
    - ``compression that enlarges``: a topic's batches of one codec are larger in total than uncompressed.
    - ``not cleaned``: at least 75 % of the bytes in a partition's closed segments are superseded.
    """
    producers = at_level(found, "producers").where(
        (F.col("batches") >= busy)
        & (F.col("single") >= _SINGLE_SHARE * F.col("batches"))
        & (F.col("records_per_second") >= _PER_SECOND)
        & ~F.col("topic").startswith("__")
    )
    rate = F.round("records_per_second").cast("long")
    took = F.unix_millis("last_timestamp") - F.unix_millis("first_timestamp")
    # A rate is meaningless for bursts below a second.
    pace = F.when(took < 1000, text("within ", took, " ms")).otherwise(text("at ", rate, " records a second"))
    single = text(F.col("single"), " of ", F.col("batches"), " batches have one record, ", pace)
    enlarged = at_level(found, "compressions").where(
        (F.col("compression") != "none") & (F.col("batches") >= busy) & (F.col("bytes") > F.col("uncompressed_bytes"))
    )
    more = F.col("bytes") - F.col("uncompressed_bytes")
    larger = text(F.col("batches"), " batches are ", more, " bytes larger than without compression")
    left = dead.where(
        (F.col("records") >= busy)
        & (F.col("cleanable_bytes") >= _DEAD_SHARE * F.col("closed_bytes"))
        & (F.col("cleanable_bytes") > 0)
    )
    uncleaned = text(
        F.col("cleanable_bytes"), " of ", F.col("closed_bytes"), " bytes in closed segments are superseded"
    )
    return (
        _rows(producers, "batches of one record", single)
        .unionByName(_rows(enlarged, "compression that enlarges", larger))
        .unionByName(_rows(left, "not cleaned", uncleaned))
    )


def _rows(of: DataFrame, finding: str, detail: Column) -> DataFrame:
    nothing = {name: F.lit(None).cast(kind) for name, kind in _NONE.items() if name not in of.columns}
    whole = of.withColumns(nothing) if nothing else of
    return whole.select(F.lit(finding).alias("finding"), "topic", *_NONE, "bytes", detail.alias("detail"))
