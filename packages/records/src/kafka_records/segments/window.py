"""Sliding window over a file, enlarged only for large batches."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .frames import PADDING, LogData

# Default window size in bytes.
CHUNK = 8 << 20
# Number of bytes read beyond the end of a range, for its last batch.
_BEYOND_END = 64 * 1024


class BinaryFile(Protocol):
    def read(self, size: int, /) -> Any: ...


class Window:
    """Bytes ``base`` to ``base + log.size`` of a file; ``at_end`` is set when a read finds the end of the file there."""

    def __init__(self, file: BinaryFile, position: int, end: int | None, chunk: int = CHUNK) -> None:
        self._file = file
        self._end = end
        self._chunk = chunk
        self._readinto = getattr(file, "readinto", None)
        self.base = position
        self.at_end = False
        self.log = LogData(np.zeros(PADDING, np.uint8), 0)
        if position or _seekable(file):
            self._go_to(position)

    def _go_to(self, position: int) -> None:
        if _seekable(self._file):
            self._file.seek(position)  # type: ignore[attr-defined]  # the protocol includes files that cannot seek
            return
        while position and (skipped := len(self._file.read(min(position, self._chunk)))):
            position -= skipped

    def move(self, position: int, need: int) -> None:
        """Move to ``position`` and load ``need`` or more bytes, or all to the end of the file, unless they are loaded."""
        first = position - self.base
        kept = self.log.size - first
        if kept >= need or self.at_end:
            return
        if self._end is None or position >= self._end:
            wanted = max(need, self._chunk)
        else:
            wanted = max(need, min(self._chunk, self._end - position + _BEYOND_END))
        array = self.log.bytes
        if len(array) < wanted + PADDING or len(array) > 2 * max(wanted, self._chunk) + PADDING:
            array = np.empty(wanted + PADDING, np.uint8)
        array[:kept] = self.log.bytes[first : first + kept]
        size = kept
        while size < wanted:
            got = self._read(array, size, wanted)
            if not got:
                self.at_end = True
                break
            size += got
        array[size : size + PADDING] = 0
        if array is self.log.bytes:
            self.log.size = size
        else:
            self.log = LogData(array, size)
        self.base = position

    def _read(self, array: Any, low: int, high: int) -> int:
        if self._readinto is not None:
            return int(self._readinto(memoryview(array)[low:high]) or 0)
        data = self._file.read(high - low)
        array[low : low + len(data)] = np.frombuffer(data, np.uint8)
        return len(data)


def _seekable(file: BinaryFile) -> bool:
    seekable = getattr(file, "seekable", None)
    return bool(seekable and seekable())
