"""Integrity of log segments: checksums, gaps, order, producer sequences, names.

``check_segments`` reads each file once in the workers; ``files`` and ``findings`` are tables of its result.
"""

from __future__ import annotations

from ._checks import DEPTHS, check_segments, checked_ranges
from ._findings import CHECKS, SEVERITIES, files, findings

__all__ = ["CHECKS", "DEPTHS", "SEVERITIES", "check_segments", "checked_ranges", "files", "findings"]
