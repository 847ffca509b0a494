"""Validation of definitions; all problems are reported at once."""

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
    message: Message
    structs: StructTable


def check(
    definitions: list[Message],
    problems: Problems,
    one_way: Collection[str] = (),
    unread: Collection[str] = (),
    entity_types: Mapping[str, str] = MappingProxyType({}),
) -> list[CheckedMessage]:
    """Check all definitions; the result is valid only if ``problems`` has no errors.

    ``one_way`` has the names of requests without response, ``unread`` the names of messages in unreadable files.
    ``entity_types`` maps additional entity types to their field types.
    """
    checked = [check_alone(message, problems) for message in definitions]
    for message in definitions:
        fields.check_entity_types(message, entity_types, problems)
    messages.check_all(definitions, problems, one_way, unread)
    return checked


def check_alone(message: Message, problems: Problems) -> CheckedMessage:
    """Check one message, without rules that involve other messages or additional entity types."""
    messages.check(message, problems)
    names.check(message, problems)
    fields.check(message, problems)
    proposals.check(message, problems)
    return CheckedMessage(message, structs.resolve(message, problems))
