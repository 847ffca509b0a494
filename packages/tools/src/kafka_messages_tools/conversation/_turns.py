"""Lines of a rendered conversation, without their layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..capture.errors import errors_in
from ..package import Package, load
from ..text import safe
from ._fields import FieldText
from ._recorded import CapturedExchange, RecordedExchange, as_recorded, package_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..capture.matching import Exchange

# Number of last lines that are compared with an exchange, for clients that ask several brokers in turn.
_LAST = 4


@dataclass(slots=True)
class Turn:
    """A line: an exchange, and the number of equal ones after it."""

    exchange: RecordedExchange
    package: Package
    client: str
    broker: str
    api: str
    result: str
    outcome: str
    request: str
    response: str
    is_error: bool
    count: int = 1
    ended_at: float | None = None
    """Time of the last equal exchange."""
    number: int | None = None
    """Number in the capture; None outside captures."""

    @property
    def matters(self) -> bool:
        return self.is_error or bool(self.outcome)

    @property
    def content(self) -> tuple[Any, ...]:
        return (self.client, self.broker, self.api, self.result, self.outcome, self.request, self.response)

    @property
    def milliseconds(self) -> float | None:
        ends = self.exchange.received_at, self.exchange.answered_at
        return None if ends[0] is None or ends[1] is None else (ends[1] - ends[0]) * 1000


@dataclass(slots=True)
class ClosedConnection:
    """A connection that the server closed."""

    time: float | None
    """Seconds since 1970."""
    client: str
    server: str


@dataclass(slots=True)
class Omitted:
    """Exchanges without a line of their own."""

    count: int
    """Number of exchanges."""


def turns(exchanges: Iterable[Exchange | RecordedExchange], show_secrets: bool) -> list[Turn]:
    """Return the lines of all exchanges; consecutive equal exchanges are one line."""
    found: list[Turn] = []
    for each in exchanges:
        turn = turn_of(as_recorded(each, show_secrets), show_secrets)
        equal = _equal(found, turn)
        if equal is None:
            found.append(turn)
        else:
            equal.count += 1
            equal.ended_at = turn.exchange.received_at
    return found


def _equal(found: list[Turn], turn: Turn) -> Turn | None:
    for other in reversed(found[-_LAST:]):
        if other.content == turn.content:
            return other
        if other.matters or turn.matters:
            return None
    return None


def selected(found: list[Turn], limit: int, earlier: int) -> Iterator[Turn | Omitted]:
    """Yield at most ``limit`` lines, first those that matter, then the last ones, in their order."""
    by_weight = sorted(range(len(found)), key=lambda index: (found[index].matters, index), reverse=True)
    kept, skipped = set(by_weight[:limit]), earlier
    for index, turn in enumerate(found):
        if index not in kept:
            skipped += turn.count
            continue
        if skipped:
            yield Omitted(skipped)
        skipped = 0
        yield turn
    if skipped:
        yield Omitted(skipped)


def turn_of(exchange: RecordedExchange, show_secrets: bool) -> Turn:
    package, request, response = load(package_of(exchange)), exchange.decoded, exchange.response
    fields = FieldText(package, show_secrets)
    errors = [] if response is None else list(dict.fromkeys(each.name for each in errors_in(response, package)))
    return Turn(
        exchange,
        package,
        safe(exchange.client_id or "-"),
        exchange.broker,
        _api(exchange),
        _result(exchange, errors),
        safe(exchange.outcome),
        "" if request is None else fields.of(request.message),
        "" if response is None else fields.of(response),
        bool(errors) or request is None,
        number=exchange.number if isinstance(exchange, CapturedExchange) else None,
    )


def _api(exchange: RecordedExchange) -> str:
    if isinstance(exchange, CapturedExchange):
        return exchange.api
    return "?" if exchange.decoded is None else f"{exchange.decoded.api.name} v{exchange.decoded.version}"


def _result(exchange: RecordedExchange, errors: list[str]) -> str:
    if isinstance(exchange, CapturedExchange):
        return exchange.result
    if errors:
        return ", ".join(errors)
    if exchange.response is not None and exchange.response_data:
        return "ok"
    request = exchange.decoded
    if request is not None and (not request.api.response_name or getattr(request.message, "acks", None) == 0):
        return "no response is sent"
    return "no response"


# Maximum number of fields, and of lines, of explained bytes per message.
MOST_FIELDS = 2000
_MOST_LINES = 80


def explanations(turn: Turn, limit: int = MOST_FIELDS) -> Iterator[tuple[str, Any]]:
    """Yield the name and the explanation of each message of a line; a response only if its request was decoded."""
    explain = turn.package.module("explain")
    exchange, request = turn.exchange, turn.exchange.decoded
    options: dict[str, Any] = {"framed": True, "records": True, "limit": min(limit, MOST_FIELDS)}
    if exchange.request_data:
        yield "request", explain.explain_request(exchange.request_data, **options)
    if exchange.response_data and request is not None:
        api, version = int(request.api.key), request.version
        yield "response", explain.explain_response(exchange.response_data, api, version, **options)


def explained(turn: Turn, show_secrets: bool, width: int, color: bool) -> Iterator[tuple[str, str]]:
    """Yield the name and the explained bytes of each message of a line as text."""
    for name, found in explanations(turn):
        yield name, _shortened(found.text(width=width, color=color, show_secrets=show_secrets))


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) <= _MOST_LINES:
        return "\n".join(lines)
    kept = _MOST_LINES // 2
    return "\n".join([*lines[:kept], f"      … {len(lines) - 2 * kept} lines left out", *lines[-kept:]])
