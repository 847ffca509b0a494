"""The state of a cluster out of ``__cluster_metadata``: images at any offset, their differences, and every change between.

Functions take the rows of ``cluster_metadata`` over ``kafka_log`` with ``includeBatchMetadata``: log segments, snapshots
(``.checkpoint``), or both. Secrets are hidden by ``cluster_metadata``; with its option ``secretSalt`` they have marks, and
only then it can be told that a secret changed.
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
