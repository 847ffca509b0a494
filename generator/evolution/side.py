"""One side of a comparison: the definitions of a release or a folder, and what was ever released before a change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kafka_message_generator import definitions
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import Field, Message
from kafka_message_generator.spec.source import Location


@dataclass(frozen=True)
class Side:
    """Sound definitions by the names of their messages. ``name`` is what reports call them: ``Kafka 4.3.0``, ``specs/kafka``."""

    name: str
    messages: dict[str, Message]
    """Removed APIs too."""
    plans: dict[str, MessagePlan]

    def unstable(self, name: str) -> int | None:
        """The version of a message that may still change."""
        message = self.messages[name]
        return message.valid.highest if message.latest_version_unstable else None

    def members(self, name: str) -> Iterator[tuple[str, Field]]:
        """The fields of a message with their paths, such as ``Topics[].Partitions[].Leader``."""
        message = self.messages[name]
        structs = {struct.name: struct.members for struct in message.common_structs}
        for member in message.walk():
            if member.fields or member.optional_fields:
                structs[member.type.name] = member.fields + member.optional_fields
        yield from _members(message.fields + message.optional_fields, structs, "")

    def location(self, name: str, path: str = "") -> Location:
        """Where a message or the field at a path is defined."""
        message = self.messages[name]
        found = next((member for at, member in self.members(name) if at == path), None) if path else None
        return message.location if found is None else found.location


def _members(fields: tuple[Field, ...], structs: dict[str, tuple[Field, ...]], path: str) -> Iterator[tuple[str, Field]]:
    for member in fields:
        at = f"{path}.{member.name}" if path else member.name
        yield at, member
        if member.type.is_struct and member.type.name in structs:
            yield from _members(structs[member.type.name], structs, f"{at}[]" if member.type.is_array else at)


def side_of_folder(specs: Path, name: str | None = None) -> Side:
    """The definitions below a folder; raises SpecError with every problem."""
    loaded = definitions.load(specs)
    messages = {message.name: message for message in loaded.messages}
    return Side(name or specs.as_posix(), messages, {plan.name: plan for plan in loaded.plans})


@dataclass(frozen=True)
class Released:
    """One message version that was released: what it was, and where it was so last."""

    side: Side
    plan: MessagePlan


@dataclass(frozen=True)
class Baseline:
    """What was released: sides from the oldest to the newest, and of each message version the last one that had it."""

    name: str
    sides: tuple[Side, ...]
    versions: dict[str, dict[int, Released]] = field(default_factory=dict)

    @property
    def newest(self) -> Side:
        return self.sides[-1]


def baseline(name: str, sides: Sequence[Side]) -> Baseline:
    """What was released in some sides, from the oldest to the newest. Unstable versions were not."""
    versions: dict[str, dict[int, Released]] = {}
    for side in sides:
        for message, plan in side.plans.items():
            unstable = side.unstable(message)
            known = versions.setdefault(message, {})
            known |= {version: Released(side, plan) for version in plan.valid if version != unstable}
    return Baseline(name, tuple(sides), versions)
