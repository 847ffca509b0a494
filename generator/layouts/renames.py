"""Fields that have another name: told by standing at the same place of equal layouts."""

from __future__ import annotations

from collections.abc import Collection

from kafka_message_generator.layouts.atoms import labels, layout_of
from kafka_message_generator.plan.model import MessagePlan


def renamed(before: MessagePlan, after: MessagePlan, gone: Collection[str]) -> dict[str, str]:
    """Paths of fields by their former ones, for those of ``gone`` that stand under another name in a version of both."""
    found: dict[str, str] = {}
    for version in before.valid:
        if version in after.valid and (one := layout_of(before, version)) == (two := layout_of(after, version)):
            for former, path in zip(labels(one), labels(two), strict=False):
                if former in gone and former.count(".") == path.count("."):
                    found[former] = path
    return {former: path for former, path in found.items() if last(former) != last(path)}


def last(path: str) -> str:
    """The name of a field without the way to it."""
    return path.rpartition(".")[2]
