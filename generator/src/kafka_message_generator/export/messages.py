"""Messages as JSON: definition, structs, fields and layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping

from kafka_message_generator.definitions import Definitions
from kafka_message_generator.export.layouts import Json, Object, layouts
from kafka_message_generator.plan.model import MessagePlan, StructPlan
from kafka_message_generator.rules.entities import EntityField, entity_fields
from kafka_message_generator.rules.headers import header_versions
from kafka_message_generator.rules.names import snake_case
from kafka_message_generator.runtime.schema.contents import FETCHED, REQUESTS, VERSIONED
from kafka_message_generator.spec.model import INTEGERS, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.versions import Versions

_SAFE = (1 << 53) - 1
"""Largest integer written as a JSON number instead of a string."""
_PROPERTIES = ("versions", "nullableVersions", "tag", "taggedVersions", "optional", "flexibleVersions")
_MARKS = ("ignorable", "mapKey", "enumeration", "about")


def messages(definitions: Definitions) -> list[Json]:
    """Return every message that has versions, sorted by name."""
    known = {message.name: message for message in definitions.messages}
    plans = sorted(definitions.plans, key=lambda plan: plan.name)
    return [_message(plan, known[plan.name], definitions) for plan in plans]


def _message(plan: MessagePlan, message: Message, definitions: Definitions) -> Json:
    found: Object = {"name": plan.name, "kind": plan.kind}
    if plan.api_key is not None:
        found["apiKey"] = plan.api_key
    found["versions"] = list(plan.valid)
    if flexible := list(plan.flexible.intersect(plan.valid)):
        found["flexibleVersions"] = flexible
    if message.supported is not None and message.supported != plan.valid:
        found["supportedVersions"] = list(message.supported)
    if deprecated := list(message.deprecated.intersect(plan.valid)):
        found["deprecatedVersions"] = deprecated
    if message.latest_version_unstable:
        found["latestVersionUnstable"] = True
    if message.listeners:
        found["listeners"] = list(message.listeners)
    if plan.kind in (REQUEST, RESPONSE):
        found["headerVersions"] = headers(message, plan.valid)
    if folder := definitions.folders[plan.name]:
        found["folder"] = folder
    if plan.about:
        found["about"] = plan.about
    found.update(_secrets(plan.name, definitions))
    found.update(_contents(plan.name, {each.name for each in definitions.plans}))
    descriptor = json.loads(plan.descriptor)
    defined = {**descriptor.get("structs", {}), plan.name: descriptor["fields"]}
    common = {struct.name for struct in message.common_structs}
    named = entity_fields(plan.name, defined, definitions.entities)
    found["structs"] = [
        _struct(each, defined[each.name], each.name in common, named, definitions) for each in reversed(plan.structs)
    ]
    return found


def headers(message: Message, valid: Versions) -> list[Json]:
    """Return the header version for each of the message versions ``valid``."""
    starts = header_versions(message)
    return [next(header for first, header in reversed(starts) if first <= version) for version in valid]


def _secrets(name: str, definitions: Definitions) -> Object:
    fields: list[Json] = [each.path for each in definitions.secrets.fields if each.message == name]
    settings: list[Json] = [
        {"name": each.name, "value": each.value}
        | ({} if each.resource_type is None else {"resourceType": each.resource_type})
        for each in definitions.secrets.settings
        if each.message == name
    ]
    return {key: value for key, value in (("secretFields", fields), ("secretSettings", settings)) if value}


def _contents(name: str, known: set[str]) -> Object:
    versioned = ((path, held) for (owner, path), held in VERSIONED.items() if owner == name and held in known)
    contents: list[Json] = [{"field": path, "message": held} for path, held in versioned]
    contents += [{"field": path, "request": True} for owner, path in sorted(REQUESTS) if owner == name]
    found: Object = {"contents": contents} if contents else {}
    if name in FETCHED:
        found["fetchedRecords"] = FETCHED[name].paths()
    return found


def _struct(
    plan: StructPlan,
    fields: list[Mapping[str, Json]],
    is_common: bool,
    named: Mapping[tuple[str, str], EntityField],
    definitions: Definitions,
) -> Json:
    found: Object = {"name": plan.name}
    if is_common:
        found["common"] = True
    if plan.about and not plan.is_message:
        found["about"] = plan.about
    names = {str(each["name"]): str(each["json"]) for each in fields}
    kinds = {str(each["name"]): str(each["type"]) for each in fields}
    found["fields"] = [
        _field(each) | _entity(named.get((plan.name, str(each["name"]))), names, definitions) for each in fields
    ]
    found["layouts"] = layouts(plan, names, kinds)
    return found


def _field(field: Mapping[str, Json]) -> Object:
    name = str(field["json"])
    found: Object = {"name": name}
    if snake_case(name) != field["name"]:
        found["snakeName"] = field["name"]
    found["type"] = field["type"]
    found.update({key: field[key] for key in _PROPERTIES if key in field})
    found["default"] = _default(field)
    found.update({key: field[key] for key in _MARKS if key in field})
    return found


def _entity(named: EntityField | None, names: Mapping[str, str], definitions: Definitions) -> Object:
    if named is None:
        return {}
    found: Object = {}
    if named.entity:
        found["entityType"] = named.entity
    elif named.request:
        request = next(plan for plan in definitions.plans if plan.name == named.request)
        keys = {each["name"]: each["json"] for each in json.loads(request.descriptor)["fields"]}
        found["entityTypes"] = {"byRequest": keys[named.by], "values": _by_code(named)}
    else:
        found["entityTypes"] = {"by": names[named.by], "values": _by_code(named)}
    return found | ({"wildcard": named.wildcard} if named.wildcard else {})


def _by_code(named: EntityField) -> dict[str, str]:
    return {str(code): entity for code, entity in named.types}


def _default(field: Mapping[str, Json]) -> Json:
    kind = str(field["type"])
    if "default" in field:
        default = field["default"]
        is_big = isinstance(default, int) and abs(default) > _SAFE
        return str(default) if is_big else default
    if kind.startswith("[]"):
        return []
    return {} if kind[0].isupper() else _OWN[kind]


_OWN: Mapping[str, Json] = {
    **dict.fromkeys(INTEGERS, 0),
    **dict.fromkeys(("string", "bytes", "records"), ""),
    "bool": False,
    "float64": 0.0,
    "uuid": "A" * 22,
}
