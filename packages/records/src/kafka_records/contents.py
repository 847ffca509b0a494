"""Records of one batch, for all formats and compressions."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from .compression import Codecs, codecs
from .errors import CompressionError, MalformedRecord
from .format import COMPRESSION, HEADER, KEY_SIZE_AT, LOG_APPEND_TIME, OVERHEAD
from .header import Header, batch_error
from .legacy import read_messages
from .records import Record, read_records, too_many

_int32 = Struct(">i").unpack_from


class Limits(NamedTuple):

    size: int
    """Maximum size of a batch in bytes, both stored and decompressed."""
    records: int
    """Maximum number of records in a batch, and of headers in all these records together."""


def read_contents(data: bytes, position: int, number: int, header: Header, most: Limits, verify: bool) -> list[Record]:
    """Return the records of batch ``number``. Raises BatchDecodeError and MissingCodecError.

    ``verify`` checks the checksums of inner messages in formats 0 and 1.
    """
    base_offset, length, _, magic, _, attributes, _, base_timestamp, max_timestamp, _, _, _, count = header
    end = position + OVERHEAD + length
    append_time = max_timestamp if attributes & LOG_APPEND_TIME else None
    codec = attributes & COMPRESSION
    try:
        if magic < 2:
            message = memoryview(data)[position:end]
            inner = unwrapped(codec, message, magic, most.size, codecs()) if codec else None
            return read_messages(data, position, end, magic, append_time, inner, verify, most.records)
        if count > most.records:  # checked before decompression
            raise MalformedRecord(too_many(count, most.records))
        pos = position + HEADER
        if codec and count:
            data = _decompressed(codec, data, pos, end, most.size)
            pos, end = 0, len(data)
        return read_records(data, pos, end, count, base_offset, base_timestamp, append_time, most.records)
    except CompressionError as error:
        raise batch_error(str(error), number, position, magic) from error.__cause__
    except MalformedRecord as error:
        raise batch_error(str(error), number, position, magic, error.number) from None


def read_decompressed(data: bytes, position: int, number: int, header: Header, most: int) -> bytes:
    """Return the records section of batch ``number``, decompressed. Raises BatchDecodeError and MissingCodecError.

    Of a compressed message of format 0 or 1, return the inner messages.
    """
    pos, end = position + HEADER, position + OVERHEAD + header[1]
    codec, magic = header[5] & COMPRESSION, header[3]
    try:
        if codec and magic < 2:
            return unwrapped(codec, memoryview(data)[position:end], magic, most, codecs())
        return _decompressed(codec, data, pos, end, most) if codec else data[pos:end]
    except (CompressionError, MalformedRecord) as error:
        raise batch_error(str(error), number, position, magic) from error.__cause__


def unwrapped(codec: int, message: bytes | memoryview, magic: int, limit: int, codecs: Codecs) -> bytes:
    if codec == 4:
        raise MalformedRecord(f"zstd is not supported by format {magic} (KIP-110)")
    pos = KEY_SIZE_AT[magic]
    pos += 4 + max(_int32(message, pos)[0], 0)
    if pos + 4 > len(message) or _int32(message, pos)[0] != len(message) - pos - 4:
        raise MalformedRecord("the lengths of key and value do not match the compressed message")
    return bytes(codecs.decompress(codec, memoryview(message)[pos + 4 :], limit, magic))


def _decompressed(codec: int, data: bytes, pos: int, end: int, most: int) -> bytes:
    return bytes(codecs().decompress(codec, memoryview(data)[pos:end], most))
