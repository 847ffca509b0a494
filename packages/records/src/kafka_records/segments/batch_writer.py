"""Writer of record batches and older message sets from Arrow tables or rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from struct import error as StructError
from typing import Any

import pyarrow as pa

from .._values import shown
from ..crc import checksum
from ..encode import Fields, Shared, codec_number
from ..errors import BatchEncodeError
from ..format import DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from ..writer import check_format, culprit
from ..writer import write_control_batch as write_control_batch
from .compression import compress

Row = Mapping[str, Any]

# Default maximum number of records in a batch.
MAX_RECORDS = 10000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_INT32 = 1 << 31
_INT64 = 1 << 63


def write_batches(
    records: Any,
    *,
    compression: str | None = None,
    base_offset: int = 0,
    timestamp_type: int = 0,
    log_append_time: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    leader_epoch: int = -1,
    delete_horizon: int | None = None,
    magic: int = 2,
    max_records: int = MAX_RECORDS,
) -> bytes:
    """Encode records as the record batches of a log segment.

    ``records`` is a ``pa.RecordBatch``, a ``pa.Table`` or an iterable of mappings, with these columns or keys. Others are
    ignored, so the output of ``read_segments`` can be written again.

    * ``key``, ``value``: bytes or None.
    * ``offset``: ascending. A missing or null offset is the next one, starting at ``base_offset``.
    * ``timestamp``: Arrow timestamp, datetime, or int in milliseconds; -1 if missing or null.
    * ``headers``: pairs, or mappings with ``key`` (str or bytes) and ``value``.

    ``max_records`` limits the records of a batch; ``base_sequence`` continues from batch to batch. ``compression`` is
    none (or None), gzip, snappy, lz4 or zstd. ``timestamp_type`` 1 replaces the timestamps of a batch by
    ``log_append_time``, by default their highest. ``log_append_time`` and ``delete_horizon`` are in milliseconds.

    ``magic`` 0 and 1 select the older formats (KIP-32), without headers, producers and transactions; format 0 also drops
    timestamps.

    Raises BatchEncodeError for values the format cannot hold; ``path`` is ``records[3].value`` or an argument name.
    """
    codec = codec_number(compression, magic)
    check_format(magic, (producer_id, producer_epoch, base_sequence, leader_epoch), is_transactional, delete_horizon)
    if timestamp_type not in (0, 1) or (timestamp_type == 1 and magic == 0):
        raise BatchEncodeError(
            f"expected 0 or 1 (in format 0 only 0), got {shown(timestamp_type)}", path="timestamp_type"
        )
    if timestamp_type == 0 and log_append_time is not None:
        raise BatchEncodeError("requires timestamp_type=1", path="log_append_time")
    if max_records < 1:
        raise BatchEncodeError(f"must be at least 1, not {max_records}", path="max_records")
    attributes = codec | (LOG_APPEND_TIME if timestamp_type else 0) | (TRANSACTIONAL if is_transactional else 0)
    attributes |= 0 if delete_horizon is None else DELETE_HORIZON
    batch = Shared(
        magic,
        codec,
        attributes,
        leader_epoch,
        producer_id,
        producer_epoch,
        base_sequence,
        log_append_time,
        delete_horizon,
        compress,
        checksum(),
    )
    parts = []
    rows = _records(_rows(records), base_offset)
    first = 0
    while some := list(islice(rows, max_records)):
        offsets = [record[0] for record in some]
        try:
            parts.append(batch.encode(some, offsets))
        except (StructError, TypeError, ValueError) as error:
            if isinstance(error, BatchEncodeError):
                raise
            numbers = leader_epoch, producer_id, producer_epoch, base_sequence, log_append_time, delete_horizon
            raise culprit(some, offsets, numbers, error, first) from error
        if batch.base_sequence >= 0:
            batch.base_sequence = (batch.base_sequence + len(some)) % _INT32
        first += len(some)
    return b"".join(parts)


def _rows(records: Any) -> Iterator[Row]:
    if isinstance(records, pa.Table | pa.RecordBatch):
        names = [name for name in ("key", "value", "offset", "timestamp", "headers") if name in records.schema.names]
        if not names:
            raise BatchEncodeError(
                "expected at least one of the columns key, value, offset, timestamp and headers", path="records"
            )
        table = pa.Table.from_batches([records]) if isinstance(records, pa.RecordBatch) else records
        for batch in table.select(names).to_batches(max_chunksize=65536):
            columns = [_milliseconds(batch.column(name)).to_pylist() for name in names]
            yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
    else:
        yield from records


def _milliseconds(column: pa.Array) -> pa.Array:
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).view(pa.int64())


def _records(rows: Iterable[Row], base_offset: int) -> Iterator[Fields]:
    last = base_offset - 1
    for number, row in enumerate(rows):
        path = ""
        try:
            offset = row.get("offset")
            path = ".offset"
            if offset is None:
                offset = last + 1
            if not (lowest := last + 1 if number else 0) <= offset < _INT64:
                raise ValueError(f"expected int64 of at least {lowest}, got {offset}")
            last = offset
            path = ".timestamp"
            timestamp = _timestamp(row.get("timestamp"))
            path = ".key"
            key = row.get("key")
            if key is not None and type(key) is not bytes:
                key = _content(key)
            path = ".value"
            value = row.get("value")
            if value is not None and type(value) is not bytes:
                value = _content(value)
            path = ".headers"
            headers = []
            if pairs := row.get("headers"):
                for place, header in enumerate(pairs):
                    path = f".headers[{place}]"
                    headers.append(_pair(header))
        except (TypeError, AttributeError, ValueError) as error:
            reason = f"{error}" if hasattr(row, "get") else f"expected a mapping, got {type(row).__name__}"
            raise BatchEncodeError(reason, path=f"records[{number}]{path}") from error
        yield offset, timestamp, key, value, headers


def _timestamp(value: int | datetime | None) -> int:
    if value is None:
        return -1
    if isinstance(value, int):
        return value
    if not isinstance(value, datetime):
        raise TypeError(f"expected int or datetime, got {type(value).__name__}")
    if value.tzinfo is None:
        raise ValueError("the datetime has no time zone")
    return (value - _EPOCH) // _MILLISECOND


def _content(value: Any) -> bytes:
    try:
        return bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"expected bytes or None, got {type(value).__name__}") from None


def _pair(header: Any) -> tuple[bytes, bytes | None]:
    try:
        key, value = (header["key"], header["value"]) if isinstance(header, Mapping) else header
    except (KeyError, TypeError, ValueError):
        raise TypeError(f"expected a pair of key and value, got {shown(header)}") from None
    if value is not None and type(value) is not bytes:
        value = _content(value)
    if isinstance(key, str):
        return key.encode(), value
    try:
        return key if type(key) is bytes else bytes(memoryview(key)), value
    except TypeError:
        raise TypeError(f"expected a str or bytes key, got {type(key).__name__}") from None
