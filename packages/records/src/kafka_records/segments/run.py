"""What walking through a log gives: runs of batches, and gaps between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Bools, Ints, Log

CORRUPT_BYTES = 1 << 20
"""Of what is corrupt, at most so many bytes are handed out."""


@dataclass(slots=True)
class Run:
    """Batches one after the other in ``log``, valid until the next run is asked for."""

    log: Log
    base: int
    """Position in the file of the first byte of ``log``."""
    start: Ints
    size: Ints
    sums: Bools | None
    """Did the checksum agree? None: not computed."""
    bad: dict[int, str] = field(default_factory=dict)
    """Which are no sound batches, by their number in the run, and why."""


@dataclass(slots=True)
class Gap:
    """Bytes that are no batches: the reason, and the first of them."""

    position: int
    size: int
    reason: str
    data: bytes
