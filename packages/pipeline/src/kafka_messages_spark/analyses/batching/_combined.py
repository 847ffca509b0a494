"""Sums of batches with the same producer and compression, made in the workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Window
from pyspark.sql import functions as F

from ..._core.spark_types import struct_type
from ...columns._bytes import Ints
from .._expressions import folder
from ..batches import batches_in
from ..copies import lost_epochs, once, without_lost
from ._uncompressed import UNCOMPRESSED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BATCH = (
    *("topic", "partition", "file", "position", "size", "base_offset", "last_offset", "records", "timestampType"),
    *("first_timestamp", "max_timestamp", "leader_epoch", "producer_id", "is_transactional", "is_control"),
    *("delete_horizon", "compression", "magic", "corrupt", "uncompressed", "data_records", "fault"),
)
_KEYS = ("topic", "partition", "file", "producer_id", "compression")
_SUMS = (
    "batches",
    "control_batches",
    "records",
    "bytes",
    "uncompressed_bytes",
    "single",
    "transactional_batches",
    "traces",
)
_LOWEST = ("first_offset", "first_timestamp", "lowest_type")
_HIGHEST = ("position", "last_offset", "last_timestamp", "highest_type")
# Columns of corrupt batches.
_OF_BATCH = (*_KEYS, "position", "last_offset", "corrupt", "fault")
# Values are rounded down to this many significant bits.
_BITS = 10
_COUNTED = pa.list_(pa.field("element", pa.struct([pa.field("value", pa.int64()), pa.field("count", pa.int64())])))
_CORRUPT = pa.struct([pa.field("position", pa.int64()), pa.field("size", pa.int64()), pa.field("reason", pa.string())])
_TIME = pa.timestamp("us", tz="UTC")
# A row has the sums of sound batches, or is a batch with corrupt or fault. sizes and counts have the stored sizes and the
# record counts of batches, with the number of batches.
SCHEMA = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("partition", pa.int32()),
        pa.field("file", pa.string()),
        pa.field("position", pa.int64()),
        pa.field("first_offset", pa.int64()),
        pa.field("last_offset", pa.int64()),
        pa.field("producer_id", pa.int64()),
        pa.field("compression", pa.string()),
        *(pa.field(name, pa.int64()) for name in _SUMS),
        pa.field("sizes", _COUNTED),
        pa.field("counts", _COUNTED),
        pa.field("first_timestamp", _TIME),
        pa.field("last_timestamp", _TIME),
        pa.field("lowest_type", pa.int32()),
        pa.field("highest_type", pa.int32()),
        pa.field("corrupt", _CORRUPT),
        pa.field("fault", pa.string()),
    ]
)


def sized_batches(files: DataFrame) -> DataFrame:
    """Return the batches of segments (not snapshots) with uncompressed size, record count and decompression error.

    The columns are some of ``read_batches``, plus ``uncompressed``, ``data_records`` and ``fault``.
    """
    segments = files.where(~F.col("path").endswith(".checkpoint"))
    return batches_in(segments, added=UNCOMPRESSED, condense=lambda batches: batches.select(_BATCH))


def combined_batches(files: DataFrame) -> DataFrame:
    """Return the sums of the batches in byte ranges of segments (not snapshots), copies included."""
    segments = files.where(~F.col("path").endswith(".checkpoint"))
    return batches_in(segments, added=UNCOMPRESSED, condense=combined)


def without_copies(batches: DataFrame, lost: DataFrame | None = None) -> DataFrame:
    """Combine the sound batches of ``sized_batches``. Copies count once; batches that a failover lost do not count.

    ``lost`` is the result of ``copies.lost_epochs``, by default that of ``batches``.
    """
    sound = batches.where("corrupt is null and fault is null")
    sound = without_lost(sound, lost_epochs(batches) if lost is None else lost)
    number = F.coalesce("base_offset", "last_offset")

    def combine(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(combined, rows)

    of_log = (F.coalesce("topic", folder()), F.coalesce("partition", F.lit(-1)))
    return once(sound, *of_log, number).mapInArrow(combine, struct_type(SCHEMA))


def overlapping(rows: DataFrame) -> DataFrame:
    """Return the files of named partitions in ``combined_batches`` that have offsets of an earlier file."""
    log = ("topic", "partition")
    found = rows.where("topic is not null and partition is not null and first_offset is not null").groupBy(*log, "file")
    files = found.agg(F.min("first_offset").alias("first"), F.max("last_offset").alias("last"))
    before = Window.partitionBy(*log).orderBy("first", "last", "file").rowsBetween(Window.unboundedPreceding, -1)
    return files.withColumn("reached", F.max("last").over(before)).where("first <= reached")


def combined(batches: pa.RecordBatch) -> pa.RecordBatch:
    """Combine rows of ``sized_batches``; keep those of corrupt batches."""
    table = pa.Table.from_batches([batches])
    is_sound = pc.and_(pc.is_null(table["corrupt"]), pc.is_null(table["fault"]))
    sound, others = table.filter(is_sound), table.filter(pc.invert(is_sound))
    arrays = [_column(others, field) for field in SCHEMA]
    if len(sound):
        made = _sums(sound)
        arrays = [pa.concat_arrays([array, made[name]]) for name, array in zip(SCHEMA.names, arrays, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _column(table: pa.Table, field: pa.Field) -> pa.Array:
    if field.name not in _OF_BATCH:
        return pa.nulls(len(table), field.type)
    return table[field.name].combine_chunks().cast(field.type)


def _sums(batches: pa.Table) -> dict[str, pa.Array]:
    group, first = _groups(batches)
    columns = _columns(batches)
    how = [(name, "sum") for name in _SUMS] + [(name, "min") for name in _LOWEST] + [(name, "max") for name in _HIGHEST]
    table = pa.table({**columns, "group": group})
    found = table.group_by("group").aggregate(how).sort_by("group")
    made = {name: batches[name].take(first) for name in _KEYS}
    made |= {name: found[f"{name}_{kind}"] for name, kind in how}
    made |= {name: _counted(group, columns[of], len(first)) for name, of in (("sizes", "bytes"), ("counts", "records"))}
    return {field.name: _array(made[field.name], field.type) for field in SCHEMA if field.name in made} | {
        name: pa.nulls(len(first), SCHEMA.field(name).type) for name in ("corrupt", "fault")
    }


def _array(column: Any, kind: pa.DataType) -> pa.Array:
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(kind) and array.null_count and kind == pa.int64():
        array = array.fill_null(0)
    return array.cast(kind)


def _groups(batches: pa.Table) -> tuple[Ints, Ints]:
    """Return the group of each row, and the first row of each group."""
    codes = [np.asarray(pc.dictionary_encode(batches[name], "encode").combine_chunks().indices) for name in _KEYS]
    _, first, group = np.unique(np.stack(codes, 1), axis=0, return_index=True, return_inverse=True)
    return group.reshape(-1), first


def _columns(batches: pa.Table) -> dict[str, Any]:
    is_data = pc.is_valid(batches["uncompressed"])

    def of_data(values: Any) -> Any:
        return pc.if_else(is_data, values, pa.scalar(None, values.type))

    def time(values: Any) -> Any:
        return of_data(pc.if_else(pc.greater_equal(values.cast(pa.int64()), 0), values, pa.scalar(None, values.type)))

    def number(condition: Any) -> Any:
        return pc.fill_null(condition, False).cast(pa.int64())

    last, kind = batches["last_offset"], of_data(batches["timestampType"])
    missing = pc.greater(pc.add(pc.subtract(last, batches["base_offset"]), 1), batches["records"].cast(pa.int64()))
    is_cleaned = pc.or_kleene(missing, pc.is_valid(batches["delete_horizon"]))
    return {
        "position": batches["position"],
        "first_offset": pc.coalesce(batches["base_offset"], last),
        "last_offset": last,
        "batches": number(is_data),
        "control_batches": number(batches["is_control"]),
        "records": batches["data_records"],
        "bytes": of_data(batches["size"]).cast(pa.int64()),
        "uncompressed_bytes": batches["uncompressed"],
        "single": number(pc.equal(batches["data_records"], 1)),
        "transactional_batches": number(pc.and_(batches["is_transactional"], is_data)),
        "traces": number(pc.and_kleene(is_cleaned, pc.equal(batches["magic"], 2))),
        "first_timestamp": time(pc.coalesce(batches["first_timestamp"], batches["max_timestamp"])),
        "last_timestamp": time(batches["max_timestamp"]),
        "lowest_type": kind,
        "highest_type": kind,
    }


def _counted(group: Ints, values: Any, groups: int) -> pa.Array:
    """Return the rounded values of each group, with their counts."""
    known = np.asarray(values.is_valid())
    number = np.asarray(values.fill_null(0)).astype(np.int64)[known]
    unused = np.maximum(np.frexp(number.astype(np.float64))[1] - _BITS, 0)
    pairs, count = np.unique(np.stack([group[known], number >> unused << unused], 1), axis=0, return_counts=True)
    ends = np.searchsorted(pairs[:, 0], np.arange(groups + 1)).astype(np.int32)
    structs = pa.StructArray.from_arrays([pa.array(pairs[:, 1]), pa.array(count)], fields=list(_COUNTED.value_type))
    return pa.ListArray.from_arrays(pa.array(ends), structs, type=_COUNTED)
