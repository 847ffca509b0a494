"""A whole comparison: every rule applied, equal findings of several versions put together, and counted."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafka_message_generator.compat.declared import declared_findings
from kafka_message_generator.compat.definition_sets import Baseline, DefinitionSet
from kafka_message_generator.compat.findings import ADVICE, LEVELS, Finding
from kafka_message_generator.compat.tags import tag_findings
from kafka_message_generator.compat.wire import header_findings, key_findings, verdicts


@dataclass(frozen=True)
class Counts:
    """Message versions by how they stand."""

    equal: int
    """Proved: every byte string means the same."""
    compatible: int
    """Proved but for tagged fields that one side has and the other one keeps unread."""
    changed: int
    unreleased: int
    """Of the new side, and in no release: free to change."""
    dropped: int
    """Released in the newest release, and not there any more."""

    @property
    def compared(self) -> int:
        """Those that both sides have."""
        return self.equal + self.compatible + self.changed


@dataclass(frozen=True)
class Report:
    """What a comparison says. ``findings`` are in the order of levels, then of messages."""

    old: str
    new: str
    counts: Counts
    findings: tuple[Finding, ...]

    @property
    def is_compared(self) -> bool:
        """Whether both sides have a released version in common, be it under another name."""
        return bool(self.counts.compared) or any(finding.rule == "MESSAGE_RENAMED" for finding in self.findings)

    def at(self, level: str) -> list[Finding]:
        """The findings up to a level: its own and those of the levels before it."""
        most = LEVELS.index(level)
        return [finding for finding in self.findings if LEVELS.index(finding.level) <= most]

    def counting(self, level: str) -> list[Finding]:
        """Those of them that count: advice never does."""
        return [finding for finding in self.at(level) if finding.level != ADVICE]


def compare(old: Baseline, new: DefinitionSet) -> Report:
    """Apply every rule to what was released and a new side."""
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
    return Report(old.name, new.name, counts, tuple(sorted(_joined(findings), key=_order)))


def _dropped(name: str, old: Baseline, new: DefinitionSet) -> int:
    left = new.plans[name].valid if name in new.plans else ()
    unstable = old.newest.unstable(name)
    return sum(version not in left and version != unstable for version in old.newest.plans[name].valid)


def _order(finding: Finding) -> tuple[int, str, tuple[int, ...], str, str]:
    return LEVELS.index(finding.level), finding.message, finding.versions, finding.path, finding.rule


def _joined(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for the versions that differ in the same way."""
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for each in findings:
        groups.setdefault((each.rule, each.message, each.path, each.reason, each.what, each.since), []).append(each)
    return [_merged(group) if len(group) > 1 else group[0] for group in groups.values()]


def _merged(group: list[Finding]) -> Finding:
    versions = tuple(sorted({version for each in group for version in each.versions}))
    before, after = (_together([getattr(each, side) for each in group]) for side in ("before", "after"))
    return replace(group[0], versions=versions, before=before, after=after)


def _together(digests: list[str]) -> str:
    distinct = list(dict.fromkeys(digests))
    if len(distinct) == 1:
        return distinct[0]
    return hashlib.sha256(" ".join(distinct).encode()).hexdigest()[:16]
