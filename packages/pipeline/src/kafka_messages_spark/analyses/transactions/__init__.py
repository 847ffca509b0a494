"""Open and hanging transactions, and the consumers that they block.

Within a partition, a transaction is a producer's data up to its next marker (KIP-98).
"""

from __future__ import annotations

from ._coordinator import STATES, coordinator_states
from ._open import MAX_TIMEOUT_MS, open_transactions
from ._partitions import condensed, partition_offsets, stable_offsets
from ._per_partition import find_transactions
from ._producers import producers, whole_transactions

__all__ = [
    "MAX_TIMEOUT_MS",
    "STATES",
    "condensed",
    "coordinator_states",
    "find_transactions",
    "open_transactions",
    "partition_offsets",
    "producers",
    "stable_offsets",
    "whole_transactions",
]
