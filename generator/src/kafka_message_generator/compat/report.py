"""Comparison of definitions: applies every rule, merges equal findings, counts message versions."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafka_message_generator.compat.declared import declared_findings
from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.findings import ADVICE, LEVELS, CompatFinding
from kafka_message_generator.compat.tags import tag_findings
from kafka_message_generator.compat.wire import header_findings, key_findings, verdicts


@dataclass(frozen=True)
class Counts:
    equal: int
    compatible: int
    """Number of versions that differ only in tagged fields which the other side ignores."""
    changed: int
    unreleased: int
    """Number of versions of the new definitions that no release has."""
    dropped: int
    """Number of stable versions of the newest old definitions that the new ones lack."""

    @property
    def compared(self) -> int:
        return self.equal + self.compatible + self.changed


@dataclass(frozen=True)
class CompatReport:
    """The result of a comparison; ``findings`` are sorted by level, then by message."""

    old: str
    new: str
    counts: Counts
    findings: tuple[CompatFinding, ...]

    @property
    def is_compared(self) -> bool:
        """Whether both definition sets share a released version, possibly under another name."""
        return bool(self.counts.compared) or any(finding.rule == "MESSAGE_RENAMED" for finding in self.findings)

    def at(self, level: str) -> list[CompatFinding]:
        most = LEVELS.index(level)
        return [finding for finding in self.findings if LEVELS.index(finding.level) <= most]

    def counting(self, level: str) -> list[CompatFinding]:
        """Return the findings that count at a level: those of this level and of the levels before it, without advice."""
        return [finding for finding in self.at(level) if finding.level != ADVICE]


def compare(old: Baseline, new: DefinitionSet) -> CompatReport:
    found = list(verdicts(old, new))
    states = Counter(verdict.state for verdict in found)
    findings = [finding for verdict in found for finding in verdict.findings]
    for more in (header_findings, key_findings, tag_findings, declared_findings):
        findings += more(old, new)
    counts = Counts(
        states["equal"],
        states["compatible"],
        states["changed"],
        sum(len([v for v in plan.valid if v not in old.versions.get(name, {})]) for name, plan in new.plans.items()),
        sum(_dropped(name, old, new) for name in old.newest.plans),
    )
    return CompatReport(old.name, new.name, counts, tuple(sorted(_joined(findings), key=_order)))


def _dropped(name: str, old: Baseline, new: DefinitionSet) -> int:
    left = new.plans[name].valid if name in new.plans else ()
    unstable = old.newest.unstable(name)
    return sum(version not in left and version != unstable for version in old.newest.plans[name].valid)


def _order(finding: CompatFinding) -> tuple[int, str, tuple[int, ...], str, str]:
    return LEVELS.index(finding.level), finding.message, finding.versions, finding.path, finding.rule


def _joined(findings: Iterable[CompatFinding]) -> list[CompatFinding]:
    groups: dict[tuple[str, ...], list[CompatFinding]] = {}
    for each in findings:
        sides = [f"{side.path}: {side.what}" for side in (each.new_reads_old, each.old_reads_new) if side is not None]
        key = (each.rule, each.message, each.path, each.reason, each.what, each.since, *sides)
        groups.setdefault(key, []).append(each)
    return [_merged(group) if len(group) > 1 else group[0] for group in groups.values()]


def _merged(group: list[CompatFinding]) -> CompatFinding:
    versions = tuple(sorted({version for each in group for version in each.versions}))
    before, after = (_together([getattr(each, side) for each in group]) for side in ("before", "after"))
    return replace(group[0], versions=versions, before=before, after=after)


def _together(digests: list[str]) -> str:
    distinct = list(dict.fromkeys(digests))
    if len(distinct) == 1:
        return distinct[0]
    return hashlib.sha256(" ".join(distinct).encode()).hexdigest()[:16]
