"""Messages in records and captures, as rows of ``message``, ``version`` and ``body``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from kafka_messages.errors import did_you_mean
from kafka_messages.internal_topics import KEY_VERSION, LOGS
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, IntegerType, StringType, StructField, StructType

from ..._core.errors import invalid_argument
from ...columns._records import coordinator_rows, metadata_rows, types_of
from ...columns.frames import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_MESSAGE = StructType(
    [StructField("message", StringType()), StructField("version", IntegerType()), StructField("body", BinaryType())]
)


def messages_of(records: DataFrame, topic: str) -> DataFrame:
    """Return the messages in the columns ``key`` and ``value`` of an internal topic's records.

    Control records are omitted. ``body`` is null for the value of a tombstone, ``message`` for unknown record types.
    """
    if topic not in LOGS:
        raise invalid_argument(
            f"messages_of: {topic!r} is not an internal topic{did_you_mean(topic, LOGS) or '.'} Known are {', '.join(LOGS)}."
        )
    for name in ("key", "value"):
        require(records, name, "messages_of")
    log = LOGS[topic]
    if "is_control" in records.columns:
        records = records.where("is_control is null or not is_control")

    def split(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _messages(log, batch.column("key"), batch.column("value"))

    return records.select("key", "value").mapInArrow(split, _MESSAGE)


def _messages(log: str, key: pa.Array, value: pa.Array) -> Iterator[pa.RecordBatch]:
    types = types_of(log)
    has_keys = types[0].key is not None
    rows = coordinator_rows(key, value) if has_keys else metadata_rows(value)
    index = np.full(len(value), -1, np.int64)
    for place, each in enumerate(types):
        index[rows.number == each.number] = place
    parts = [([each.value for each in types], rows.version, rows.value)]
    if has_keys:
        parts.append(([str(each.key) for each in types], np.full(len(key), KEY_VERSION), rows.key))
    at = pa.array(index, mask=index < 0)
    for names, version, body in parts:
        columns = [pa.array(names).take(at), pa.array(version, pa.int32()), body]
        yield pa.RecordBatch.from_arrays(columns, names=_MESSAGE.names)


def messages_of_pairs(pairs: DataFrame) -> DataFrame:
    """Return the messages in ``traffic.pair``; ``message`` is null for unreadable headers and responses without a request."""
    for name in ("api_name", "api_version", "request", "response", "response_version", "response_header_size"):
        require(pairs, name, "messages_of_pairs")
    halves = []
    for side, version in (("request", "api_version"), ("response", "response_version")):
        size, frame = F.col(f"{side}_header_size"), F.col(side)
        known = size.isNotNull() & F.col("api_name").isNotNull() & F.col(f"{side}_problem").isNull()
        halves.append(
            pairs.where(frame.isNotNull()).select(
                F.when(known, F.concat("api_name", F.lit(side.capitalize()))).alias("message"),
                F.when(known, F.col(version).cast("int")).alias("version"),
                F.when(known, F.substring(frame, size + 1, F.length(frame))).otherwise(frame).alias("body"),
            )
        )
    return halves[0].unionByName(halves[1])
