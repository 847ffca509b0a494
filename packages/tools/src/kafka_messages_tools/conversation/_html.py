"""HTML page of a conversation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from .._text import counted
from ._text import clock, notes
from ._turns import Omitted, Turn, explained

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
article { padding: .45rem .6rem; border-top: 1px solid var(--line); border-left: 3px solid transparent; }
article.error { border-left-color: var(--error); }
article.rule { border-left-color: var(--rule); }
header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
header > * { overflow-wrap: anywhere; }
time, .notes, .skipped, .side { color: var(--soft); }
time, code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: .85em; }
.error .result { color: var(--error); font-weight: 600; }
.outcome { color: var(--rule); }
.fields { display: grid; grid-template-columns: 1.2rem 1fr; margin: .1rem 0 0 .4rem; }
.fields code { overflow-wrap: anywhere; }
.skipped { margin: 0; padding: .45rem .6rem; border-top: 1px solid var(--line); }
details { margin: .3rem 0 0 .4rem; }
summary { cursor: pointer; color: var(--soft); }
pre { overflow-x: auto; background: var(--panel); padding: .6rem .8rem; border-radius: 6px; }
"""


def to_html(lines: Iterable[Turn | Omitted], title: str, explain: bool, show_secrets: bool) -> str:
    rows = "\n".join(row for each in lines for row in _rows(each, explain, show_secrets))
    return _PAGE.format(title=escape(title), style=_STYLE, rows=rows or "<p>No exchanges.</p>")


def _rows(each: Turn | Omitted, explain: bool, show_secrets: bool) -> Iterator[str]:
    if isinstance(each, Omitted):
        yield f'<p class="skipped">… {counted(each.count, "exchange")} left out</p>'
        return
    marks = " ".join(name for name, applies in (("error", each.is_error), ("rule", each.outcome)) if applies)
    yield f'<article class="{marks}">' if marks else "<article>"
    cells = [
        f"<time>{clock(each.exchange.received_at)}</time>",
        f"<span>{escape(each.client)} → {escape(each.broker)}</span>",
        f"<b>{escape(each.api)}</b>",
        f'<span class="result">{escape(each.result)}</span>',
        *([f'<span class="outcome">rule: {escape(each.outcome)}</span>'] if each.outcome else []),
        *(f'<span class="notes">{escape(text)}</span>' for text in notes(each)),
    ]
    yield f"<header>{''.join(cells)}</header>"
    for arrow, text in (("→", each.request), ("←", each.response)):
        if text:
            yield f'<div class="fields"><span class="side">{arrow}</span><code>{escape(text)}</code></div>'
    if explain:
        for name, text in explained(each, show_secrets, 120, False):
            yield f"<details><summary>bytes of the {name}</summary><pre>{escape(text)}</pre></details>"
    yield "</article>"
