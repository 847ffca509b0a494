"""Checksums of batches: verification, and CRC-32C (RFC 3720, appendix B.4).

Format 2 has a CRC-32C of all bytes from the attributes to the end (KIP-98); formats 0 and 1 have a CRC-32 of all bytes
from the magic to the end. See ``format.SUMMED_FROM``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from struct import Struct
from zlib import crc32

from .errors import ChecksumError
from .format import OVERHEAD, SUMMED_FROM
from .header import Header, batch_error

Checksum = Callable[[bytes | memoryview], int]

# Size in bytes below which a copy is cheaper than a memoryview.
FEW = 4096

_POLYNOMIAL = 0x82F63B78  # reflected

# Row width in bytes for `_by_columns`.
_WIDTH = 32
# Minimum size in bytes for `_by_columns`.
_FEW = 1024
_steps = Struct("<I4B").iter_unpack


def verify_sum(data: bytes, position: int, number: int, header: Header) -> None:
    """Raise ChecksumError if the checksum of batch ``number`` does not match its bytes."""
    magic, stored = header[3], header[4]
    start = position + SUMMED_FROM[magic]
    end = position + OVERHEAD + header[1]
    summed = data[start:end] if end - start < FEW else memoryview(data)[start:end]
    actual = checksum()(summed) if magic == 2 else crc32(summed)
    if actual != stored:
        error = batch_error(sum_text(stored, actual, end - position), number, position, magic)
        raise ChecksumError(error.reason, error.path, error.offset, error.magic)


def sum_text(stored: int, actual: int, size: int) -> str:
    return f"checksum mismatch: stored {stored:#010x}, computed {actual:#010x} over {size} bytes"


@cache
def checksum() -> Checksum:
    from . import _native  # loads the extension

    return installed() or getattr(_native.core, "crc32c", None) or plain_crc32c


@cache
def installed() -> Checksum | None:
    for module, name in (("crc32c", "crc32c"), ("google_crc32c", "value")):
        try:
            function: Checksum = getattr(import_module(module), name)
            if function(memoryview(b"123456789")) == 0xE3069283:
                return function
        except (ImportError, AttributeError, TypeError):
            continue
    return None


def plain_crc32c(data: bytes | memoryview) -> int:
    whole = len(data) - len(data) % _WIDTH if len(data) >= _FEW else 0
    return _by_steps(data[whole:], _by_columns(bytes(data[:whole])) if whole else 0xFFFFFFFF) ^ 0xFFFFFFFF


def _by_steps(data: bytes | memoryview, value: int) -> int:
    t0, t1, t2, t3, t4, t5, t6, t7, *_ = _tables()
    whole = len(data) & ~7
    for low, fifth, sixth, seventh, last in _steps(data[:whole]):
        low ^= value
        value = (
            t7[low & 255]
            ^ t6[low >> 8 & 255]
            ^ t5[low >> 16 & 255]
            ^ t4[low >> 24]
            ^ t3[fifth]
            ^ t2[sixth]
            ^ t1[seventh]
            ^ t0[last]
        )
    for byte in data[whole:]:
        value = t0[(value ^ byte) & 255] ^ value >> 8
    return value


def _by_columns(data: bytes) -> int:
    """Return the CRC register after ``data``, whose size is a multiple of ``_WIDTH``.

    The data is a table with rows of ``_WIDTH`` bytes. ``bytes.translate`` replaces a whole column at once.
    """
    sums = [0, 0, 0, 0]
    number = int.from_bytes
    for place, numbers in enumerate(_translations()):
        column = data[place::_WIDTH]
        for byte, translation in enumerate(numbers):
            sums[byte] ^= number(column.translate(translation), "little")
    rows = len(data) // _WIDTH
    t0, t1, t2, t3 = _tables()[_WIDTH - 4 :]
    value = 0xFFFFFFFF
    for a, b, c, d in zip(*(each.to_bytes(rows, "little") for each in sums), strict=True):
        value = t3[value & 255] ^ t2[value >> 8 & 255] ^ t1[value >> 16 & 255] ^ t0[value >> 24]
        value ^= a | b << 8 | c << 16 | d << 24
    return value


@cache
def _tables() -> list[list[int]]:
    row = list(range(256))
    for _ in range(8):
        row = [value >> 1 ^ (_POLYNOMIAL if value & 1 else 0) for value in row]
    rows = [row]
    for _ in range(_WIDTH - 1):
        rows.append([row[value & 255] ^ value >> 8 for value in rows[-1]])
    return rows


@cache
def _translations() -> list[list[bytes]]:
    return [[bytes(value >> shift & 255 for value in row) for shift in (0, 8, 16, 24)] for row in reversed(_tables())]
