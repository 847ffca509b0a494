"""Waivers: accepted findings in a TOML file. Each names the state before and after the change."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_message_generator.compat.findings import RULES, CompatFinding
from kafka_message_generator.compat.report import CompatReport
from kafka_message_generator.plan.model import ranges

_TEXTS = ("rule", "message", "path", "before", "after", "reason")
_KEYS = (*_TEXTS, "versions")


class WaiverError(Exception):
    """Raised for an invalid waiver file, or outdated waivers; one problem per line."""


@dataclass(frozen=True)
class Waiver:
    """An accepted finding, with its versions, ``before`` and ``after``."""

    rule: str
    message: str
    path: str
    before: str
    after: str
    reason: str
    versions: tuple[int, ...] = ()

    def covers(self, finding: CompatFinding) -> bool:
        mine = (self.rule, self.message, self.path, self.versions, self.before, self.after)
        return mine == (
            finding.rule, finding.message, finding.path, finding.versions, finding.before, finding.after
        )  # fmt: skip

    def contradicts(self, finding: CompatFinding) -> bool:
        is_here = (self.rule, self.message, self.path) == (finding.rule, finding.message, finding.path)
        is_same_versions = set(self.versions) & set(finding.versions) or self.versions == finding.versions
        return is_here and bool(is_same_versions) and self.after != finding.before

    @property
    def place(self) -> str:
        words = (self.rule, self.message, ranges(self.versions), self.path)
        return " ".join(word for word in words if word)


def read_waivers(path: Path) -> list[Waiver]:
    """Read a waiver file. Raises WaiverError with all problems."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WaiverError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WaiverError(f"{path}: {error}") from None
    problems = [f"{path}: unknown key {key!r}; expected only [[waiver]]" for key in data if key != "waiver"]
    found = data.get("waiver", [])
    tables = found if isinstance(found, list) else []
    if found is not tables:
        problems.append(f"{path}: waiver must be a list of tables; write [[waiver]]")
    for number, table in enumerate(tables, 1):
        problems += [f"{path}: waiver {number}: {what}" for what in _problems(table)]
    if problems:
        raise WaiverError("\n".join(problems))
    return [
        Waiver(**{key: table.get(key, "") for key in _TEXTS}, versions=tuple(sorted(table.get("versions", []))))
        for table in tables
    ]


def _problems(table: object) -> Iterable[str]:
    if not isinstance(table, dict):
        yield "expected a table"
        return
    for key, value in table.items():
        if key not in _KEYS:
            yield f"unknown key {key!r}; expected one of {', '.join(_KEYS)}"
        elif key in _TEXTS and not isinstance(value, str):
            yield f"{key} must be a string"
        elif key == "versions" and not (isinstance(value, list) and all(type(each) is int for each in value)):
            yield "versions must be a list of numbers"
    for key in ("rule", "message", "reason"):
        value = table.get(key)
        if not value or (isinstance(value, str) and not value.strip()):
            yield f"missing {key}"
    if "before" not in table or "after" not in table:
        yield "missing before or after; --format json prints both for each finding"
    if (rule := table.get("rule")) and isinstance(rule, str) and rule not in RULES:
        yield f"unknown rule {rule!r}; --list-rules prints them"


def waived(report: CompatReport, waivers: list[Waiver], path: Path) -> tuple[CompatReport, list[str]]:
    """Return the report without waived findings, and a warning for each unused waiver.

    Raises WaiverError for an unused waiver whose rule now reports another change of the same field and versions.
    """
    unused = {
        number: waiver
        for number, waiver in enumerate(waivers, 1)
        if not any(waiver.covers(finding) for finding in report.findings)
    }
    stale = [
        f"{path}: waiver {number}: the finding has changed; update or remove the waiver: {waiver.place}"
        for number, waiver in unused.items()
        if any(waiver.contradicts(finding) for finding in report.findings)
    ]
    if stale:
        raise WaiverError("\n".join(stale))
    merged = [
        f"{path}: warning: waiver {number}: no such difference from {report.old}; remove or correct it: {waiver.place}"
        for number, waiver in unused.items()
    ]
    left = tuple(each for each in report.findings if not any(waiver.covers(each) for waiver in waivers))
    return replace(report, findings=left), merged
