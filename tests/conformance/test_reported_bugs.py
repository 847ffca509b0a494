"""The page of reported bugs agrees with the bugs that tests put back into testees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from kafka_conformance.broker_case import broker_cases
from kafka_conformance.case import Case, selected
from kafka_conformance.client_case import client_cases
from kafka_conformance.codec_case import codec_cases

from tests.conformance.brokers import BUGS
from tests.conformance.mutants import MUTANTS
from tests.conformance.test_client_mode import BROKEN, REPORTS

PAGE = Path(__file__).parents[2] / "docs" / "conformance-bugs.md"
CASES: dict[str, list[Case]] = {
    "codec": list(codec_cases()),
    "client": list(client_cases()),
    "broker": list(broker_cases()),
}


def put_back() -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield report, mode, name in the tests, and cases of each bug that was reported."""
    for name, mutant in MUTANTS.items():
        yield mutant.report, "codec", name, sorted(mutant.ids)
    for name, report in REPORTS.items():
        yield report, "client", name, sorted(BROKEN[name])
    for name, bug in BUGS.items():
        yield bug.report, "broker", name, sorted(bug.ids)


def table(heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_page_lists_what_is_put_back() -> None:
    listed = [(report, mode, name, sorted(codes(ids))) for report, mode, name, ids in table("Bugs put back")]
    assert sorted(listed) == sorted(each for each in put_back() if each[0])


def test_each_report_is_put_back_or_has_a_reason() -> None:
    found = {each[0] for each in put_back()}
    rows = table("Reports")
    assert [row[0] for row in rows[:20]] == [str(number) for number in range(1, 21)]
    reports = [(number, report, status) for number, cell, *_, status in rows for report in cell.split(", ")]
    assert found - {""} <= {report for _, report, _ in reports}
    without = {number for number, _, _ in reports} - {number for number, report, _ in reports if report in found}
    assert without == {"4", "20"}
    assert all("not put back" in row[-1] for row in rows if row[0] in without)


def test_each_case_exists() -> None:
    missing = [
        (mode, id) for _, mode, _, ids in table("Bugs put back") for id in codes(ids) if not selected(CASES[mode], [id])
    ]
    assert missing == []
