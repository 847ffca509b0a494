"""Writers of data batches and control batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from struct import error as StructError
from typing import Any

from ._values import is_int, one_of, shown
from .compression import codecs
from .crc import checksum
from .encode import Fields, Shared, codec_number, encode_batch
from .errors import BatchEncodeError
from .format import (
    COMPRESSION,
    CONTROL,
    CONTROL_KEY,
    CONTROL_TYPES,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    MARKER_VALUE,
    TRANSACTIONAL,
)
from .records import Record

_INT32 = 1 << 31
_INT64 = 1 << 63
_BYTES = (bytes, bytearray, memoryview)
_compress = codecs().compress


def write_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: str | None = "none",
    log_append_time: int | None = None,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    leader_epoch: int = -1,
    delete_horizon: int | None = None,
    magic: int = 2,
) -> bytes:
    """Encode at least one record as a record batch for a Produce request or Fetch response.

    A record with ``offset`` -1 gets the next offset, starting at ``base_offset``; other offsets must ascend.
    ``compression`` is none (or None), gzip, snappy, lz4 or zstd. ``log_append_time``, which replaces all timestamps, and
    ``delete_horizon`` (KIP-534) are in milliseconds. ``producer_id``, ``producer_epoch`` and ``base_sequence`` are for
    idempotent producers (KIP-98).

    ``magic`` 0 and 1 select the older formats (KIP-32), without headers, producers and transactions; format 0 also drops
    timestamps.

    Raises BatchEncodeError for values the format cannot hold (``path``: ``records[3].value`` or an argument name), and
    MissingCodecError.
    """
    attributes = codec_number(compression, magic) if compression != "none" or magic != 2 else 0
    if magic < 2:
        numbers = (producer_id, producer_epoch, base_sequence, leader_epoch)
        check_format(magic, numbers, is_transactional, delete_horizon)
        if magic == 0 and log_append_time is not None:
            raise BatchEncodeError("not supported by format 0", path="log_append_time")
    if log_append_time is not None:
        attributes |= LOG_APPEND_TIME
    if is_transactional:
        attributes |= TRANSACTIONAL
    if delete_horizon is not None:
        attributes |= DELETE_HORIZON
    some = records if type(records) is list else list(records)
    offsets = _offsets(some, base_offset)
    shared = (
        leader_epoch,
        producer_id,
        producer_epoch,
        base_sequence,
        log_append_time,
        delete_horizon,
        _compress,
    )
    try:
        if magic == 2:
            return encode_batch(some, offsets, attributes, *shared, checksum())
        return Shared(magic, attributes & COMPRESSION, attributes, *shared, checksum()).encode(some, offsets)
    except BatchEncodeError:
        raise
    except (StructError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise culprit(some, offsets, shared, error) from error


def check_format(magic: int, numbers: tuple[int, int, int, int], transactional: bool, horizon: int | None) -> None:
    """Raise BatchEncodeError if format ``magic`` does not support the arguments; unset ``numbers`` are -1."""
    if magic < 2 and (numbers != (-1, -1, -1, -1) or transactional or horizon is not None):
        raise BatchEncodeError(
            "producers, transactions, leader epochs and delete horizons require format 2", path="magic"
        )


# Arguments in the order of the encoder: name, number of bits, whether None is allowed.
_NUMBERS = (
    ("leader_epoch", 32, False),
    ("producer_id", 64, False),
    ("producer_epoch", 16, False),
    ("base_sequence", 32, False),
    ("log_append_time", 64, True),
    ("delete_horizon", 64, True),
)


def culprit(
    records: Sequence[Fields], offsets: Sequence[int], numbers: tuple[object, ...], error: Exception, first: int = 0
) -> BatchEncodeError:
    """Return the error for the argument or record that caused ``error``; ``first`` is the index of the first record."""
    for (name, bits, may_be_none), value in zip(_NUMBERS, numbers, strict=False):
        if not is_int(value, bits) and (value is not None or not may_be_none):
            return BatchEncodeError(f"expected int{bits}, got {shown(value)}", path=name)
    for number, (record, offset) in enumerate(zip(records, offsets, strict=True), first):
        for name, reason in _wrong(record):
            return BatchEncodeError(reason, path=f"records[{number}].{name}")
        if offset - offsets[0] >= _INT32:
            reason = f"{shown(offset)} is too far from the first offset, {offsets[0]}: the difference must fit int32"
            return BatchEncodeError(reason, path=f"records[{number}].offset")
    return BatchEncodeError(f"a number of the batch is out of range: {error}")


def _wrong(record: Fields) -> Iterator[tuple[str, str]]:
    timestamp: Any
    headers: Any
    _, timestamp, key, value, headers = record
    if not is_int(timestamp, 64):
        yield "timestamp", f"expected int64, got {shown(timestamp)}"
    yield from _no_bytes("key", key)
    yield from _no_bytes("value", value)
    if not isinstance(headers, Sequence):
        yield "headers", f"expected a tuple of pairs, got {type(headers).__name__}"
        return
    for number, header in enumerate(headers):
        path = f"headers[{number}]"
        if not isinstance(header, Sequence) or len(header) != 2:
            yield path, f"expected a pair of key and value, got {shown(header)}"
        elif not isinstance(header[0], (str, *_BYTES)):
            yield path, f"expected a str or bytes key, got {type(header[0]).__name__}"
        elif not _is_text(header[0]):
            yield path, f"the key has a surrogate outside U+DC80 to U+DCFF: {shown(header[0])}"
        else:
            yield from _no_bytes(path, header[1])


def _is_text(key: Any) -> bool:
    try:
        if isinstance(key, str):
            key.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _no_bytes(path: str, content: Any) -> Iterator[tuple[str, str]]:
    if content is not None and not isinstance(content, _BYTES):
        yield path, f"expected bytes or None, got {type(content).__name__}"


def _offsets(records: list[Record], base_offset: int) -> Sequence[int]:
    if not records:
        raise BatchEncodeError("a batch needs at least one record", path="records")
    if not isinstance(base_offset, int):
        raise BatchEncodeError(f"expected int64, got {shown(base_offset)}", path="base_offset")
    last = base_offset - 1
    if len(records) == 1 and type(records[0]) is Record and records[0][0] == -1 and 0 <= base_offset < _INT64:
        return (base_offset,)
    offsets: list[int] = []
    offset: Any = None
    number = 0
    try:
        for number, record in enumerate(records):
            if not isinstance(record, Record):
                raise BatchEncodeError(f"expected a Record, got {type(record).__name__}", path=f"records[{number}]")
            offset = record[0]
            if offset == -1:
                offset = last + 1
            if not (lowest := last + 1 if number else 0) <= offset < _INT64:
                reason = f"expected int64 of at least {lowest}, got {shown(offset)}"
                raise BatchEncodeError(reason, path=f"records[{number}].offset")
            last = offset
            offsets.append(offset)
    except TypeError:
        raise BatchEncodeError(f"expected int64, got {shown(offset)}", path=f"records[{number}].offset") from None
    return offsets


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
    """Encode a batch of one control record.

    ``COMMIT`` and ``ABORT`` end a transaction (KIP-98) and take ``coordinator_epoch``. The other names of
    ``CONTROL_TYPES`` are for KRaft logs (KIP-595, KIP-630, KIP-853) and take the encoded message as ``value``.
    ``timestamp`` is in milliseconds. Raises BatchEncodeError.
    """
    if control_type not in CONTROL_TYPES[:-1]:
        raise BatchEncodeError(f"expected {one_of(CONTROL_TYPES[:-1])}, got {shown(control_type)}", path="control_type")
    marker = control_type in ("ABORT", "COMMIT")
    if marker and value is not None:
        raise BatchEncodeError(f"{control_type} takes coordinator_epoch, not value", path="value")
    if not marker and not isinstance(value, _BYTES):
        raise BatchEncodeError(f"{control_type} requires bytes, got {type(value).__name__}", path="value")
    numbers = (leader_epoch, producer_id, producer_epoch, -1)
    names = ("leader_epoch", "producer_id", "producer_epoch", "coordinator_epoch", "offset", "timestamp")
    given = (*numbers[:3], coordinator_epoch, offset, timestamp)
    for name, bits, number in zip(names, (32, 64, 16, 32, 64, 64), given, strict=True):
        if not is_int(number, bits):
            raise BatchEncodeError(f"expected int{bits}, got {shown(number)}", path=name)
    batch = Shared(2, 0, CONTROL | (TRANSACTIONAL if marker else 0), *numbers, None, None, _compress, checksum())
    key = CONTROL_KEY.pack(0, CONTROL_TYPES.index(control_type))
    content = MARKER_VALUE.pack(0, coordinator_epoch) if value is None else value
    return batch.encode([Record(offset, timestamp, key, content)], (offset,))
