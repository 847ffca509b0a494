"""What a capture did not give: counts and remarks that every layer adds to, so that nothing is left out in silence."""

from __future__ import annotations

from collections import Counter

MOST_REMARKS = 100
"""Remarks that are kept; those after them are counted."""


class CaptureError(ValueError):
    """The data is no capture of a kind that is known; the text says what it begins with."""


class Report:
    """Counts by what they count, and remarks in the order they came up. Give one to each layer, or none."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """How many there were of what a layer counts, in its own words, such as ``packets``."""
        self.remarks: list[str] = []
        """What was wrong where; at most ``MOST_REMARKS``."""
        self.more_remarks = 0
        """Remarks beyond them."""

    def count(self, what: str, number: int = 1) -> None:
        """Add to a count."""
        self.counts[what] += number

    def remark(self, text: str) -> None:
        """Add a remark."""
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(text)
        else:
            self.more_remarks += 1
