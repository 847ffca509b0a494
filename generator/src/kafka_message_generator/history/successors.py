"""What a message without a key is called today: under a new name a definition looks like another message."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kafka_message_generator.history.sides import Baseline
from kafka_message_generator.layouts.atoms import layout_of
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import Message


def successor(
    name: str, older: Baseline, today: Mapping[str, Message], plan_of: Callable[[str], MessagePlan]
) -> str | None:
    """The message of today that has the former name and more as its name, and every one of its versions as it was.

    Two messages that a release has both are two, however alike they are. None where there is no such message.
    """
    versions = older.versions[name]
    if not versions:
        return None
    last = versions[max(versions)].side.messages[name]
    for candidate, message in today.items():
        may_be = last.api_key is None and candidate.startswith(name) and message.kind == last.kind
        if not may_be or any({name, candidate} <= side.messages.keys() for side in older.sides):
            continue
        if all(version in message.valid for version in versions):
            plan = plan_of(candidate)
            if all(layout_of(each.plan, version) == layout_of(plan, version) for version, each in versions.items()):
                return candidate
    return None
