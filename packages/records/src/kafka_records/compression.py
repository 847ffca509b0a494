"""Kafka's compression codecs, with a limit on the decompressed size.

What is read, and where the data ends, follows the input streams of Kafka 4.4 on Java 17, such as ``GZIPInputStream`` and
``Lz4BlockInputStream``. gzip comes from the standard library, the rest from ``engines``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from functools import cache
from gzip import compress as gzip_compress
from struct import Struct

from .engines import Installed, too_much
from .errors import CompressionError

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
_gzip_trailer = Struct("<II")
_stripe = Struct("<4I")


@cache
def codecs() -> Codecs:
    return Codecs(Installed())


class Codecs:
    def __init__(self, engine: Installed) -> None:
        self._engine = engine

    def decompress(self, codec: int, data: memoryview, limit: int, magic: int = 2) -> bytes | memoryview:
        """Decompress ``data`` of a batch in format ``magic``; ``codec`` is not 0.

        Raises CompressionError for damaged data or an output above ``limit`` bytes, and the errors of the engine.
        """
        parts = self.parts(codec, data, limit, magic)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def parts(self, codec: int, data: memoryview, limit: int, magic: int = 2) -> list[bytes | memoryview]:
        """Return the output of ``decompress`` in parts, such as the blocks of snappy."""
        if codec == 1:
            return _read_gzip(data, limit)
        if codec == 2:
            return self._read_snappy(data, limit)
        if codec == 4:
            return [self._engine.zstd_decompress(data, limit)]
        room = cache(lambda size: memoryview(bytearray(size)))
        return [bytes(part) for part in self.lz4(data, limit, magic, room)]

    def lz4(self, data: memoryview, limit: int, magic: int, room: Callable[[int], memoryview]) -> Iterator[memoryview]:
        """Decompress the blocks of an lz4 frame, each into the memory that ``room(size)`` returns, and yield them."""
        left = limit
        for block, most, is_plain in _lz4_blocks(data, magic):
            output = room(most)
            if is_plain:
                output[: len(block)] = block
            size = len(block) if is_plain else self._engine.lz4_decompress(block, output)
            if size == 0:
                return  # Kafka's stream ends at an empty block
            left -= size
            if left < 0:
                raise too_much(3, limit)
            yield output[:size]

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
        if len(data) < len(XERIAL_HEADER) or data[: len(XERIAL_MAGIC)] != XERIAL_MAGIC:
            return [self._snappy_block(data, limit, limit)]
        parts = []
        left = limit
        pos = len(XERIAL_HEADER)
        while len(data) - pos >= _int32.size:
            size = _int32.unpack_from(data, pos)[0]
            if data[pos : pos + 4] == XERIAL_MAGIC[:4]:  # concatenated streams repeat the header
                header = bytes(data[pos : pos + len(XERIAL_HEADER)])
                version = int.from_bytes(header[8:12], signed=True)
                if len(header) < len(XERIAL_HEADER) or (version < 1 and header.startswith(XERIAL_MAGIC)):
                    raise CompressionError(f"truncated snappy header, or a version below 1, at byte {pos}")
                pos += len(header)
                continue
            pos += _int32.size
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
        summed = LZ4_MAGIC + LZ4_DESCRIPTOR if magic == 0 else LZ4_DESCRIPTOR  # KAFKA-3160: wrong in format 0
        parts = [LZ4_MAGIC, LZ4_DESCRIPTOR, bytes((xxh32()(summed) >> 8 & 255,))]
        for low in range(0, len(data), LZ4_BLOCK):
            plain = data[low : low + LZ4_BLOCK]
            block = self._engine.lz4_compress(plain)
            if len(block) < len(plain):
                parts += (_uint32_le.pack(len(block)), block)
            else:
                parts += (_uint32_le.pack(len(plain) | _LZ4_PLAIN_BLOCK), plain)
        parts.append(_uint32_le.pack(0))
        return b"".join(parts)


def _read_gzip(data: memoryview, limit: int) -> list[bytes | memoryview]:
    parts: list[bytes | memoryview] = []
    left = limit
    pos = _after_gzip_header(data, 0)
    piece = len(data)  # usually there is only one member
    while True:
        part, pos = _inflate(data, pos, left, piece, limit)
        parts.append(part)
        left -= len(part)
        if len(data) - pos < _gzip_trailer.size:
            raise CompressionError("the gzip data is truncated")
        if _gzip_trailer.unpack_from(data, pos) != (zlib.crc32(part), len(part) & _32_BITS):
            raise CompressionError(f"the gzip data is damaged: checksum or size mismatch at byte {pos}")
        pos += _gzip_trailer.size
        if len(data) - pos <= 18:  # too few bytes for Java to look for another member
            return parts
        try:
            pos = _after_gzip_header(data, pos)
        except CompressionError:
            return parts  # Java ignores bytes that are not a member
        piece = _GZIP_PIECE


def _after_gzip_header(data: memoryview, start: int) -> int:
    """Return the position after the header of a gzip member (RFC 1952, 2.3)."""
    if len(data) - start < 10 or bytes(data[start : start + 3]) != b"\x1f\x8b\x08":
        raise CompressionError(f"the gzip data is damaged: no header at byte {start}")
    flags, end = data[start + 3], start + 10
    if not flags:
        return end
    if flags & 4:
        end += 2 + int.from_bytes(data[end : end + 2], "little")  # extra field
    for text in (flags & 8, flags & 16):  # name and comment, each with a zero byte at the end
        while text and end <= len(data):
            piece = bytes(data[end : end + _GZIP_PIECE])
            text = 0 not in piece
            end += len(piece) + 1 if text else piece.index(0) + 1
    if flags & 2 and int.from_bytes(data[end : end + 2], "little") != zlib.crc32(data[start:end]) & 0xFFFF:
        raise CompressionError(f"the gzip data is damaged: header checksum mismatch at byte {end}")
    end += flags & 2  # the size of this checksum
    if end > len(data):
        raise CompressionError("the gzip header is truncated")
    return end


def _inflate(data: memoryview, pos: int, left: int, piece: int, limit: int) -> tuple[bytes, int]:
    """Decompress deflate data (RFC 1951) and return it with the position after it.

    Input chunks start at ``piece`` bytes and double, because zlib copies the rest of the chunk in which the data ends.
    """
    stream = zlib.decompressobj(-15)  # without header and trailer
    parts = []
    size = 0
    while not stream.eof:
        if pos >= len(data):
            raise CompressionError("the gzip data is truncated")
        try:
            parts.append(stream.decompress(data[pos : pos + piece], left - size + 1))
        except zlib.error as error:
            raise CompressionError(f"the gzip data is damaged: {error}") from error
        size += len(parts[-1])
        if size > left:
            raise too_much(1, limit)
        pos = min(pos + piece, len(data))
        piece *= 2
    return parts[0] if len(parts) == 1 else b"".join(parts), pos - len(stream.unused_data)


def _lz4_blocks(data: memoryview, magic: int) -> Iterator[tuple[memoryview, int, bool]]:
    """Yield the blocks of the first lz4 frame: data, maximum decompressed size, and whether the block is uncompressed.

    The checksums of header and blocks are verified, that of the content is not. Bytes after the frame are ignored.
    """
    flags, most, pos = _lz4_header(data, magic)
    sum_size = 4 if flags & _LZ4_BLOCK_SUMS else 0
    while pos + 4 <= len(data):
        size = _uint32_le.unpack_from(data, pos)[0]
        pos += 4
        is_plain = size >= _LZ4_PLAIN_BLOCK
        size &= _LZ4_PLAIN_BLOCK - 1
        if size == 0:
            pos += flags & _LZ4_CONTENT_SUM  # the size of this checksum
            if pos <= len(data):
                return
            break
        possible = min(most, len(data) - pos - sum_size)
        if size > possible:
            raise CompressionError(f"lz4 block of {size} bytes at byte {pos}, at most {max(possible, 0)} possible")
        block = data[pos : pos + size]
        pos += size + sum_size
        if sum_size and _uint32_le.unpack_from(data, pos - 4)[0] != xxh32()(block):
            raise CompressionError(f"lz4 block checksum mismatch at byte {pos - 4}")
        yield block, most, is_plain
    raise CompressionError(f"the lz4 data is truncated: its {len(data)} bytes have no end mark")


def _lz4_header(data: memoryview, magic: int) -> tuple[int, int, int]:
    if data[:4] != LZ4_MAGIC:
        raise CompressionError("the lz4 data does not start with a frame")
    flags, sizes = data[4:6].tolist() if len(data) > 6 else (0, 0)
    end = 14 if flags & _LZ4_CONTENT_SIZE else 6
    if len(data) <= end:
        raise CompressionError("the lz4 header is truncated")
    if flags >> 6 != 1 or flags & 0b11 or not flags & _LZ4_INDEPENDENT:
        raise CompressionError(f"lz4 flags {flags:#04x} are not supported; only version 1 with independent blocks")
    if sizes & 0x8F or sizes >> 4 < 4:
        raise CompressionError(f"unknown lz4 block size {sizes:#04x}")
    if magic and data[end] != xxh32()(data[4:end]) >> 8 & 255:  # KAFKA-3160: Kafka ignores it in format 0
        raise CompressionError("lz4 header checksum mismatch")
    return flags, 1 << 8 + 2 * (sizes >> 4), end + 1


_PRIMES = 2654435761, 2246822519, 3266489917, 668265263, 374761393
_32_BITS = 0xFFFFFFFF


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 32 - by) & _32_BITS


@cache
def xxh32() -> Callable[[bytes | memoryview], int]:
    from . import _native  # loads the extension

    return getattr(_native.core, "xxh32", None) or plain_xxh32


def plain_xxh32(data: bytes | memoryview) -> int:
    """Return the xxHash32 checksum with seed 0 (https://github.com/Cyan4973/xxHash)."""
    one, two, three, four, five = _PRIMES
    striped = len(data) & ~15
    value = five
    if striped:
        lanes = [one + two & _32_BITS, two, 0, -one & _32_BITS]
        for words in _stripe.iter_unpack(data[:striped]):
            lanes = [
                _rotated(lane + word * two & _32_BITS, 13) * one & _32_BITS
                for lane, word in zip(lanes, words, strict=True)
            ]
        value = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True))
    value += len(data)
    whole = len(data) & ~3
    for (word,) in _uint32_le.iter_unpack(data[striped:whole]):
        value = _rotated(value + word * three & _32_BITS, 17) * four & _32_BITS
    for byte in data[whole:]:
        value = _rotated(value + byte * five & _32_BITS, 11) * one & _32_BITS
    value &= _32_BITS
    value = (value ^ value >> 15) * two & _32_BITS
    value = (value ^ value >> 13) * three & _32_BITS
    return value ^ value >> 16
