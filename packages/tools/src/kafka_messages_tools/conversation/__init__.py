"""Exchanges of one or more connections as a short text or HTML page, with secrets redacted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from ..capture.matching import Exchange
from ._html import to_html
from ._recorded import RecordedExchange
from ._text import to_text
from ._turns import selected, turns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

__all__ = ["RecordedExchange", "render"]

# Number of the last exchanges that are read.
_MOST_READ = 5000


def render(
    exchanges: Iterable[Exchange | RecordedExchange],
    *,
    form: Literal["text", "html"] = "text",
    limit: int = 50,
    width: int = 120,
    color: bool = False,
    explain: bool = False,
    show_secrets: bool = False,
    title: str = "Kafka exchanges",
) -> str:
    """Return exchanges, of captures or of the test kit, as lines of text or as an HTML page.

    Each exchange has a line with time, client, broker, API, result and duration, then the fields that differ from
    their defaults, without timeouts and size limits. Repeated exchanges are one line with their number. At most
    ``limit`` lines are kept: those with errors or with actions of rules, then the last ones; gaps are counted. Of more
    than 5,000 exchanges, only the last 5,000 are read.

    ``width`` (at least 72) is the maximum number of columns. ``color`` adds terminal escape sequences to text.
    ``explain`` adds the bytes, explained field by field. ``title`` is for HTML. Secrets are redacted unless
    ``show_secrets``. Raises ValueError for an unknown ``form`` or a ``limit`` below 1.
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
        return to_html(lines, title, explain, show_secrets)
    return to_text(lines, max(width, 72), color, explain, show_secrets)
