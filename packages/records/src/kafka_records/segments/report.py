"""Report on a log segment: counts, positions and corrupt ranges."""

from __future__ import annotations

from dataclasses import dataclass, field

# Maximum number of corrupt ranges listed; further ones are only counted.
MOST_CORRUPT = 1000


@dataclass(frozen=True, slots=True)
class CorruptBatch:
    """A range of bytes that is damaged or not a batch."""

    position: int
    """First byte in the file."""
    size: int
    """Bytes up to the next readable batch."""
    reason: str


@dataclass(slots=True)
class SegmentReport:
    """Summary of one file or byte range, updated during reading until ``done`` is set."""

    file: str
    """File name as given, or empty."""
    topic: str | None
    partition: int | None
    start: int
    """First byte of the range; batches that begin from here up to ``end`` are read (None: end of file)."""
    end: int | None
    done: bool = False
    batches: int = 0
    """Valid batches; in formats 0 and 1 outermost messages."""
    control_batches: int = 0
    """Valid control batches, even if their records are excluded."""
    decoded_batches: int = 0
    """Decoded batches."""
    records: int = 0
    batch_bytes: int = 0
    """Stored bytes of the valid batches."""
    next_position: int = 0
    """End of the last batch or corrupt range, to resume in an active segment."""
    next_offset: int | None = None
    """Offset after the last batch, or None."""
    incomplete_tail: int = 0
    """Bytes of a truncated batch at ``next_position``."""
    zero_tail: int = 0
    """Zero bytes from ``next_position`` to the end of the file."""
    timestamps_out_of_range: int = 0
    """Timestamps that overflow microseconds and are null."""
    corrupt_batches: int = 0
    """Number of corrupt ranges in PERMISSIVE mode."""
    corrupt: list[CorruptBatch] = field(default_factory=list)
    """The first ``MOST_CORRUPT`` corrupt ranges."""

    def add_corrupt(self, position: int, size: int, reason: str) -> None:
        self.corrupt_batches += 1
        if len(self.corrupt) < MOST_CORRUPT:
            self.corrupt.append(CorruptBatch(position, size, reason))
