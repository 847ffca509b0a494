"""What was met while reading a log segment, besides its records."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST_CORRUPT = 1000
"""So many corrupt places are listed; the others are only counted."""


@dataclass(frozen=True, slots=True)
class CorruptBatch:
    """Bytes where a batch should be, and is not, or is damaged."""

    position: int
    """First byte in the file."""
    size: int
    """Bytes up to where reading could go on."""
    reason: str


@dataclass(slots=True)
class SegmentReport:
    """What one file, or one range of it, turned out to be. It grows while the file is read; ``done`` says it is final."""

    file: str
    """As it was named; empty if it has no name."""
    topic: str | None
    partition: int | None
    start: int
    """Batches that begin here or later were read, up to ``end`` (None: the end of the file). Bytes in the file."""
    end: int | None
    done: bool = False
    batches: int = 0
    """Sound batches; in formats 0 and 1 every outermost message counts as one."""
    control_batches: int = 0
    """Those of them that are control batches, also when their records are left out."""
    decoded_batches: int = 0
    """Batches that are decoded, of those found so far: not those that were not ``wanted``, nor by their headers alone."""
    records: int = 0
    """Records handed out."""
    batch_bytes: int = 0
    """Stored bytes of the sound batches."""
    next_position: int = 0
    """Where the last batch or corrupt place ended: at a live segment's next batch, a reader would go on here."""
    next_offset: int | None = None
    """Offset after the last batch; None if there was none."""
    incomplete_tail: int = 0
    """Bytes of a batch that had not been written to its end; it begins at ``next_position``."""
    zero_tail: int = 0
    """Zero bytes to the end of the file, as preallocation leaves them; they begin at ``next_position``."""
    timestamps_out_of_range: int = 0
    """Timestamps that microseconds cannot hold (after the year 294246); they are null."""
    corrupt_batches: int = 0
    """How many corrupt places there were. In FAILFAST mode the first one is raised and not counted."""
    corrupt: list[CorruptBatch] = field(default_factory=list)
    """The first ``MOST_CORRUPT`` of them, in order of position."""

    def add_corrupt(self, position: int, size: int, reason: str) -> None:
        """Count a corrupt place."""
        self.corrupt_batches += 1
        if len(self.corrupt) < MOST_CORRUPT:
            self.corrupt.append(CorruptBatch(position, size, reason))
