"""Sets of definitions to compare: a release, a folder, or every released version."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kafka_message_generator import rules
from kafka_message_generator.compat import store
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.plan import builder
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec import reader, source
from kafka_message_generator.spec.model import RESPONSE, Field, Message
from kafka_message_generator.spec.source import Location, Problems, SpecError


@dataclass(frozen=True)
class DefinitionSet:
    """Valid definitions by message name; reports show ``name``."""

    name: str
    messages: dict[str, Message]
    """All messages, including removed APIs."""
    plans: dict[str, MessagePlan]
    folders: dict[str, str] = field(default_factory=dict)
    unpacked: str = ""
    """Temporary folder of the definitions; stripped from reported paths."""

    def unstable(self, name: str) -> int | None:
        """Return the unstable version of a message, or None. For a response, its request decides."""
        message = self.messages[name]
        if message.kind == RESPONSE:
            request = self.messages.get(f"{name.removesuffix('Response')}Request")
            unstable = request is not None and request.latest_version_unstable
            return message.valid.highest if unstable else None
        return message.valid.highest if message.latest_version_unstable else None

    def members(self, name: str) -> Iterator[tuple[str, Field]]:
        return members_of(self.messages[name])

    def location(self, name: str, path: str = "") -> Location:
        message = self.messages[name]
        found = next((member for at, member in self.members(name) if at == path), None) if path else None
        return message.location if found is None else found.location


def members_of(message: Message) -> Iterator[tuple[str, Field]]:
    """Yield the fields of a message with paths such as ``Topics[].Partitions[].Leader``."""
    structs = {struct.name: struct.members for struct in message.common_structs}
    for member in message.all_fields():
        if member.fields or member.optional_fields:
            structs[member.type.name] = member.fields + member.optional_fields
    yield from _members(message.fields + message.optional_fields, structs, "")


def _members(
    fields: tuple[Field, ...], structs: dict[str, tuple[Field, ...]], path: str
) -> Iterator[tuple[str, Field]]:
    for member in fields:
        at = f"{path}.{member.name}" if path else member.name
        yield at, member
        if member.type.is_struct and member.type.name in structs:
            yield from _members(structs[member.type.name], structs, f"{at}[]" if member.type.is_array else at)


@dataclass(frozen=True)
class Released:
    """The last set that has a message version, and the plan of the message in this set."""

    source: DefinitionSet
    plan: MessagePlan


@dataclass(frozen=True)
class Baseline:
    """Released versions: the sets, oldest first, and for each message version the last set that has it."""

    name: str
    sets: tuple[DefinitionSet, ...]
    versions: dict[str, dict[int, Released]] = field(default_factory=dict)

    @property
    def newest(self) -> DefinitionSet:
        return self.sets[-1]


def baseline(name: str, sets: Sequence[DefinitionSet]) -> Baseline:
    """Collect the versions of all sets, which are given oldest first, except unstable versions."""
    versions: dict[str, dict[int, Released]] = {}
    for definition_set in sets:
        for message, plan in definition_set.plans.items():
            unstable = definition_set.unstable(message)
            known = versions.setdefault(message, {})
            known |= {version: Released(definition_set, plan) for version in plan.valid if version != unstable}
    return Baseline(name, tuple(sets), versions)


def release_sets(root: Path) -> Iterator[DefinitionSet]:
    """Yield every release of a history, oldest first. Raises HistoryError and SpecError."""
    for release, found in store.read(root).by_release():
        yield _side(release, found)


def set_of_release(root: Path, release: str) -> DefinitionSet:
    """Return one release of a history. Raises HistoryError and SpecError."""
    return _side(release, store.read(root).definitions(release))


def set_of_files(folder: Path, files: Sequence[Path]) -> DefinitionSet:
    """Return the definitions of a folder, each checked alone. Raises SpecError."""
    root = folder if folder.is_dir() else folder.parent
    definition_set = DefinitionSet(folder.as_posix(), {}, {})
    for path in files:
        message, plan = _load(path, is_released=False)
        definition_set.messages[message.name] = message
        definition_set.folders[message.name] = path.relative_to(root).parent.as_posix().removeprefix(".")
        if plan is not None:
            definition_set.plans[message.name] = plan
    return definition_set


def _side(release: str, found: dict[str, store.StoredDefinition]) -> DefinitionSet:
    loaded = {name: _loaded(definition.path) for name, definition in found.items()}
    messages = {name: message for name, (message, _) in loaded.items()}
    plans = {name: plan for name, (_, plan) in loaded.items() if plan is not None}
    folders = {name: definition.folder for name, definition in found.items()}
    return DefinitionSet(f"Kafka {release}", messages, plans, folders)


@cache
def _loaded(path: Path) -> tuple[Message, MessagePlan | None]:
    return _load(path, is_released=True)


def _load(path: Path, is_released: bool) -> tuple[Message, MessagePlan | None]:
    problems = Problems(is_released=is_released)
    node = source.load(path, path.as_posix(), problems)
    message = reader.read_message(node, problems) if node is not None else None
    if message is None:
        raise SpecError(problems.errors)
    checked = rules.check_alone(message, problems)
    if problems.errors:
        raise SpecError(problems.errors)
    return message, None if message.is_removed else builder.build(checked, path.name)


def successor(
    name: str, older: Baseline, today: Mapping[str, Message], plan_of: Callable[[str], MessagePlan]
) -> str | None:
    """Return the new name of a renamed message without an API key, or None.

    The new name begins with the old one, no release has both, and the layouts are equal.
    """
    versions = older.versions[name]
    if not versions:
        return None
    last = versions[max(versions)].source.messages[name]
    for candidate, message in today.items():
        may_be = last.api_key is None and candidate.startswith(name) and message.kind == last.kind
        if not may_be or any({name, candidate} <= definition_set.messages.keys() for definition_set in older.sets):
            continue
        if all(version in message.valid for version in versions):
            plan = plan_of(candidate)
            if all(
                signature_of(each.plan, version) == signature_of(plan, version) for version, each in versions.items()
            ):
                return candidate
    return None
