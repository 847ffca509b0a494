"""Markdown to HTML: GitHub's heading ids, highlighted code, and links resolved by the caller."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup
from mdit_py_plugins.anchors import anchors_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

_COMMENT = re.compile(r"\s*<!--.*-->\s*", re.DOTALL)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_COLORS = HtmlFormatter(nowrap=True)
_LINKS = {"link_open": "href", "image": "src"}


@dataclass(frozen=True)
class MarkdownHeading:
    level: int
    slug: str
    """Heading id, as GitHub derives it."""
    title: str


@dataclass(frozen=True)
class Link:
    line: int
    path: str
    """Path as written; empty for a link within the page."""
    slug: str
    section: str
    """The second-level heading above the link, or empty."""
    is_image: bool


@dataclass(frozen=True)
class LinkTarget:
    """Target of a link; without an address the link becomes text followed by ``path``."""

    address: str
    path: str = ""


@dataclass(frozen=True)
class Document:
    title: str
    headings: Sequence[MarkdownHeading]
    links: Sequence[Link]
    tokens: Sequence[Token]

    def html(self, place: Callable[[str, str], LinkTarget], message: Callable[[str], str | None]) -> Markup:
        """Render HTML; ``place`` resolves a link (path, slug), ``message`` returns a message page's address by name."""
        tokens = [*self.tokens]
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.children:
                is_heading = before is not None and before.type == "heading_open"
                token.children = [*_placed(token.children, place, (lambda name: None) if is_heading else message)]
        return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))


def document(text: str) -> Document:
    """Parse Markdown; the first heading of level 1 is the title."""
    tokens = _PARSER.parse(text)
    _clear_empty_headers(tokens)
    headings = [*_headings(tokens)]
    title = next((heading.title for heading in headings if heading.level == 1), "")
    return Document(title, [each for each in headings if each.level > 1], [*_links(tokens)], tokens)


def _headings(tokens: Sequence[Token]) -> Iterator[MarkdownHeading]:
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            yield MarkdownHeading(int(token.tag[1:]), str(token.attrs["id"]), _text(inside))


def _clear_empty_headers(tokens: Sequence[Token]) -> None:
    for opening, inside, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type == "th_open" and not inside.content:
            opening.tag = closing.tag = "td"


def _text(inline: Token) -> str:
    return "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))


def _links(tokens: Sequence[Token]) -> Iterator[Link]:
    section, line = "", 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        line = token.map[0] + 1 if token.map else line  # table cells have no position, but their rows do
        if before is not None and before.type == "heading_open" and before.tag == "h2":
            section = _text(token)
        for each in token.children or ():
            written = str(each.attrs.get(_LINKS.get(each.type, ""), ""))
            if written and not _SCHEME.match(written):
                yield Link(line, *_split(written), section, each.type == "image")


def _split(written: str) -> tuple[str, str]:
    path, _, slug = written.partition("#")
    return unquote(path), unquote(slug)


def _placed(
    tokens: Sequence[Token], place: Callable[[str, str], LinkTarget], message: Callable[[str], str | None]
) -> Iterator[Token]:
    opened: list[LinkTarget | None] = []
    text = ""
    for token in tokens:
        attribute = _LINKS.get(token.type, "")
        written = str(token.attrs.get(attribute, ""))
        to = place(*_split(written)) if written and not _SCHEME.match(written) else None
        if to is not None and to.address:
            token.attrs[attribute] = to.address
        if token.type == "link_open":
            opened.append(to)
            text = ""
            if to is not None and not to.address:
                continue
        elif token.type == "link_close":
            closed = opened.pop()
            if closed is not None and not closed.address:
                yield from _file(closed.path, text)
                continue
        elif token.type == "code_inline" and not opened and (address := message(token.content)) is not None:
            yield Token("link_open", "a", 1, attrs={"href": address})
            yield token
            yield Token("link_close", "a", -1)
            continue
        text += token.content
        yield token


def _file(path: str, text: str) -> Iterator[Token]:
    if text.strip("/") != path:
        yield Token("text", "", 0, content=" (")
        yield Token("code_inline", "code", 0, content=path)
        yield Token("text", "", 0, content=")")


# ---- render rules that replace the library's rules


def _html(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    content = tokens[at].content
    return "" if _COMMENT.fullmatch(content) else escape(content, quote=False)


def _fence(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    code, language = tokens[at].content, tokens[at].info.partition(" ")[0]
    kind = "code" if language else "code output"
    label = "Code" if language else "Output"
    pre = f'<pre tabindex="0" role="group" aria-label="{label}">'
    return f'<div class="{kind}">{pre}<code>{_colored(code, language)}</code></pre></div>\n'


def _colored(code: str, language: str) -> str:
    try:
        lexer = get_lexer_by_name("pycon" if code.startswith(">>> ") else language, stripnl=False)
    except ClassNotFound:
        return escape(code, quote=False)
    found: str = highlight(code, lexer, _COLORS)
    return found


def _table_open(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return '<div class="wide" tabindex="0" role="group" aria-label="Table">\n<table>\n'


def _table_close(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "</table>\n</div>\n"


_RULES: Mapping[str, Callable[..., str]] = {
    "html_block": _html,
    "html_inline": _html,
    "fence": _fence,
    "table_open": _table_open,
    "table_close": _table_close,
}


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "xhtmlOut": False}).enable(["table", "strikethrough"])
    parser.use(anchors_plugin, max_level=4)
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


_PARSER = _parser()
