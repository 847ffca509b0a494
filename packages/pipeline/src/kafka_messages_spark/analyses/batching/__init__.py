"""Batches, compression, and what is dead in compacted topics: who writes how, and what the cleaner would win.

``sized_batches`` decompresses in the workers, ``sums`` is a row for each topic, partition, producer and compression.
``by_key`` reads the records of compacted topics; ``dead`` and ``offsets_by_group`` are tables of its result.
"""

from __future__ import annotations

from ._dead import by_key, dead, offsets_by_group
from ._findings import BUSY, findings
from ._keys import COMPACTED, LogBounds, logs_of
from ._sums import COLUMNS, LEVELS, at_level, sized_batches, sums

__all__ = [
    "BUSY",
    "COLUMNS",
    "COMPACTED",
    "LEVELS",
    "LogBounds",
    "at_level",
    "by_key",
    "dead",
    "findings",
    "logs_of",
    "offsets_by_group",
    "sized_batches",
    "sums",
]
