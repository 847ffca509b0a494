"""Batch sizes, compression, and dead records in compacted topics."""

from __future__ import annotations

from ._combined import combined_batches, overlapping, sized_batches, without_copies
from ._dead import by_key, dead, offsets_by_group
from ._findings import BUSY, findings
from ._keys import COMPACTED, LogBounds, keyed_records, logs_of
from ._sums import COLUMNS, LEVELS, at_level, sums

__all__ = [
    "BUSY",
    "COLUMNS",
    "COMPACTED",
    "LEVELS",
    "LogBounds",
    "at_level",
    "by_key",
    "combined_batches",
    "dead",
    "findings",
    "keyed_records",
    "logs_of",
    "offsets_by_group",
    "overlapping",
    "sized_batches",
    "sums",
    "without_copies",
]
