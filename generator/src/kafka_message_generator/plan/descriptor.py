"""The definition of a message as compact JSON for the generated package."""

from __future__ import annotations

import base64
import json
import math
import uuid

from kafka_message_generator.rules.defaults import Empty, default_of
from kafka_message_generator.rules.enumerations import EnumerationFields
from kafka_message_generator.rules.headers import header_versions
from kafka_message_generator.rules.names import camel_case, snake_case
from kafka_message_generator.rules.secrets import SecretFields
from kafka_message_generator.spec.model import REQUEST, RESPONSE, Field, Message, Struct


def lines_of(
    message: Message, structs: dict[str, Struct], enumerations: EnumerationFields, secrets: SecretFields
) -> tuple[str, ...]:
    """Return the JSON of a checked message with resolved structs and parsed defaults, one line for each field.

    The generated class stores it as ``_descriptor``.
    """

    def lines(struct: str, members: tuple[Field, ...]) -> list[str]:
        places = [(struct, snake_case(member.name)) for member in members]
        return [
            _json(_field(member, enumerations.get(place), secrets.get(place, False)))
            for member, place in zip(members, places, strict=True)
        ]

    head: dict[str, object] = {
        "name": message.name,
        "type": message.kind,
        "validVersions": str(message.valid),
        "flexibleVersions": str(message.flexible),
    }
    if message.kind in (REQUEST, RESPONSE):
        head["headerVersions"] = header_versions(message)
    if message.tagged_field_format != "sequential":
        head["taggedFieldFormat"] = message.tagged_field_format
    if not message.with_optional.empty:
        head["versionsWithOptional"] = str(message.with_optional)
    inner = {name: lines(name, struct.members) for name, struct in structs.items() if name != message.name}
    found = [_json(head)[:-1] + ',"fields":[', *_listed(lines(message.name, message.fields + message.optional_fields))]
    before = '],"structs":{'
    for name, fields in inner.items():
        found += [f'{before}"{name}":[', *_listed(fields)]
        before = "],"
    return (*found, "]}}" if inner else "]}")


def _listed(items: list[str]) -> list[str]:
    return [*(f"{item}," for item in items[:-1]), *items[-1:]]


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _field(member: Field, enumeration: str | None, secret: bool | dict[str, object]) -> dict[str, object]:
    descriptor: dict[str, object] = {
        "name": snake_case(member.name),
        "json": camel_case(member.name),
        "type": str(member.type),
        "versions": str(member.versions),
    }
    if not member.nullable.empty:
        descriptor["nullableVersions"] = str(member.nullable)
    if member.tag is not None:
        descriptor["tag"] = member.tag
        descriptor["taggedVersions"] = str(member.tagged)
    if member.is_optional:
        descriptor["optional"] = True
    for key, encodings in (("encoding", member.encodings), ("elementEncoding", member.element_encodings)):
        if encodings:
            descriptor[key] = {str(encoding.versions): encoding.name for encoding in encodings}
    if member.flexible is not None:
        descriptor["flexibleVersions"] = str(member.flexible)
    if member.entity_type != "unknown":
        descriptor["entityType"] = member.entity_type
    if enumeration is not None:
        descriptor["enumeration"] = enumeration
    if secret:
        descriptor["secret"] = secret
    for key, value in (("ignorable", member.ignorable), ("mapKey", member.map_key)):
        if value:
            descriptor[key] = True
    descriptor.update(_default(member))
    if about := " ".join(member.about.split()):
        descriptor["about"] = about
    return descriptor


def _default(member: Field) -> dict[str, object]:
    value = default_of(member)
    if value is None:
        return {"default": None}
    if isinstance(value, Empty) or (not isinstance(value, float) and not value) or repr(value) == "0.0":
        return {}
    if isinstance(value, uuid.UUID):
        return {"default": base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")} if value.int else {}
    if isinstance(value, float) and not math.isfinite(value):
        return {"default": repr(value)}
    return {} if isinstance(value, bytes) else {"default": value}
