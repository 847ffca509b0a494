"""Results of a log scan: consecutive batches, and corrupt ranges."""

from __future__ import annotations

from dataclasses import dataclass, field

from .frames import Bools, Ints, LogData

# Maximum number of bytes of a corrupt range that are copied to the output.
CORRUPT_BYTES = 1 << 20


@dataclass(slots=True)
class BatchRun:
    """Consecutive batches in ``log``. The scanner may overwrite ``log`` when its next result is requested."""

    log: LogData
    # File position of the first byte of `log`.
    base: int
    start: Ints
    size: Ints
    # For each batch, whether its checksum matches; None if checksums were not computed.
    sums: Bools | None
    # Error messages of corrupt batches by index in `start`.
    bad: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class CorruptRange:
    """Corrupt batch, or range of bytes without a valid batch."""

    position: int
    size: int
    reason: str
    data: bytes
