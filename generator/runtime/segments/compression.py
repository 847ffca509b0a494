"""Kafka's compressions, over what pyarrow and zlib bring: bounded when reading, readable by Kafka's classes when written.

The framings that are Kafka's own are handled here: snappy's blocks of the xerial library, the lz4 frames of formats 0 and
1 whose header checksum is wrong (KAFKA-3160), and lz4 frames of independent blocks, the only ones Kafka reads.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from gzip import compress as gzip_compress
from struct import Struct
from struct import error as StructError

import pyarrow as pa

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
"""By number, as bits 0 to 2 of a batch's attributes hold it."""

XERIAL_MAGIC = b"\x82SNAPPY\x00"
XERIAL_HEADER = XERIAL_MAGIC + b"\0\0\0\x01\0\0\0\x01"
"""Followed by blocks: their length (int32, big-endian) and raw snappy."""
XERIAL_BLOCK = 32 * 1024
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LZ4_BLOCK = 64 * 1024
LZ4_DESCRIPTOR = b"\x60\x40"
"""Version 1, independent blocks of at most 64 KiB, no checksums, no content size."""
_LZ4_PLAIN_BLOCK = 1 << 31

SNAPPY_MOST = 22
"""A byte of snappy stands for at most 64 / 3 bytes: a longer announced length is a lie, found before it costs memory."""
_FIRST_READ = 64 * 1024
_GZIP_PIECE = 512
"""Bytes of a further gzip member that are looked at together at first."""

_int32 = Struct(">i")
_uint32_le = Struct("<I")


class CompressionError(Exception):
    """Bytes that cannot be decompressed, or not within the bound; the text says why, without the place."""


def decompress(codec: int, data: memoryview, limit: int, magic: int = 2) -> bytes | memoryview:
    """What was compressed with a codec (its number, not 0) in a batch of a format (``magic``).

    Raises CompressionError, also for more than ``limit`` bytes; never much more than that is allocated.
    """
    try:
        return _READERS[codec](data, limit, magic)
    except (zlib.error, pa.ArrowException, OSError, IndexError, StructError) as error:
        raise CompressionError(f"the {CODECS[codec]} data is damaged: {error}") from error


def compress(codec: int, data: bytes, magic: int = 2) -> bytes:
    """The bytes compressed with a codec (its number), for a batch of a format (``magic``). The same each time."""
    return _WRITERS[codec](data, magic)


def _too_much(codec: int, limit: int) -> CompressionError:
    return CompressionError(f"the {CODECS[codec]} data grows beyond the bound of {limit} bytes (max_batch_bytes)")


def _read_gzip(data: memoryview, limit: int, magic: int) -> bytes:
    parts = []
    left = limit
    piece = len(data)  # nearly always there is one member alone
    while True:
        part, data = _gzip_member(data, left, piece, limit)
        if part:
            parts.append(part)
        left -= len(part)
        if not data:
            return parts[0] if len(parts) == 1 else b"".join(parts)
        piece = _GZIP_PIECE


def _gzip_member(data: memoryview, left: int, piece: int, limit: int) -> tuple[bytes, memoryview]:
    """What the first member stands for, and the data behind it.

    zlib copies what it is given beyond the end of a member, so it is given ``piece`` bytes at first, and then more.
    """
    member = zlib.decompressobj(31)
    parts = []
    size = pos = 0
    while not member.eof:
        if pos >= len(data):
            raise CompressionError("the gzip data ends too early")
        parts.append(member.decompress(data[pos : pos + piece], left - size + 1))
        size += len(parts[-1])
        if size > left:
            raise _too_much(1, limit)
        pos = min(pos + piece, len(data))
        piece *= 2
    return parts[0] if len(parts) == 1 else b"".join(parts), data[pos - len(member.unused_data) :]


def _read_snappy(data: memoryview, limit: int, magic: int) -> bytes | memoryview:
    if data[: len(XERIAL_MAGIC)] != XERIAL_MAGIC:
        return _snappy_block(data, limit, limit)
    parts = []
    left = limit
    pos = 0
    while pos < len(data):
        if data[pos : pos + len(XERIAL_MAGIC)] == XERIAL_MAGIC:
            pos += len(XERIAL_HEADER)  # at the beginning, and again where streams were put one after the other
            continue
        size = _int32.unpack_from(data, pos)[0]
        pos += 4
        if size < 0 or size > len(data) - pos:
            raise CompressionError(f"a snappy block of {size} bytes, but {len(data) - pos} are left")
        part = _snappy_block(data[pos : pos + size], left, limit)
        if len(part):
            parts.append(part)
        left -= len(part)
        pos += size
    return b"".join(parts)


