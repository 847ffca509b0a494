"""Writes record batches, and the message sets that came before them, from Arrow tables or rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from struct import Struct
from struct import error as StructError
from typing import Any
from zlib import crc32

import pyarrow as pa

from ..errors import EncodeError
from .compression import CODECS, compress
from .crc import crc32c
from .frames import CONTROL, CONTROL_TYPES, DELETE_HORIZON, HEADER, LOG_APPEND_TIME, OVERHEAD, TRANSACTIONAL

Row = Mapping[str, Any]

MAX_RECORDS = 10000
"""Default bound of the records in a batch."""

_header = Struct(">qiibIhiqqqhii").pack
_summed = Struct(">hiqqqhii").pack
_marker_value = Struct(">hi").pack
_control_key = Struct(">hh").pack
_message_head = {0: Struct(">bb").pack, 1: Struct(">bbq").pack}
_entry = Struct(">qiI").pack
_int32 = Struct(">i").pack
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_INT32 = 1 << 31
_INT64 = 1 << 63


@dataclass(slots=True)
class _Record:
    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[bytes, bytes | None]]


@dataclass(slots=True)
class _Batch:
    """What all records of a batch share."""

    magic: int
    codec: int
    attributes: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    append_time: int | None
    delete_horizon: int | None


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
    """Record batches that hold some records, as they stand in a log segment.

    ``records`` is a ``pa.RecordBatch``, a ``pa.Table``, or rows (mappings) with ``key`` and ``value`` (bytes or None) and,
    where they are there, ``offset`` (else they count from ``base_offset``; they must ascend), ``timestamp`` (Arrow
    timestamps, datetime, or integers as milliseconds; none is -1) and ``headers`` (pairs, or mappings with ``key`` and
    ``value``; keys are str or bytes). Other columns are ignored, so what ``read_segments`` gives can be written again.
    At most ``max_records`` are in a batch; ``base_sequence`` goes on from batch to batch.

    ``compression`` is gzip, snappy, lz4, zstd, or None. ``timestamp_type`` 1 is log append time, which is
    ``log_append_time`` (milliseconds; by default the highest timestamp). ``delete_horizon`` is in milliseconds (KIP-534).
    ``magic`` 0 and 1 give the message sets of KIP-32, each batch a compressed wrapper message if there is a compression;
    they have no headers and none of what producers and transactions need.

    Raises EncodeError for what the format cannot hold: its ``path`` is ``records[3].value``, or the name of an argument.
    """
    codec = _codec(compression, magic)
    if magic < 2:
        unset = (producer_id, producer_epoch, base_sequence, leader_epoch) == (-1, -1, -1, -1)
        if not unset or is_transactional or delete_horizon is not None:
            raise EncodeError(
                "only format 2 has producers, transactions, leader epochs and delete horizons", path="magic"
            )
    if timestamp_type not in (0, 1) or (timestamp_type == 1 and magic == 0):
        raise EncodeError(f"format {magic} has no timestamp type {timestamp_type}", path="timestamp_type")
    if timestamp_type == 0 and log_append_time is not None:
        raise EncodeError("there is a time, but timestamp_type is not 1", path="log_append_time")
    if max_records < 1:
        raise EncodeError(f"{max_records} is too few", path="max_records")
    attributes = codec | (LOG_APPEND_TIME if timestamp_type else 0) | (TRANSACTIONAL if is_transactional else 0)
    attributes |= 0 if delete_horizon is None else DELETE_HORIZON
    batch = _Batch(
        magic,
        codec,
        attributes,
        leader_epoch,
        producer_id,
        producer_epoch,
        base_sequence,
        log_append_time,
        delete_horizon,
    )
    parts = []
    rows = _records(_rows(records), base_offset)
    while some := list(islice(rows, max_records)):
        try:
            parts.append(_write_batch(batch, some) if magic == 2 else _write_messages(batch, some))
        except StructError as error:
            raise EncodeError(f"a number does not fit: {error}") from error
        if batch.base_sequence >= 0:
            batch.base_sequence = (batch.base_sequence + len(some)) % _INT32
    return b"".join(parts)


def write_control_batch(
    control_type: str,
    value: bytes | None = None,
    *,
    offset: int = 0,
    timestamp: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    coordinator_epoch: int = 0,
    leader_epoch: int = -1,
) -> bytes:
    """A batch of one control record.

    ``control_type`` is ``COMMIT`` or ``ABORT``, the markers that end a transaction (KIP-98), whose value is made from
    ``coordinator_epoch``; or another name of ``CONTROL_TYPES``, for the logs of KRaft (KIP-595, KIP-630, KIP-853), with
    ``value`` as the message of that name writes it. ``timestamp`` is in milliseconds. Raises EncodeError.
    """
    if control_type not in CONTROL_TYPES[:-1]:
        raise EncodeError(f"{control_type!r} is none of {', '.join(CONTROL_TYPES[:-1])}", path="control_type")
    marker = control_type in ("ABORT", "COMMIT")
    if marker == (value is not None):
        raise EncodeError("a value is for all control records but COMMIT and ABORT", path="value")
    attributes = CONTROL | (TRANSACTIONAL if marker else 0)
    try:
        key = _control_key(0, CONTROL_TYPES.index(control_type))
        record = _Record(offset, timestamp, key, _marker_value(0, coordinator_epoch) if value is None else value, ())
        batch = _Batch(2, 0, attributes, leader_epoch, producer_id, producer_epoch, -1, None, None)
        return _write_batch(batch, [record])
    except StructError as error:
        raise EncodeError(f"a number does not fit: {error}") from error


def _codec(compression: str | None, magic: int) -> int:
    if magic not in (0, 1, 2):
        raise EncodeError(f"there is no format {magic}", path="magic")
    name = compression or CODECS[0]
    if name not in CODECS:
        raise EncodeError(f"{name!r} is none of {', '.join(CODECS)}", path="compression")
    codec = CODECS.index(name)
    if codec == 4 and magic < 2:
        raise EncodeError(f"zstd is for format 2, not {magic} (KIP-110)", path="compression")
    return codec


# ---- rows -------------------------------------------------------------------------------------------------------


def _rows(records: Any) -> Iterator[Row]:
    """Mappings, whatever was given."""
    if isinstance(records, pa.Table | pa.RecordBatch):
        names = [name for name in ("key", "value", "offset", "timestamp", "headers") if name in records.schema.names]
        if not names:
            raise EncodeError("there is no column key, value, offset, timestamp or headers", path="records")
        table = pa.Table.from_batches([records]) if isinstance(records, pa.RecordBatch) else records
        for batch in table.select(names).to_batches(max_chunksize=65536):
            columns = [_milliseconds(batch.column(name)).to_pylist() for name in names]
            yield from (dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True))
    else:
        yield from records


def _milliseconds(column: pa.Array) -> pa.Array:
    """A column of timestamps as milliseconds; any other as it is."""
    if not pa.types.is_timestamp(column.type):
        return column
    return column.cast(pa.timestamp("ms", tz=column.type.tz), safe=False).view(pa.int64())


def _records(rows: Iterable[Row], base_offset: int) -> Iterator[_Record]:
    last = base_offset - 1
    for number, row in enumerate(rows):
        try:
            offset = row.get("offset")
            if offset is None:
                offset = last + 1
            if not 0 <= offset < _INT64 or (number and offset <= last):
                raise EncodeError(f"{offset} cannot follow {last}", path=f"records[{number}].offset")
            last = offset
            key, value, headers = row.get("key"), row.get("value"), row.get("headers")
            yield _Record(
                offset,
                _timestamp(row.get("timestamp")),
                key if key is None or type(key) is bytes else bytes(memoryview(key)),
                value if value is None or type(value) is bytes else bytes(memoryview(value)),
                [_pair(header) for header in headers] if headers else (),
            )
        except (TypeError, AttributeError, ValueError, KeyError) as error:
            if isinstance(error, EncodeError):
                raise
            raise EncodeError(f"this is no record: {error}", path=f"records[{number}]") from error


def _timestamp(value: int | datetime | None) -> int:
    if value is None:
        return -1
    if isinstance(value, int):
        return value
    if value.tzinfo is None:
        raise ValueError("a datetime without a time zone")
    return (value - _EPOCH) // _MILLISECOND


def _pair(header: Any) -> tuple[bytes, bytes | None]:
    key, value = (header["key"], header["value"]) if isinstance(header, Mapping) else header
    if key is None:
        raise ValueError("the key of a header is None")
    return key.encode() if isinstance(key, str) else bytes(memoryview(key)), (
        None if value is None else bytes(memoryview(value))
    )


# ---- format 2 ---------------------------------------------------------------------------------------------------


def _varint(value: int) -> bytes:
    value = (value << 1) ^ (value >> 63)
    if value < 128:
        return _ONE_BYTE[value]
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


_ONE_BYTE = [bytes((value,)) for value in range(128)]
_NULL = _varint(-1)


def _write_batch(batch: _Batch, records: list[_Record]) -> bytes:
    first = records[0]
    base_offset = first.offset
    base_timestamp = first.timestamp if batch.delete_horizon is None else batch.delete_horizon
    parts = []
    for record in records:
        parts += _record(record, record.timestamp - base_timestamp, record.offset - base_offset)
    body = b"".join(parts)
    if batch.codec:
        body = compress(batch.codec, body)
    highest = max(record.timestamp for record in records)
    summed = _summed(
        batch.attributes,
        records[-1].offset - base_offset,
        base_timestamp,
        highest if batch.append_time is None else batch.append_time,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        len(records),
    )
    total = HEADER + len(body)
    head = _header(base_offset, total - OVERHEAD, batch.leader_epoch, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    checksum = crc32c(summed + body).to_bytes(4, "big")
    return b"".join((head[:17], checksum, summed, body))


def _record(record: _Record, timestamp_delta: int, offset_delta: int) -> list[bytes]:
    """Length and fields of a record."""
    key, value = record.key, record.value
    fields = [
        b"\0",
        _varint((timestamp_delta + _INT64) % (1 << 64) - _INT64),  # Kafka's long arithmetic wraps around
        _varint(offset_delta),
        *((_NULL,) if key is None else (_varint(len(key)), key)),
        *((_NULL,) if value is None else (_varint(len(value)), value)),
        _varint(len(record.headers)),
    ]
    for name, content in record.headers:
        fields += (_varint(len(name)), name)
        fields += (_NULL,) if content is None else (_varint(len(content)), content)
    fields.insert(0, _varint(sum(map(len, fields))))
    return fields


# ---- formats 0 and 1 --------------------------------------------------------------------------------------------


def _write_messages(batch: _Batch, records: list[_Record]) -> bytes:
    if any(record.headers for record in records):
        raise EncodeError(f"format {batch.magic} has no headers", path="headers")
    appended = batch.attributes & LOG_APPEND_TIME
    highest = max(record.timestamp for record in records)
    time = None if not appended else highest if batch.append_time is None else batch.append_time
    if not batch.codec:
        entries = (_message(batch.magic, appended, record.offset, record, time) for record in records)
        return b"".join(entries)
    first = records[0].offset if batch.magic == 1 else 0
    inner = b"".join(_message(batch.magic, 0, record.offset - first, record, None) for record in records)
    value = compress(batch.codec, inner, batch.magic)
    wrapper = _Record(records[-1].offset, highest, None, value, ())
    return _message(batch.magic, batch.codec | appended, wrapper.offset, wrapper, time)


def _message(magic: int, attributes: int, offset: int, record: _Record, time: int | None) -> bytes:
    timestamp = (record.timestamp if time is None else time,) if magic == 1 else ()
    parts = [_message_head[magic](magic, attributes, *timestamp)]
    for content in (record.key, record.value):
        parts += (_int32(-1),) if content is None else (_int32(len(content)), content)
    body = b"".join(parts)
    return _entry(offset, len(body) + 4, crc32(body)) + body
