"""HTML of a conversation: a page, or a block for each exchange."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from importlib.resources import files

from ..text import counted
from ._frames import FieldLink, FrameTable
from ._text import clock, notes
from ._turns import MOST_FIELDS, ClosedConnection, Omitted, Turn, explanations

# Maximum number of fields whose bytes are on a page.
_MOST_ROWS = 50_000
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<p>Times are in UTC.</p>
{rows}
</body>
</html>
"""
_STYLE = """\
:root { color-scheme: light dark; --line: light-dark(#e2e1dc, #333842); --soft: light-dark(#5c636d, #9ba3af);
  --error: light-dark(#b3261e, #ff9a91); --rule: light-dark(#8a4a12, #e6b27c); --ink: light-dark(#1f2328, #e3e5e9);
  --paper: light-dark(#fdfdfc, #16181c); --panel: light-dark(#f5f5f2, #1d2026); }
body { margin: 1.5rem auto; padding: 0 1.5rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: .95rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; }
p { margin: .2rem 0 1rem; color: var(--soft); }
.skipped { margin: .6rem 0; }
"""


def exchange_style() -> str:
    """Return the style sheet of exchanges, which uses the colors ``--line``, ``--soft``, ``--panel`` and ``--error``."""
    return files(__package__).joinpath("exchanges.css").read_text("utf-8")


def no_link(message: str, path: str) -> str:
    return ""


def to_html(
    lines: Iterable[Turn | Omitted | ClosedConnection],
    title: str,
    explain: bool,
    show_secrets: bool,
    show_values: bool,
) -> str:
    rows: list[str] = []
    left = _MOST_ROWS
    for each in lines:
        if isinstance(each, Omitted):
            rows.append(f'<p class="skipped">… {counted(each.count, "exchange")} left out</p>')
            continue
        if isinstance(each, ClosedConnection):
            text = f"{each.client} → {each.server}: the server closed the connection"
            rows.append(f'<p class="skipped">{clock(each.time)} {escape(text)}</p>')
            continue
        rows.append("\n".join(_head(each, "")))
        if explain:
            frames = "\n".join(_frames(each, no_link, show_secrets, show_values, left))
            rows.append(frames if left > 0 else f'<p class="skipped">bytes left out after {_MOST_ROWS:,} fields</p>')
            left -= frames.count("<tr ")
        rows.append("</div>")
    return _PAGE.format(
        title=escape(title), style=_STYLE + exchange_style(), rows="\n".join(rows) or "<p>No exchanges.</p>"
    )


def exchange_block(turn: Turn, link: FieldLink, show_secrets: bool, show_values: bool, anchor: str) -> str:
    frames = _frames(turn, link, show_secrets, show_values, MOST_FIELDS)
    return "\n".join([*_head(turn, anchor), *frames, "</div>"])


def _head(turn: Turn, anchor: str) -> Iterator[str]:
    marks = ["exchange", *(["error"] if turn.is_error else []), *(["rule"] if turn.outcome else [])]
    own_id = f' id="{anchor}"' if anchor else ""
    yield f'<div class="{" ".join(marks)}"{own_id}>'
    cells = [
        *([f'<span class="number">{turn.number}</span>'] if turn.number else []),
        f"<time>{clock(turn.exchange.received_at)}</time>",
        f"<span>{escape(turn.client)} → {escape(turn.broker)}</span>",
        f"<b>{escape(turn.api)}</b>",
        f'<span class="result">{escape(turn.result)}</span>',
        *([f'<span class="outcome">rule: {escape(turn.outcome)}</span>'] if turn.outcome else []),
        *(f'<span class="notes">{escape(text)}</span>' for text in notes(turn)),
    ]
    yield f"<header>{''.join(cells)}</header>"
    for arrow, text in (("→", turn.request), ("←", turn.response)):
        if text:
            yield f'<div class="fields"><span class="arrow">{arrow}</span><code>{escape(text)}</code></div>'


def _frames(turn: Turn, link: FieldLink, show_secrets: bool, show_values: bool, most_rows: int) -> Iterator[str]:
    table = FrameTable(turn.package, link, show_secrets, show_values)
    for name, found in explanations(turn, most_rows) if most_rows > 0 else ():
        label = f"bytes of {name} {turn.number}" if turn.number else f"bytes of the {name}"
        yield f"<details><summary>bytes of the {name} <small>{len(found.data):,}</small></summary>"
        yield table.html(found, label)
        yield "</details>"
