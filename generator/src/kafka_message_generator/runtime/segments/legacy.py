"""Messages of the formats 0 and 1 (before Kafka 0.11), alone or as the compressed contents of a wrapper message.

The offset of a wrapper is that of its last message. Within it offsets are absolute in format 0 and relative in format 1
(KIP-31); with the log append time in the wrapper's attributes its timestamp holds for all (KIP-32). Rules and leniency
are those of Kafka's AbstractLegacyRecordBatch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from struct import Struct

import numpy as np

from ..batches.compression import CompressionError
from ..batches.format import COMPRESSION, ENTRY, KEY_SIZE_AT, LOG_APPEND_TIME, OVERHEAD, SMALLEST, TIMESTAMP_AT
from .compression import decompress
from .crc import legacy_sums
from .frames import PADDING, Ints, Log
from .records import Faults, Records, without

_entry = ENTRY.unpack_from
_int64 = Struct(">q").unpack_from
_int32 = Struct(">i").unpack_from


@dataclass(slots=True)
class _Messages:
    """Places of messages in ``parts`` put one after the other, the entry of each, and what entries change."""

    parts: list[bytes | memoryview] = field(default_factory=list)
    size: int = 0
    pos: list[int] = field(default_factory=list)
    entry: list[int] = field(default_factory=list)
    shift: dict[int, int] = field(default_factory=dict)
    """What is added to the offsets of an entry."""

    def add(self, data: bytes | memoryview) -> int:
        """Add bytes; returns where they begin."""
        begin = self.size
        self.parts.append(data)
        self.size += len(data)
        return begin


def read_messages(
    log: Log, start: Ints, size: Ints, faults: Faults, *, check_crcs: bool, limit: int, most_bytes: int
) -> tuple[Records, int]:
    """The records of outer messages, by their number, and how many of those were read: fewer than all when their
    contents come to more than ``most_bytes``. ``limit`` bounds the contents of one.
    """
    attributes = log.at(start + 17, "i1")
    wrapped = np.flatnonzero(attributes & COMPRESSION)
    if len(wrapped) == 0:
        read = len(start)
        data, pos, entry, shifts = log.bytes, start, np.arange(len(start)), np.zeros(len(start), np.int64)
    else:
        messages, read = _unwrapped(log, start, size, attributes, faults, check_crcs, limit, most_bytes)
        data = np.frombuffer(b"".join((*messages.parts, bytes(PADDING))), np.uint8)
        pos, entry = np.array(messages.pos, np.int64), np.array(messages.entry, np.int64)
        shifts = np.zeros(read, np.int64)
        for number, shift in messages.shift.items():
            shifts[number] = shift
    records = _fields(Log(data, len(data) - PADDING), pos, entry, faults)
    records.offset += shifts[entry]
    appended = (attributes & LOG_APPEND_TIME != 0) & (log.at(start + 16, "i1") == 1)
    if appended.any():
        records.timestamp = np.where(appended[entry], log.at(start + TIMESTAMP_AT, ">i8")[entry], records.timestamp)
    return (without(records, faults) if faults.reasons else records), read


def _unwrapped(
    log: Log, start: Ints, size: Ints, attributes: Ints, faults: Faults, check_crcs: bool, limit: int, most_bytes: int
) -> tuple[_Messages, int]:
    """Outer messages with what is in the compressed ones in their place."""
    messages = _Messages()
    view = log.bytes.data
    columns = zip(start.tolist(), size.tolist(), (attributes & COMPRESSION).tolist(), strict=True)
    for number, (at, length, codec) in enumerate(columns):
        message = view[at : at + length]
        if codec == 0:
            messages.pos.append(messages.add(message))
            messages.entry.append(number)
        else:
            try:
                _unwrap(messages, number, message, codec, check_crcs, limit)
            except CompressionError as error:
                faults.add(number, str(error))
        if messages.size >= most_bytes:
            return messages, number + 1
    return messages, len(start)


def _unwrap(messages: _Messages, number: int, message: memoryview, codec: int, check_crcs: bool, limit: int) -> None:
    """Add what is in a wrapper. Raises CompressionError, of which only the text matters, for all that is wrong with it."""
    wrapper_offset, _, _, magic, _ = _entry(message)
    pos = KEY_SIZE_AT[magic]
    pos += 4 + max(_int32(message, pos)[0], 0)
    if pos + 4 > len(message) or _int32(message, pos)[0] != len(message) - pos - 4:
        raise CompressionError("the key and value of the compressed message do not fill it")
    inner = decompress(codec, message[pos + 4 :], limit, magic)
    places: list[int] = []
    offset = at = 0
    smallest = SMALLEST[magic]
    while at < len(inner):
        left = len(inner) - at
        if left < smallest:
            raise CompressionError(f"{left} bytes are left after the messages within the compressed one")
        offset, length, _, inner_magic, attributes = _entry(inner, at)
        if not smallest <= length + OVERHEAD <= left:
            raise CompressionError(f"message {len(places)} within the compressed one has a length of {length} bytes")
        if inner_magic != magic:
            raise CompressionError(f"a message of format {inner_magic} is within a compressed one of format {magic}")
        if attributes & COMPRESSION:
            raise CompressionError("a compressed message is within a compressed one")
        places.append(at)
        at += length + OVERHEAD
    if not places:
        raise CompressionError("no message is within the compressed one")
    if check_crcs:
        _check_sums(inner, places)
    if magic == 1 and wrapper_offset != 0:  # 0: some releases of librdkafka sent that, and relative is absolute then
        if wrapper_offset < offset:
            reason = f"the offset {wrapper_offset} of the compressed message is below its last relative one, {offset}"
            raise CompressionError(reason)
        messages.shift[number] = wrapper_offset - offset
    begin = messages.add(inner)
    messages.pos += [begin + place for place in places]
    messages.entry += [number] * len(places)


def _check_sums(inner: bytes | memoryview, places: list[int]) -> None:
    data = np.frombuffer(inner, np.uint8)
    actual = legacy_sums(data, (place + 16 for place in places), (*places[1:], len(inner)))
    stored = [_entry(inner, place)[2] for place in places]
    if actual.tolist() != stored:
        number = next(
            number for number, (one, other) in enumerate(zip(actual.tolist(), stored, strict=True)) if one != other
        )
        raise CompressionError(f"the checksum of message {number} within the compressed one does not agree")


def _fields(log: Log, pos: Ints, entry: Ints, faults: Faults) -> Records:
    """The fields of messages, all at once."""
    magic = log.at(pos + 16, "i1")
    end = pos + OVERHEAD + log.at(pos + 8, ">i4")
    at = pos + np.where(magic == 1, KEY_SIZE_AT[1], KEY_SIZE_AT[0])
    key_size = log.at(at, ">i4")
    key_pos = at + 4
    at = key_pos + np.maximum(key_size, 0)
    wrong = at + 4 > end
    at = np.minimum(at, end - 4)
    value_size = log.at(at, ">i4")
    value_pos = at + 4
    wrong |= value_pos + np.maximum(value_size, 0) != end
    if wrong.any():
        faults.add_all(entry[wrong], "the key and value of a message do not fill it")
    timestamp = np.where(magic == 1, log.at(pos + TIMESTAMP_AT, ">i8"), -1)
    offset = log.at(pos, ">i8")
    return Records(log.bytes, entry, offset, timestamp, key_pos, key_size, value_pos, value_size, None)
