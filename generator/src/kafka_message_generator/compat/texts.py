"""Reports as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from kafka_message_generator.compat.annotated import excerpt, parting
from kafka_message_generator.compat.findings import LEVELS, CompatFinding, Direction
from kafka_message_generator.compat.report import CompatReport
from kafka_message_generator.compat.witness import REWRITES_DIFFERENTLY, Witness

_MOST_BYTES = 64
_COPIED = ("message", "versions", "path", "reason", "what", "remedy", "since", "before", "after")


def text(report: CompatReport, level: str) -> str:
    lines = [line for finding in report.at(level) for line in lines_of(finding)]
    return "\n".join([*lines, *_summary(report, level)]) + "\n"


def lines_of(finding: CompatFinding) -> Iterator[str]:
    reason = f" ({finding.reason})" if finding.reason else ""
    yield f"{finding.location}: {finding.place}: {finding.rule}{reason}: {finding.what}"
    yield from (f"    {line}" for line in direction_lines(finding))
    since = f" (released in {finding.since})" if finding.since and finding.versions else ""
    yield f"    {finding.remedy}{since}"


def direction_lines(finding: CompatFinding) -> Iterator[str]:
    for reads, writes, direction in (
        ("new code", "old", finding.new_reads_old),
        ("old code", "new", finding.old_reads_new),
    ):
        if direction is not None:
            yield f"{reads}, {writes} bytes: {_outcome(direction)}"
            if direction.witness is not None:
                yield from (f"    {line}" for line in _witness_lines(direction.witness, reads, f"{writes} code"))


def _witness_lines(witness: Witness, reads: str, writes: str) -> Iterator[str]:
    yield _hex(witness.data)
    begin = parting(witness.written, witness.read)
    verb = "written again" if witness.outcome == REWRITES_DIFFERENTLY else "read"
    for words, rows in ((f"written by {writes}", witness.written), (f"{verb} by {reads}", witness.read)):
        yield f"{words}:"
        yield from (f"  {line}" for line in excerpt(rows, begin))


def _outcome(direction: Direction) -> str:
    if direction.breaks is None:
        return "proved to read identically"
    if direction.witness is None:
        return "differs; no bytes found that show it"
    return f"{direction.breaks}: {direction.witness.detail}"


def _hex(data: bytes) -> str:
    more = f" and {len(data) - _MOST_BYTES} more bytes" if len(data) > _MOST_BYTES else ""
    return data[:_MOST_BYTES].hex(" ") + more


def _summary(report: CompatReport, level: str) -> Iterator[str]:
    counts = report.counts
    yield f"{report.new} against {report.old}:"
    yield f"  {counts.equal} released message versions proved equal"
    for number, words in (
        (counts.compatible, "equal except for tagged fields, which the other side skips"),
        (counts.changed, "changed"),
        (counts.dropped, "dropped"),
        (counts.unreleased, "not in a release, and free to change"),
    ):
        if number:
            yield f"  {number} {words}"
    by_level = {each: sum(finding.level == each for finding in report.findings) for each in LEVELS}
    found = ", ".join(f"{number} {each}" for each, number in by_level.items() if number) or "none"
    yield f"  findings: {found}; counting at level {level}: {len(report.counting(level))}"


def as_json(report: CompatReport, level: str) -> str:
    counting = report.counting(level)
    document = {
        "old": report.old,
        "new": report.new,
        "level": level,
        "versions": asdict(report.counts),
        "findings": [plain(finding, finding in counting) for finding in report.findings],
    }
    return json.dumps(document, indent=2) + "\n"


def plain(finding: CompatFinding, counts: bool) -> dict[str, object]:
    found: dict[str, object] = {
        "rule": finding.rule,
        "level": finding.level,
        "counts": counts,
        **{name: getattr(finding, name) for name in _COPIED},
        "file": finding.location.file,
        "line": finding.location.line,
    }
    for key, direction in (("newReadsOld", finding.new_reads_old), ("oldReadsNew", finding.old_reads_new)):
        if direction is not None:
            found[key] = _plain_direction(direction)
    return found


def _plain_direction(direction: Direction) -> dict[str, object]:
    witness = direction.witness
    if witness is None:
        return {"breaks": direction.breaks}
    return {
        "breaks": direction.breaks,
        "bytes": witness.data.hex(),
        "detail": witness.detail,
        "partsAt": parting(witness.written, witness.read),
        "written": [row.plain() for row in witness.written],
        "read": [row.plain() for row in witness.read],
    }
