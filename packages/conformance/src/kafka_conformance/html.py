"""One HTML page of several reports: a matrix of testees and groups, and the bytes of each failure."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from kafka_messages import KafkaMessageError
from kafka_messages.explain import Explanation, explain, explain_request, explain_response

from .codec_case import message_named
from .result import NOTABLE, Report, Result, SentBytes, counted

_WIDTH = 110
_MOST_LINES = 400  # of explained bytes, half of them at the start
_KEY_AND_VERSION = slice(4, 8)  # of a framed request
_OPTIONS: dict[str, Any] = {"records": True, "limit": 2000}


def to_html(reports: Sequence[Report]) -> str:
    """Return a page of reports, each of a testee."""
    environment = Environment(
        loader=PackageLoader("kafka_conformance"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    outcomes: defaultdict[str, set[str]] = defaultdict(set)
    for report in reports:
        for group, results in report.by_group.items():
            outcomes[group].update(each.outcome for each in results)
    groups = sorted(group for group, found in outcomes.items() if found != {"not run"})
    idle = sorted(outcomes.keys() - groups)
    functions = {"notable": _notable, "summary": _summary, "explained": explained}
    return environment.get_template("report.html.jinja").render(reports=reports, groups=groups, idle=idle, **functions)


def _notable(results: Sequence[Result]) -> list[Result]:
    return [each for each in results if each.outcome in NOTABLE]


def _summary(results: Sequence[Result]) -> dict[str, str]:
    """Return the passed cases of those that ran, all counts, and the class of the worst outcome that ran."""
    counts = counted(results)
    ran = {outcome: count for outcome, count in counts.items() if outcome != "not run"}
    text = f"{counts.get('passed', 0):,} / {sum(ran.values()):,}" if ran else "not run"
    title = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    return {"text": text, "title": title, "worst": next(iter(ran), "not-run")}


def explained(sent: SentBytes) -> str:
    """Return bytes field by field up to the first error, and bytes that cannot be decoded in hexadecimal."""
    return "\n".join([*_lines(sent.request, _request(sent)), *_lines(sent.response, _response(sent))])


def _lines(text: str, explanation: Explanation | None) -> list[str]:
    if explanation is None:
        return [text] if text else []
    lines, half = explanation.text(width=_WIDTH).splitlines(), _MOST_LINES // 2
    if len(lines) > _MOST_LINES:
        lines[half:-half] = [f"… {len(lines) - _MOST_LINES} lines left out"]
    return lines if explanation.error is None else [*lines, f"all bytes: {text}"]


def _request(sent: SentBytes) -> Explanation | None:
    data = bytes.fromhex(sent.request)
    try:
        if not sent.name:
            return explain_request(data, framed=True, **_OPTIONS) if len(data) > _KEY_AND_VERSION.stop else None
        message_class = message_named(sent.name)
        if sent.is_frame:
            return explain_response(data, message_class, sent.version, framed=True, **_OPTIONS)
        return explain(data, message_class, sent.version, **_OPTIONS)
    except (KafkaMessageError, AttributeError, TypeError):
        return None


def _response(sent: SentBytes) -> Explanation | None:
    try:
        api, version = struct.unpack(">hh", bytes.fromhex(sent.request)[_KEY_AND_VERSION])
        return explain_response(bytes.fromhex(sent.response), api, version, framed=True, **_OPTIONS)
    except (KafkaMessageError, struct.error):
        return None
