"""Merging of older releases into the messages of the newest release."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from kafka_message_generator import rules
from kafka_message_generator.compat import store
from kafka_message_generator.compat.compare import difference
from kafka_message_generator.compat.definition_sets import (
    Baseline,
    DefinitionSet,
    Released,
    baseline,
    members_of,
    release_sets,
    set_of_files,
    successor,
)
from kafka_message_generator.compat.renames import renamed
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.compat.witness import Witness, witness
from kafka_message_generator.merging.union import MergeError, union
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import COORDINATOR_KEY, COORDINATOR_VALUE, Field, Message
from kafka_message_generator.spec.source import Location, Problems, SpecError
from kafka_message_generator.spec.versions import NONE, Versions

Files = Callable[[Path], Sequence[Path]]
_FIRST = Versions(0, 0)


def with_folders(
    messages: list[Message],
    folders: Sequence[tuple[Path, Location]],
    files_of: Files,
    problems: Problems,
    names: dict[str, str],
) -> list[Message]:
    """Add the versions in other folders to the messages, and the files of added messages to ``names``.

    Each location is the setting or option that names the folder.
    """
    for folder, place in folders:
        try:
            older = _baseline(Path(os.path.normpath(folder)), files_of)
        except store.HistoryError as error:
            problems.error(place, str(error))
            continue
        except SpecError as error:
            problems.found += error.problems
            continue
        before = len(messages)
        messages = with_older(messages, older, problems)
        for message in messages[before:]:
            released = older.versions[message.name]
            below = released[max(released)].source.folders[message.name]
            names[message.location.file] = f"{below}/{message.name}.json".removeprefix("/")
    return messages


def _baseline(folder: Path, files_of: Files) -> Baseline:
    if (folder / store.TABLE).exists():
        return baseline("older releases", list(release_sets(folder)))
    if not folder.exists():
        raise store.HistoryError(f"{folder.as_posix()}: folder or definition not found")
    return baseline(folder.as_posix(), [set_of_files(folder, files_of(folder))])


def with_older(messages: list[Message], older: Baseline, problems: Problems) -> list[Message]:
    """Add the versions of older releases to the messages, and append the messages that only older releases have.

    Clients do not negotiate added versions. Conflicts, such as different layouts, are added to ``problems``.
    """
    merged = [_merge(message, older, problems) for message in messages]
    return [*merged, *_with_record_types(list(_removed(messages, older, problems)), messages)]


def _removed(messages: list[Message], older: Baseline, problems: Problems) -> Iterator[Message]:
    today = {message.name: message for message in messages}
    keys: dict[tuple[str, int | None], Message] = {
        (message.kind, message.api_key): message for message in messages if message.api_key is not None
    }
    for name, versions in older.versions.items():
        if name in today:
            continue
        last = versions[max(versions)].source.messages[name]
        if (same_key := keys.get((last.kind, last.api_key))) is not None:
            _prove_covered(same_key, name, older, problems)
        elif successor(name, older, today, lambda new: _plan(today[new])) is None:
            yield replace(last, supported=NONE)


def _with_record_types(older: list[Message], today: Iterable[Message]) -> list[Message]:
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


def _prove_covered(message: Message, name: str, older: Baseline, problems: Problems) -> None:
    own = older.versions.get(message.name, {})
    try:
        for version, each in older.versions[name].items():
            if version not in own and version not in message.valid:
                raise MergeError(
                    f"both have the same API key, but {message.name} has no version {version}; use one name"
                )
            if version not in own:
                _prove(_plan(message), each, version)
    except MergeError as error:
        _report(message, name, older, error, problems)


def _report(message: Message, name: str, older: Baseline, error: MergeError, problems: Problems) -> None:
    here = "this" if name == message.name else message.name
    problems.error(message.location, f"{name} of {older.name} cannot be combined with {here}: {error}")


def _merge(message: Message, older: Baseline, problems: Problems) -> Message:
    released = older.versions.get(message.name, {})
    try:
        for each in released.values():
            _prove_same(message, each.source.messages[message.name])
        if not released or message.kind == COORDINATOR_KEY:  # up to Kafka 4.0, the version of a key was its record type
            return message
        result = _unite(message, released)
    except MergeError as error:
        _report(message, message.name, older, error, problems)
        return message
    return result if result is message else replace(result, supported=message.supported or message.valid)


def _prove_same(message: Message, former: Message) -> None:
    if (message.kind, message.api_key) == (former.kind, former.api_key):
        return
    is_value = message.kind == COORDINATOR_VALUE
    is_key = message.kind == COORDINATOR_KEY and message.api_key is not None and message.api_key in former.valid
    if former.kind != "data" or not (is_value or is_key):  # records of coordinators were of type data up to Kafka 4.0
        raise MergeError(f"it is {_identity(message)} in one release and {_identity(former)} in the other")


def _identity(message: Message) -> str:
    return message.kind if message.api_key is None else f"{message.kind} with apiKey {message.api_key}"


def _unite(message: Message, released: dict[int, Released]) -> Message:
    extra = {version: each for version, each in released.items() if version not in message.valid}
    result = message
    for definition_set in _definition_sets(extra):
        former = definition_set.messages[message.name]
        names = {}
        if not result.is_removed:
            paths = (
                {path for path, _ in found} for found in (definition_set.members(message.name), members_of(result))
            )
            names = renamed(definition_set.plans[message.name], _plan(result), *paths)
        result = union(result, former, names)
    plan = _plan(result)
    for version, each in released.items():
        _prove(plan, each, version)
    return result


def _definition_sets(extra: dict[int, Released]) -> list[DefinitionSet]:
    found: list[DefinitionSet] = []
    for version in sorted(extra, reverse=True):
        if extra[version].source not in found:
            found.append(extra[version].source)
    return found


def _prove(plan: MessagePlan, released: Released, version: int) -> None:
    before, after = signature_of(released.plan, version), signature_of(plan, version)
    found = None if before == after else difference(before, after) or difference(after, before)
    if found is None:  # equal, or with tagged fields that the other side ignores
        return
    there, here = witness(released.plan, plan, version), witness(plan, released.plan, version)
    details = "".join(
        f"\n    {side}: {_format(each)}"
        for side, each in (
            ("bytes of the older release, read by this one", there),
            ("bytes of this release, read by the older one", here),
        )
        if each is not None
    )
    raise MergeError(
        f"version {version} of {released.source.name} differs ({found.reason}): one has {found.wrote}, "
        f"the other {found.reads}{details}"
    )


def _format(found: Witness) -> str:
    return f"{found.outcome}: {found.detail}: {found.data.hex(' ')}"


def _plan(message: Message) -> MessagePlan:
    problems = Problems()
    checked = rules.check_alone(message, problems)
    if problems.errors:
        raise MergeError("; ".join(problem.message for problem in problems.errors))
    return builder.build(checked, message.name)
