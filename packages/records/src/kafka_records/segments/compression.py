"""Kafka's compression codecs on top of pyarrow."""

from __future__ import annotations

import pyarrow as pa

from ..compression import Codecs, too_much
from ..errors import CompressionError
from ..format import CODECS

_FIRST_READ = 64 * 1024


class _Arrow:

    def snappy_decompress(self, data: memoryview, size: int) -> memoryview:
        try:
            return memoryview(pa.Codec("snappy").decompress(data, decompressed_size=size))
        except (pa.ArrowException, OSError) as error:
            raise CompressionError(f"the snappy data is damaged: {error}") from error

    def snappy_compress(self, data: bytes) -> bytes:
        return _compressed("snappy", data)

    def lz4_decompress(self, data: memoryview, limit: int) -> bytes:
        return _stream(3, data, limit)

    def lz4_compress(self, data: bytes) -> bytes:
        return _compressed("lz4_raw", data)

    def zstd_decompress(self, data: memoryview, limit: int) -> bytes:
        return _stream(4, data, limit)

    def zstd_compress(self, data: bytes) -> bytes:
        return _compressed("zstd", data)


def _compressed(name: str, data: bytes) -> bytes:
    result: bytes = pa.Codec(name).compress(data, asbytes=True)
    return result


def _stream(codec: int, data: memoryview, limit: int) -> bytes:
    try:
        stream = pa.CompressedInputStream(pa.BufferReader(data), CODECS[codec])
        size = min(max(_FIRST_READ, 4 * len(data)), limit + 1)
        part: bytes = stream.read(size)
        if len(part) > limit:
            raise too_much(codec, limit)
        if len(part) < size:
            return part
        parts = [part]
        total = size
        while part:
            size = min(2 * size, limit + 1 - total)
            part = stream.read(size)
            total += len(part)
            if total > limit:
                raise too_much(codec, limit)
            parts.append(part)
        return b"".join(parts)
    except (pa.ArrowException, OSError) as error:
        raise CompressionError(f"the {CODECS[codec]} data is damaged: {error}") from error


CODECS_OF_ARROW = Codecs(_Arrow())
compress, decompress = CODECS_OF_ARROW.compress, CODECS_OF_ARROW.decompress
