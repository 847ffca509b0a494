"""The bytes of record batches and of the messages before them, for all that writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct
from zlib import crc32

from ..errors import EncodeError
from .format import BATCH, BATCH_SUMMED, CODECS, HEADER, LOG_APPEND_TIME, OVERHEAD
from .records import wrapped

Fields = tuple[int, int, bytes | None, bytes | None, Sequence[tuple[str | bytes, bytes | None]]]
"""A record: offset, timestamp, key, value, headers."""

_message_head = {0: Struct(">bb").pack, 1: Struct(">bbq").pack}
_entry = Struct(">qiI").pack
_int32 = Struct(">i").pack


@dataclass(slots=True)
class Shared:
    """What all records of a batch share, and who compresses and sums them."""

    magic: int
    codec: int
    attributes: int
    leader_epoch: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    append_time: int | None
    delete_horizon: int | None
    compress: Callable[[int, bytes, int], bytes]
    checksum: Callable[[bytes], int]

    def encode(self, records: Sequence[Fields]) -> bytes:
        """One batch of one record or more, or in formats 0 and 1 a message of each, or one around them all."""
        return _batch(self, records) if self.magic == 2 else _messages(self, records)


def codec_number(compression: str | None, magic: int) -> int:
    """The number of a compression in a format. Raises EncodeError if there is none."""
    if magic not in (0, 1, 2):
        raise EncodeError(f"there is no format {magic}", path="magic")
    name = compression or CODECS[0]
    if name not in CODECS:
        raise EncodeError(f"{name!r} is none of {', '.join(CODECS)}", path="compression")
    codec = CODECS.index(name)
    if codec == 4 and magic < 2:
        raise EncodeError(f"zstd is for format 2, not {magic} (KIP-110)", path="compression")
    return codec


class _Varints(dict[int, bytes]):
    """Numbers as varints; short ones are kept."""

    def __missing__(self, number: int) -> bytes:
        value = (number << 1) ^ (number >> 63)
        out = bytearray()
        while value > 127:
            out.append(value & 127 | 128)
            value >>= 7
        out.append(value)
        result = bytes(out)
        if len(result) < 3:
            self[number] = result
        return result


_VARINTS = _Varints()
_NULL = _VARINTS[-1]
_ATTRIBUTES = b"\0"


def _batch(batch: Shared, records: Sequence[Fields]) -> bytes:
    base_offset, first_timestamp = records[0][:2]
    base_timestamp = first_timestamp if batch.delete_horizon is None else batch.delete_horizon
    varints = _VARINTS
    parts: list[bytes] = []
    highest = first_timestamp
    for offset, timestamp, key, value, headers in records:
        if timestamp > highest:
            highest = timestamp
        fields = [
            _ATTRIBUTES,
            varints[wrapped(timestamp - base_timestamp)],  # Kafka's long arithmetic wraps around
            varints[offset - base_offset],
            *((_NULL,) if key is None else (varints[len(key)], key)),
            *((_NULL,) if value is None else (varints[len(value)], value)),
            varints[len(headers)],
        ]
        for name, content in headers:
            name = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name
            fields += (varints[len(name)], name)
            fields += (_NULL,) if content is None else (varints[len(content)], content)
        record = b"".join(fields)
        parts += (varints[len(record)], record)
    body = b"".join(parts)
    if batch.codec:
        body = batch.compress(batch.codec, body, 2)
    summed = BATCH_SUMMED.pack(
        batch.attributes,
        records[-1][0] - base_offset,
        base_timestamp,
        highest if batch.append_time is None else batch.append_time,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        len(records),
    )
    total = HEADER + len(body)
    head = BATCH.pack(base_offset, total - OVERHEAD, batch.leader_epoch, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    summed += body
    return b"".join((head[:17], batch.checksum(summed).to_bytes(4, "big"), summed))


def _messages(batch: Shared, records: Sequence[Fields]) -> bytes:
    if any(headers for _, _, _, _, headers in records):
        raise EncodeError(f"format {batch.magic} has no headers", path="headers")
    appended = batch.attributes & LOG_APPEND_TIME
    highest = max(record[1] for record in records)
    time = None if not appended else highest if batch.append_time is None else batch.append_time
    if not batch.codec:
        return b"".join(_message(batch.magic, appended, record[0], record, time) for record in records)
    first = records[0][0] if batch.magic == 1 else 0
    inner = b"".join(_message(batch.magic, 0, record[0] - first, record, None) for record in records)
    value = batch.compress(batch.codec, inner, batch.magic)
    last = records[-1][0]
    return _message(batch.magic, batch.codec | appended, last, (last, highest, None, value, ()), time)


def _message(magic: int, attributes: int, offset: int, record: Fields, time: int | None) -> bytes:
    _, timestamp, key, value, _ = record
    times = (timestamp if time is None else time,) if magic == 1 else ()
    parts = [_message_head[magic](magic, attributes, *times)]
    for content in (key, value):
        parts += (_int32(-1),) if content is None else (_int32(len(content)), content)
    body = b"".join(parts)
    return _entry(offset, len(body) + 4, crc32(body)) + body
