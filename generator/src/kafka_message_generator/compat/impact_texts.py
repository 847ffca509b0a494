"""Reports of the impact of a release, as text, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kafka_message_generator.compat.impact import ImpactItem, ImpactReport, ImpactSection

_MOST_BYTES = 32
_STYLE = """:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code { font-family: ui-monospace, monospace; overflow-wrap: anywhere; }
li { margin: .3rem 0; } summary { cursor: pointer; font-weight: 600; font-size: 1.2rem; } p { max-width: 45rem; }
.bytes { opacity: .8; font-size: .9rem; }"""


def as_text(report: ImpactReport) -> str:
    lines = [f"Impact of {report.new} on programs for {report.old}"]
    for section in report.sections:
        lines += ["", f"{section.title} ({len(section.items)})", *([f"  {section.about}"] if section.items else [])]
        for item in section.items:
            lines += [f"  {item.place}: {item.what}", *(f"      {line}" for line in _evidence(item))]
    return "\n".join(lines) + "\n"


def as_html(report: ImpactReport) -> str:
    """Return a page in one file, without scripts; it follows the light or dark setting of the browser."""
    title = escape(f"Impact of {report.new} on programs for {report.old}")
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>",
    ]
    for section in report.sections:
        parts.append(f"<details open>\n<summary>{escape(section.title)} ({len(section.items)})</summary>")
        parts.append(f"<p>{escape(section.about)}</p>")
        if section.items:
            parts.append("<ul>\n" + "\n".join(map(_html_item, section.items)) + "\n</ul>")
        parts.append("</details>")
    return "\n".join(parts) + "\n</body>\n</html>\n"


def _html_item(item: ImpactItem) -> str:
    more = "".join(f'<div class="bytes"><code>{escape(line)}</code></div>' for line in _evidence(item))
    return f"<li><code>{escape(item.place)}</code>: {escape(item.what)}{more}</li>"


def as_markdown(section: ImpactSection, shown: int) -> Iterator[str]:
    """Yield the lines of a section; items after the first ``shown`` ones are folded."""
    count = len(section.items)
    shown = count if shown and count <= shown + 2 else shown
    if shown:
        yield f"**{section.title}** ({count})\n"
        yield from map(_markdown_item, section.items[:shown])
    if shown < count:
        summary = f"{count - shown} more" if shown else f"{section.title} ({count})"
        yield f"\n<details><summary>{summary}</summary>\n"
        yield from map(_markdown_item, section.items[shown:])
        yield "\n</details>"
    if count:
        yield ""


def _markdown_item(item: ImpactItem) -> str:
    evidence = "; ".join(f"`{line}`" for line in _evidence(item))
    return f"* `{item.place}`: {item.what}{f' — {evidence}' if evidence else ''}"


def _evidence(item: ImpactItem) -> Iterator[str]:
    if item.data:
        more = f" and {len(item.data) - _MOST_BYTES} more" if len(item.data) > _MOST_BYTES else ""
        yield item.data[:_MOST_BYTES].hex(" ") + more
        yield item.outcome
