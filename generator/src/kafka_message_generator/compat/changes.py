"""Changes between consecutive releases: messages, versions, fields, error codes, and layouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kafka_message_generator.compat.availability import Availability, Today, names_of
from kafka_message_generator.compat.compare import Difference, difference
from kafka_message_generator.compat.definition_sets import DefinitionSet
from kafka_message_generator.compat.signatures import signature_of
from kafka_message_generator.compat.store import CodeLifetime
from kafka_message_generator.spec.versions import NONE, Versions

Versioned = dict[str, tuple[int, ...]]


@dataclass(frozen=True)
class Differing:
    """Released versions whose layout differs from the previous release."""

    message: str
    versions: tuple[int, ...]
    difference: Difference


@dataclass(frozen=True)
class Changes:
    """Changes from the previous release; messages have their current names."""

    release: str
    before: str | None
    """The previous release, or None for the first one."""
    brought: Versioned = field(default_factory=dict)
    dropped: Versioned = field(default_factory=dict)
    new: frozenset[str] = frozenset()
    """Messages of ``brought`` that no earlier release had."""
    back: Versioned = field(default_factory=dict)
    """Versions of ``brought`` that an earlier release already had."""
    defined: Versioned = field(default_factory=dict)
    """Versions that this release defines first, but earlier releases supported; not in ``brought``."""
    gone: frozenset[str] = frozenset()
    """Messages of ``dropped`` with no version left."""
    late: dict[str, tuple[str, ...]] = field(default_factory=dict)
    later: dict[str, tuple[str, ...]] = field(default_factory=dict)
    differing: tuple[Differing, ...] = ()
    codes: tuple[str, ...] = ()
    codes_gone: tuple[str, ...] = ()
    codes_renamed: dict[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        codes = (self.codes, self.codes_gone, self.codes_renamed)
        return not any((self.brought, self.defined, self.dropped, self.late, self.differing, *codes))


def changes(
    found: Availability, sets: Sequence[DefinitionSet], today: Today, codes: Mapping[str, CodeLifetime]
) -> list[Changes]:
    names = names_of(sets, today)
    differing = [(), *(tuple(_differing(before, now, names)) for before, now in pairwise(sets))]
    return [_changes(found, number, codes, differing[number]) for number in range(len(sets))]


def _changes(
    found: Availability, number: int, codes: Mapping[str, CodeLifetime], differing: tuple[Differing, ...]
) -> Changes:
    release = found.releases[number]
    brought: Versioned = {}
    dropped: Versioned = {}
    back: Versioned = {}
    defined: Versioned = {}
    new, gone = set(), set()
    for name, runs in found.runs.items():
        before = next((run.versions for run in reversed(runs) if run.release < number), NONE)
        now = next((run.versions for run in reversed(runs) if run.release <= number), NONE)
        more = _without(now, before)
        if number and (known := tuple(each for each in more if found.is_older(name, (each,), number))):
            defined[name] = known
            more = tuple(each for each in more if each not in known)
        if more:
            brought[name] = more
            if again := tuple(version for version in more if (found.first(name, version) or 0) < number):
                back[name] = again
            is_new = name not in defined and all(run.versions.empty for run in runs if run.release < number)
            new |= {name} if is_new else set()
        if less := _without(before, now):
            dropped[name] = less
            gone |= {name} if now.empty else set()
    late = {name: tuple(path for path, by in paths.items() if by == number) for name, paths in found.late.items()}
    later = {name: tuple(path for path, by in paths.items() if by > number) for name, paths in found.late.items()}
    came = sorted(name for name, lifetime in codes.items() if lifetime.first == release)
    went = sorted(name for name, lifetime in codes.items() if lifetime.removed == release)
    renamed = {old: new for old in went for new in came if codes[old].code == codes[new].code}
    return Changes(
        release,
        found.releases[number - 1] if number else None,
        brought,
        dropped,
        frozenset(new),
        back,
        defined,
        frozenset(gone),
        {name: paths for name, paths in late.items() if paths},
        {name: paths for name, paths in later.items() if paths},
        differing,
        tuple(name for name in came if name not in renamed.values()),
        tuple(name for name in went if name not in renamed),
        renamed,
    )


def _without(these: Versions, those: Versions) -> tuple[int, ...]:
    return tuple(version for version in these if version not in those)


def _differing(before: DefinitionSet, now: DefinitionSet, names: Mapping[str, str]) -> Iterator[Differing]:
    for name, plan in before.plans.items():
        other = now.plans.get(name)
        if other is None or other is plan or name not in names:
            continue
        groups: dict[Difference, list[int]] = {}
        for version in plan.valid:
            if version in other.valid and version != before.unstable(name):
                old, new = signature_of(plan, version), signature_of(other, version)
                found = None if old == new else difference(old, new) or difference(new, old)
                if found is not None:
                    groups.setdefault(found, []).append(version)
        yield from (Differing(names[name], tuple(versions), found) for found, versions in groups.items())
