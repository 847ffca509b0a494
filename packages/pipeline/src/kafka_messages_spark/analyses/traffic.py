"""Pair captured requests and responses, and decode them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from kafka_messages.protocol import Api, UnknownApiError, api
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StructType

from .._core.errors import invalid_argument
from .._core.options import Options
from .._core.spark_types import struct_type
from ..columns._bytes import BinaryColumn, numbers
from ..columns._codec import message_of
from ..columns._headers import HEADER_FIELDS, REQUEST, RESPONSE, headers_of, response_headers
from ..columns.frames import decode, map_in_arrow, require

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["decode_requests", "decode_responses", "frames", "pair"]

_BODY, _NTH = "__kafka_body", "__kafka_nth"
_LENGTH = 4
_KEYS = ("connection", "correlation_id", _NTH)
_REQUEST_COLUMNS = ("api_key", "api_name", "api_version", "client_id")
_FRAME_COLUMNS = ("file", "position", "size", "header_size", "timestamp", "problem")
_PAIRED = pa.schema(
    [
        pa.field("response_header_size", pa.int32()),
        pa.field("response_version", pa.int16()),
        pa.field("response_problem", pa.string()),
    ]
)


def frames(
    df: DataFrame,
    column: str = "frame",
    *,
    has_length: bool = False,
    options: Mapping[str, str] | None = None,
) -> DataFrame:
    """Parse the headers of frames in a binary ``column``, and add the header columns of ``kafka_frames``.

    ``column`` is replaced by ``frame``, which has no length prefix.
    ``df`` has ``connection`` and ``direction`` (``request`` or ``response``). With ``has_length``, frames start with
    their four-byte length. The option ``mode`` is PERMISSIVE (default: unreadable frames have a ``problem``) or
    FAILFAST.
    """
    for name in ("connection", "direction", column):
        require(df, name, "frames")
    if not isinstance(df.schema[column].dataType, BinaryType):
        raise invalid_argument(
            f"frames: the column {column!r} must be binary, not {df.schema[column].dataType.simpleString()}"
        )
    failfast = Options("frames", options, ("mode",)).mode("PERMISSIVE") == "FAILFAST"
    added = struct_type(pa.schema(list(HEADER_FIELDS)))
    kept = [name for name in df.columns if name != column]
    if twice := [name for name in (*added.names, "frame") if name in kept]:
        raise invalid_argument(f"frames: the column {twice[0]!r} already exists; rename it first")

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = _headers(batch.column("direction"), batch.column(column), has_length, failfast)
            columns = [*(batch.column(name) for name in kept), *found]
            yield pa.RecordBatch.from_arrays(columns, [*kept, *added.names, "frame"])

    schema = StructType([*(df.schema[name] for name in kept), *added.fields]).add("frame", BinaryType())
    return map_in_arrow(df, df.columns, read, schema)


def _headers(direction: pa.Array, data: pa.Array, has_length: bool, failfast: bool) -> list[pa.Array]:
    count = len(data)
    problems = np.full(count, None, object)
    if has_length:
        body_size = pc.subtract(pc.binary_length(data), _LENGTH).cast(pa.int64())
        leading, is_there = BinaryColumn(data).leading(_LENGTH)
        lengths = numbers(leading, ">i4")
        wrong_length = np.asarray(data.is_valid()) & ~(is_there & (lengths == np.asarray(body_size.fill_null(-1))))
        problems[wrong_length] = "the length prefix does not match the size of the frame"
        data = BinaryColumn(data).after(np.where(wrong_length, 0, _LENGTH))
    is_request, is_response = (np.asarray(pc.equal(direction, each).fill_null(False)) for each in (REQUEST, RESPONSE))
    for row in np.flatnonzero(~is_request & ~is_response).tolist():
        problems[row] = f"the direction must be request or response, not {direction[row].as_py()!r}"
    mask = problems.astype(bool)
    headers = headers_of(data.take(pa.array(np.arange(count), mask=mask)) if mask.any() else data, is_request)
    if mask.any():
        headers[-1] = pc.coalesce(pa.array(problems, pa.string()), headers[-1])
    if failfast and headers[-1].null_count < count:
        row = int(np.flatnonzero(np.asarray(headers[-1].is_valid()))[0])
        raise ValueError(
            "Malformed frames are detected. Parse Mode: FAILFAST. To keep them as rows with the error, set the option "
            f"'mode' to 'PERMISSIVE'. In this Arrow batch, row {row}: {headers[-1][row]}"
        )
    return [*headers, data]


def pair(df: DataFrame) -> DataFrame:
    """Pair the n-th request with the n-th response of the same connection and correlation ID.

    ``df`` comes from ``kafka_frames`` or ``frames``. The order is that of ``position``, or of ``timestamp`` if ``df`` has no
    ``position``. Unreadable frames, and frames without a partner, get their own rows.

    ``request_header_size`` and ``response_header_size`` are the offsets of bodies. ``response_version`` is 0 for an
    ApiVersions response with UNSUPPORTED_VERSION (KIP-511). ``latency_ms`` requires the column ``timestamp``.
    """
    for name in ("connection", "direction", "correlation_id", *_REQUEST_COLUMNS, "header_size", "frame"):
        require(df, name, "pair")
    order = [name for name in ("position", "timestamp") if name in df.columns]
    if not order:
        raise invalid_argument("pair: a column 'position' or 'timestamp' is required for the order of frames")
    window = Window.partitionBy("connection", "direction", "correlation_id").orderBy(*order[:1])
    ranked = df.withColumn(_NTH, F.row_number().over(window))
    both = _side(ranked, REQUEST, _REQUEST_COLUMNS).join(_side(ranked, RESPONSE, ()), on=list(_KEYS), how="full_outer")
    times = ["request_timestamp", "response_timestamp"]
    if "timestamp" in df.columns:
        micros = [F.unix_micros(F.col(name).cast("timestamp")) for name in times]
        both = both.withColumn("latency_ms", (micros[1] - micros[0]) / 1000.0)
    return _with_response_headers(both.drop(_NTH))


def _side(df: DataFrame, direction: str, plain: Sequence[str]) -> DataFrame:
    # The offset of a response's body depends on its request.
    names = [name for name in _FRAME_COLUMNS if name in df.columns and (direction, name) != (RESPONSE, "header_size")]
    named = [F.col(name).alias(f"{direction}_{name}") for name in names]
    return df.where(F.col("direction") == direction).select(*_KEYS, *plain, *named, F.col("frame").alias(direction))


def _with_response_headers(df: DataFrame) -> DataFrame:
    with_problem = "response_problem" in df.columns
    kept = [name for name in df.columns if name != "response_problem"]
    added = struct_type(_PAIRED)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            size, version, problems = response_headers(
                batch.column("response"), batch.column("api_key"), batch.column("api_version")
            )
            header_problems = batch.column("response_problem").to_pylist() if with_problem else [None] * len(batch)
            problem = pa.array([one or two for one, two in zip(header_problems, problems, strict=True)], pa.string())
            yield pa.RecordBatch.from_arrays(
                [*(batch.column(name) for name in kept), size, version, problem], [*kept, *added.names]
            )

    return df.mapInArrow(read, StructType([*(df.schema[name] for name in kept), *added.fields]))


def decode_requests(
    df: DataFrame,
    messageName: str,
    options: Mapping[str, str] | None = None,
    *,
    into: str = "message",
    keep: Sequence[str] | None = None,
) -> DataFrame:
    """Decode the requests of one type from frames or pairs, with the options of ``from_kafka``.

    ``keep`` lists columns to keep (default: all). Bytes after a request go to the column ``trailing``, unless
    the option ``trailingBytes`` is ``error``.
    """
    kind = _kind(messageName, REQUEST)
    side = _of_pairs(df, REQUEST, "decode_requests")
    rows = df if side else df.where(F.col("direction") == REQUEST)
    size = F.col("request_header_size" if side else "header_size")
    frame = F.col(REQUEST if side else "frame")
    chosen = rows.where((F.col("api_key") == int(kind.key)) & frame.isNotNull() & size.isNotNull())
    return _decoded(df, chosen, frame, size, messageName, "api_version", options, into, keep, "trailing")


def decode_responses(
    df: DataFrame,
    messageName: str,
    options: Mapping[str, str] | None = None,
    *,
    into: str = "message",
    keep: Sequence[str] | None = None,
) -> DataFrame:
    """Decode the responses of one type from pairs, with the options of ``from_kafka``; ``keep`` as in ``decode_requests``."""
    kind = _kind(messageName, RESPONSE)
    if not _of_pairs(df, RESPONSE, "decode_responses"):
        raise invalid_argument("decode_responses: the type of a response depends on its request; pair the frames first")
    size = F.col("response_header_size")
    chosen = df.where((F.col("api_key") == int(kind.key)) & F.col(RESPONSE).isNotNull() & size.isNotNull())
    return _decoded(df, chosen, F.col(RESPONSE), size, messageName, "response_version", options, into, keep, None)


def _kind(message: str, side: str) -> Api:
    try:
        found = api(message_of(message))
    except UnknownApiError as error:
        raise invalid_argument(str(error)) from None
    name = found.request_name if side == REQUEST else found.response_name
    if message != name:
        raise invalid_argument(f"{message} is not a {side}; the {side} of {found.name} is {name}")
    return found


def _of_pairs(df: DataFrame, side: str, owner: str) -> bool:
    is_pair = side in df.columns and f"{side}_header_size" in df.columns
    if not is_pair:
        for name in ("direction", "api_key", "api_version", "header_size", "frame"):
            require(df, name, owner)
    return is_pair


def _decoded(
    df: DataFrame,
    chosen: DataFrame,
    frame: Column,
    size: Column,
    message: str,
    version: str,
    options: Mapping[str, str] | None,
    into: str,
    keep: Sequence[str] | None,
    trailing: str | None,
) -> DataFrame:
    body = F.substring(frame, size + 1, F.length(frame))
    kept = df.columns if keep is None else keep
    return decode(
        chosen.withColumn(_BODY, body), message, version, _BODY, options, into=into, keep=kept, trailing=trailing
    )
