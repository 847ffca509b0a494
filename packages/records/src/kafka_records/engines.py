"""Codecs from optional packages: ``cramjam`` (snappy, lz4) and ``zstandard`` (zstd). The extras have both.

Since Python 3.14, zstd comes from the standard library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from .errors import CompressionError, MissingCodecError
from .format import CODECS

_ZSTD_PIECE = 256 * 1024
_STANDARD_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else None
# First chunk size for further zstd frames, in bytes.
_ZSTD_FIRST = 512
ZSTD_MAGIC, _ZSTD_SKIPPABLE = b"\x28\xb5\x2f\xfd", b"\x2a\x4d\x18"
# Bytes that zstd-jni reads at once (ZSTD_DStreamInSize).
_ZSTD_BUFFER = (128 << 10) + 3


class Installed:
    """Engine that imports each codec package on first use. Raises MissingCodecError.

    ``standard_zstd`` is the module of the standard library that has zstd, or None.
    """

    def __init__(
        self, find: Callable[[str], ModuleType] = import_module, standard_zstd: str | None = _STANDARD_ZSTD
    ) -> None:
        self._find = find
        self._standard_zstd = standard_zstd

    def _package(self, name: str, codec: str) -> Any:
        try:
            return self._find(name)
        except ImportError as error:
            text = f"{codec} needs the package {name}, which is not installed: pip install {name}"
            raise MissingCodecError(text) from error

    def snappy_decompress(self, data: memoryview, size: int) -> bytes:
        cramjam = self._package("cramjam", "snappy")
        try:
            return bytes(cramjam.snappy.decompress_raw(data))
        except cramjam.DecompressionError as error:
            raise CompressionError(f"the snappy data is damaged: {error}") from error

    def snappy_compress(self, data: bytes) -> bytes:
        return bytes(self._package("cramjam", "snappy").snappy.compress_raw(data))

    def lz4_decompress(self, block: memoryview, output: memoryview) -> int:
        cramjam = self._package("cramjam", "lz4")
        # cramjam takes the first four bytes as the size if it can, and else as part of the block. The size of `output`,
        # 64 KiB to 4 MiB, cannot be part of it: it would be a match of 4 bytes before the start of the output.
        sized = len(output).to_bytes(4, "little") + block
        try:
            return int(cramjam.lz4.decompress_block_into(sized, output))
        except cramjam.DecompressionError as error:
            raise CompressionError(f"the lz4 data is damaged: {error}") from error

    def lz4_compress(self, data: bytes) -> bytes:
        return bytes(self._package("cramjam", "lz4").lz4.compress_block(data, store_size=False))

    def zstd_decompress(self, data: memoryview, limit: int) -> bytes | memoryview:
        is_zstd_cut(data)
        zstd = self._zstd()
        decompressor = zstd.ZstdDecompressor()
        if hasattr(decompressor, "stream_reader"):
            stream = decompressor.stream_reader(data, read_across_frames=True)
            pieces = iter(partial(stream.read, _ZSTD_PIECE), b"")
        else:
            pieces = _zstd_pieces(zstd, data)
        parts = []
        left = limit
        try:
            for part in pieces:
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise too_much(4, limit)
        except zstd.ZstdError as error:
            raise CompressionError(f"the zstd data is damaged: {str(error).rpartition(': ')[2]}") from error
        return b"".join(parts)

    def zstd_compress(self, data: bytes) -> bytes:
        zstd = self._zstd()
        result: bytes = zstd.ZstdCompressor().compress(data) if zstd.__name__ == "zstandard" else zstd.compress(data)
        return result

    def _zstd(self) -> Any:
        if self._standard_zstd is not None:
            with suppress(ImportError):  # Python can be built without it
                return self._find(self._standard_zstd)
        return self._package("zstandard", "zstd")


def _zstd_pieces(zstd: Any, data: memoryview) -> Iterator[bytes]:
    """Decompress frames with the standard library; truncated data ends without an error, as in ``zstandard``.

    Input chunks of further frames start small and double, because the rest of a chunk behind a frame is copied.
    """
    pos = 0
    size = len(data)  # usually there is only one frame
    while pos < len(data):
        frame = zstd.ZstdDecompressor()
        while not frame.eof and (pos < len(data) or not frame.needs_input):
            chunk = data[pos : pos + size] if frame.needs_input else b""
            yield frame.decompress(chunk, _ZSTD_PIECE)
            pos += len(chunk)
            size *= 2
        pos -= len(frame.unused_data)
        size = _ZSTD_FIRST


def zstd_header(data: memoryview, pos: int) -> tuple[int, int]:
    """Return the position after the header of a zstd frame (RFC 8878, 3.1.1.1), and the size of the content or 0."""
    flags = data[pos + 4]
    is_single = flags >> 5 & 1
    start = pos + 6 - is_single + (0, 1, 2, 4)[flags & 3]
    width = (is_single, 2, 4, 8)[flags >> 6]
    return start + width, int.from_bytes(data[start : start + width], "little") + (256 if width == 2 else 0)


def is_zstd_cut(data: memoryview) -> bool:
    """Return True if the last of several zstd frames (RFC 8878, 3.1) is truncated, but Kafka does not see it.

    Raises CompressionError for truncated frames that Kafka sees: no frame ends in the last part that zstd-jni reads.
    """
    start = pos = 0  # `start`: of the last frame
    try:
        while pos < len(data):
            start = pos
            flags = data[pos + 4]
            if data[pos] & 0xF0 == 0x50 and data[pos + 1 : pos + 4] == _ZSTD_SKIPPABLE:
                pos += 8 + int.from_bytes(data[pos + 4 : pos + 8], "little")
                continue
            if data[pos : pos + 4] != ZSTD_MAGIC:
                return False  # the engine refuses it
            pos, _ = zstd_header(data, pos)
            is_last = 0
            while not is_last:
                block = data[pos] | data[pos + 1] << 8 | data[pos + 2] << 16
                pos += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)  # a run is one byte
                is_last = block & 1
            pos += flags & 4  # this bit announces a checksum of 4 bytes
    except IndexError:
        pos = len(data) + 1
    is_cut = pos > len(data)
    if is_cut and (start - 1) // _ZSTD_BUFFER != (len(data) - 1) // _ZSTD_BUFFER:
        raise CompressionError("the zstd data is truncated")
    return is_cut


def too_much(codec: int, limit: int) -> CompressionError:
    return CompressionError(f"the {CODECS[codec]} data decompresses to more than {limit} bytes (max_batch_bytes)")
