"""Elements of HTML and SVG: what is not made here is a text, and is escaped."""

from __future__ import annotations

from html import escape

from .formatting import CONTROL


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


def markup(content: object) -> Markup:
    """Anything as HTML: names of topics and the like are shown letter by letter, whatever they hold."""
    return content if isinstance(content, Markup) else Markup(escape(str(content).translate(CONTROL)))


def element(name: str, *content: object, **attributes: object) -> Markup:
    """An element with what is in it; an attribute of None is left out, and ``class_`` is ``class``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(map(markup, content))}</{name}>")
