"""The definition as compact data for the generated package: what its schema codec, JSON form and columns read."""

from __future__ import annotations

import base64
import json
import math
import uuid

from kafka_message_generator.rules.defaults import Empty, default_of
from kafka_message_generator.rules.enumerations import EnumerationFields
from kafka_message_generator.rules.names import camel_case, snake_case
from kafka_message_generator.rules.secrets import SecretFields
from kafka_message_generator.spec.model import Field, Message, Struct


def of(message: Message, structs: dict[str, Struct], enumerations: EnumerationFields, secrets: SecretFields) -> str:
    """JSON of a checked message with resolved structs and parsed defaults; ``_facts`` in the runtime reads it."""

    def fields(struct: str, members: tuple[Field, ...]) -> list[dict[str, object]]:
        places = [(struct, snake_case(member.name)) for member in members]
        return [
            _field(member, enumerations.get(place), secrets.get(place, False))
            for member, place in zip(members, places, strict=True)
        ]

    table = {name: fields(name, struct.members) for name, struct in structs.items() if name != message.name}
    facts: dict[str, object] = {
        "name": message.name,
        "type": message.kind,
        "validVersions": str(message.valid),
        "flexibleVersions": str(message.flexible),
        "fields": fields(message.name, message.fields + message.optional_fields),
    }
    if message.tagged_field_format != "sequential":
        facts["taggedFieldFormat"] = message.tagged_field_format
    if not message.with_optional.empty:
        facts["versionsWithOptional"] = str(message.with_optional)
    if table:
        facts["structs"] = table
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=True)


def _field(member: Field, enumeration: str | None, secret: bool | dict[str, object]) -> dict[str, object]:
    facts: dict[str, object] = {
        "name": snake_case(member.name),
        "json": camel_case(member.name),
        "type": str(member.type),
        "versions": str(member.versions),
    }
    if not member.nullable.empty:
        facts["nullableVersions"] = str(member.nullable)
    if member.tag is not None:
        facts["tag"] = member.tag
        facts["taggedVersions"] = str(member.tagged)
    if member.is_optional:
        facts["optional"] = True
    for key, encodings in (("encoding", member.encodings), ("elementEncoding", member.element_encodings)):
        if encodings:
            facts[key] = {str(encoding.versions): encoding.name for encoding in encodings}
    if member.flexible is not None:
        facts["flexibleVersions"] = str(member.flexible)
    if member.entity_type != "unknown":
        facts["entityType"] = member.entity_type
    if enumeration is not None:
        facts["enumeration"] = enumeration
    if secret:
        facts["secret"] = secret
    for key, value in (("ignorable", member.ignorable), ("mapKey", member.map_key)):
        if value:
            facts[key] = True
    facts.update(_default(member))
    if about := " ".join(member.about.split()):
        facts["about"] = about
    return facts


def _default(member: Field) -> dict[str, object]:
    """The default where it is not the type's own: null, or a JSON scalar (uuid as Kafka prints it)."""
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
