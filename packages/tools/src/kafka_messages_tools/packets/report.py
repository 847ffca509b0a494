"""Report on a capture: counters, and problems such as damaged data."""

from __future__ import annotations

from collections import Counter

# Maximum number of remarks kept.
MOST_REMARKS = 100


class CaptureError(ValueError):
    """Data in no supported capture format, or an invalid or empty followed stream."""


class CaptureReport:
    """Counters and remarks. Pass one instance to all steps, from ``read_packets`` to ``exchanges``."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Counters by name, such as ``packets``."""
        self.remarks: list[str] = []
        """Problems with their location; at most ``MOST_REMARKS``."""
        self.more_remarks = 0
        self.unread = 0
        """Number of packets and bytes that may have carried Kafka traffic and were not read."""

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def count_unread(self, what: str, number: int = 1) -> None:
        """Count packets or bytes that may have carried Kafka traffic and were not read."""
        self.counts[what] += number
        self.unread += number

    def remark(self, text: str) -> None:
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(text)
        else:
            self.more_remarks += 1
