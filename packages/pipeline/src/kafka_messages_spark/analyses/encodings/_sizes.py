"""Compute the total size of integer fields in each encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType

from ..._core.errors import invalid_argument
from ..._core.spark_types import struct_type
from ._sums import BITS, SUMS, sum_partition

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


# Encodings, fastest to decode first. Among encodings with equal sizes, the first is chosen.
FORMS = ("fixed16", "fixed32", "fixed64", "packed", "upacked")


def measure(
    df: DataFrame, message: Column | str = "message", version: Column | str = "version", body: Column | str = "body"
) -> DataFrame:
    """Aggregate the integers of messages for ``fields``, ``histogram`` and ``totals``.

    The arguments are columns with the names, versions and encoded bodies (without headers) of messages. Raises
    PySparkValueError if ``body`` is not binary.
    """
    columns = [F.col(each) if isinstance(each, str) else each for each in (message, version, body)]
    chosen = df.select(columns[0].alias("message"), columns[1].cast("int").alias("version"), columns[2].alias("body"))
    if not isinstance(chosen.schema["body"].dataType, BinaryType):
        raise invalid_argument(f"measure: messages must be binary, not {chosen.schema['body'].dataType.simpleString()}")
    partial = chosen.mapInArrow(sum_partition, struct_type(SUMS))
    return partial.groupBy("message", "version", "path", "type", "packed", "upacked").agg(
        F.sum("count").alias("count"),
        F.sum("bytes").alias("bytes"),
        F.min("lowest").alias("lowest"),
        F.max("highest").alias("highest"),
    )


def fields(measured: DataFrame) -> DataFrame:
    """Return the number of values of each field, and their total size in each encoding.

    ``defined`` is the size at the type's width. Sizes are null for encodings that are too narrow for the values or wider
    than the type. ``smallest`` is the encoding with the fewest bytes, and ``saved`` the bytes that it saves against
    ``defined``. Tagged fields at their default do not count.
    """
    found = (
        measured.where("path is not null")
        .groupBy("message", "path", "type")
        .agg(
            F.sum("count").alias("values"),
            F.min("lowest").alias("lowest"),
            F.max("highest").alias("highest"),
            F.sum(F.col("count") * F.col("packed")).alias("packed"),
            F.sum(F.col("count") * F.col("upacked")).alias("upacked"),
        )
    )
    bits = F.lit(None)
    for name, width in BITS.items():
        bits = F.when(F.col("type") == name, width).otherwise(bits)
    found = found.withColumn("bits", bits).withColumn("defined", F.col("values") * F.col("bits") / 8)
    for width in BITS.values():
        fits = F.col("lowest").between(*_range(width)) & F.col("highest").between(*_range(width))
        size = F.when(fits & (F.col("bits") >= width), F.col("values") * (width // 8))
        found = found.withColumn(f"fixed{width}", size)
    least = F.least(*FORMS)
    smallest = F.lit(None).cast("string")
    for form in reversed(FORMS):
        smallest = F.when(F.col(form) == least, form).otherwise(smallest)
    return found.select(
        "message",
        "path",
        "type",
        "values",
        "lowest",
        "highest",
        F.col("defined").cast("long").alias("defined"),
        *FORMS,
        smallest.alias("smallest"),
        (F.col("defined") - least).cast("long").alias("saved"),
    )


def _range(bits: int) -> tuple[int, int]:
    return -(1 << bits - 1), (1 << bits - 1) - 1


def histogram(measured: DataFrame) -> DataFrame:
    """Return the number of ``values`` of each field by varint ``encoding`` and ``bytes`` per value."""
    found = measured.where("path is not null")
    parts = [
        found.select("message", "path", "type", F.lit(form).alias("encoding"), F.col(form).alias("bytes"), "count")
        for form in ("packed", "upacked")
    ]
    by_size = parts[0].unionByName(parts[1]).groupBy("message", "path", "type", "encoding", "bytes")
    return by_size.agg(F.sum("count").alias("values"))


def totals(measured: DataFrame) -> DataFrame:
    """Return the total size of each message type: actual (``bytes``), and with its integers in other encodings.

    ``packed`` and ``upacked`` use one encoding for all fields, ``smallest`` the smallest encoding of each field.
    """
    is_bad = F.coalesce(F.col("type") == "malformed", F.lit(False))
    by_message = (
        measured.where("path is null")
        .groupBy("message")
        .agg(
            F.coalesce(F.sum(F.when(~is_bad, F.col("count"))), F.lit(0)).alias("messages"),
            F.coalesce(F.sum(F.when(is_bad, F.col("count"))), F.lit(0)).alias("malformed"),
            F.sort_array(F.collect_set("version")).alias("versions"),
            F.coalesce(F.sum(F.when(~is_bad, F.col("bytes"))), F.lit(0)).alias("bytes"),
        )
    )
    sums = (
        fields(measured)
        .groupBy("message")
        .agg(*(F.sum(name).alias(f"all_{name}") for name in ("defined", "packed", "upacked", "saved")))
    )
    joined = by_message.join(sums, "message", "left").fillna(0)
    rest = F.col("bytes") - F.col("all_defined")
    return joined.select(
        *by_message.columns,
        F.col("all_defined").alias("integer_bytes"),
        (rest + F.col("all_packed")).alias("packed"),
        (rest + F.col("all_upacked")).alias("upacked"),
        (F.col("bytes") - F.col("all_saved")).alias("smallest"),
    )
