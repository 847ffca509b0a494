"""Reports as text, and as JUnit's XML."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from .result import OUTCOMES, Report, Result

_MOST_BYTES = 96  # of each side of an exchange


def to_text(report: Report, limit: int = 20) -> str:
    """Return the failures, at most ``limit`` of each group, and the counts by group and in total."""
    lines = []
    by_group: defaultdict[str, list[Result]] = defaultdict(list)
    for result in report.results:
        by_group[result.group].append(result)
    for group, results in by_group.items():
        shown = [each for each in results if each.outcome in ("failed", "warning", "quirk")]
        for result in shown[:limit]:
            lines += [*_lines(result), ""]
        if len(shown) > limit:
            lines += [f"{len(shown) - limit} more in {group}", ""]
    lines += [f"{group:32} {_counts(results)}" for group, results in by_group.items() if _is_notable(results)]
    total = ", ".join(f"{count:,} {outcome}" for outcome, count in report.counts.items())
    notes = [f"{report.testee}: {note}" for note in report.notes]
    return "\n".join([*lines, *notes, f"{report.testee}: {total or 'no cases'}"])


def _is_notable(results: list[Result]) -> bool:
    return any(each.outcome != "passed" for each in results)


def _counts(results: list[Result]) -> str:
    counts = ((outcome, sum(each.outcome == outcome for each in results)) for outcome in OUTCOMES)
    return ", ".join(f"{count} {outcome}" for outcome, count in counts if count)


def _lines(result: Result) -> Iterator[str]:
    yield f"{result.id}: {result.outcome}"
    yield from (f"  {label:8}{text}" for label, text in _labelled(result) if text)
    for sent in result.exchanges:
        of = f"{sent.name} {sent.version}" if sent.name else ""
        yield from (
            f"  {label:8}{_shortened(data)}" for label, data in (((of and "bytes") or "sent", sent.request),) if data
        )
        if sent.response:
            yield f"  {'got':8}{_shortened(sent.response)}"


def _labelled(result: Result) -> list[tuple[str, str]]:
    return [
        ("rule", result.rule),
        ("source", result.source),
        ("problem", result.problem),
        ("Kafka", _shortened(result.kafka)),
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= 2 * _MOST_BYTES else f"{text[: 2 * _MOST_BYTES]}… ({len(text) // 2} bytes)"


def save_junit(report: Report, path: str | Path) -> None:
    """Write the report as JUnit's XML. Raises OSError."""
    counts = report.counts
    suite = ElementTree.Element(
        "testsuite",
        name=f"kafka-conformance {report.mode} {report.testee}",
        tests=str(len(report.results)),
        failures=str(counts.get("failed", 0)),
        errors="0",
        skipped=str(sum(counts.get(each, 0) for each in ("warning", "known", "quirk", "not run"))),
    )
    for result in report.results:
        case = ElementTree.SubElement(suite, "testcase", classname=result.group, name=result.id)
        if result.outcome == "failed":
            failure = ElementTree.SubElement(case, "failure", message=result.problem)
            failure.text = "\n".join(_lines(result))
        elif result.outcome != "passed":
            ElementTree.SubElement(case, "skipped", message=f"{result.outcome}: {result.problem}".rstrip(": "))
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
