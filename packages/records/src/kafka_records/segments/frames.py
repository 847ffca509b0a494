"""Vectorized access to batch headers: fields, validation, checksums, and search in raw bytes."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import numpy.typing as npt

from .. import crc
from ..crc import checksum
from ..format import (
    CODECS,
    COMPRESSION,
    CRC_AT,
    FAULTS,
    FINE,
    MAGIC_AT,
    MAX_BATCH_BYTES,
    OVERHEAD,
    SMALLEST,
    SUMMED_FROM,
)

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Bools = npt.NDArray[np.bool_]

# Maximum of `max_batch_bytes`, because positions within a decoded group must fit 31 bits.
MAX_BATCH_BYTES_LIMIT = 1 << 30

# Number of extra bytes after the data, so that vectorized reads need no bounds checks.
PADDING = 64

# Largest attributes value accepted in a search: seven bits in use, one reserved.
_KNOWN_ATTRIBUTES = 0xFF
# Positions and types of leader epoch, producer id, producer epoch and base sequence.
_AT_LEAST_MINUS_ONE = ((12, ">i4"), (43, ">i8"), (51, ">i2"), (53, ">i4"))

# Maximum number of positions that a search tests at a time.
SEARCH_BLOCK = 256 * 1024
_FIRST_BLOCK = 4096
# Number of rejected candidates after which a search gives up.
_REJECTED = 1 << 16
_SEARCH_BYTES = 64 << 20
# Checksum budget of a search: this factor times the bytes searched, plus `_SEARCH_BYTES`.
_SEARCH_FACTOR = 16


class LogData:
    """``size`` bytes of data and ``PADDING`` arbitrary bytes, with vectorized reads of big-endian numbers."""

    __slots__ = ("_views", "bytes", "size")

    def __init__(self, data: Bytes, size: int) -> None:
        self.bytes = data
        self.size = size
        self._views: dict[str, npt.NDArray[np.int64]] = {}

    def at(self, pos: Ints, kind: str) -> Ints:
        """Read one number at each position; ``kind`` is a numpy dtype such as ``>i4``."""
        view = self._views.get(kind)
        if view is None:
            dtype = np.dtype(kind)
            shape = (len(self.bytes) - dtype.itemsize + 1,)
            view = self._views[kind] = np.ndarray(shape, dtype, self.bytes.data, 0, (1,))
        return view[pos].astype(np.int64)

    def zeros(self, low: int, high: int) -> bool:
        return not self.bytes[low:high].any()


def padded(data: bytes | bytearray | memoryview | Bytes) -> LogData:
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    return LogData(np.concatenate((array, np.zeros(PADDING, np.uint8))), len(array))


def stored_sums(log: LogData, start: Ints, magic: Ints) -> Ints:
    return log.at(start + np.where(magic == 2, CRC_AT[2], CRC_AT[0]), ">u4")


def actual_sums(log: LogData, start: Ints, size: Ints, magic: Ints) -> Ints:
    view, crc32c = log.bytes.data, checksum()
    batches = zip(start.tolist(), (start + size).tolist(), magic.tolist(), strict=True)
    new, old = SUMMED_FROM[2], SUMMED_FROM[0]
    sums = (crc32c(view[low + new : end]) if kind == 2 else crc32(view[low + old : end]) for low, end, kind in batches)
    return np.fromiter(sums, np.int64, len(start))


def intact(log: LogData, start: Ints, size: Ints) -> Bools:
    magic = log.at(start + MAGIC_AT, "i1")
    result: Bools = stored_sums(log, start, magic) == actual_sums(log, start, size, magic)
    return result


def faults(log: LogData, start: Ints, size: Ints, *, strict: bool = False) -> Ints:
    """Return an index into ``FAULTS`` for each header, 0 if valid.

    ``strict`` also rejects values that no Kafka release writes; the numbers of these errors have no meaning.
    """
    magic = log.at(start + MAGIC_AT, "i1")
    new = magic == 2
    attributes = np.where(new, log.at(start + 21, ">i2"), log.at(start + 17, "i1"))
    count = np.where(new, log.at(start + 57, ">i4"), 1)
    delta = np.where(new, log.at(start + 23, ">i4"), 0)
    codec = attributes & COMPRESSION
    smallest = np.where(new, SMALLEST[2], np.where(magic == 1, SMALLEST[1], SMALLEST[0]))
    result = np.zeros(len(start), np.int64)
    # Ascending priority.
    result[(codec == 0) & (count * 7 > size)] = 7
    result[delta < 0] = 6
    result[count < 0] = 5
    result[codec >= len(CODECS)] = 4
    result[size < smallest] = 3
    result[(magic < 0) | (magic > 2)] = 2
    result[log.at(start, ">i8") < 0] = 1
    if strict:
        result[(attributes < 0) | (attributes > _KNOWN_ATTRIBUTES)] = 4
        result[new & _is_odd_batch(log, start, count, delta)] = 6
        result[~new & _is_odd_message(log, start, size, magic)] = 3
    return result


def _is_odd_batch(log: LogData, start: Ints, count: Ints, delta: Ints) -> Bools:
    result: Bools = count > delta + 1
    for place, kind in _AT_LEAST_MINUS_ONE:
        result |= log.at(start + place, kind) < -1
    return result


def _is_odd_message(log: LogData, start: Ints, size: Ints, magic: Ints) -> Bools:
    key_at = np.where(magic == 1, start + 26, start + 18)
    key = log.at(key_at, ">i4")
    value_at = key_at + 4 + np.clip(key, 0, size)
    is_loaded = value_at + 4 <= log.size
    value = log.at(np.where(is_loaded, value_at, start), ">i4")
    fits = (value >= -1) & (value_at + 4 + np.maximum(value, 0) == start + size)
    result: Bools = (key < -1) | (value_at + 4 > start + size) | (is_loaded & ~fits)
    return result


def fault_text(log: LogData, start: int, size: int, fault: int) -> str:
    at = np.array([start])
    magic = int(log.at(at + 16, "i1")[0])
    attributes = int(log.at(at + 21, ">i2")[0] if magic == 2 else log.at(at + 17, "i1")[0])
    numbers = {"magic": magic, "size": size, "codec": attributes & COMPRESSION}
    numbers |= {"count": int(log.at(at + 57, ">i4")[0]), "delta": int(log.at(at + 23, ">i4")[0])}
    return FAULTS[fault].format(**numbers)


def sum_text(log: LogData, at: int, size: int) -> str:
    start, sizes = np.array([at]), np.array([size])
    magic = log.at(start + MAGIC_AT, "i1")
    stored, actual = stored_sums(log, start, magic)[0], actual_sums(log, start, sizes, magic)[0]
    return crc.sum_text(int(stored), int(actual), size)


def plausible(log: LogData, start: int, max_batch_bytes: int) -> bool:
    return len(_candidates(log, start, start + 1, max_batch_bytes)) == 1


def _candidates(log: LogData, low: int, high: int, max_batch_bytes: int) -> Ints:
    pos = low + np.flatnonzero(log.bytes[low + 16 : high + 16] <= 2)
    length = log.at(pos + 8, ">i4")
    pos = pos[(length >= SMALLEST[0] - OVERHEAD) & (length <= max_batch_bytes - OVERHEAD)]
    return np.asarray(pos[faults(log, pos, log.at(pos + 8, ">i4") + OVERHEAD, strict=True) == FINE])


class Search:
    """Search for the next batch with a plausible header and a matching checksum.

    ``given_up`` is set when the checksum budget is used up or too many candidates were rejected.
    """

    def __init__(self, max_batch_bytes: int, least: int | None = None) -> None:
        self._max = max_batch_bytes
        self._left = _SEARCH_BYTES if least is None else least
        self._rejected = 0
        self.given_up = False

    def find(self, log: LogData, low: int, high: int, *, at_end: bool) -> tuple[int, int]:
        """Find the first batch that starts in ``low`` to ``high - 1``; ``log`` must have ``PADDING`` bytes after ``high``.

        Return its position and 0. If a candidate extends past the loaded bytes, return its position and size, unless
        ``at_end`` is set: then skip it. Return ``high`` and -1 if there is no match or the search gives up.
        """
        block = _FIRST_BLOCK
        while low < high and not self.given_up:
            end = min(low + block, high)
            self._left += _SEARCH_FACTOR * (end - low)
            found = _candidates(log, low, end, self._max)
            low, block = end, min(2 * block, SEARCH_BLOCK)
            sizes = log.at(found + 8, ">i4") + OVERHEAD
            for at, size in zip(found.tolist(), sizes.tolist(), strict=True):
                if at + size > log.size:
                    if at_end:
                        continue
                    return at, size
                if self.sound(log, at, size):
                    return at, 0
        return high, -1

    def reject(self) -> None:
        self._rejected += 1
        self.given_up |= self._rejected > _REJECTED

    def sound(self, log: LogData, at: int, size: int) -> bool:
        self._left -= size
        self.given_up |= self._left < 0
        return not self.given_up and bool(intact(log, np.array([at]), np.array([size]))[0])


def find_batch(
    data: bytes | bytearray | memoryview, start: int = 0, *, max_batch_bytes: int = MAX_BATCH_BYTES
) -> int | None:
    """Return the position of the first complete record batch at or after ``start``, or None.

    The batch has a known format, at most ``max_batch_bytes`` bytes, plausible header fields and a valid checksum. A
    batch inside a record value counts too. Returns None too if checksums of false candidates would take too long.
    """
    array = np.frombuffer(data, np.uint8)
    search = Search(max_batch_bytes)
    split = max(start, len(array) - PADDING)
    if split > start:
        found, need = search.find(LogData(array, len(array)), start, split, at_end=True)
        if need == 0:
            return found
    if search.given_up or start >= len(array):
        return None
    tail = padded(array[split:])  # header fields here may extend beyond the end
    found, need = search.find(tail, 0, tail.size, at_end=True)
    return split + found if need == 0 else None
