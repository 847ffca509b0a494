"""Broken brokers, with the cases that find their bugs."""

from __future__ import annotations

from . import absent, frames, groups, records, topics
from .bug import BUGS, BrokerBug

__all__ = ["AS_IT_IS", "BUGS", "BrokerBug", "absent", "frames", "groups", "records", "topics"]
AS_IT_IS = (
    "CREATE-TOPICS.null-config-value",
    "FETCH.records-not-null-on-a-server-error",
    "JOIN-GROUP.session-timeout-out-of-range",
    "KIP-1242.another-cluster-id",
    "KIP-1242.node-id-without-cluster-id",
    "KIP-227.omits-unchanged-partitions",
    "KIP-32.log-append-time",
    "KIP-464.defaults-for-partitions-and-replicas",
    "KIP-467.records-without-key-in-a-compacted-topic",
    "LIST-OFFSETS.partition-twice",
    "PRODUCE.large-record",
)
"""Cases that the unmodified cluster fails: a broker without configurations, sessions and some limits."""
