"""Lowering of tables across messages: APIs, error codes, record types and the message index."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.render.naming import module
from kafka_message_generator.rules.entities import entity_fields
from kafka_message_generator.rules.headers import HeaderVersions, header_versions
from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.rules.settings import HERE
from kafka_message_generator.spec.enumerations import ERROR_CODE, Enumeration, Member
from kafka_message_generator.spec.error_codes import ErrorCode
from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, METADATA, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.versions import Versions


@dataclass(frozen=True)
class ApiEntry:
    """The request and response with one API key."""

    key: int
    enum_name: str
    request: str
    response: str
    """Empty for a request without a response."""
    valid: Versions
    supported: Versions
    deprecated: Versions
    latest_version_unstable: bool
    listeners: tuple[str, ...]
    request_headers: HeaderVersions
    response_headers: HeaderVersions


@dataclass(frozen=True)
class Listed:
    name: str
    kind: str
    api_key: int | None
    valid: Versions
    supported: Versions
    flexible: Versions
    deprecated: Versions
    latest_version_unstable: bool
    headers: HeaderVersions


@dataclass(frozen=True)
class RecordTypeEntry:
    """A record type of an internal topic."""

    family: str
    number: int
    key: str | None
    value: str | None


def apis(definitions: Definitions) -> list[ApiEntry]:
    """Return every API, sorted by key; a removed API has no versions."""
    messages: dict[int, dict[str, Message]] = {}
    for message in definitions.messages:
        if message.kind in (REQUEST, RESPONSE) and message.api_key is not None:
            messages.setdefault(message.api_key, {})[message.kind] = message
    return [_api(key, of_kind[REQUEST], of_kind.get(RESPONSE)) for key, of_kind in sorted(messages.items())]


def listed(definitions: Definitions) -> list[Listed]:
    """Return every message that has versions, sorted by name."""
    requests = {message.api_key: message for message in definitions.messages if message.kind == REQUEST}
    found = []
    for message in definitions.messages:
        if not message.is_removed:
            says = requests[message.api_key] if message.kind == RESPONSE else message
            found.append(
                Listed(
                    message.name,
                    message.kind,
                    message.api_key,
                    message.valid,
                    message.negotiated,
                    message.flexible.intersect(message.valid),
                    says.deprecated,
                    says.latest_version_unstable,
                    header_versions(message) if message.kind in (REQUEST, RESPONSE) else (),
                )
            )
    return sorted(found, key=lambda each: each.name)


def _api(key: int, request: Message, response: Message | None) -> ApiEntry:
    name = request.name.removesuffix("Request")
    return ApiEntry(
        key=key,
        enum_name=snake_case(name).upper(),
        request=request.name,
        response=response.name if response is not None else "",
        valid=request.valid,
        supported=request.negotiated,
        deprecated=request.deprecated,
        latest_version_unstable=request.latest_version_unstable,
        listeners=request.listeners,
        request_headers=header_versions(request),
        response_headers=header_versions(response) if response is not None else (),
    )


def response_import(definitions: Definitions, name: str) -> str:
    if any(plan.name == name for plan in definitions.plans):
        return f"from ..messages.{module(name)} import {name} as {name}"
    return f"from .._base.message import Response as {name}"


def error_codes(definitions: Definitions) -> tuple[ErrorCode, ...]:
    """Return the error codes, sorted by number; without ``errors.json`` only code 0."""
    return definitions.error_codes or (ErrorCode("NONE", 0, False),)


@dataclass(frozen=True)
class EnumClass:
    name: str
    base: str
    about: str
    members: tuple[Member, ...]


def enumerations(definitions: Definitions) -> list[EnumClass]:
    return [_enum_class(one) for one in definitions.enumerations if one.members]


def _enum_class(one: Enumeration) -> EnumClass:
    base = "StringEnum" if one.is_text else "Special" if one.is_special else "IntegerEnum"
    source = f" Source: {one.source}." if one.source else ""
    about = f"{one.about or one.name}{source}"
    return EnumClass(one.name, base, about, tuple(sorted(one.members, key=lambda member: member.value)))


def abouts(definitions: Definitions) -> list[tuple[str, Sequence[Member | ErrorCode]]]:
    found = [(one.name, one.members) for one in definitions.enumerations if one.members]
    return [(ERROR_CODE, error_codes(definitions)), *found]


def record_types(definitions: Definitions) -> list[RecordTypeEntry]:
    """Return the record types of coordinators (key and value) and metadata (value only), by folder and number."""
    found: dict[tuple[str, int], dict[str, str]] = {}
    for message in definitions.messages:
        if message.is_removed or message.api_key is None:
            continue
        if message.kind in (COORDINATOR_KEY, COORDINATOR_VALUE, METADATA):
            halves = found.setdefault((definitions.folders[message.name], message.api_key), {})
            halves[message.kind] = message.name
    return [
        RecordTypeEntry(
            family, number, halves.get(COORDINATOR_KEY), halves.get(COORDINATOR_VALUE, halves.get(METADATA))
        )
        for (family, number), halves in sorted(found.items())
    ]


def logs(definitions: Definitions) -> list[tuple[str, str]]:
    """Return the topics in ``[internal-topics.logs]``, each with the folder of its record definitions (empty: the top)."""
    return [(topic, "" if folder == HERE else folder) for topic, folder in sorted(definitions.settings.logs.items())]


def entity_types(definitions: Definitions) -> list[tuple[str, list[tuple[str, str, tuple[str, ...]]]]]:
    """Return the fields with entity types by message, as struct, field and types."""
    found = []
    for plan in sorted(definitions.plans, key=lambda each: each.name):
        descriptor = json.loads(plan.descriptor)
        structs = {**descriptor.get("structs", {}), plan.name: descriptor["fields"]}
        if named := entity_fields(plan.name, structs, definitions.entities):
            found.append((plan.name, sorted((*key, each.entities) for key, each in named.items())))
    return found
