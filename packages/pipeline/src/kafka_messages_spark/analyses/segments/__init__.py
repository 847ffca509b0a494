"""The integrity of log segments over many files: checksums, gaps, order, producers' sequences, names, and foreign files.

``check_segments`` reads every file once in the workers, which hand back only what is found and what the checks between
files need; ``files`` and ``findings`` make tables of that.
"""

from __future__ import annotations

from ._checks import DEPTHS, check_segments, checked_ranges
from ._findings import CHECKS, SEVERITIES, files, findings

__all__ = ["CHECKS", "DEPTHS", "SEVERITIES", "check_segments", "checked_ranges", "files", "findings"]
