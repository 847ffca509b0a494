"""Coordinator records up to Kafka 4.0, which identified the record type by the version of the key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, Field, Message
from kafka_message_generator.spec.versions import Versions

_FIRST = Versions(0, 0)


def with_record_types(older: list[Message], today: Iterable[Message]) -> list[Message]:
    """Give coordinator keys and values of older releases their record type as API key, if it is unused today."""
    keys = {message.api_key for message in today if message.kind == COORDINATOR_KEY}
    types = {
        message.name.removesuffix("Key"): message.valid.lowest
        for message in older
        if message.kind == "data"
        and message.name.endswith("Key")
        and message.valid.lowest == message.valid.highest
        and message.valid.lowest not in keys
    }
    names = {message.name for message in older}
    return [_with_type(message, types) if f"{_stem(message)}Value" in names else message for message in older]


def _stem(message: Message) -> str:
    return message.name.removesuffix("Key").removesuffix("Value")


def _with_type(message: Message, types: dict[str, int]) -> Message:
    number = types.get(_stem(message))
    if number is None:
        return message
    if message.name.endswith("Value"):
        return replace(message, kind=COORDINATOR_VALUE, api_key=number)
    fields = tuple(_in_first_version(member) for member in message.fields)
    return replace(message, kind=COORDINATOR_KEY, api_key=number, valid=_FIRST, fields=fields)


def _in_first_version(member: Field) -> Field:
    return replace(member, versions=_FIRST, fields=tuple(map(_in_first_version, member.fields)))
