"""Codecs from optional packages: ``cramjam`` (snappy, lz4) and ``zstandard`` (zstd). The extra ``compression`` has both."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from .compression import Codecs, is_zstd_cut, too_much
from .errors import CompressionError, MissingCodecError

_ZSTD_PIECE = 256 * 1024


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
        try:
            return int(cramjam.lz4.decompress_block_into(block, output))
        except cramjam.DecompressionError as error:
            raise CompressionError(f"the lz4 data is damaged: {error}") from error

    def lz4_compress(self, data: bytes) -> bytes:
        return bytes(self._package("cramjam", "lz4").lz4.compress_block(data, store_size=False))

    def zstd_decompress(self, data: memoryview, limit: int) -> bytes | memoryview:
        is_zstd_cut(data)
        zstandard = self._package("zstandard", "zstd")
        reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
        parts = []
        left = limit
        try:
            while part := reader.read(_ZSTD_PIECE):
                parts.append(part)
                left -= len(part)
                if left < 0:
                    raise too_much(4, limit)
        except zstandard.ZstdError as error:
            raise CompressionError(f"the zstd data is damaged: {error}") from error
        return b"".join(parts)

    def zstd_compress(self, data: bytes) -> bytes:
        result: bytes = self._package("zstandard", "zstd").ZstdCompressor().compress(data)
        return result
