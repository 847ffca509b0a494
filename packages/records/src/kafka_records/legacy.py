"""Messages of formats 0 and 1 (before Kafka 0.11), single or within a compressed message.

A compressed message has the offset of its last inner message. Offsets of inner messages are absolute in format 0 and
relative in format 1 (KIP-31). With log append time, the outer timestamp applies to all inner messages (KIP-32).
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

from .errors import MalformedRecord
from .format import COMPRESSION, ENTRY, KEY_SIZE_AT, OVERHEAD, SMALLEST, SUMMED_FROM, TIMESTAMP_AT
from .records import Record, at_time, too_many, wrapped

_entry = ENTRY.unpack_from
_int64 = Struct(">q").unpack_from
_int32 = Struct(">i").unpack_from


def read_messages(
    data: bytes,
    pos: int,
    end: int,
    magic: int,
    append_time: int | None,
    unwrapped: bytes | None,
    verify: bool,
    most: int,
) -> list[Record]:
    """Return the record of a message, or the inner records of a compressed message. Raises MalformedRecord.

    ``unwrapped`` is the decompressed value of a compressed message, else None. ``append_time`` overrides all timestamps in
    format 1. ``verify`` checks the checksums of inner messages.
    """
    if unwrapped is None:
        records = [_message(data, pos, end, magic, 0)]
    else:
        places = _places(unwrapped, magic, most)
        if verify:
            _verify(unwrapped, places)
        shift = _shift(_int64(data, pos)[0], _int64(unwrapped, places[-1])[0], magic)
        ends = [*places[1:], len(unwrapped)]
        records = [_message(unwrapped, low, high, magic, shift) for low, high in zip(places, ends, strict=True)]
    if append_time is not None and magic == 1:
        return at_time(records, append_time)
    return records


def _message(data: bytes, pos: int, end: int, magic: int, shift: int) -> Record:
    at = pos + KEY_SIZE_AT[magic]
    key, at = _field(data, at, end)
    value, at = _field(data, at, end)
    if at != end:
        raise MalformedRecord("the lengths of key and value do not match the message")
    timestamp = _int64(data, pos + TIMESTAMP_AT)[0] if magic == 1 else -1
    return Record(wrapped(_int64(data, pos)[0] + shift), timestamp, key, value)


def _field(data: bytes, at: int, end: int) -> tuple[bytes | None, int]:
    if at + 4 > end:
        raise MalformedRecord("the lengths of key and value do not match the message")
    size = _int32(data, at)[0]
    at += 4
    return (None, at) if size < 0 else (data[at : min(at + size, end)], at + size)


def _places(inner: bytes, magic: int, most: int) -> list[int]:
    places: list[int] = []
    at = 0
    while at < len(inner):
        left = len(inner) - at
        if left < SMALLEST[magic]:
            raise MalformedRecord(f"inner message {len(places)} has only {left} bytes")
        _, length, _, inner_magic, attributes = _entry(inner, at)
        if not SMALLEST[magic] <= length + OVERHEAD <= left:
            raise MalformedRecord(f"inner message {len(places)} has an invalid length of {length} bytes")
        if inner_magic != magic:
            raise MalformedRecord(f"inner message {len(places)} has format {inner_magic}, the outer message {magic}")
        if attributes & COMPRESSION:
            raise MalformedRecord(f"inner message {len(places)} is compressed, but only the outer message may be")
        if len(places) == most:
            raise MalformedRecord(too_many(most + 1, most))
        places.append(at)
        at += length + OVERHEAD
    if not places:
        raise MalformedRecord("the compressed message has no inner messages")
    return places


def _shift(outer: int, last: int, magic: int) -> int:
    if magic == 0 or outer == 0:  # some librdkafka releases sent outer offset 0 and absolute inner offsets
        return 0
    if outer < last:
        raise MalformedRecord(f"the offset {outer} of the compressed message is below the last relative offset, {last}")
    return outer - last


def _verify(inner: bytes, places: list[int]) -> None:
    view = memoryview(inner)
    for number, (low, high) in enumerate(zip(places, [*places[1:], len(inner)], strict=True)):
        if crc32(view[low + SUMMED_FROM[0] : high]) != _entry(inner, low)[2]:
            raise MalformedRecord(f"checksum mismatch of inner message {number}")
