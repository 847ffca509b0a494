"""Report on omitted or damaged data of a capture."""

from __future__ import annotations

from collections import Counter

# Maximum number of remarks kept.
MOST_REMARKS = 100


class CaptureError(ValueError):
    """Data that is not a supported capture; the message shows its first bytes."""


class Report:
    """Counters and remarks; pass one instance to all stages."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Counters by name, such as ``packets``."""
        self.remarks: list[str] = []
        """Problems with their location; at most ``MOST_REMARKS``."""
        self.more_remarks = 0

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def remark(self, text: str) -> None:
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(text)
        else:
            self.more_remarks += 1
