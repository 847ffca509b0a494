"""Batch headers: reading, validation and base offsets."""

from __future__ import annotations

from struct import Struct

from ._values import BytesLike, as_bytes, is_int, shown
from .errors import BatchDecodeError, BatchEncodeError
from .format import (
    BATCH,
    CODECS,
    COMPRESSION,
    ENTRY,
    FAULTS,
    HEADER,
    LEADER_EPOCH_AT,
    MAGIC_AT,
    OVERHEAD,
    SMALLEST,
    SMALLEST_RECORD,
    TIMESTAMP_AT,
)

# Fields of `format.BATCH`. In formats 0 and 1, fields that do not exist are -1, except the last offset delta (0); the
# count is 1, or -1 for a compressed message.
Header = tuple[int, int, int, int, int, int, int, int, int, int, int, int, int]

_int64 = Struct(">q").pack
_int32 = Struct(">i").pack
_batch = BATCH.unpack_from
_entry = ENTRY.unpack_from
_timestamp = Struct(">q").unpack_from
_CODECS = len(CODECS)


def read_header(data: bytes, position: int, number: int) -> Header:
    """Return the validated header of batch ``number``. Raises BatchDecodeError."""
    header = raw_header(data, position)
    base_offset, length, _, magic, _, attributes, delta, _, _, _, _, _, count = header
    size, codec = length + OVERHEAD, attributes & COMPRESSION
    if base_offset < 0:
        fault = 1
    elif not 0 <= magic <= 2:
        fault = 2
    elif size < SMALLEST[magic]:
        fault = 3
    elif codec >= _CODECS:
        fault = 4
    elif magic < 2:
        return header
    elif count < 0:
        fault = 5
    elif delta < 0:
        fault = 6
    elif codec == 0 and count * SMALLEST_RECORD > size:
        fault = 7
    else:
        return header
    text = FAULTS[fault].format(magic=magic, size=size, codec=codec, count=count, delta=delta)
    raise batch_error(text, number, position, magic)


def raw_header(data: BytesLike, position: int) -> Header:
    if data[position + MAGIC_AT] == 2 and len(data) - position >= HEADER:
        header: Header = _batch(data, position)
        return header
    offset, length, crc, magic, attributes = _entry(data, position)
    is_timed = magic == 1 and length + OVERHEAD >= SMALLEST[1]
    timestamp: int = _timestamp(data, position + TIMESTAMP_AT)[0] if is_timed else -1
    count = -1 if attributes & COMPRESSION else 1
    return offset, length, -1, magic, crc, attributes, 0, timestamp, timestamp, -1, -1, -1, count


def batch_error(reason: str, number: int, position: int, magic: int = -1, record: int = -1) -> BatchDecodeError:
    path = f"batches[{number}]" + (f".records[{record}]" if record >= 0 else "")
    known = magic if 0 <= magic <= 2 else -1
    return BatchDecodeError(f"batch at byte {position}: {reason}", path, position, known)


def with_base_offset(batch: BytesLike, offset: int, *, leader_epoch: int | None = None) -> bytes:
    """Return a copy of one batch of format 2 with a new base offset, as a broker does on append.

    ``leader_epoch``, unless None, replaces the partition leader epoch. The checksum covers neither field (KIP-98).

    Raises BatchDecodeError if ``batch`` is not exactly one batch of format 2, BatchEncodeError for an invalid ``offset``
    or ``leader_epoch``, and TypeError if ``batch`` is not bytes-like.
    """
    if type(batch) not in (bytes, bytearray, memoryview):
        batch = as_bytes(batch, "batch")
    if len(batch) < SMALLEST[2] or batch[MAGIC_AT] != 2:
        raise BatchDecodeError(f"not a batch of format 2 ({len(batch)} bytes)", offset=0)
    size = int.from_bytes(batch[8:OVERHEAD], "big") + OVERHEAD
    if size != len(batch):
        raise BatchDecodeError(f"expected one batch of {size} bytes, got {len(batch)} bytes", offset=0, magic=2)
    if not is_int(offset, 64, 0):
        raise BatchEncodeError(f"expected int64 of at least 0, got {shown(offset)}", path="offset")
    if leader_epoch is None:
        return b"".join((_int64(offset), batch[8:]))
    if not is_int(leader_epoch, 32, -1):
        raise BatchEncodeError(f"expected int32 of at least -1, got {shown(leader_epoch)}", path="leader_epoch")
    return b"".join((_int64(offset), batch[8:LEADER_EPOCH_AT], _int32(leader_epoch), batch[MAGIC_AT:]))
