"""Kafka's compression codecs for columns: zstd comes from pyarrow."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from ..compression import Codecs
from ..engines import ZSTD_MAGIC, Installed, is_zstd_cut, too_much, zstd_header
from ..errors import CompressionError
from .frames import PADDING, Bytes

_FIRST_READ = 64 * 1024
_ZSTD_HEADER = 18  # maximum size of a frame header


class _Arrow(Installed):
    def zstd_decompress(self, data: memoryview, limit: int) -> memoryview:
        output = DecompressedData()
        output.decompress(4, data, limit)
        return output.data.data[: output.size]

    def zstd_compress(self, data: bytes) -> bytes:
        result: bytes = pa.Codec("zstd").compress(data, asbytes=True)
        return result


CODECS_OF_ARROW = Codecs(_Arrow())
compress, decompress = CODECS_OF_ARROW.compress, CODECS_OF_ARROW.decompress


def _zstd_frame(data: memoryview, limit: int) -> memoryview | None:
    """Decompress a frame whose header has the size; None without one, for damaged data or more frames."""
    if len(data) < _ZSTD_HEADER or data[:4] != ZSTD_MAGIC or not 0 < (size := zstd_header(data, 0)[1]) <= limit:
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
            elif codec == 4 and is_zstd_cut(data):  # which pyarrow refuses
                self.append(Installed().zstd_decompress(data, limit))
            elif codec == 4:
                self._read_zstd(data, limit)
            elif codec == 3:
                self._reserve(min(4 * len(data), limit))  # grows once, not by each block
                for block in CODECS_OF_ARROW.lz4(data, limit, 2, self._room):
                    self.size += len(block)
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

    def _room(self, size: int) -> memoryview:
        self._reserve(size)
        return self.data.data[self.size : self.size + size]

    def _read_zstd(self, data: memoryview, limit: int) -> None:
        stop = self.size + limit + 1
        try:
            stream = pa.CompressedInputStream(pa.BufferReader(data), "zstd")
            self._reserve(min(max(_FIRST_READ, 4 * len(data)), limit + 1))
            while True:
                end = min(len(self.data) - PADDING, stop)
                count = stream.readinto(self.data.data[self.size : end])
                self.size += count
                if self.size == stop:
                    raise too_much(4, limit)
                if self.size < end:
                    return
                self._reserve(min(_FIRST_READ, stop - end))
        except (pa.ArrowException, OSError) as error:
            raise CompressionError(f"the zstd data is damaged: {error}") from error

    def _reserve(self, size: int) -> None:
        if len(self.data) < self.size + size + PADDING:
            larger = np.empty(max(2 * len(self.data), self.size + size + PADDING), np.uint8)
            larger[: self.size] = self.data[: self.size]
            self.data = larger
