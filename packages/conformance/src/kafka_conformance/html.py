"""One HTML page of several reports: a matrix of testees and groups, and the bytes of each failure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from kafka_messages import KafkaMessageError, Response
from kafka_messages.explain import explain
from kafka_messages.protocol import DecodedRequest, decode_request, decode_response, split_frames

from kafka_messages_tools.conversation import render

from .codec_case import message_named
from .result import OUTCOMES, Report, Result, SentBytes

_WIDTH = 110
_MOST_LINES = 60  # of explained bytes, half of them at the start
_NOTABLE = ("failed", "warning", "known", "quirk")
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conformance to Kafka's protocol</title>
<style>
{style}</style>
</head>
<body>
<h1>Conformance to Kafka's protocol</h1>
{body}
</body>
</html>
"""
_STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#e2e1dc, #333842); --soft: light-dark(#5c636d, #9ba3af);
  --failed: light-dark(#b3261e, #ff9a91); --warning: light-dark(#8a4a12, #e6b27c); --passed: light-dark(#1d6b35, #8fd6a3);
  --ink: light-dark(#1f2328, #e3e5e9); --paper: light-dark(#fdfdfc, #16181c); --panel: light-dark(#f5f5f2, #1d2026); }
body { margin: 1.5rem auto; padding: 0 1rem; max-width: 80rem; background: var(--paper); color: var(--ink);
  font: .95rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { font-variant-numeric: tabular-nums; }
thead th { vertical-align: bottom; }
small, dt { color: var(--soft); }
a { color: inherit; }
.failed { color: var(--failed); } .warning, .known, .quirk { color: var(--warning); } .passed { color: var(--passed); }
details { border-top: 1px solid var(--line); padding: .3rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: 5rem 1fr; gap: .1rem .5rem; margin: .4rem 0; }
dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em; }
pre { overflow-x: auto; background: var(--panel); padding: .6rem .8rem; border-radius: 6px; }
"""


def to_html(reports: Sequence[Report]) -> str:
    """Return a page of reports, each of a testee."""
    parts = [*_matrix(reports)]
    for number, report in enumerate(reports):
        parts += _details(number, report)
    return _PAGE.format(style=_STYLE, body="\n".join(parts))


def _grouped(report: Report) -> dict[str, list[Result]]:
    found: defaultdict[str, list[Result]] = defaultdict(list)
    for result in report.results:
        found[result.group].append(result)
    return found


def _matrix(reports: Sequence[Report]) -> Iterator[str]:
    columns = [_grouped(report) for report in reports]
    yield "<p>Cases that pass, of those that ran. A link leads to the others.</p>"
    yield '<div class="scroll"><table>'
    heads = "".join(f"<th>{escape(each.testee)}<br><small>{each.mode}</small></th>" for each in reports)
    yield f"<thead><tr><th>Group</th>{heads}</tr></thead>"
    yield "<tbody>"
    cells = "".join(f"<td>{_counts(report.results)}</td>" for report in reports)
    yield f"<tr><th>all</th>{cells}</tr>"
    for group in sorted({name for column in columns for name in column}):
        cells = "".join(_cell(number, group, column.get(group, [])) for number, column in enumerate(columns))
        yield f"<tr><th>{escape(group)}</th>{cells}</tr>"
    yield "</tbody></table></div>"


def _cell(number: int, group: str, results: Sequence[Result]) -> str:
    if not results:
        return "<td></td>"
    if any(each.outcome in _NOTABLE for each in results):
        return f'<td><a href="#{number}-{escape(group)}">{_counts(results)}</a></td>'
    return f"<td>{_counts(results)}</td>"


def _counts(results: Sequence[Result]) -> str:
    """Return the passed cases of those that ran, in the color of the worst outcome, and all counts as a tooltip."""
    counts = Counter(each.outcome for each in results)
    text = ", ".join(f"{counts[outcome]:,} {outcome}" for outcome in OUTCOMES if counts[outcome])
    if not (run := len(results) - counts["not run"]):
        return f'<small title="{text}">not run</small>'
    worst = next(outcome for outcome in OUTCOMES if counts[outcome] and outcome != "not run")
    return f'<span class="{worst}" title="{text}">{counts["passed"]:,} / {run:,}</span>'


def _details(number: int, report: Report) -> Iterator[str]:
    yield f"<h2>{escape(report.testee)}</h2>"
    yield from (f"<p>{escape(note)}</p>" for note in report.notes)
    for group, results in _grouped(report).items():
        shown = [each for each in results if each.outcome in _NOTABLE]
        if shown:
            yield f'<h3 id="{number}-{escape(group)}">{escape(group)}</h3>'
        for result in shown:
            yield from _result(result)


def _result(result: Result) -> Iterator[str]:
    outcome = f'<span class="{result.outcome}">{result.outcome}</span>'
    yield f"<details><summary>{outcome} <code>{escape(result.id)}</code></summary><dl>"
    for label, text in (
        ("rule", result.rule),
        ("source", result.source),
        ("problem", result.problem),
        ("Kafka", result.kafka),
    ):
        if text:
            yield f"<dt>{label}</dt><dd>{escape(text)}</dd>"
    yield "</dl>"
    for sent in result.exchanges:
        yield f"<pre>{escape(_shortened(explained(sent)))}</pre>"
    yield "</details>"


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= _MOST_LINES:
        return text
    half = _MOST_LINES // 2
    return "\n".join([*lines[:half], f"… {len(lines) - 2 * half} lines left out", *lines[-half:]])


def explained(sent: SentBytes) -> str:
    """Return the bytes of a message or exchange field by field; in hexadecimal if that is impossible."""
    data = bytes.fromhex(sent.request)
    try:
        if sent.name and not sent.response and hasattr(message_class := _class(sent.name), "read"):
            return explain(data, message_class, sent.version, records=True, limit=2000).text(width=_WIDTH)
        exchange = _Exchange(sent)
        if exchange.decoded is not None and (exchange.response is not None or not sent.response):
            return render([exchange], width=_WIDTH, explain=True)
    except (KafkaMessageError, ValueError):
        pass
    return "\n".join(filter(None, (sent.request, sent.response)))


def _class(name: str) -> Any:
    try:
        return message_named(name)
    except AttributeError:
        return None


@dataclass(frozen=True, slots=True)
class _Exchange:
    """An exchange as the renderer takes it."""

    sent: SentBytes
    client_id: str | None = "kafka-conformance"
    broker: str = "testee"
    received_at: float | None = None
    answered_at: float | None = None
    outcome: str = ""

    @property
    def request_data(self) -> bytes:
        return bytes.fromhex(self.sent.request)

    @property
    def response_data(self) -> bytes:
        return bytes.fromhex(self.sent.response)

    @property
    def decoded(self) -> DecodedRequest | None:
        try:
            [payload] = split_frames(self.request_data)
            return decode_request(payload)
        except (KafkaMessageError, ValueError):
            return None

    @property
    def response(self) -> Response | None:
        request = self.decoded
        try:
            [payload] = split_frames(self.response_data)
            return None if request is None else decode_response(payload, request.api, request.version).message
        except (KafkaMessageError, ValueError):
            return None
