"""Integrity of log segments: checksums, gaps, order, producer sequences, file names."""

from __future__ import annotations

from ._findings import CHECKS, DEPTHS, SEVERITIES, check_segments, checked_ranges, files, findings
from ._range_check import MAX_FINDINGS, RangeCheck

__all__ = [
    "CHECKS",
    "DEPTHS",
    "MAX_FINDINGS",
    "SEVERITIES",
    "RangeCheck",
    "check_segments",
    "checked_ranges",
    "files",
    "findings",
]
