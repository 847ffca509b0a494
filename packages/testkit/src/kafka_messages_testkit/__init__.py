"""Faults for tests with a real Kafka client: rules, a proxy for real brokers, and a mock cluster in process."""

from __future__ import annotations

from ._cluster import KafkaCluster
from ._exchange import Exchange
from ._group import Group
from ._proxy import KafkaProxy
from ._rule import Rule, Trigger, UnusedRuleError
from .broker.groups import GroupMember

__all__ = ["Exchange", "Group", "GroupMember", "KafkaCluster", "KafkaProxy", "Rule", "Trigger", "UnusedRuleError"]