def _snappy_block(data: memoryview, left: int, limit: int) -> memoryview:
    """Raw snappy: its uncompressed length as a varint, then the elements."""
    size = shift = pos = 0
    while True:
        if pos == len(data):
            raise CompressionError("the snappy data ends within its length")
        byte = data[pos]
        size |= (byte & 127) << shift
        pos, shift = pos + 1, shift + 7
        if byte < 128:
            break
        if shift > 28:
            raise CompressionError("the snappy data begins with a varint of more than 5 bytes")
    if size > left:
        raise _too_much(2, limit)
    if size > SNAPPY_MOST * len(data):
        raise CompressionError(f"{len(data)} bytes of snappy cannot stand for {size} bytes")
    return memoryview(pa.Codec("snappy").decompress(data, decompressed_size=size))


def _read_lz4(data: memoryview, limit: int, magic: int) -> bytes:
    if magic < 2 and len(data) >= 7 and data[:4] == LZ4_MAGIC:
        end = 6 + (8 if data[4] & 8 else 0) + (4 if data[4] & 1 else 0)
        if end < len(data):
            right, wrong = (_xxh32(bytes(data[begin:end])) >> 8 & 255 for begin in (4, 0))
            if data[end] != right and (magic == 0 or data[end] == wrong):  # Kafka ignores it in format 0
                data = memoryview(b"".join((data[:end], bytes((right,)), data[end + 1 :])))
    return _stream("lz4", 3, data, limit)


def _read_zstd(data: memoryview, limit: int, magic: int) -> bytes:
    return _stream("zstd", 4, data, limit)


def _stream(name: str, codec: int, data: memoryview, limit: int) -> bytes:
    """Read step by step: neither format has to say how much there is."""
    stream = pa.CompressedInputStream(pa.BufferReader(data), name)
    size = min(max(_FIRST_READ, 4 * len(data)), limit + 1)
    part: bytes = stream.read(size)
    if len(part) > limit:
        raise _too_much(codec, limit)
    if len(part) < size:
        return part
    parts = [part]
    total = size
    while part:
        size = min(2 * size, limit + 1 - total)
        part = stream.read(size)
        total += len(part)
        if total > limit:
            raise _too_much(codec, limit)
        parts.append(part)
    return b"".join(parts)


# ---- writing ----------------------------------------------------------------------------------------------------


def _write_gzip(data: bytes, magic: int) -> bytes:
    return gzip_compress(data, 6, mtime=0)


def _write_snappy(data: bytes, magic: int) -> bytes:
    parts = [XERIAL_HEADER]
    codec = pa.Codec("snappy")
    for low in range(0, len(data), XERIAL_BLOCK):
        block = codec.compress(data[low : low + XERIAL_BLOCK], asbytes=True)
        parts += (_int32.pack(len(block)), block)
    return b"".join(parts)


def _write_lz4(data: bytes, magic: int) -> bytes:
    summed = LZ4_MAGIC + LZ4_DESCRIPTOR if magic == 0 else LZ4_DESCRIPTOR  # KAFKA-3160: format 0 has the wrong one
    parts = [LZ4_MAGIC, LZ4_DESCRIPTOR, bytes((_xxh32(summed) >> 8 & 255,))]
    codec = pa.Codec("lz4_raw")
    for low in range(0, len(data), LZ4_BLOCK):
        plain = data[low : low + LZ4_BLOCK]
        block = codec.compress(plain, asbytes=True)
        if len(block) < len(plain):
            parts += (_uint32_le.pack(len(block)), block)
        else:
            parts += (_uint32_le.pack(len(plain) | _LZ4_PLAIN_BLOCK), plain)
    parts.append(_uint32_le.pack(0))
    return b"".join(parts)


def _write_zstd(data: bytes, magic: int) -> bytes:
    result: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return result


def _xxh32(data: bytes) -> int:
    """xxHash32 of what an lz4 frame's header has: fewer than 16 bytes (of more, something else)."""
    prime1, prime2, prime3, prime4, prime5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    mask = 0xFFFFFFFF
    value = prime5 + len(data)
    whole = len(data) & ~3
    for pos in range(0, whole, 4):
        value = value + _uint32_le.unpack_from(data, pos)[0] * prime3 & mask
        value = (value << 17 | value >> 15) * prime4 & mask
    for byte in data[whole:]:
        value = value + byte * prime5 & mask
        value = (value << 11 | value >> 21) * prime1 & mask
    value = (value ^ value >> 15) * prime2 & mask
    value = (value ^ value >> 13) * prime3 & mask
    return value ^ value >> 16


def _write_none(data: bytes, magic: int) -> bytes:
    return data


_READERS: dict[int, Callable[[memoryview, int, int], bytes | memoryview]] = {
    1: _read_gzip,
    2: _read_snappy,
    3: _read_lz4,
    4: _read_zstd,
}
_WRITERS: tuple[Callable[[bytes, int], bytes], ...] = (_write_none, _write_gzip, _write_snappy, _write_lz4, _write_zstd)
