"""Text layout of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from time import gmtime, strftime

from ..text import counted, wrapped
from ._turns import Omitted, Turn, explained

_STYLES = {"dim": "2", "error": "1;31", "rule": "33", "title": "1"}
# Maximum widths of the columns with client, and API with version.
_WIDEST = 24
_INDENT = 4
# Maximum number of lines for the fields of a message.
_MOST_LINES = 3


def to_text(lines: Iterable[Turn | Omitted], width: int, color: bool, explain: bool, show_secrets: bool) -> str:
    found = list(lines)
    turns = [each for each in found if isinstance(each, Turn)]
    clients = max((min(len(each.client), _WIDEST) for each in turns), default=0)
    brokers = max((len(each.broker) for each in turns), default=0)
    apis = max((len(each.api) for each in turns), default=0)

    def styled(text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if color and text else text

    out = []
    for each in found:
        if isinstance(each, Omitted):
            out.append(styled(f"… {counted(each.count, 'exchange')} left out", "dim"))
            continue
        head = f"{shortened(each.client, _WIDEST):<{clients}} → {each.broker:<{brokers}}  {each.api:<{apis}}"
        result = styled(each.result, "error") if each.is_error else each.result
        pieces = [f"{styled(clock(each.exchange.received_at), 'dim')} {head}  {result}"]
        if each.outcome:
            pieces.append(styled(f"rule: {each.outcome}", "rule"))
        pieces += [styled(text, "dim") for text in notes(each)]
        out.append("  ".join(pieces))
        for arrow, text in (("→", each.request), ("←", each.response)):
            rows = wrapped(text, width - _INDENT - 2) if text else []
            if len(rows) > _MOST_LINES:
                rows[_MOST_LINES - 1 :] = [f"{rows[_MOST_LINES - 1][: width - _INDENT - 4]} …"]
            out += [f"{' ' * _INDENT}{arrow if not index else ' '} {row}" for index, row in enumerate(rows)]
        if explain:
            for name, text in explained(each, show_secrets, width - _INDENT, color):
                out += [
                    f"{' ' * _INDENT}{styled(name, 'title')}",
                    *(f"{' ' * _INDENT}{row}" for row in text.splitlines()),
                ]
    return "\n".join(out) + "\n" if out else "no exchanges\n"


def clock(seconds: float | None) -> str:
    """Return the time of day in UTC, in milliseconds; ``-`` if unknown."""
    if seconds is None:
        return "-"
    milliseconds = round(seconds * 1000)
    return f"{strftime('%H:%M:%S', gmtime(milliseconds // 1000))}.{milliseconds % 1000:03}"


def notes(turn: Turn) -> list[str]:
    """Return the duration of a line, and the number of equal exchanges."""
    taken = turn.milliseconds
    found = [] if taken is None else [f"{taken:.1f} ms"]
    return found + ([f"{turn.count} times until {clock(turn.ended_at)}"] if turn.count > 1 else [])


def shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
