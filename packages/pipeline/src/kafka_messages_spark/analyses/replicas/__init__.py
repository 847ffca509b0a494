"""Replicas of partitions compared: lost records, diverged and truncated logs."""

from __future__ import annotations

from ._comparison import CHECKPOINTS, CHECKS, ReplicaComparison, compare_replicas, compared

__all__ = ["CHECKPOINTS", "CHECKS", "ReplicaComparison", "compare_replicas", "compared"]
