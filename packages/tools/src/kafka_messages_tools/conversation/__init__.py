"""Exchanges of one or more connections as a short text or HTML page, with secrets redacted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from ..capture.matching import Exchange
from ..capture.reassembly import End
from ._frames import FieldLink
from ._html import exchange_block, exchange_style, no_link, to_html
from ._recorded import RecordedExchange, as_recorded
from ._text import to_text
from ._turns import ClosedConnection, Omitted, Turn, selected, turn_of, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["FieldLink", "RecordedExchange", "exchange_html", "exchange_style", "page", "render"]

# Number of the last exchanges that are read.
_MOST_READ = 5000
# Maximum number of exchanges on a page with bytes.
_MOST_ON_PAGE = 500


def render(
    exchanges: Iterable[Exchange | RecordedExchange],
    *,
    form: Literal["text", "html"] = "text",
    limit: int = 50,
    width: int = 120,
    color: bool = False,
    explain: bool = False,
    show_secrets: bool = False,
    show_values: bool = False,
    title: str = "Kafka exchanges",
) -> str:
    """Return exchanges, of captures or of the test kit, as lines of text or as an HTML page.

    Each exchange has a line with time, client, broker, API, result and duration, then the fields that differ from
    their defaults, without timeouts and size limits. Repeated exchanges are one line with their number. At most
    ``limit`` lines are kept: those with errors or with actions of rules, then the last ones; gaps are counted. Of more
    than 5,000 exchanges, only the last 5,000 are read.

    ``width`` (at least 72) is the maximum number of columns. ``color`` adds terminal escape sequences to text.
    ``explain`` adds the bytes, explained field by field. ``title`` is for HTML. Secrets are redacted unless
    ``show_secrets``; in HTML, so are keys, values and headers of records unless ``show_values``. Raises ValueError for
    an unknown ``form`` or a ``limit`` below 1.
    """
    if form not in ("text", "html"):
        raise ValueError(f"form must be 'text' or 'html', not {form!r}")
    if limit < 1:
        raise ValueError(f"limit must be at least 1, not {limit}")
    last: deque[Exchange | RecordedExchange] = deque(maxlen=_MOST_READ)
    count = 0
    for exchange in exchanges:
        last.append(exchange)
        count += 1
    lines = selected(turns(last, show_secrets), limit, count - len(last))
    if form == "html":
        return to_html(lines, title, explain, show_secrets, show_values)
    return to_text(lines, max(width, 72), color, explain, show_secrets)


def page(
    exchanges: Iterable[Exchange | End],
    *,
    title: str = "Kafka exchanges",
    show_secrets: bool = False,
    show_values: bool = False,
) -> str:
    """Return captured exchanges with all their bytes, and the ends of connections, as an HTML page of one file.

    The page has at most 500 exchanges, the first ones, at most 2,000 fields per message and 50,000 in total, and at
    most 256 bytes per field; it says what is left out. Secrets are redacted unless ``show_secrets``; keys, values and
    headers of records unless ``show_values``.
    """
    return to_html(_first(exchanges, show_secrets), title, True, show_secrets, show_values)


def _first(exchanges: Iterable[Exchange | End], show_secrets: bool) -> Iterator[Turn | Omitted | ClosedConnection]:
    count = 0
    for count, exchange in enumerate(exchanges, 1):
        if count > _MOST_ON_PAGE:
            continue
        if isinstance(exchange, End):
            time = None if exchange.time_ns is None else exchange.time_ns / 1e9
            yield ClosedConnection(time, str(exchange.connection.client), str(exchange.connection.server))
        else:
            yield turn_of(as_recorded(exchange, show_secrets), show_secrets)
    if count > _MOST_ON_PAGE:
        yield Omitted(count - _MOST_ON_PAGE)


def exchange_html(
    exchange: Exchange | RecordedExchange,
    *,
    link: FieldLink = no_link,
    anchor: str = "",
    show_secrets: bool = False,
    show_values: bool = False,
) -> str:
    """Return an exchange with its bytes as an HTML element with the id ``anchor``.

    ``link`` returns the address of a message or field, or an empty string. Other arguments are as for ``page``.
    """
    turn = turn_of(as_recorded(exchange, show_secrets), show_secrets)
    return exchange_block(turn, link, show_secrets, show_values, anchor)
