"""Reports as text, and as JUnit's XML."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from kafka_records.files import replace_file

from .result import NOTABLE, Report, Result, counted

_MOST_DIGITS = 192  # of each side of an exchange


def to_text(report: Report, limit: int = 20) -> str:
    """Return the failures, at most ``limit`` of each group, and the counts by group with problems and in total."""
    lines, totals, idle = [], [], []
    for group, results in report.by_group.items():
        shown = [each for each in results if each.outcome in NOTABLE and each.outcome != "known"]
        for result in shown[:limit]:
            lines += [*_lines(result), ""]
        if len(shown) > limit:
            lines += [f"{len(shown) - limit} more in {group}", ""]
        if not (counts := counted(results)).keys().isdisjoint(NOTABLE):
            totals.append(f"{group:32} " + ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
        elif "not run" in counts:
            idle.append(counts["not run"])
    if idle:
        totals.append(f"{sum(idle):,} not run in {len(idle)} other groups")
    total = ", ".join(f"{count:,} {outcome}" for outcome, count in report.counts.items())
    ends = [*report.notes, total or "no cases"]
    return "\n".join([*lines, *totals, *(f"{report.testee}: {text}" for text in ends)])


def _lines(result: Result) -> Iterator[str]:
    yield f"{result.id}: {result.outcome}"
    rows = list(result.texts)
    for sent in result.exchanges:
        rows += [("bytes" if sent.name else "sent", sent.request), ("got", sent.response)]
    yield from (f"  {label:8}{_shortened(text)}" for label, text in rows if text)


def _shortened(text: str) -> str:
    """Shorten bytes in hexadecimal, which have no spaces."""
    if len(text) <= _MOST_DIGITS or " " in text[:_MOST_DIGITS].removeprefix("writes "):
        return text
    return f"{text[:_MOST_DIGITS]}… ({len(text) // 2} bytes)"


def save_junit(report: Report, path: str | Path) -> None:
    """Write the report as JUnit's XML. Raises OSError."""
    counts = report.counts
    suite = ElementTree.Element(
        "testsuite",
        name=f"kafka-conformance {report.mode} {report.testee}",
        tests=str(len(report.results)),
        failures=str(counts.get("failed", 0)),
        errors="0",
        skipped=str(counts.get("not run", 0) + counts.get("known", 0)),
    )
    for group, results in report.by_group.items():
        for result in results:
            case = ElementTree.SubElement(suite, "testcase", classname=group, name=result.id)
            if result.outcome == "failed":
                failure = ElementTree.SubElement(case, "failure", message=result.problem)
                failure.text = "\n".join(_lines(result))
            elif result.outcome in ("warning", "quirk"):
                ElementTree.SubElement(case, "system-out").text = "\n".join(_lines(result))
            elif result.outcome != "passed":
                ElementTree.SubElement(case, "skipped", message=f"{result.outcome}: {result.problem}".rstrip(": "))
    replace_file(path, [ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True)])
