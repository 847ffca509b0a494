"""HTML and SVG elements with escaping."""

from __future__ import annotations

from html import escape

from .formatting import CONTROL


class Markup(str):
    """Escaped HTML."""

    __slots__ = ()


def markup(content: object) -> Markup:
    return content if isinstance(content, Markup) else Markup(escape(str(content).translate(CONTROL)))


def element(name: str, *content: object, **attributes: object) -> Markup:
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(map(markup, content))}</{name}>")
