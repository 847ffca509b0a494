"""Replicas of partitions compared: lost records, diverged and truncated logs."""

from __future__ import annotations

from ._comparison import CHECKPOINTS, CHECKS, ReplicaComparison, compare_replicas, compared
from ._logs import compare_logs

__all__ = ["CHECKPOINTS", "CHECKS", "ReplicaComparison", "compare_logs", "compare_replicas", "compared"]
