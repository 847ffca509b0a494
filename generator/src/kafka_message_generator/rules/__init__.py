"""Everything that can be wrong with definitions, reported all at once; nothing unsound passes to the plan."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafka_message_generator.rules import fields, messages, names, proposals, structs
from kafka_message_generator.rules.structs import StructTable
from kafka_message_generator.spec.model import Message
from kafka_message_generator.spec.source import Problems


@dataclass(frozen=True)
class CheckedMessage:
    """A message that passed, with the struct behind each of its struct types."""

    message: Message
    structs: StructTable


def check(
    definitions: list[Message],
    problems: Problems,
    one_way: Collection[str] = (),
    unread: Collection[str] = (),
    entity_types: Mapping[str, str] = MappingProxyType({}),
) -> list[CheckedMessage]:
    """Apply every rule; what comes back is sound only if ``problems`` has no errors.

    ``one_way`` are the requests that have no response. ``unread`` are messages whose definitions could not be read, by the
    names of their files: of them nobody is told that they are missing. ``entity_types`` are those of the definitions,
    with the field type of each.
    """
    checked = [check_alone(message, problems) for message in definitions]
    for message in definitions:
        fields.check_entity_types(message, entity_types, problems)
    messages.check_all(definitions, problems, one_way, unread)
    return checked


def check_alone(message: Message, problems: Problems) -> CheckedMessage:
    """Apply the rules of one message, whatever others there are; sound only if ``problems`` has no errors.

    Its entity types need not be known: those of a released definition are what Kafka says.
    """
    messages.check(message, problems)
    names.check(message, problems)
    fields.check(message, problems)
    proposals.check(message, problems)
    return CheckedMessage(message, structs.resolve(message, problems))
