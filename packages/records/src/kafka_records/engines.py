"""Codecs from optional packages: ``cramjam`` (snappy, lz4) and ``zstandard`` (zstd). The extras have both.

Since Python 3.14, zstd comes from the standard library.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

from .compression import Codecs, is_zstd_cut, too_much
from .errors import CompressionError, MissingCodecError

_ZSTD_PIECE = 256 * 1024
_STANDARD_ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else None
# First chunk size for further zstd frames, in bytes.
_ZSTD_FIRST = 512


@cache
def codecs() -> Codecs:
    return Codecs(Installed())


def compress(codec: int, data: bytes, magic: int) -> bytes:
    return codecs().compress(codec, data, magic)


class Installed:
    """Engine that imports each codec package on first use. Raises MissingCodecError."""

    def __init__(self, find: Callable[[str], ModuleType] = import_module) -> None:
        self._find = find

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
        if _STANDARD_ZSTD is not None:
            with suppress(ImportError):  # Python can be built without it
                return self._find(_STANDARD_ZSTD)
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
