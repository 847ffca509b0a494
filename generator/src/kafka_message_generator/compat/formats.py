"""Reports for build systems: annotations of GitHub and GitLab, SARIF."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from urllib.parse import quote

from kafka_message_generator.compat import texts
from kafka_message_generator.compat.findings import RULES, CompatFinding
from kafka_message_generator.compat.report import CompatReport

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_SEVERITY = {
    "wire": "blocker",
    "behavior": "major",
    "json": "major",
    "api": "minor",
    "policy": "minor",
    "advice": "info",
}
_TOOL = "kafka-message-generator compat"


def github(report: CompatReport, level: str) -> str:
    counting = report.counting(level)
    lines = []
    for finding in report.findings:
        kind = "error" if finding in counting else "notice"
        place = f"file={_property(finding.location.file)},line={finding.location.line},title={_property(finding.rule)}"
        lines.append(f"::{kind} {place}::{_escaped(_message(finding))}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(report: CompatReport, level: str) -> str:
    return _dumped([_issue(finding) for finding in report.findings])


def _issue(finding: CompatFinding) -> dict[str, object]:
    return {
        "description": _message(finding),
        "check_name": finding.rule,
        "fingerprint": fingerprint(finding),
        "severity": _SEVERITY[finding.level],
        "location": {"path": finding.location.file, "lines": {"begin": finding.location.line}},
    }


def fingerprint(finding: CompatFinding) -> str:
    """Return an identifier of a finding; later reports have the same identifier for the same finding."""
    parts = (finding.rule, finding.message, str(finding.versions), finding.path, finding.before, finding.after)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def sarif(report: CompatReport, level: str) -> str:
    counting = report.counting(level)
    names = sorted({finding.rule for finding in report.findings})
    driver = {"name": _TOOL, "rules": [_sarif_rule(name) for name in names]}
    results = [_result(finding, finding in counting, names) for finding in report.findings]
    run = {"tool": {"driver": driver}, "results": results}
    return _dumped({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _sarif_rule(name: str) -> dict[str, object]:
    rule = RULES[name]
    return {
        "id": name,
        "shortDescription": {"text": rule.finds},
        "fullDescription": {"text": f"{rule.reason} Source: {rule.source}."},
        "properties": {"level": rule.level},
    }


def _result(finding: CompatFinding, counts: bool, names: list[str]) -> dict[str, object]:
    region = {"startLine": finding.location.line}
    place = {"artifactLocation": {"uri": quote(os.fsencode(finding.location.file))}, "region": region}
    return {
        "ruleId": finding.rule,
        "ruleIndex": names.index(finding.rule),
        "level": "error" if counts else "note",
        "message": {"text": _message(finding)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": fingerprint(finding)},
    }


def _message(finding: CompatFinding) -> str:
    return "\n".join([f"{finding.place}: {finding.what}", *texts.direction_lines(finding), finding.remedy])


def _dumped(document: object) -> str:
    return json.dumps(document, indent=2) + "\n"


FORMATS: dict[str, Callable[[CompatReport, str], str]] = {
    "text": texts.text,
    "json": texts.as_json,
    "github": github,
    "gitlab": gitlab,
    "sarif": sarif,
}
