"""Batches of data segments in few rows, for lookups of few offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from .copies import without_lost
from .lag import next_to_read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["batches_near", "packed", "unpacked"]

# Maximum number of batches in a row.
_MOST = 1000
_LOG = ("topic", "partition")
_PACKED = ("last_offset", "first_timestamp", "max_timestamp")
_OF_BATCH = (
    *("topic", "partition", "file", "position", "base_offset", "last_offset", "max_timestamp", "leader_epoch"),
    "producer_id",
)
_SUMS = [
    ("position", "max"),
    ("first", "min"),
    ("last_offset", "min"),
    ("last_offset", "max"),
    ("max_timestamp", "max"),
]


def packed(batches: pa.RecordBatch, most: int = _MOST) -> pa.RecordBatch:
    """Pack the batches of one file, as rows of ``read_batches``, for ``partition_offsets`` and ``batches_near``.

    A row has the lowest ``base_offset`` and the highest values of up to ``most`` batches of a leader epoch, and their number
    as ``batches``.
    ``lowest`` is the lowest last offset, and ``packed`` has offsets and times of each. Corrupt batches keep their rows.
    """
    table = pa.Table.from_batches([batches])
    is_sound = pc.is_null(table["corrupt"])
    sound, corrupt = table.filter(is_sound), table.filter(pc.invert(is_sound))
    number = np.arange(len(sound))
    is_new = np.diff(pc.fill_null(sound["leader_epoch"], -1).to_numpy(), prepend=-2) != 0
    since = number - np.maximum.accumulate(np.where(is_new, number, 0))
    starts = np.flatnonzero(since % most == 0)
    first = pc.coalesce(sound["base_offset"], sound["last_offset"])
    row = np.searchsorted(starts, number, "right")
    numbered = sound.append_column("row", pa.array(row)).append_column("first", first)
    sums = numbered.group_by("row").aggregate([*_SUMS, ("row", "count")]).sort_by("row")
    each = pa.StructArray.from_arrays([sound[name].combine_chunks() for name in _PACKED], names=list(_PACKED))
    lists = pa.ListArray.from_arrays(pa.array(np.append(starts, len(sound)), pa.int32()), each)
    columns = {
        **{name: sound[name].take(starts) for name in ("topic", "partition", "file", "leader_epoch")},
        **{name: sums[f"{name}_max"] for name in ("position", "last_offset", "max_timestamp")},
        "base_offset": sums["first_min"],
        "lowest": sums["last_offset_min"],
        "batches": sums["row_count"],
        "packed": lists,
    }
    schema = pa.schema([table.schema.field(name) for name in (*_OF_BATCH, "control_type", "corrupt")])
    for name, kind in (("lowest", pa.int64()), ("batches", pa.int64()), ("packed", lists.type)):
        schema = schema.append(pa.field(name, kind))
    rows = [columns.get(field.name, pa.nulls(len(starts), field.type)) for field in schema]
    others = [
        corrupt[n] if n in corrupt.schema.names else pa.nulls(len(corrupt), schema.field(n).type) for n in schema.names
    ]
    whole = pa.concat_tables([pa.table(others, schema=schema), pa.table(rows, schema=schema)]).combine_chunks()
    return (whole.to_batches() or [pa.RecordBatch.from_pylist([], schema=schema)])[0]


def unpacked(rows: DataFrame) -> DataFrame:
    """Return the sound batches in ``packed`` rows, with their last offset and times."""
    none = F.lit(None).cast(rows.schema["corrupt"].dataType).alias("corrupt")
    exploded = rows.select(*_LOG, "leader_epoch", F.explode("packed").alias("each"))
    return exploded.select(*_LOG, "leader_epoch", "each.*", none)


def batches_near(rows: DataFrame, offsets: DataFrame, lost: DataFrame) -> DataFrame:
    """Return the sound batches that contain or follow ``lag.next_to_read`` of ``offsets``, and others combined.

    ``with_lag_times`` finds the same times in them as in all batches. Rows with batches in ``lost`` (``copies.lost_epochs``)
    are left out: replicas with the current log have their other batches.
    """
    sound = without_lost(rows.where("corrupt is null"), lost).withColumn("row", F.struct("file", "position"))
    wanted = offsets.select(*_LOG, next_to_read().alias("at")).where("at is not null").distinct()
    ends = sound.select(*_LOG, F.col("last_offset").alias("end"))
    until = wanted.join(ends, [*_LOG]).where("end >= at").groupBy(*_LOG, "at").agg(F.min("end").alias("until"))
    near = sound.join(until, [*_LOG]).where("last_offset >= at and lowest <= until").select("row").distinct()
    others = sound.join(near, "row", "left_anti").withColumn("first_timestamp", F.lit(None).cast("timestamp"))
    found = unpacked(sound.join(near, "row", "left_semi"))
    return found.unionByName(others.select(found.columns))
