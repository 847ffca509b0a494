"""Report on a log segment: counts, positions and corrupt ranges."""

from __future__ import annotations

from dataclasses import dataclass, field

# Maximum number of corrupt ranges listed; further ones are only counted.
MOST_CORRUPT = 1000


@dataclass(frozen=True, slots=True)
class CorruptBatch:
    """Corrupt batch, or range of bytes without a valid batch."""

    position: int
    """Position of the first byte in the file."""
    size: int
    """Size in bytes; reading continues after it."""
    reason: str


@dataclass(slots=True)
class SegmentReport:
    """Summary of one file or byte range, updated during reading until ``done`` is set."""

    file: str
    """File name as given, or empty."""
    topic: str | None
    partition: int | None
    start: int
    """Start of the byte range; the reader returns batches that begin at or after ``start`` and before ``end``."""
    end: int | None
    """End of the byte range, or None for the end of the file."""
    done: bool = False
    batches: int = 0
    """Number of valid batches; in formats 0 and 1, of outermost messages."""
    control_batches: int = 0
    """Number of valid control batches, even if their records are excluded."""
    decoded_batches: int = 0
    """Number of batches selected for decoding: not excluded by ``control_records`` or ``wanted``."""
    records: int = 0
    batch_bytes: int = 0
    """Total stored size of the valid batches in bytes."""
    next_position: int = 0
    """End of the last batch or corrupt range, to resume in an active segment."""
    next_offset: int | None = None
    """Offset after the last valid batch, or None if there was none."""
    incomplete_tail: int = 0
    """Number of bytes present of a truncated batch at ``next_position``."""
    zero_tail: int = 0
    """Number of zero bytes from ``next_position`` to the end of the file, if all bytes there are zero."""
    timestamps_out_of_range: int = 0
    """Number of timestamps that overflow microseconds and are null."""
    corrupt_batches: int = 0
    """Number of corrupt batches and ranges, in PERMISSIVE mode."""
    corrupt: list[CorruptBatch] = field(default_factory=list)
    """The first ``MOST_CORRUPT`` corrupt batches and ranges."""

    def add_corrupt(self, position: int, size: int, reason: str) -> None:
        self.corrupt_batches += 1
        if len(self.corrupt) < MOST_CORRUPT:
            self.corrupt.append(CorruptBatch(position, size, reason))
