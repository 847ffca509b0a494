"""Validation of appended batches, and conversion between batch formats."""

from __future__ import annotations

import time
from collections.abc import Sequence

from kafka_messages.protocol import ErrorCode
from kafka_records import Batch, BatchDecodeError, ChecksumError, MissingCodecError, Record, read_batches, write_batch
from kafka_records.crc import checksum
from kafka_records.format import CODECS, COMPRESSION, OVERHEAD, SMALLEST

from .errors import RequestError

_MAX_BYTES = 1_048_588  # default of max.message.bytes
_MAX_AHEAD_MS = 3_600_000  # default of message.timestamp.after.max.ms
_ZSTD_SINCE = 7  # version of Produce (KIP-110)


class InvalidRecords(RequestError):
    """Invalid records of a batch: their indexes and error messages (KIP-467)."""

    def __init__(self, code: ErrorCode, message: str, records: Sequence[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.records = records


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def produced_batch(data: bytes | None, version: int) -> bytes:
    """Return the only batch of a partition in a Produce request, in format 2, as ``ProduceRequest.validateRecords``.

    Versions below 3 have messages of formats 0 and 1. Raises RequestError.
    """
    try:
        reader = read_batches(data or b"", verify=False)
        if version < 3:
            records = [each._replace(offset=-1) for each in read_batches(data or b"").records()]
            if not records:
                raise RequestError(ErrorCode.INVALID_RECORD)
            return write_batch(records)
        batch, rest = next(reader, None), next(reader, None)
    except BatchDecodeError as error:
        raise RequestError(_header_error((data or b"")[max(error.offset, 0) :])) from None
    if batch is None or batch.magic != 2 or rest is not None:
        raise RequestError(ErrorCode.INVALID_RECORD)
    if batch.compression == "zstd" and version < _ZSTD_SINCE:
        raise RequestError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return batch.data


def _header_error(data: bytes) -> ErrorCode:
    """Return the error code for a batch with an invalid header.

    Kafka verifies size, magic and checksum before the other fields; ``CompressionType.forId`` raises an unexpected
    exception.
    """
    size = int.from_bytes(data[8:12], "big", signed=True) + OVERHEAD
    if size < SMALLEST[2] or data[16] != 2 or checksum()(data[21:size]) != int.from_bytes(data[17:21], "big"):
        return ErrorCode.CORRUPT_MESSAGE
    return ErrorCode.UNKNOWN_SERVER_ERROR if data[22] & COMPRESSION >= len(CODECS) else ErrorCode.INVALID_RECORD


def checked_batch(data: bytes) -> Batch:
    """Return a batch that a client may append, as ``UnifiedLog`` and ``LogValidator`` check it. Raises RequestError."""
    try:
        [batch] = read_batches(data, verify=False)
        if len(data) > _MAX_BYTES:
            raise RequestError(ErrorCode.MESSAGE_TOO_LARGE)
        batch.verify()
    except (ChecksumError, BatchDecodeError, ValueError):
        raise RequestError(ErrorCode.CORRUPT_MESSAGE) from None
    is_invalid = (
        batch.base_offset != 0
        or batch.count < 1
        or batch.count != batch.last_offset_delta + 1
        or batch.is_control
        or (batch.producer_id >= 0 and batch.base_sequence < 0)
    )
    if is_invalid:
        raise RequestError(ErrorCode.INVALID_RECORD)
    try:
        _check_timestamps(batch)
    except MissingCodecError:
        pass  # stored as it is
    except BatchDecodeError:
        raise RequestError(ErrorCode.INVALID_RECORD) from None
    return batch


def _check_timestamps(batch: Batch) -> None:
    latest = now_ms() + _MAX_AHEAD_MS
    invalid = [
        (number, f"Timestamp {each.timestamp} is more than {_MAX_AHEAD_MS} ms in the future.")
        for number, each in enumerate(batch.records())
        if each.timestamp > latest
    ]
    if invalid:
        message = "One or more records have been rejected due to invalid timestamp"
        raise InvalidRecords(ErrorCode.INVALID_TIMESTAMP, message, invalid)


def converted(batches: Sequence[Batch], offset: int, magic: int) -> bytes:
    """Return the records from ``offset`` on in format 0 or 1, without headers and control records (KIP-98)."""
    records = [
        Record(each.offset, each.timestamp, each.key, each.value)
        for batch in batches
        if not batch.is_control
        for each in batch.records()
        if each.offset >= offset
    ]
    return write_batch(records, magic=magic) if records else b""
