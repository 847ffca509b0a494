"""Generators of docs/history.md and docs/impact.md: differences between Kafka releases, and what they broke."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kafka_message_generator.compat.definition_sets import DefinitionSet, baseline, release_sets, set_of_release
from kafka_message_generator.compat.findings import CompatFinding, Direction
from kafka_message_generator.compat.impact import impact
from kafka_message_generator.compat.impact_texts import as_markdown
from kafka_message_generator.compat.report import CompatReport, compare
from kafka_message_generator.spec.model import REQUEST, RESPONSE

_MOST_BYTES = 24
_HEAD = """# What Kafka's releases changed on the wire

This page compares each release of Kafka since 2.2.0 with the previous one, version by version, as [the command
`compat`](compat.md) does. `nox -s upstream -- import-history` generates it from
[specs/history](../specs/history/README.md).

Kafka's guide to message definitions forbids changes of released versions. Requests and responses follow this rule with
few exceptions. Records of internal logs changed while their feature was in preview. `nox -s upstream -- exchange` passes
the bytes below to Kafka's own classes of both releases, which misread them as described.

`RequestHeader` 0 changed in 2.4.0 without an effect on connections. Kafka 2.3 wrote the header with a client id; the
definitions since 2.4 call these bytes version 1. Only ControlledShutdown 0 uses version 0.
"""
_TABLE = """
## Release by release

The column *messages* counts messages, the others message versions. *But for tags* are versions that are equal except for
tagged fields, which the other release skips. Releases without changes are omitted.

| release | messages | proved equal | but for tags | changed | new versions | dropped |
|---|--:|--:|--:|--:|--:|--:|
"""
_CHANGES = """
## What changed

`new ← old` shows how new code reads old bytes, `old ← new` how old code reads new bytes. The bytes are the shortest that
show the difference.
"""
_STEPS = (
    ("2.8.0", "3.0.0", "Records of the metadata log became flexible while KRaft was in preview."),
    ("3.0.0", "3.1.0", "Fetch 13 identifies topics by id."),
    ("4.0.0", "4.1.0", "Produce 13 identifies topics by id, and OffsetCommitValue 4 has a tagged topic id."),
    ("4.1.0", "4.2.0", "OffsetCommit 10 and OffsetFetch 10, which identify topics by id, became stable."),
    ("4.3.0", "4.4.0", "TxnOffsetCommit 6 identifies topics by id; ApiVersions 5 checks cluster and node ids."),
)
_IMPACT = """# What a new release breaks

A client, a proxy or a log reader knows the messages of the release for which it was made. This page reports what breaks
in such programs when brokers are upgraded, for five releases of Kafka. Each report was made from definitions alone, as
`kafka-message-generator compat --old release:3.0.0 --new release:3.1.0 --impact` prints it. Definitions of a release
that is not out yet give [the same report](next-release.md). `kafka-message-generator compat --past docs/impact.md
--impact` generates this page.

* *Clients* negotiate versions, so new versions do not affect them.
* *Proxies* cannot decode new versions: they remove the versions from ApiVersionsResponse, or pass the bytes undecoded.
* *Log readers* lack the record versions listed. The definitions do not say when brokers begin to write a version.

The bytes are bodies of messages of the new release; after them is what a decoder of the old release makes of them.
"""
_SHOWN = {"Clients": 12, "Proxies": 12, "Log readers": 12, "New and changed": 0, "No change on the wire": 0}
"""Sections in the order of the page, and their number of items before the others are folded."""


def impact_page(root: Path) -> str:
    """Return the page about the impact of some releases as Markdown. Raises HistoryError and SpecError."""
    lines = [_IMPACT.rstrip("\n")]
    for before, release, what in _STEPS:
        old = set_of_release(root, before)
        lines += [f"\n## {before} → {release}\n", what, ""]
        sections = {
            each.title: each for each in impact(baseline(old.name, [old]), set_of_release(root, release)).sections
        }
        for title, shown in _SHOWN.items():
            lines += as_markdown(sections[title], shown)
    return "\n".join(lines).rstrip("\n") + "\n"


def page(root: Path) -> str:
    """Return the page as Markdown. Raises HistoryError and SpecError."""
    sets = list(release_sets(root))
    pairs = list(pairwise(sets))
    reports = [compare(baseline(before.name, [before]), definition_set) for before, definition_set in pairs]
    lines = [_HEAD + _TABLE.rstrip("\n")]
    for (before, definition_set), report in zip(pairs, reports, strict=True):
        lines += _row(before, definition_set, report)
    lines.append(_CHANGES.rstrip("\n"))
    for (_, definition_set), report in zip(pairs, reports, strict=True):
        lines += _section(definition_set, report)
    return "\n".join(lines) + "\n"


def _row(before: DefinitionSet, definition_set: DefinitionSet, report: CompatReport) -> Iterator[str]:
    counts, new = report.counts, len(_versions(definition_set) - _versions(before))
    cells = (counts.equal, counts.compatible, counts.changed, new, counts.dropped)
    if any(cells[1:]):
        yield f"| {_number(definition_set)} | {len(definition_set.plans)} | {' | '.join(map(str, cells))} |"


def _versions(definition_set: DefinitionSet) -> set[tuple[str, int]]:
    return {(name, version) for name, plan in definition_set.plans.items() for version in plan.valid}


def _number(definition_set: DefinitionSet) -> str:
    return definition_set.name.removeprefix("Kafka ")


def _section(definition_set: DefinitionSet, report: CompatReport) -> Iterator[str]:
    found = [finding for finding in report.findings if finding.level == "wire"]
    if not found:
        return
    yield f"\n### {_number(definition_set)}\n"
    yield "| message | what | new ← old | old ← new |"
    yield "|---|---|---|---|"
    for finding in sorted(found, key=lambda each: (not _is_exchanged(definition_set, each), each.message)):
        what = f"{finding.reason or finding.rule}: {finding.what}".replace("|", "\\|")
        cells = (_cell(finding.new_reads_old), _cell(finding.old_reads_new))
        yield f"| `{finding.message}` {', '.join(map(str, finding.versions))} | {what} | {' | '.join(cells)} |"


def _is_exchanged(definition_set: DefinitionSet, finding: CompatFinding) -> bool:
    return definition_set.messages[finding.message].kind in (REQUEST, RESPONSE)


def _cell(direction: Direction | None) -> str:
    if direction is None:
        return ""
    if direction.breaks is None:
        return "the same"
    if direction.witness is None:
        return direction.breaks
    data = direction.witness.data
    more = f" and {len(data) - _MOST_BYTES} more" if len(data) > _MOST_BYTES else ""
    return f"{direction.breaks}: `{data[:_MOST_BYTES].hex(' ')}`{more}"
