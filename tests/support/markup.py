"""A strict HTML parser: it rejects unclosed elements and duplicate attributes, and lists links and ids."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = ("meta", "link", "input", "br", "hr", "img", "wbr")


@dataclass
class Element:
    """An element with its attributes and content."""

    tag: str
    attributes: dict[str, str]
    inside: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    def all(self, tag: str = "", css: str = "") -> Iterator[Element]:
        """Yield this element and nested ones, filtered by tag and class."""
        if (not tag or self.tag == tag) and (not css or css in self.attributes.get("class", "").split()):
            yield self
        for each in self.inside:
            if isinstance(each, Element):
                yield from each.all(tag, css)

    def one(self, tag: str = "", css: str = "") -> Element:
        """Return the only element with this tag and class."""
        (found,) = self.all(tag, css)
        return found


@dataclass(frozen=True)
class Parsed:
    root: Element

    @property
    def ids(self) -> list[str]:
        return [each.attributes["id"] for each in self.root.all() if "id" in each.attributes]

    @property
    def links(self) -> list[str]:
        """Return the targets of links, styles, scripts and images."""
        found = (each.attributes.get(name) for each in self.root.all() for name in ("href", "src"))
        return [each for each in found if each is not None]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        if len(element.attributes) != len(attrs):
            raise ValueError(f"line {self.getpos()[0]}: {tag} has a duplicate attribute: {attrs}")
        self.open[-1].inside.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if self.open[-1].tag != tag:
            raise ValueError(f"line {self.getpos()[0]}: {self.open[-1].tag} is closed by {tag}")
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parsed(text: str) -> Parsed:
    """Parse a page. Raises ValueError for an unclosed element or a duplicate attribute."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    if len(reader.open) != 1:
        raise ValueError(f"{reader.open[-1].tag} is not closed")
    return Parsed(reader.open[0])
