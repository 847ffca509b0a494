"""The records in a batch, of whatever format and compression."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from .compression import CompressionError
from .engines import codecs
from .format import COMPRESSION, HEADER, KEY_SIZE_AT, LOG_APPEND_TIME, OVERHEAD
from .header import Header, batch_error
from .legacy import read_messages
from .records import Record, RecordError, read_records, too_many

_int32 = Struct(">i").unpack_from


class Limits(NamedTuple):
    """What a batch may come to."""

    size: int
    """Bytes, as stored and decompressed."""
    records: int
    """Records, and headers of all of them."""


def read_contents(data: bytes, position: int, number: int, header: Header, most: Limits, verify: bool) -> list[Record]:
    """The records of the ``number``-th batch, decompressed within the limits. Raises DecodeError and MissingCodecError.

    ``verify`` sums each message within a compressed one of formats 0 and 1.
    """
    base_offset, length, _, magic, _, attributes, _, base_timestamp, max_timestamp, _, _, _, count = header
    end = position + OVERHEAD + length
    appended = max_timestamp if attributes & LOG_APPEND_TIME else None
    codec = attributes & COMPRESSION
    try:
        if magic < 2:
            inner = _unwrapped(codec, memoryview(data)[position:end], magic, most.size) if codec else None
            return read_messages(data, position, end, magic, appended, inner, verify, most.records)
        if count > most.records:  # before anything is decompressed
            raise RecordError(too_many(count, most.records))
        pos = position + HEADER
        if codec and count:
            data = _decompressed(codec, data, pos, end, most.size)
            pos, end = 0, len(data)
        return read_records(data, pos, end, count, base_offset, base_timestamp, appended, most.records)
    except CompressionError as error:
        raise batch_error(str(error), number, position, magic) from error.__cause__
    except RecordError as error:
        raise batch_error(str(error), number, position, magic, error.number) from None


def read_decompressed(data: bytes, position: int, number: int, header: Header, most: int) -> bytes:
    """The bytes of the records in a batch of format 2, decompressed to ``most``. Raises DecodeError and MissingCodecError."""
    pos, end = position + HEADER, position + OVERHEAD + header[1]
    codec = header[5] & COMPRESSION
    try:
        return _decompressed(codec, data, pos, end, most) if codec else data[pos:end]
    except CompressionError as error:
        raise batch_error(str(error), number, position, header[3]) from error.__cause__


def _decompressed(codec: int, data: bytes, pos: int, end: int, most: int) -> bytes:
    return bytes(codecs().decompress(codec, memoryview(data)[pos:end], most))


def _unwrapped(codec: int, message: memoryview, magic: int, most: int) -> bytes:
    """What is in a compressed message of formats 0 and 1."""
    pos = KEY_SIZE_AT[magic]
    pos += 4 + max(_int32(message, pos)[0], 0)
    if pos + 4 > len(message) or _int32(message, pos)[0] != len(message) - pos - 4:
        raise RecordError("the key and value of the compressed message do not fill it")
    return bytes(codecs().decompress(codec, message[pos + 4 :], most, magic))
