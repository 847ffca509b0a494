"""Kafka's compression codecs, with a limit on the decompressed size.

gzip comes from the standard library; an ``Engine`` provides snappy, lz4 and zstd. In formats 0 and 1, the header
checksum of lz4 frames may be incorrect (KAFKA-3160).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from gzip import compress as gzip_compress
from struct import Struct
from struct import error as StructError
from typing import Protocol

from .errors import CompressionError
from .format import CODECS

XERIAL_MAGIC = b"\x82SNAPPY\x00"
# Header of a framed stream. Blocks follow, each with its length (int32, big-endian) and raw snappy data.
XERIAL_HEADER = XERIAL_MAGIC + b"\0\0\0\x01\0\0\0\x01"
XERIAL_BLOCK = 32 * 1024
LZ4_MAGIC = b"\x04\x22\x4d\x18"
LZ4_BLOCK = 64 * 1024
# Frame version 1, independent blocks of at most 64 KiB, no checksums, no content size.
LZ4_DESCRIPTOR = b"\x60\x40"
_LZ4_PLAIN_BLOCK = 1 << 31
_LZ4_INDEPENDENT, _LZ4_BLOCK_SUMS, _LZ4_CONTENT_SIZE, _LZ4_CONTENT_SUM = 1 << 5, 1 << 4, 1 << 3, 1 << 2

# Upper bound of snappy's compression ratio (64 / 3); larger announced sizes are rejected before allocation.
SNAPPY_MOST = 22
# First chunk size for further gzip members, in bytes.
_GZIP_PIECE = 512

_int32 = Struct(">i")
_uint32_le = Struct("<I")
_stripe = Struct("<4I")


class Engine(Protocol):
    """Backend for snappy, lz4 and zstd. Raises CompressionError for damaged data or an output above ``limit`` bytes."""

    def snappy_decompress(self, data: memoryview, size: int) -> bytes | memoryview: ...

    def snappy_compress(self, data: bytes) -> bytes: ...

    def lz4_decompress(self, data: memoryview, limit: int) -> bytes | memoryview: ...

    def lz4_compress(self, data: bytes) -> bytes:
        """Compress to one lz4 block without a frame."""
        ...

    def zstd_decompress(self, data: memoryview, limit: int) -> bytes | memoryview: ...

    def zstd_compress(self, data: bytes) -> bytes: ...


class Codecs:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def decompress(self, codec: int, data: memoryview, limit: int, magic: int = 2) -> bytes | memoryview:
        """Decompress ``data`` of a batch in format ``magic``; ``codec`` is not 0.

        Raises CompressionError for damaged data or an output above ``limit`` bytes, and the errors of the engine.
        """
        parts = self.parts(codec, data, limit, magic)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def parts(self, codec: int, data: memoryview, limit: int, magic: int = 2) -> list[bytes | memoryview]:
        """Return the output of ``decompress`` in parts, such as the blocks of snappy."""
        try:
            if codec == 1:
                return _read_gzip(data, limit)
            if codec == 2:
                return self._read_snappy(data, limit)
            if codec == 3:
                return [self._engine.lz4_decompress(_with_right_sum(data, magic), limit)]
            return [self._engine.zstd_decompress(data, limit)]
        except (zlib.error, IndexError, StructError) as error:
            raise CompressionError(f"the {CODECS[codec]} data is damaged: {error}") from error

    def compress(self, codec: int, data: bytes, magic: int = 2) -> bytes:
        """Compress ``data`` for a batch in format ``magic``. The output is deterministic."""
        if codec == 0:
            return data
        if codec == 1:
            return gzip_compress(data, 6, mtime=0)
        if codec == 2:
            return self._write_snappy(data)
        return self._write_lz4(data, magic) if codec == 3 else self._engine.zstd_compress(data)

    def _read_snappy(self, data: memoryview, limit: int) -> list[bytes | memoryview]:
        if data[: len(XERIAL_MAGIC)] != XERIAL_MAGIC:
            return [self._snappy_block(data, limit, limit)]
        parts = []
        left = limit
        pos = 0
        while pos < len(data):
            if data[pos : pos + len(XERIAL_MAGIC)] == XERIAL_MAGIC:
                pos += len(XERIAL_HEADER)  # concatenated streams repeat the header
                continue
            size = _int32.unpack_from(data, pos)[0]
            pos += 4
            if size < 0 or size > len(data) - pos:
                raise CompressionError(f"snappy block of {size} bytes, only {len(data) - pos} bytes left")
            part = self._snappy_block(data[pos : pos + size], left, limit)
            if len(part):
                parts.append(part)
            left -= len(part)
            pos += size
        return parts

    def _snappy_block(self, data: memoryview, left: int, limit: int) -> bytes | memoryview:
        size = shift = pos = 0
        while True:
            if pos == len(data):
                raise CompressionError("truncated snappy length")
            byte = data[pos]
            size |= (byte & 127) << shift
            pos, shift = pos + 1, shift + 7
            if byte < 128:
                break
            if shift > 28:
                raise CompressionError("the snappy length is a varint of more than 5 bytes")
        if size > left:
            raise too_much(2, limit)
        if size > SNAPPY_MOST * len(data):
            raise CompressionError(f"{len(data)} bytes of snappy data cannot decompress to {size} bytes")
        return self._engine.snappy_decompress(data, size)

    def _write_snappy(self, data: bytes) -> bytes:
        parts = [XERIAL_HEADER]
        for low in range(0, len(data), XERIAL_BLOCK):
            block = self._engine.snappy_compress(data[low : low + XERIAL_BLOCK])
            parts += (_int32.pack(len(block)), block)
        return b"".join(parts)

    def _write_lz4(self, data: bytes, magic: int) -> bytes:
        summed = (
            LZ4_MAGIC + LZ4_DESCRIPTOR if magic == 0 else LZ4_DESCRIPTOR
        )  # KAFKA-3160: format 0 has an incorrect checksum
        parts = [LZ4_MAGIC, LZ4_DESCRIPTOR, bytes((_xxh32(summed) >> 8 & 255,))]
        for low in range(0, len(data), LZ4_BLOCK):
            plain = data[low : low + LZ4_BLOCK]
            block = self._engine.lz4_compress(plain)
            if len(block) < len(plain):
                parts += (_uint32_le.pack(len(block)), block)
            else:
                parts += (_uint32_le.pack(len(plain) | _LZ4_PLAIN_BLOCK), plain)
        parts.append(_uint32_le.pack(0))
        return b"".join(parts)


def too_much(codec: int, limit: int) -> CompressionError:
    return CompressionError(f"the {CODECS[codec]} data decompresses to more than {limit} bytes (max_batch_bytes)")


def _read_gzip(data: memoryview, limit: int) -> list[bytes | memoryview]:
    parts: list[bytes | memoryview] = []
    left = limit
    piece = len(data)  # usually there is only one member
    while True:
        part, data = _gzip_member(data, left, piece, limit)
        if part:
            parts.append(part)
        left -= len(part)
        if not data:
            return parts
        piece = _GZIP_PIECE


def _gzip_member(data: memoryview, left: int, piece: int, limit: int) -> tuple[bytes, memoryview]:
    """Decompress the first gzip member and return it with the remaining data.

    Input chunks start at ``piece`` bytes and double, because zlib copies the rest of the chunk in which the member ends.
    """
    member = zlib.decompressobj(31)
    parts = []
    size = pos = 0
    while not member.eof:
        if pos >= len(data):
            raise CompressionError("the gzip data is truncated")
        parts.append(member.decompress(data[pos : pos + piece], left - size + 1))
        size += len(parts[-1])
        if size > left:
            raise too_much(1, limit)
        pos = min(pos + piece, len(data))
        piece *= 2
    return parts[0] if len(parts) == 1 else b"".join(parts), data[pos - len(member.unused_data) :]


def _with_right_sum(data: memoryview, magic: int) -> memoryview:
    if magic < 2 and len(data) >= 7 and data[:4] == LZ4_MAGIC:
        end = 6 + (8 if data[4] & 8 else 0) + (4 if data[4] & 1 else 0)
        if end < len(data):
            right, wrong = (_xxh32(bytes(data[begin:end])) >> 8 & 255 for begin in (4, 0))
            if data[end] != right and (magic == 0 or data[end] == wrong):  # Kafka ignores this checksum in format 0
                return memoryview(b"".join((data[:end], bytes((right,)), data[end + 1 :])))
    return data


def lz4_blocks(data: memoryview) -> Iterator[tuple[memoryview, int, bool]]:
    """Yield the blocks of lz4 frames: data, maximum decompressed size, and whether the block is uncompressed.

    Raises CompressionError; IndexError and StructError for truncated frames.
    """
    pos = 0
    while pos < len(data):
        flags, most, pos = _lz4_header(data, pos)
        while size := _uint32_le.unpack_from(data, pos)[0]:
            pos += 4
            is_plain = size >= _LZ4_PLAIN_BLOCK
            size &= _LZ4_PLAIN_BLOCK - 1
            if size > min(most, len(data) - pos):
                raise CompressionError(f"lz4 block of {size} bytes, at most {min(most, len(data) - pos)} possible")
            block = data[pos : pos + size]
            pos += size
            if flags & _LZ4_BLOCK_SUMS:
                if _uint32_le.unpack_from(data, pos)[0] != _xxh32(bytes(block)):
                    raise CompressionError("lz4 block checksum mismatch")
                pos += 4
            yield block, most, is_plain
        pos += 8 if flags & _LZ4_CONTENT_SUM else 4
    if pos > len(data):
        raise CompressionError("truncated lz4 content checksum")


def _lz4_header(data: memoryview, pos: int) -> tuple[int, int, int]:
    if data[pos : pos + 4] != LZ4_MAGIC:
        raise CompressionError(f"no lz4 frame at byte {pos}")
    flags, sizes = data[pos + 4], data[pos + 5]
    if flags >> 6 != 1 or flags & 0b11 or not flags & _LZ4_INDEPENDENT:
        raise CompressionError(
            f"lz4 flags {flags:#04x} are not supported; Kafka uses version 1 with independent blocks"
        )
    if sizes & 0x8F or sizes >> 4 < 4:
        raise CompressionError(f"unknown lz4 block size {sizes:#04x}")
    end = pos + (14 if flags & _LZ4_CONTENT_SIZE else 6)
    if data[end] != _xxh32(bytes(data[pos + 4 : end])) >> 8 & 255:
        raise CompressionError("lz4 header checksum mismatch")
    return flags, 1 << 8 + 2 * (sizes >> 4), end + 1


_PRIMES = 2654435761, 2246822519, 3266489917, 668265263, 374761393
_32_BITS = 0xFFFFFFFF


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & _32_BITS


def _xxh32(data: bytes) -> int:
    """Return the xxHash32 checksum (https://github.com/Cyan4973/xxHash)."""
    one, two, three, four, five = _PRIMES
    striped = len(data) & ~15
    if striped:
        lanes = [one + two & _32_BITS, two, 0, -one & _32_BITS]
        for words in _stripe.iter_unpack(data[:striped]):
            lanes = [
                _rotated(lane + word * two & _32_BITS, 13) * one & _32_BITS
                for lane, word in zip(lanes, words, strict=True)
            ]
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) + len(data)
    else:
        value = five + len(data)
    whole = len(data) & ~3
    for pos in range(striped, whole, 4):
        value = _rotated(value + _uint32_le.unpack_from(data, pos)[0] * three & _32_BITS, 17) * four & _32_BITS
    for byte in data[whole:]:
        value = _rotated(value + byte * five & _32_BITS, 11) * one & _32_BITS
    value &= _32_BITS
    value = (value ^ value >> 15) * two & _32_BITS
    value = (value ^ value >> 13) * three & _32_BITS
    return value ^ value >> 16
