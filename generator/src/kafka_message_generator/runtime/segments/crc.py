"""CRC-32C, the checksum of record batches, over many ranges of one buffer at a time.

The native core, or the PyPI packages ``crc32c`` and ``google-crc32c``, are used where they are installed (10 GB/s and
more). Without them the sum is made with numpy alone (about 0.5 GB/s): it is linear over GF(2), so the buffer is cut into
blocks of 64 bytes whose sums are looked up side by side, two bytes at a time, and joined pairwise into a tree; a range is
then joined from the few nodes that cover it and its two ragged ends.

Polynomial and bit order: RFC 3720, appendix B.4; use in Kafka: KIP-98, "RecordBatch".
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np
import numpy.typing as npt

from ..batches.crc import POLYNOMIAL, Checksum, installed
from .native import native_batches

Ints = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
Sums = npt.NDArray[np.uint32]

BLOCK = 64
"""Bytes of a leaf of the tree."""
_BLOCK_SHIFT = 6
_ROWS = 4096
"""Ragged ends that are gathered at a time."""


def crc32c(data: bytes | bytearray | memoryview | Bytes) -> int:
    """The CRC-32C of some bytes."""
    native = _one_by_one()
    if native is not None:
        return native(data.data if isinstance(data, np.ndarray) else memoryview(data))
    array = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    return int(_by_numpy(array, np.zeros(1, np.int64), np.full(1, len(array), np.int64))[0])


def crc32c_of_ranges(data: Bytes, starts: Ints, ends: Ints) -> Sums:
    """The CRC-32C of every ``data[start:end]``. The ranges should be near each other: what lies between is read too."""
    native = _one_by_one()
    if native is None:
        return _by_numpy(data, starts, ends)
    view = data.data
    ranges = map(slice, starts.tolist(), ends.tolist())
    return np.fromiter(map(native, map(view.__getitem__, ranges)), np.uint32, len(starts))


def _one_by_one() -> Checksum | None:
    """What sums bytes faster than numpy: the native core, or an installed package."""
    core = native_batches()
    return installed() if core is None else core.crc32c


# ---- by numpy ---------------------------------------------------------------------------------------------------


@cache
def _bytes_then_zeros() -> Sums:
    """``[k][b]``: the sum, begun at 0, of the byte ``b`` and ``k`` zero bytes after it."""
    row = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        row = (row >> np.uint32(1)) ^ ((row & np.uint32(1)) * np.uint32(POLYNOMIAL))
    rows = [row]
    for _ in range(BLOCK - 1):
        rows.append(rows[0][rows[-1] & np.uint32(255)] ^ (rows[-1] >> np.uint32(8)))
    return np.stack(rows)


@cache
def _pair_tables() -> list[Sums]:
    """``[i][w]``: what the little-endian pair of bytes ``w`` at place ``2 * i`` adds to the sum of a block."""
    rows = _bytes_then_zeros()
    low_then_high = ((rows[BLOCK - 1 - place], rows[BLOCK - 2 - place]) for place in range(0, BLOCK, 2))
    return [(high[:, None] ^ low[None, :]).reshape(-1) for low, high in low_then_high]


@cache
def _zeros(power: int) -> Sums:
    """``[i][b]``: the sum whose byte ``i`` is ``b``, after ``2**power`` zero bytes more."""
    if power == 0:
        values = np.arange(256, dtype=np.uint32)
        columns = np.stack([values << np.uint32(8 * place) for place in range(4)])
        return np.asarray(_bytes_then_zeros()[0][columns & np.uint32(255)] ^ (columns >> np.uint32(8)))
    half = _zeros(power - 1)
    return _shifted(half, half)


def _shifted(tables: Sums, sums: Sums) -> Sums:
    """The sums after as many zero bytes as ``tables`` stand for."""
    byte = np.uint32(255)
    result: Sums = tables[0][sums & byte] ^ tables[1][(sums >> np.uint32(8)) & byte]
    result ^= tables[2][(sums >> np.uint32(16)) & byte]
    result ^= tables[3][sums >> np.uint32(24)]
    return result


def _shifted_by(sums: Sums, lengths: Ints) -> Sums:
    """Each sum after its own number of zero bytes."""
    result = sums.copy()
    for power in range(int(lengths.max(initial=0)).bit_length()):
        chosen = np.flatnonzero((lengths >> power) & 1)
        result[chosen] = _shifted(_zeros(power), result[chosen])
    return result


def _of_blocks(blocks: Bytes) -> Sums:
    """The sum, begun at 0, of each row of 64 bytes."""
    pairs = blocks.view("<u2")
    result = np.zeros(len(blocks), np.uint32)
    for place, table in enumerate(_pair_tables()):
        result ^= table[pairs[:, place]]
    return result


def _of_ends(data: Bytes, ends: Ints, lengths: Ints) -> Sums:
    """The sums, begun at 0, of the last ``lengths`` (below 64) bytes before ``ends``, which are 64 or more."""
    windows = np.lib.stride_tricks.sliding_window_view(data, BLOCK)
    place = np.arange(BLOCK)
    result = np.empty(len(ends), np.uint32)
    for low in range(0, len(ends), _ROWS):
        some = slice(low, low + _ROWS)
        rows = windows[ends[some] - BLOCK]
        rows[place < (BLOCK - lengths[some])[:, None]] = 0  # zeros in front change nothing
        result[some] = _of_blocks(rows)
    return result


def _by_numpy(data: Bytes, starts: Ints, ends: Ints) -> Sums:
    if len(starts) == 0:
        return np.zeros(0, np.uint32)
    if int(starts.min()) < BLOCK:
        data, starts, ends = np.concatenate((np.zeros(BLOCK, np.uint8), data)), starts + BLOCK, ends + BLOCK
    low, high = (starts + BLOCK - 1) >> _BLOCK_SHIFT, ends >> _BLOCK_SHIFT
    inside = high < low  # of one block, and touching neither of its ends: all is head
    head_end = np.where(inside, ends, low << _BLOCK_SHIFT)
    tail = np.where(inside, 0, ends - (high << _BLOCK_SHIFT))
    low = np.minimum(low, high)
    sums = _of_ends(data, head_end, head_end - starts)
    sums = _through_tree(data, sums, low, high)
    sums = _shifted_by(sums, tail) ^ _of_ends(data, ends, tail)
    begun = np.full(len(starts), 0xFFFFFFFF, np.uint32)
    return sums ^ _shifted_by(begun, ends - starts) ^ np.uint32(0xFFFFFFFF)


def _through_tree(data: Bytes, sums: Sums, low: Ints, high: Ints) -> Sums:
    """Each of ``sums`` after its blocks ``low`` to ``high``."""
    first, last = int(low.min()), int(high.max())
    nodes = _of_blocks(data[first << _BLOCK_SHIFT : last << _BLOCK_SHIFT].reshape(-1, BLOCK))
    low, high = low - first, high - first
    right: list[tuple[int, Ints, Sums]] = []
    power = _BLOCK_SHIFT
    while bool((low < high).any()):
        tables = _zeros(power)
        left = np.flatnonzero((low & 1) & (low < high))
        sums[left] = _shifted(tables, sums[left]) ^ nodes[low[left]]
        low[left] += 1
        odd = np.flatnonzero((high & 1) & (low < high))
        right.append((power, odd, nodes[high[odd] - 1]))
        pairs = len(nodes) & ~1
        nodes = _shifted(tables, nodes[0:pairs:2]) ^ nodes[1:pairs:2]
        low, high, power = low >> 1, high >> 1, power + 1
    for at, chosen, node in reversed(right):
        sums[chosen] = _shifted(_zeros(at), sums[chosen]) ^ node
    return sums


def legacy_sums(data: Bytes, starts: Iterable[int], ends: Iterable[int]) -> Sums:
    """The CRC-32 of every ``data[start:end]``: the checksum of messages of the formats 0 and 1."""
    from zlib import crc32

    view = data.data
    return np.array([crc32(view[start:end]) for start, end in zip(starts, ends, strict=True)], np.uint32)
