"""Every message with all versions that were ever released: today's definitions and what only older releases have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafka_message_generator import rules
from kafka_message_generator.history.sides import Baseline, Released, Side, members_of
from kafka_message_generator.layouts.atoms import layout_of
from kafka_message_generator.layouts.compare import difference
from kafka_message_generator.layouts.renames import renamed
from kafka_message_generator.merging.union import CannotMerge, union
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import COORDINATOR_KEY, Message
from kafka_message_generator.spec.source import Problems
from kafka_message_generator.spec.versions import NONE


def with_older(messages: list[Message], older: Baseline, problems: Problems) -> list[Message]:
    """The messages with the versions that only older releases have, and the messages that only these have.

    What was there before is marked as offered: the other versions can be read and written, and are not negotiated.
    Versions that several releases have must be equal to the byte; where they are not, ``problems`` says how they differ.
    """
    merged = [_merged(message, older.versions.get(message.name, {}), problems) for message in messages]
    return [*merged, *_gone(messages, older)]


def _gone(messages: list[Message], older: Baseline) -> Iterator[Message]:
    """Messages of older releases that have no successor, which would have their name or their key."""
    names = {message.name for message in messages}
    keys = {(message.kind, message.api_key) for message in messages if message.api_key is not None}
    for name, versions in older.versions.items():
        last = versions[max(versions)].side.messages[name]
        if name not in names and (last.api_key is None or (last.kind, last.api_key) not in keys):
            yield replace(last, offered=NONE)


def _merged(message: Message, released: dict[int, Released], problems: Problems) -> Message:
    extra = {version: each for version, each in released.items() if version not in message.valid}
    if not extra or message.kind == COORDINATOR_KEY:  # keys were told apart by versions once, and are by apiKeys now
        return message
    try:
        return replace(_united(message, released, extra), offered=message.valid)
    except CannotMerge as error:
        problems.error(
            message.location, f"{message.name} of older releases cannot be in one package with this: {error}"
        )
        return message


def _united(message: Message, released: dict[int, Released], extra: dict[int, Released]) -> Message:
    result = message
    for side in _sides(extra):
        older = side.messages[message.name]
        moved = {}
        if not result.is_removed:
            gone = {path for path, _ in side.members(message.name)} - {path for path, _ in members_of(result)}
            moved = renamed(side.plans[message.name], _plan(result), gone)
        result = union(result, older, moved)
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
    """Raise CannotMerge unless a version of the whole is what the release has."""
    before, after = layout_of(released.plan, version), layout_of(plan, version)
    if before != after:
        found = difference(before, after) or difference(after, before)
        where = f"version {version} of {released.side.name}"
        raise CannotMerge(
            f"{where} differs: {found.wrote}; {found.reads}" if found else f"{where} has other tagged fields"
        )


def _plan(message: Message) -> MessagePlan:
    problems = Problems()
    checked = rules.check_alone(message, problems)
    if problems.errors:
        raise CannotMerge("; ".join(problem.message for problem in problems.errors))
    return builder.build(checked, message.name)
