"""Faults for tests with a real Kafka client: rules, a proxy for real brokers, and a mock cluster in process.

Names are imported on first use, because pytest imports this package for its plugin.
"""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._cluster import KafkaCluster
    from ._exchange import Exchange
    from ._group import Group
    from ._proxy import KafkaProxy
    from ._rule import Rule, Trigger, UnusedRuleError
    from .state.groups import GroupMember

__all__ = ["Exchange", "Group", "GroupMember", "KafkaCluster", "KafkaProxy", "Rule", "Trigger", "UnusedRuleError"]

_MODULES = dict.fromkeys(__all__, "_rule") | {
    "Exchange": "_exchange",
    "Group": "_group",
    "GroupMember": "state.groups",
    "KafkaCluster": "_cluster",
    "KafkaProxy": "_proxy",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(_import_module(f"{__name__}.{_MODULES[name]}"), name)
    setattr(_sys.modules[__name__], name, value)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
