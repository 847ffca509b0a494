"""Integrity of log segments: checksums, gaps, order, producer sequences, file names."""

from __future__ import annotations

from ._findings import CHECKS, DEPTHS, SEVERITIES, check_segments, checked_ranges, files, findings

__all__ = ["CHECKS", "DEPTHS", "SEVERITIES", "check_segments", "checked_ranges", "files", "findings"]
