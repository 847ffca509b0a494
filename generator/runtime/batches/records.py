"""Records as tuples, and how those of format 2 are read (KIP-82 and KIP-98)."""

from __future__ import annotations

from typing import NamedTuple

from .format import SMALLEST_RECORD


class Record(NamedTuple):
    """One record of a batch."""

    offset: int = -1
    """-1, the default, stands for the next one when a batch is written."""
    timestamp: int = -1
    """Milliseconds since 1970, -1 for none."""
    key: bytes | None = None
    value: bytes | None = None
    """None is a tombstone in a compacted topic."""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    """In order; a key may repeat. Bytes of a key that are no UTF-8 come as lone surrogates, and are written as they were."""


class ControlRecord(NamedTuple):
    """A record that brokers write: the end of a transaction, or a change in the logs of KRaft."""

    offset: int
    timestamp: int
    """Milliseconds since 1970."""
    type: str
    """``COMMIT``, ``ABORT``, ``LEADER_CHANGE``, ``SNAPSHOT_HEADER``, ``SNAPSHOT_FOOTER``, ``KRAFT_VERSION``, ``KRAFT_VOTERS``
    or ``UNKNOWN``."""
    type_id: int
    """The number of the type, as the key has it."""
    coordinator_epoch: int | None
    """Of ``COMMIT`` and ``ABORT``; None for others, and where the value is too short for it."""
    value: bytes | None
    """As it is stored; of the logs of KRaft a message whose name is that of the type."""


class RecordError(Exception):
    """Something is wrong with a record; the text says what, ``number`` with which, or -1 for all of them."""

    def __init__(self, reason: str, number: int = -1) -> None:
        super().__init__(reason)
        self.number = number


_INT64 = 1 << 63
_FAR = 1 << 62
"""Beyond it sums of int64 may need more than 64 bits; Kafka's wrap around."""
_new = tuple.__new__


def wrapped(value: int) -> int:
    """As arithmetic on int64 has it."""
    return (value + _INT64) % (1 << 64) - _INT64


def read_records(
    data: bytes, pos: int, end: int, count: int, base_offset: int, base_timestamp: int, append_time: int | None
) -> list[Record]:
    """The ``count`` records from ``pos`` to ``end``. Raises RecordError.

    ``append_time`` is the timestamp of all of them, where the batch has one.
    """
    if count == 0:
        return []  # Kafka does not look at the bytes
    if count * SMALLEST_RECORD > end - pos:
        raise RecordError(f"{count} records cannot be in {end - pos} bytes")
    records: list[Record] = []
    add = records.append
    try:
        for _ in range(count):
            size = data[pos]
            pos += 1
            if size < 128:
                size = size >> 1 ^ -(size & 1)
            else:
                size, pos = varint(data, pos - 1)
            stop = pos + size
            if size < SMALLEST_RECORD - 1 or stop > end:
                raise RecordError(f"record {len(records)} has a length that cannot be", len(records))
            delta = data[pos + 1]  # behind the attributes, of which none are in use
            pos += 2
            if delta < 128:
                timestamp = base_timestamp + (delta >> 1 ^ -(delta & 1))
            else:
                delta, pos = varint(data, pos - 1, 10)
                timestamp = wrapped(base_timestamp + delta)
            delta = data[pos]
            pos += 1
            if delta < 128:
                delta = delta >> 1 ^ -(delta & 1)
            else:
                delta, pos = varint(data, pos - 1)
            size = data[pos]
            pos += 1
            if size < 128:
                size = size >> 1 ^ -(size & 1)
            else:
                size, pos = varint(data, pos - 1)
            if size < 0:
                key = None
            else:
                key = data[pos : pos + size]
                pos += size
            size = data[pos]
            pos += 1
            if size < 128:
                size = size >> 1 ^ -(size & 1)
            else:
                size, pos = varint(data, pos - 1)
            if size < 0:
                value = None
            else:
                value = data[pos : pos + size]
                pos += size
            if data[pos]:
                headers, pos = _headers(data, pos, stop, len(records))
            else:
                headers = ()
                pos += 1
            if pos != stop:
                raise _not_filled(len(records))
            add(_new(Record, (base_offset + delta, timestamp, key, value, headers)))
    except (IndexError, ValueError):
        raise _not_filled(len(records)) from None
    if pos != end:
        raise RecordError(f"{end - pos} bytes are left after its records")
    if append_time is not None:
        return [record._replace(timestamp=append_time) for record in records]
    if base_offset > _FAR or not -_FAR < base_timestamp < _FAR:
        return [_near(record) for record in records]
    return records


def _near(record: Record) -> Record:
    return record._replace(offset=wrapped(record.offset), timestamp=wrapped(record.timestamp))


def _not_filled(number: int) -> RecordError:
    return RecordError(f"the fields of record {number} do not fill its length", number)


def _headers(data: bytes, pos: int, stop: int, number: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    """The headers of one record, their count at ``pos``, and where they end."""
    count, pos = varint(data, pos)
    if not 0 <= 2 * count <= stop - pos:
        raise _not_filled(number)
    headers: list[tuple[str, bytes | None]] = []
    for _ in range(count):
        size, pos = varint(data, pos)
        if not 0 <= size <= stop - pos:
            raise RecordError("the headers of a record do not fill its length", number)
        key = data[pos : pos + size].decode("utf-8", "surrogateescape")
        pos += size
        size, pos = varint(data, pos)
        if size > stop - pos:
            raise RecordError("the headers of a record do not fill its length", number)
        headers.append((key, data[pos : pos + size] if size >= 0 else None))
        pos += max(size, 0)
    return tuple(headers), pos


def varint(data: bytes, pos: int, most: int = 5) -> tuple[int, int]:
    """The number at ``pos``, and where it ends; ``most`` bytes, 5 (int32) or 10 (int64).

    Raises ValueError for more, IndexError where the data ends within it.
    """
    value = shift = 0
    for end in range(pos + 1, pos + most + 1):
        byte = data[end - 1]
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
    else:
        raise ValueError(f"a varint has more than {most} bytes")
    if most == 5:
        if value > 0xFFFFFFFF:
            raise ValueError("a varint does not fit into 32 bits")
    else:
        value &= 0xFFFFFFFFFFFFFFFF
    return (value >> 1) ^ -(value & 1), end
