"""Releases that added and removed each message, version and field, computed from the history."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline, members_of, successor
from kafka_message_generator.compat.signatures import labels, signature_of
from kafka_message_generator.plan.model import MessagePlan
from kafka_message_generator.spec.model import COORDINATOR_KEY, REQUEST, RESPONSE, Message
from kafka_message_generator.spec.versions import NONE, Versions

Key = tuple[str, int] | str
"""Identity of a message across renames: kind and API key, or the name."""
Today = Mapping[str, tuple[Message, MessagePlan]]
"""Current messages with their plans, by name."""


@dataclass(frozen=True)
class ReleaseRange:
    """The versions of a message from the release with index ``release`` until its next range."""

    release: int
    versions: Versions
    """Stable versions; empty if the message was removed."""
    listeners: tuple[str, ...] = ()
    """Listeners that serve a request; empty for releases before 2.8."""


@dataclass(frozen=True)
class Availability:
    releases: tuple[str, ...]
    runs: dict[str, tuple[ReleaseRange, ...]] = field(default_factory=dict)
    late: dict[str, dict[str, int]] = field(default_factory=dict)
    """Index of the first release with each field that was added to a released version, by message and path."""
    older: Mapping[str, Versions] = field(default_factory=dict)
    """Versions that Kafka supported before a definition file described them."""
    unstable: dict[str, dict[int, int]] = field(default_factory=dict)
    """Index of the first release that defined each version as unstable before any had it as stable, by message.

    For the first stable versions of a message, it is the first release with any unstable version of the message.
    """

    def is_older(self, message: str, versions: Iterable[int], since: int | None) -> bool:
        """Return whether Kafka supported one of the versions before ``since``, the first release with its definition."""
        older = self.older.get(message, NONE)
        return any(version in older and self.first(message, version) == since for version in versions)

    def first(self, message: str, version: int) -> int | None:
        return next((run.release for run in self.runs.get(message, ()) if version in run.versions), None)

    def gaps(self, message: str, version: int) -> tuple[int, ...]:
        """Return the indexes of the releases that lack a version between two releases that have it."""
        runs = self.runs.get(message, ())
        numbers = range(len(self.releases))
        has = [
            next((version in run.versions for run in reversed(runs) if run.release <= each), False) for each in numbers
        ]
        there = [number for number in numbers if has[number]]
        return tuple(number for number in range(there[0], there[-1]) if not has[number]) if there else ()

    def field(self, message: str, path: str, versions: Iterable[int]) -> tuple[int | None, int | None]:
        """Return the indexes of the release that added a field and of the one that removed its last version, or None.

        The path uses Kafka's names, ``Topics[].Partitions[].LeaderId``, or Python's.
        """
        known = [version for version in versions if self.first(message, version) is not None]
        first = min((number for each in known if (number := self.first(message, each)) is not None), default=None)
        gone = [number for each in known if (number := self.until(message, each)) is not None]
        late = (number for each, number in self.late.get(message, {}).items() if place(each) == place(path))
        since = None if first is None else max(first, next(late, 0))
        return since, max(gone) if gone and len(gone) == len(known) else None

    def until(self, message: str, version: int) -> int | None:
        """Return the index of the release that removed a version for good, or None."""
        found = None
        for run in self.runs.get(message, ()):
            if version in run.versions:
                found = None
            elif found is None and self.first(message, version) is not None:
                found = run.release
        return found


def availability(
    sets: Sequence[DefinitionSet], today: Today, older: Mapping[str, Versions] | None = None
) -> Availability:
    releases = tuple(definition_set.name.removeprefix("Kafka ") for definition_set in sets)
    found = Availability(releases, older=older or {})
    names = names_of(sets, today)
    former: dict[str, list[tuple[int, DefinitionSet, str]]] = {}
    for number, definition_set in enumerate(sets):
        for name in definition_set.messages:
            if (now := names.get(name)) is not None:
                former.setdefault(now, []).append((number, definition_set, name))
    for now, places in sorted(former.items()):
        found.runs[now] = tuple(_runs(today[now][0], places, len(sets)))
        if late := _late(found, now, *today[now], places):
            found.late[now] = late
        if unstable := dict(_unstable(found, now, places)):
            found.unstable[now] = unstable
    return found


def place(path: str) -> str:
    """Normalize a field path, so that the paths of a field in Kafka's names and in Python's are equal."""
    return path.replace("[]", "").replace("_", "").lower()


def _key(message: Message) -> Key:
    if message.kind in (REQUEST, RESPONSE) and message.api_key is not None:
        return message.kind, message.api_key
    return message.name


def names_of(sets: Sequence[DefinitionSet], today: Today) -> dict[str, str]:
    """Map the message names of any release to the current names, without removed messages."""
    keys = {_key(message): name for name, (message, _) in today.items()}
    messages = {name: message for name, (message, _) in today.items()}
    older = baseline("", sets)
    found = {}
    for definition_set in sets:
        for name, message in definition_set.messages.items():
            now = keys.get(_key(message))
            if now is not None or name in today:
                found[name] = now or name
    for name in older.versions.keys() - found.keys():
        if (now := successor(name, older, messages, lambda new: today[new][1])) is not None:
            found[name] = now
    return found


def _runs(today: Message, places: list[tuple[int, DefinitionSet, str]], count: int) -> Iterable[ReleaseRange]:
    by_number = {number: (definition_set, name) for number, definition_set, name in places}
    before = ReleaseRange(-1, NONE)
    for number in range(count):
        now = ReleaseRange(number, NONE)
        if number in by_number:
            definition_set, name = by_number[number]
            message, unstable = definition_set.messages[name], definition_set.unstable(name)
            # Up to Kafka 4.0, the version of a record key was its record type.
            valid = today.valid if today.kind == COORDINATOR_KEY else message.valid
            if unstable is not None and not valid.empty:
                valid = Versions(valid.lowest, valid.highest - 1)
            now = ReleaseRange(number, NONE if valid.empty else valid, message.listeners)
        if (now.versions, now.listeners) != (before.versions, before.listeners):
            yield now
            before = now


def _unstable(
    found: Availability, name: str, places: list[tuple[int, DefinitionSet, str]]
) -> Iterable[tuple[int, int]]:
    begins = next((run.versions for run in found.runs[name] if not run.versions.empty), NONE)
    for number, definition_set, former in reversed(places):  # the first release is the last to be set
        unstable = definition_set.unstable(former)
        for version in (unstable, *begins) if unstable is not None and unstable >= 0 else ():
            if (first := found.first(name, version)) is None or number < first:
                yield version, number


def _late(
    found: Availability, name: str, message: Message, plan: MessagePlan, places: list[tuple[int, DefinitionSet, str]]
) -> dict[str, int]:
    wanted: dict[int, list[str]] = {}
    for path, member in members_of(message):
        versions = member.versions.intersect(message.valid)
        if not versions.empty:
            wanted.setdefault(versions.lowest, []).append(path)
    known: dict[str, int] = {}
    seen: set[int] = set()
    for number, definition_set, former in places:
        before = definition_set.plans.get(former)
        if before is not None and id(before) not in seen:
            seen.add(id(before))
            for version, paths in wanted.items():
                # Up to Kafka 4.0, the version of a record key was its record type.
                then = before.valid.highest if message.kind == COORDINATOR_KEY else version
                if then in before.valid and not known.keys() >= set(paths):
                    for path in _present((before, then), (plan, version), paths):
                        known.setdefault(path, number)
    return {
        path: known[path]
        for version, paths in wanted.items()
        for path in paths
        if (first := found.first(name, version)) is not None and known.get(path, 0) > first
    }


def _present(before: tuple[MessagePlan, int], now: tuple[MessagePlan, int], paths: list[str]) -> Iterable[str]:
    former = signature_of(*before)
    if former == signature_of(*now):
        return paths
    had = set(labels(former))
    return [path for path in paths if path in had]
