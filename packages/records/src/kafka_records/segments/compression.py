"""Kafka's compression codecs on top of pyarrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..compression import Codecs, too_much
from ..errors import CompressionError
from ..format import CODECS
from .frames import PADDING, Bytes

_FIRST_READ = 64 * 1024
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# Maximum size of a frame header.
_ZSTD_HEADER = 18


class _Arrow:
    def snappy_decompress(self, data: memoryview, size: int) -> memoryview:
        try:
            return memoryview(pa.Codec("snappy").decompress(data, decompressed_size=size))
        except (pa.ArrowException, OSError) as error:
            raise CompressionError(f"the snappy data is damaged: {error}") from error

    def snappy_compress(self, data: bytes) -> bytes:
        return _compressed("snappy", data)

    def lz4_decompress(self, data: memoryview, limit: int) -> memoryview:
        return _stream(3, data, limit)

    def lz4_compress(self, data: bytes) -> bytes:
        return _compressed("lz4_raw", data)

    def zstd_decompress(self, data: memoryview, limit: int) -> memoryview:
        return _stream(4, data, limit)

    def zstd_compress(self, data: bytes) -> bytes:
        return _compressed("zstd", data)


def _compressed(name: str, data: bytes) -> bytes:
    result: bytes = pa.Codec(name).compress(data, asbytes=True)
    return result


def _stream(codec: int, data: memoryview, limit: int) -> memoryview:
    output = DecompressedData()
    output.decompress(codec, data, limit)
    return output.data.data[: output.size]


CODECS_OF_ARROW = Codecs(_Arrow())
compress, decompress = CODECS_OF_ARROW.compress, CODECS_OF_ARROW.decompress


def _zstd_frame(data: memoryview, limit: int) -> memoryview | None:
    """Decompress a frame whose header has the size (RFC 8878, 3.1.1); None without one, for damaged data or more frames."""
    if len(data) < _ZSTD_HEADER or data[:4] != ZSTD_MAGIC:
        return None
    flags = data[4]
    is_single = flags >> 5 & 1
    start = 6 - is_single + (0, 1, 2, 4)[flags & 3]
    width = (is_single, 2, 4, 8)[flags >> 6]
    size = int.from_bytes(data[start : start + width], "little") + (256 if width == 2 else 0)
    if not 0 < size <= limit:
        return None
    try:
        return memoryview(pa.Codec("zstd").decompress(data, decompressed_size=size))
    except (pa.ArrowException, OSError):
        return None


class DecompressedData:
    """Memory for the decompressed data of several batches: ``size`` bytes, and at least ``PADDING`` arbitrary ones."""

    def __init__(self) -> None:
        self.data: Bytes = np.empty(PADDING, np.uint8)
        self.size = 0

    def decompress(self, codec: int, data: memoryview, limit: int) -> None:
        """Append a decompressed batch. Raises CompressionError, as ``Codecs.decompress``, and then appends nothing."""
        start = self.size
        try:
            if codec == 4 and (frame := _zstd_frame(data, limit)) is not None:
                self.append(frame)
            elif codec in (3, 4):
                self._read(codec, data, limit)
            else:
                for part in CODECS_OF_ARROW.parts(codec, data, limit):
                    self.append(part)
        except CompressionError:
            self.size = start
            raise

    def append(self, part: bytes | memoryview) -> None:
        if len(part):
            self._reserve(len(part))
            self.data[self.size : self.size + len(part)] = np.frombuffer(part, np.uint8)  # copies without the GIL
            self.size += len(part)

    def _read(self, codec: int, data: memoryview, limit: int) -> None:
        stop = self.size + limit + 1
        try:
            stream = pa.CompressedInputStream(pa.BufferReader(data), CODECS[codec])
            self._reserve(min(max(_FIRST_READ, 4 * len(data)), limit + 1))
            while True:
                end = min(len(self.data) - PADDING, stop)
                count = stream.readinto(self.data.data[self.size : end])
                self.size += count
                if self.size == stop:
                    raise too_much(codec, limit)
                if self.size < end:
                    return
                self._reserve(min(_FIRST_READ, stop - end))
        except (pa.ArrowException, OSError) as error:
            raise CompressionError(f"the {CODECS[codec]} data is damaged: {error}") from error

    def _reserve(self, size: int) -> None:
        if len(self.data) < self.size + size + PADDING:
            larger = np.empty(max(2 * len(self.data), self.size + size + PADDING), np.uint8)
            larger[: self.size] = self.data[: self.size]
            self.data = larger
