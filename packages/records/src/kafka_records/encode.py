"""Encoders of record batches and of messages in formats 0 and 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import Struct
from zlib import crc32

from ._values import one_of, shown
from .errors import BatchEncodeError
from .format import BATCH_BEGIN, BATCH_SUMMED, CODECS, COMPRESSION, LOG_APPEND_TIME, OVERHEAD, SUMMED_FROM
from .records import wrapped

# A record: offset, timestamp, key, value, headers.
Fields = tuple[int, int, bytes | None, bytes | None, Sequence[tuple[str | bytes, bytes | None]]]

_message_head = {0: Struct(">bb").pack, 1: Struct(">bbq").pack}
_entry = Struct(">qiI").pack
_int32 = Struct(">i").pack
_begin = BATCH_BEGIN.pack
_summed = BATCH_SUMMED.pack
# Number of bytes included in the length field but not in the checksum.
_SUMMED_AFTER = SUMMED_FROM[2] - OVERHEAD


@dataclass(slots=True)
class Shared:
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

    def encode(self, records: Sequence[Fields], offsets: Sequence[int]) -> bytes:
        """Encode at least one record. ``offsets`` replaces the offsets in ``records``."""
        if self.magic < 2:
            return _messages(self, records, offsets)
        numbers = self.leader_epoch, self.producer_id, self.producer_epoch, self.base_sequence
        times = self.append_time, self.delete_horizon
        return encode_batch(records, offsets, self.attributes, *numbers, *times, self.compress, self.checksum)


_NUMBERS: dict[str | None, int] = {None: 0, **{name: number for number, name in enumerate(CODECS)}}


def codec_number(compression: object, magic: int) -> int:
    """Return a codec's number. Raises BatchEncodeError if the name or format is unknown, or the format lacks the codec."""
    if magic not in (0, 1, 2):
        raise BatchEncodeError(f"unknown format {shown(magic)}", path="magic")
    codec = _NUMBERS.get(compression) if isinstance(compression, str | None) else None
    if codec is None:
        raise BatchEncodeError(f"expected {one_of(CODECS)}, got {shown(compression)}", path="compression")
    if codec == 4 and magic < 2:
        raise BatchEncodeError(f"zstd is not supported by format {magic} (KIP-110)", path="compression")
    return codec


class _ZigZagVarints(dict[int, bytes]):
    """Cache of encoded varints. Values beyond int64 wrap around, as in Kafka."""

    def __missing__(self, number: int) -> bytes:
        number = wrapped(number)
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


_VARINTS = _ZigZagVarints()
_NULL = _VARINTS[-1]
_LOWEST = -1 << 63
_ATTRIBUTES = b"\0"
_NO_HEADERS = b"\0"


def encode_batch(
    records: Sequence[Fields],
    offsets: Sequence[int],
    attributes: int,
    leader_epoch: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    append_time: int | None,
    delete_horizon: int | None,
    compress: Callable[[int, bytes, int], bytes],
    checksum: Callable[[bytes], int],
) -> bytes:
    """Encode one batch of format 2. ``offsets`` replaces the offsets in ``records``."""
    base_offset = offsets[0]
    highest = records[0][1]
    base_timestamp = highest if delete_horizon is None else delete_horizon
    varints, join = _VARINTS, b"".join
    parts: list[bytes] = []
    following = iter(offsets).__next__  # faster than zip if there is one record
    for _, timestamp, key, value, headers in records:
        if timestamp > highest:
            highest = timestamp
        elif timestamp < _LOWEST:
            raise ValueError  # ``culprit`` names the record
        if key is not None and type(key) is not bytes:
            key = _plain(key)
        if value is not None and type(value) is not bytes:
            value = _plain(value)
        record = join(
            (
                _ATTRIBUTES,
                varints[timestamp - base_timestamp],
                varints[following() - base_offset],
                _NULL if key is None else varints[len(key)],
                b"" if key is None else key,
                _NULL if value is None else varints[len(value)],
                b"" if value is None else value,
                _headers(headers) if headers else _NO_HEADERS,
            )
        )
        parts.append(varints[len(record)])
        parts.append(record)
    body = join(parts)
    if codec := attributes & COMPRESSION:
        body = compress(codec, body, 2)
    summed = (
        _summed(
            attributes,
            offsets[-1] - base_offset,
            base_timestamp,
            highest if append_time is None else append_time,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
        + body
    )
    return _begin(base_offset, len(summed) + _SUMMED_AFTER, leader_epoch, 2, checksum(summed)) + summed


def _headers(headers: Sequence[tuple[str | bytes, bytes | None]]) -> bytes:
    varints, keys = _VARINTS, _KEYS
    parts = [varints[len(headers)]]
    for name, content in headers:
        key = keys[name] if type(name) is str else _key(name)
        if content is not None and type(content) is not bytes:
            content = _plain(content)
        parts += (key, _NULL) if content is None else (key, varints[len(content)], content)
    return b"".join(parts)


def _plain(content: object) -> bytes:
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise TypeError(f"expected bytes, got {type(content).__name__}")


def _key(name: str | bytes) -> bytes:
    key = name.encode("utf-8", "surrogateescape") if isinstance(name, str) else _plain(name)
    return b"".join((_VARINTS[len(key)], key))


class _Keys(dict[str, bytes]):
    def __missing__(self, name: str) -> bytes:
        key = _key(name)
        if len(key) < _LONG_KEY:
            if len(self) >= _MOST_KEYS:
                self.clear()
            self[name] = key
        return key


_LONG_KEY = 64
_MOST_KEYS = 1024
_KEYS = _Keys()


def _messages(batch: Shared, records: Sequence[Fields], offsets: Sequence[int]) -> bytes:
    if any(headers for _, _, _, _, headers in records):
        raise BatchEncodeError(f"not supported by format {batch.magic}", path="headers")
    appended = batch.attributes & LOG_APPEND_TIME
    highest = max(record[1] for record in records)
    time = None if not appended else highest if batch.append_time is None else batch.append_time
    pairs = zip(offsets, records, strict=True)
    if not batch.codec:
        return b"".join(_message(batch.magic, appended, offset, record, time) for offset, record in pairs)
    first = offsets[0] if batch.magic == 1 else 0
    inner = b"".join(_message(batch.magic, 0, offset - first, record, None) for offset, record in pairs)
    value = batch.compress(batch.codec, inner, batch.magic)
    last = offsets[-1]
    return _message(batch.magic, batch.codec | appended, last, (last, highest, None, value, ()), time)


def _message(magic: int, attributes: int, offset: int, record: Fields, time: int | None) -> bytes:
    _, timestamp, key, value, _ = record
    times = (timestamp if time is None else time,) if magic == 1 else ()
    parts = [_message_head[magic](magic, attributes, *times)]
    for content in (key, value):
        if content is None:
            parts.append(_int32(-1))
        else:
            plain = content if type(content) is bytes else _plain(content)
            parts += (_int32(len(plain)), plain)
    body = b"".join(parts)
    return _entry(offset, len(body) + 4, crc32(body)) + body
