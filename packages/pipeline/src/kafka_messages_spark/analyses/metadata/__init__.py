"""Cluster state from ``__cluster_metadata``: images at any offset, differences and changes.

``records_of`` takes rows of ``cluster_metadata`` with ``includeBatchMetadata``, from segments, snapshots or both.
``replay`` takes the result of ``records_of``; ``image`` and ``changes`` take that of ``replay``.
"""

from __future__ import annotations

from ._images import changes, differences, image, replay
from ._names import ACL_WORDS
from ._selection import last_offset, missing_offsets, records_of, snapshots, unhandled

__all__ = [
    "ACL_WORDS",
    "changes",
    "differences",
    "image",
    "last_offset",
    "missing_offsets",
    "records_of",
    "replay",
    "snapshots",
    "unhandled",
]
