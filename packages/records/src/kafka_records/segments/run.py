"""Results of a log scan: runs of batches, and the gaps between them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Bools, Ints, Log

# Maximum bytes of a corrupt range kept for output.
CORRUPT_BYTES = 1 << 20


@dataclass(slots=True)
class BatchRun:
    """Consecutive batches in ``log``, valid until the next run is requested."""

    log: Log
    # File position of the first byte of `log`.
    base: int
    start: Ints
    size: Ints
    # Whether each checksum matches; None if not computed.
    sums: Bools | None
    # Error messages of corrupt batches by number in the run.
    bad: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class CorruptRange:
    """Range of bytes that is not a batch."""

    position: int
    size: int
    reason: str
    data: bytes
