"""Record types, and the decoder of records of format 2 (KIP-82, KIP-98)."""

from __future__ import annotations

from typing import NamedTuple

from .errors import MalformedRecord
from .format import SMALLEST_RECORD


class Record(NamedTuple):
    """A record of a batch."""

    offset: int = -1
    """Offset. ``write_batch`` replaces -1 by the next offset."""
    timestamp: int = -1
    """Milliseconds since 1970, or -1 for none."""
    key: bytes | None = None
    value: bytes | None = None
    """Value; None is a tombstone in a compacted topic."""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    """Key-value pairs; keys may repeat. Keys with invalid UTF-8 are decoded with ``surrogateescape``."""


class ControlRecord(NamedTuple):
    """A control record: the end of a transaction, or a KRaft log event."""

    offset: int
    timestamp: int
    """Milliseconds since 1970."""
    type: str
    """Type name from ``CONTROL_TYPES`` in ``kafka_records.format``, such as ``COMMIT``."""
    type_id: int
    """Type number."""
    coordinator_epoch: int | None
    """Coordinator epoch of ``COMMIT`` and ``ABORT``; None for other types and for a missing or truncated value."""
    value: bytes | None
    """Stored value. In KRaft logs it is an encoded message, such as LeaderChangeMessage for ``LEADER_CHANGE``."""


def too_many(count: int, maximum: int, what: str = "records") -> str:
    return f"{count} or more {what}, at most {maximum} allowed (max_batch_records)"


_INT64 = 1 << 63
_FAR = 1 << 62
# Beyond these bounds, base plus delta may overflow int64; the sum then wraps around, as in Kafka.
_FAR_BEFORE = -_FAR
# Minimum length of a record in bytes, without the length field itself, zigzag-encoded.
_SMALLEST_BODY = 2 * (SMALLEST_RECORD - 1)
# Zigzag-encoded length from which header keys are not cached.
_LONG_NAME = 128
_new = tuple.__new__


def wrapped(value: int) -> int:
    return (value + _INT64) % (1 << 64) - _INT64


def read_records(
    data: bytes,
    pos: int,
    end: int,
    count: int,
    base_offset: int,
    base_timestamp: int,
    append_time: int | None,
    limit: int,
) -> list[Record]:
    """Decode ``count`` records from ``pos`` to ``end``. Raises MalformedRecord.

    Varints of one and two bytes are decoded inline for speed.
    """
    if count == 0:
        return []  # like Kafka, ignore bytes in a batch without records
    if count * SMALLEST_RECORD > end - pos:
        raise MalformedRecord(f"{count} records do not fit into {end - pos} bytes")
    records: list[Record] = []
    maximum = limit
    new, kind = _new, Record
    is_far = base_offset > _FAR or not _FAR_BEFORE < base_timestamp < _FAR
    try:
        for _ in range(count):
            size = data[pos]
            pos += 1
            if size > 127:
                if (byte := data[pos]) < 128:
                    size += (byte << 7) - 128
                    pos += 1
                else:
                    size, pos = _varint(data, pos - 1)
            stop = pos + (size >> 1)
            if size & 1 or size < _SMALLEST_BODY or stop > end:
                raise MalformedRecord(f"record {len(records)} has an invalid length", len(records))

            time = data[pos + 1]  # after the unused attributes
            pos += 2
            if time > 127:
                if (byte := data[pos]) < 128:
                    time += (byte << 7) - 128
                    pos += 1
                else:
                    time, pos = _varint(data, pos - 1, 10)
                    is_far = is_far or time > _FAR

            delta = data[pos]
            pos += 1
            if delta > 127:
                if (byte := data[pos]) < 128:
                    delta += (byte << 7) - 128
                    pos += 1
                else:
                    delta, pos = _varint(data, pos - 1)

            size = data[pos]
            pos += 1
            if size > 127:
                if (byte := data[pos]) < 128:
                    size += (byte << 7) - 128
                    pos += 1
                else:
                    size, pos = _varint(data, pos - 1)
            key = None if size & 1 else data[pos : (pos := pos + (size >> 1))]

            size = data[pos]
            pos += 1
            if size > 127:
                if (byte := data[pos]) < 128:
                    size += (byte << 7) - 128
                    pos += 1
                else:
                    size, pos = _varint(data, pos - 1)
            value = None if size & 1 else data[pos : (pos := pos + (size >> 1))]

            if data[pos]:
                headers, pos = _headers(data, pos, stop, len(records), limit)
                if (limit := limit - len(headers)) < 0:
                    raise MalformedRecord(too_many(maximum - limit, maximum, "headers"), len(records))
            else:
                headers = ()
                pos += 1
            if pos != stop:
                raise _not_filled(len(records))
            timestamp = base_timestamp - (time + 1 >> 1) if time & 1 else base_timestamp + (time >> 1)
            offset = base_offset - (delta + 1 >> 1) if delta & 1 else base_offset + (delta >> 1)
            records.append(new(kind, (offset, timestamp, key, value, headers)))
    except (IndexError, ValueError):
        raise _not_filled(len(records)) from None
    if pos != end:
        raise MalformedRecord(f"{end - pos} bytes left after the records")
    if append_time is not None:
        return at_time(records, append_time)
    if is_far:
        return [new(kind, (wrapped(each[0]), wrapped(each[1]), *each[2:])) for each in records]
    return records


