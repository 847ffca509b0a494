"""Rules about declarations that do not change bytes."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.findings import CompatFinding
from kafka_message_generator.compat.renames import last, path_now, renames
from kafka_message_generator.compat.signatures import labels, signature_of
from kafka_message_generator.plan.model import FieldPlan, ranges
from kafka_message_generator.rules.defaults import Empty, default_of
from kafka_message_generator.rules.names import camel_case, snake_case
from kafka_message_generator.runtime._core.formatting import formatted
from kafka_message_generator.spec.model import Field, Message

_JSON = {"bool": "a boolean", "string": "a string", "uuid": "a string", "bytes": "a string", "records": "a string"}
_PYTHON = {"bool": "bool", "string": "str", "uuid": "UUID", "float64": "float", "bytes": "bytes", "records": "bytes"}


def declared_findings(old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    newest = old.newest
    keys = {(message.kind, message.api_key) for message in new.messages.values() if message.api_key is not None}
    for name in sorted(newest.plans):
        if name not in new.plans:
            if name not in new.messages and (newest.messages[name].kind, newest.messages[name].api_key) in keys:
                continue  # renamed, or its API key is reused; a wire rule reports it
            yield _removed(name, newest, new)
            continue
        yield from _versions(name, old, new)
        moves = renames(name, newest, new)
        for before, after in moves.items():
            yield from _rename(name, before, after, newest, new)
        yield from _fields(name, moves, newest, new)
    yield from _listeners(newest, new)


def _removed(name: str, newest: DefinitionSet, new: DefinitionSet) -> CompatFinding:
    place = new if name in new.messages else newest
    valid = str(newest.plans[name].valid)
    what = f"{name}, versions {valid}, was removed"
    return CompatFinding(
        "MESSAGE_REMOVED", name, "", (), what, "keep it", place.location(name), valid, "none", newest.name
    )


def _versions(name: str, old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    newest, message = old.newest, new.messages[name]
    released = [version for version in newest.plans[name].valid if version != newest.unstable(name)]
    before, after = ranges(released), str(message.valid)
    place = message.at("validVersions")
    dropped = tuple(version for version in released if version not in message.valid)
    if dropped:
        what = f"versions {ranges(dropped)} were removed"
        yield CompatFinding("VERSION_DROPPED", name, "", dropped, what, "keep them", place, before, after, newest.name)
    if released and message.valid.lowest > released[-1] + 1:
        what = f"versions start at {message.valid.lowest}; the last released version is {released[-1]}"
        remedy = f"continue with {released[-1] + 1}"
        yield CompatFinding("VERSION_SKIPPED", name, "", (), what, remedy, place, before, after, newest.name)
    unstable = newest.unstable(name)
    if unstable is not None and unstable in message.valid and new.unstable(name) != unstable:
        what = f"version {unstable} can no longer change"
        yield CompatFinding(
            "UNSTABLE_RELEASED", name, "", (unstable,), what, "no action needed", place, since=newest.name
        )
    yield from _empty_versions(name, old, new)


def _empty_versions(name: str, old: Baseline, new: DefinitionSet) -> Iterator[CompatFinding]:
    plan, released = new.plans[name], old.versions.get(name, {})
    for version in plan.valid:
        if version in released or version - 1 not in plan.valid:
            continue
        before, after = signature_of(plan, version - 1), signature_of(plan, version)
        if before == after and list(labels(before)) == list(labels(after)):
            what = f"version {version} has the layout of version {version - 1}"
            place = new.messages[name].at("validVersions")
            yield CompatFinding(
                "VERSION_WITHOUT_CHANGE", name, "", (version,), what, "no action needed", place, since=old.newest.name
            )


def _rename(name: str, before: str, after: str, newest: DefinitionSet, new: DefinitionSet) -> Iterator[CompatFinding]:
    place = new.location(name, after)
    for rule, called in (("JSON_NAME_CHANGED", camel_case), ("FIELD_RENAMED", snake_case)):
        one, two = called(last(before)), called(last(after))
        if one != two:
            what = f"{one} was renamed to {two}"
            yield CompatFinding(rule, name, after, (), what, "keep the name", place, one, two, newest.name)


def _fields(name: str, moves: dict[str, str], newest: DefinitionSet, new: DefinitionSet) -> Iterator[CompatFinding]:
    now, gone = dict(new.members(name)), set[str]()
    for path, before in newest.members(name):
        at = path_now(path, moves)
        if at in now:
            yield from _changes(name, (path, before), (at, now[at]), newest, new)
            continue
        if _holder(path) not in gone:
            called = snake_case(before.name)
            place = new.location(name)
            yield CompatFinding(
                "FIELD_GONE", name, path, (), f"{called} was removed", "keep it", place, called, "", newest.name
            )
        gone.add(path)


def _changes(
    name: str, former: tuple[str, Field], now: tuple[str, Field], newest: DefinitionSet, new: DefinitionSet
) -> Iterator[CompatFinding]:
    (path, _), (at, after) = former, now
    for rule, was, is_, what in _properties(name, former, now, newest, new):
        if was == is_ or (rule == "IGNORABLE_CHANGED" and not _is_lacked(name, at, new)):
            continue
        words = f"{what} was {was}, is {is_}"
        yield CompatFinding(rule, name, path, (), words, "keep it", after.location, was, is_, newest.name)


def _is_lacked(name: str, path: str, new: DefinitionSet) -> bool:
    held, fields = new.messages[name].valid, dict(new.members(name))
    holder = _holder(path)
    while holder:
        held = held.intersect(fields[holder].versions)
        holder = _holder(holder)
    return not fields[path].versions.covers(held)


def _holder(path: str) -> str:
    return path.rpartition(".")[0].removesuffix("[]")


def _properties(
    name: str, former: tuple[str, Field], now: tuple[str, Field], newest: DefinitionSet, new: DefinitionSet
) -> Iterator[tuple[str, str, str, str]]:
    (path, before), (at, after) = former, now
    yield "DEFAULT_CHANGED", _default(before), _default(after), "the default"
    yield "IGNORABLE_CHANGED", str(before.ignorable).lower(), str(after.ignorable).lower(), "ignorable"
    yield "JSON_TYPE_CHANGED", _json(before), _json(after), "the value in JSON"
    one, two = _plan_of(newest, name, path), _plan_of(new, name, at)
    yield "PYTHON_TYPE_CHANGED", _python(one, before), _python(two, after), "the type"
    if before.type.is_struct and after.type.is_struct:
        yield "CLASS_MOVED", before.type.name, after.type.name, "the class"
    yield "COLLECTION_CHANGED", _keys(newest, name, before), _keys(new, name, after), "the key"
    yield "ENTITY_TYPE_CHANGED", before.entity_type, after.entity_type, "the entity type"


def _default(member: Field) -> str:
    value = default_of(member)
    return str(value.value) if isinstance(value, Empty) else formatted(value)


def _json(member: Field) -> str:
    each = "an object" if member.type.is_struct else _JSON.get(member.type.name, "a number")
    return f"an array, each {each}" if member.type.is_array else each


def _plan_of(definition_set: DefinitionSet, name: str, path: str) -> FieldPlan | None:
    plan, found = definition_set.plans[name], None
    struct = plan.body
    for part in path.split("."):
        own = part.removesuffix("[]")
        found = next((each for each in struct.fields if each.definition_name == own), None)
        if found is None:
            return None
        if found.is_struct:
            struct = plan.struct(found.type)
    return found


def _python(plan: FieldPlan | None, member: Field) -> str:
    kind = "struct" if member.type.is_struct else _PYTHON.get(member.type.name, "int")
    text = f"list[{kind}]" if member.type.is_array else kind
    return f"{text} | None" if plan is not None and plan.nullable else text


def _keys(definition_set: DefinitionSet, name: str, member: Field) -> str:
    if not (member.type.is_struct and member.type.is_array):
        return "none"
    struct = next((each for each in definition_set.plans[name].structs if each.name == member.type.name), None)
    keys = [] if struct is None else [key.name for key in struct.keys]
    return ", ".join(keys) or "none"


def _listeners(newest: DefinitionSet, new: DefinitionSet) -> Iterator[CompatFinding]:
    for name, message in sorted(newest.messages.items()):
        now: Message | None = new.messages.get(name)
        gone = set(message.listeners) - set(now.listeners if now is not None else message.listeners)
        if now is not None and gone and not now.is_removed:
            what = f"{', '.join(sorted(gone))} no longer accepts the request"
            before, after = ", ".join(message.listeners), ", ".join(now.listeners)
            place = now.at("listeners")
            yield CompatFinding("LISTENER_REMOVED", name, "", (), what, "keep it", place, before, after, newest.name)
