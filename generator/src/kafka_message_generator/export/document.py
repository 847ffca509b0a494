"""The document ``protocol.json``: APIs, errors, enumerations, records of logs, and every message."""

from __future__ import annotations

import json

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.export.layouts import Json, Object
from kafka_message_generator.export.messages import headers, messages
from kafka_message_generator.render import tables
from kafka_message_generator.spec.enumerations import OF_PROTOCOL, Enumeration, Member
from kafka_message_generator.spec.error_codes import ErrorCode
from kafka_message_generator.spec.model import METADATA, REQUEST, RESPONSE

METADATA_ID = "A" * 21 + "Q"
"""Topic id of KRaft's metadata log (Kafka's Uuid.METADATA_TOPIC_ID)."""
FORMAT = 1
"""Version of the document format; additions do not change it."""


def document(definitions: Definitions) -> Object:
    found: Object = {"format": FORMAT}
    if definitions.release is not None:
        found["release"] = definitions.release
    found["apis"] = _apis(definitions)
    found["errors"] = [_error(each) for each in sorted(definitions.error_codes, key=lambda each: each.code)]
    found["enumerations"] = _enumerations(definitions)
    found["logs"] = dict(tables.logs(definitions))
    found["recordTypes"] = [_record_type(each) for each in tables.record_types(definitions)]
    for topic, folder in tables.logs(definitions):
        if folder == METADATA:
            found["metadataTopic"] = {"name": topic, "id": METADATA_ID}
    found["openSettings"] = sorted(definitions.open_settings)
    found["messages"] = messages(definitions)
    return found


def text(found: Object) -> str:
    """Format the document as ASCII JSON, one line for each API, error, enumeration and message."""
    lines = [f"{json.dumps(key)}: {_value(value)}" for key, value in found.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _value(value: Json) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(map(_compact, value)) + "\n]"
    return _compact(value)


def _compact(value: Json) -> str:
    return json.dumps(value, separators=(",", ":"))


def _error(error: ErrorCode) -> Object:
    found: Object = {"code": error.code, "name": error.name, "retriable": error.retriable}
    if error.refresh:
        found["refreshMetadata"] = True
    return found | _about(error.about)


def _record_type(record: tables.RecordTypeEntry) -> Object:
    references: Object = {
        name: message for name, message in (("key", record.key), ("value", record.value)) if message is not None
    }
    return {"folder": record.family, "type": record.number, **references}


def _about(text: str) -> Object:
    return {"about": text} if text else {}


def _apis(definitions: Definitions) -> list[Json]:
    by_name = {message.name: message for message in definitions.messages if message.kind in (REQUEST, RESPONSE)}
    found: list[Json] = []
    for api in tables.apis(definitions):
        versions = api.valid
        one: Object = {"key": api.key, "name": api.request.removesuffix("Request"), "versions": list(versions)}
        if api.supported != versions:
            one["supportedVersions"] = list(api.supported)
        if not versions.empty:
            one["request"] = api.request
            one["requestHeaderVersions"] = headers(by_name[api.request], versions)
            if api.response:
                one["response"] = api.response
                one["responseHeaderVersions"] = headers(by_name[api.response], versions)
        if deprecated := list(api.deprecated.intersect(versions)):
            one["deprecatedVersions"] = deprecated
        if api.latest_version_unstable:
            one["latestVersionUnstable"] = True
        found.append(one | {"listeners": list(api.listeners)})
    return found


def _enumerations(definitions: Definitions) -> list[Json]:
    return [_enumeration(one) for one in definitions.enumerations if one.name not in OF_PROTOCOL]


def _enumeration(one: Enumeration) -> Object:
    found: Object = {"name": one.name, **_about(one.about)}
    if one.source:
        found["source"] = one.source
    if one.is_special:
        found["special"] = True
    found["members"] = [_member(each) for each in sorted(one.members, key=lambda member: member.value)]
    return found


def _member(member: Member) -> Object:
    return {"name": member.name, "value": member.value, **_about(member.about)}
