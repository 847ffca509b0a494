"""One HTML page of several reports: a matrix of testees and groups, and the bytes of each failure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined
from kafka_messages import KafkaMessageError, Message
from kafka_messages.explain import explain
from kafka_messages.protocol import DecodedRequest, decode_request, decode_response, split_frames

from kafka_messages_tools.conversation import render

from .codec_case import message_named
from .result import NOTABLE, Report, Result, SentBytes, counted

_WIDTH = 110
_MOST_LINES = 160  # of explained bytes, half of them at the start


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
    """Return the bytes of a message or exchange field by field; in hexadecimal if that is impossible."""
    lines = _explained(sent).splitlines()
    half = _MOST_LINES // 2
    if len(lines) > _MOST_LINES:
        lines[half:-half] = [f"… {len(lines) - _MOST_LINES} lines left out"]
    return "\n".join(lines)


def _explained(sent: SentBytes) -> str:
    try:
        if sent.name and not sent.response and hasattr(message_class := message_named(sent.name), "read"):
            data = bytes.fromhex(sent.request)
            return explain(data, message_class, sent.version, records=True, limit=2000).text(width=_WIDTH)
        return render([_exchange(sent)], width=_WIDTH, explain=True)
    except (KafkaMessageError, ValueError, AttributeError):
        pass
    return "\n".join(filter(None, (sent.request, sent.response)))


@dataclass(frozen=True, slots=True)
class _Exchange:
    """An exchange as the renderer takes it."""

    request_data: bytes
    response_data: bytes
    decoded: DecodedRequest
    response: Message | None
    client_id: str | None
    broker: str = "broker"
    received_at: float | None = None
    answered_at: float | None = None
    outcome: str = ""


def _exchange(sent: SentBytes) -> _Exchange:
    """Return an exchange. Raises KafkaMessageError, or ValueError if these are no whole frames."""
    data, answer = bytes.fromhex(sent.request), bytes.fromhex(sent.response)
    [payload] = split_frames(data)
    request, response = decode_request(payload), None
    if answer:
        [payload] = split_frames(answer)
        response = decode_response(payload, request.api, request.version).message
    return _Exchange(data, answer, request, response, request.header.client_id)