def at_time(records: list[Record], timestamp: int) -> list[Record]:
    return [_new(Record, (offset, timestamp, key, value, headers)) for offset, _, key, value, headers in records]


def _not_filled(number: int) -> MalformedRecord:
    return MalformedRecord(f"the fields of record {number} do not match its length", number)


def _headers(
    data: bytes, pos: int, stop: int, number: int, limit: int
) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    size = data[pos]
    pos += 1
    if size > 127:
        size, pos = _varint(data, pos - 1)
    if size & 1 or size > stop - pos:
        raise _not_filled(number)
    if (left := size >> 1) > limit:
        left = limit + 1
    names = _NAMES
    headers: list[tuple[str, bytes | None]] = []
    while left:
        size = data[pos]
        pos += 1
        if size > 127:
            size, pos = _varint(data, pos - 1)
        if size & 1:
            raise _headers_not_filled(number)
        name = data[pos : (pos := pos + (size >> 1))]
        key = names[name] if size < _LONG_NAME else _decoded(name)
        size = data[pos]
        pos += 1
        if size > 127:
            size, pos = _varint(data, pos - 1)
        value = None if size & 1 else data[pos : (pos := pos + (size >> 1))]
        if pos > stop:
            raise _headers_not_filled(number)
        if left == 1 and not headers:
            return ((key, value),), pos
        headers.append((key, value))
        left -= 1
    return tuple(headers), pos


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


class _Names(dict[bytes, str]):
    def __missing__(self, name: bytes) -> str:
        if len(self) >= _MOST_NAMES:
            self.clear()
        key = self[name] = _decoded(name)
        return key


_MOST_NAMES = 1024
_NAMES = _Names()


def _headers_not_filled(number: int) -> MalformedRecord:
    return MalformedRecord(f"the headers of record {number} do not match its length", number)


def _varint(data: bytes, pos: int, maximum: int = 5) -> tuple[int, int]:
    """Return the varint at ``pos``, still zigzag-encoded, and the position after it. Raises ValueError and IndexError.

    ``maximum`` is the maximum size in bytes: 5 (int32) or 10 (int64).
    """
    value = shift = 0
    for end in range(pos + 1, pos + maximum + 1):
        byte = data[end - 1]
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    else:
        raise ValueError
    if maximum == 5:
        if value > 0xFFFFFFFF:
            raise ValueError
        return value, end
    return value & 0xFFFFFFFFFFFFFFFF, end
