"""Every message with all versions of several releases: one set's definitions and what only the others have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafka_message_generator import rules
from kafka_message_generator.history.sides import Baseline, Released, Side, members_of
from kafka_message_generator.history.successors import successor
from kafka_message_generator.layouts.atoms import layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.layouts.renames import renamed
from kafka_message_generator.layouts.witness import Witness, witness
from kafka_message_generator.merging.coordinators import with_record_types
from kafka_message_generator.merging.union import CannotMerge, union
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import COORDINATOR_KEY, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import NONE


def with_older(messages: list[Message], older: Baseline, problems: Problems) -> list[Message]:
    """The messages with the versions that only other releases have, and behind them the messages that only these have.

    What was there before is marked as offered: the other versions can be read and written, and are not negotiated.
    Versions that both have must be proved equal; where they are not, ``problems`` says how they differ.
    """
    merged = [_merged(message, older, problems) for message in messages]
    return [*merged, *with_record_types(list(_gone(messages, older)), messages)]


def _gone(messages: list[Message], older: Baseline) -> Iterator[Message]:
    """Messages of older releases that have no successor, which would have their name or their key."""
    today = {message.name: message for message in messages}
    keys = {(message.kind, message.api_key) for message in messages if message.api_key is not None}
    for name, versions in older.versions.items():
        last = versions[max(versions)].side.messages[name]
        has_successor = name in today or (last.kind, last.api_key) in keys
        if not has_successor and successor(name, older, today, lambda new: _plan(today[new])) is None:
            yield replace(last, offered=NONE)


def _merged(message: Message, older: Baseline, problems: Problems) -> Message:
    released = older.versions.get(message.name, {})
    if not released or message.kind == COORDINATOR_KEY:  # told apart by versions once, and by apiKeys now
        return message
    try:
        result = _united(message, released)
    except CannotMerge as error:
        what = f"{message.name} of {older.name} cannot be in one package with this"
        problems.error(message.location, f"{what}: {error}")
        return message
    return result if result is message else replace(result, offered=message.offered or message.valid)


def _united(message: Message, released: dict[int, Released]) -> Message:
    extra = {version: each for version, each in released.items() if version not in message.valid}
    result = message
    for side in _sides(extra):
        former = side.messages[message.name]
        moved = {}
        if not result.is_removed:
            gone = {path for path, _ in side.members(message.name)} - {path for path, _ in members_of(result)}
            moved = renamed(side.plans[message.name], _plan(result), gone)
        result = union(result, former, moved)
    plan = _plan(result)
    for version, each in released.items():
        _prove(plan, each, version)
    return result


def _sides(extra: dict[int, Released]) -> list[Side]:
    """The releases that have the versions last, newest first."""
    found: list[Side] = []
    for version in sorted(extra, reverse=True):
        if extra[version].side not in found:
            found.append(extra[version].side)
    return found


def _prove(plan: MessagePlan, released: Released, version: int) -> None:
    """Raise CannotMerge unless a version of the whole and that of the release read each other's bytes as the same."""
    before, after = layout_of(released.plan, version), layout_of(plan, version)
    found = None if before == after else difference(before, after) or difference(after, before)
    if found is None:  # or one has tagged fields that the other passes over
        return
    there, here = witness(released.plan, plan, version), witness(plan, released.plan, version)
    shown = "".join(
        f"\n    {side}: {_shown(each)}"
        for side, each in (("read here, of there", there), ("read there, of here", here))
        if each is not None
    )
    raise CannotMerge(
        f"version {version} of {released.side.name} differs ({found.reason}): one has {found.wrote}, "
        f"the other {found.reads}{shown}"
    )


def _shown(found: Witness) -> str:
    return f"{found.outcome}: {found.detail}: {found.data.hex(' ')}"


def _plan(message: Message) -> MessagePlan:
    problems = Problems()
    checked = rules.check_alone(message, problems)
    if problems.errors:
        raise CannotMerge("; ".join(problem.message for problem in problems.errors))
    return builder.build(checked, message.name)
