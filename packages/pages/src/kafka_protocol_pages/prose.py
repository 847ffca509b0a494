"""Documentation pages: README.md and all Markdown pages reachable from it, with their table of contents."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from kafka_protocol_pages.markdown import Document, LinkTarget, document
from kafka_protocol_pages.package import PagesError

START, CONTENTS = "README.md", ("docs/README.md", "README.md")
"""Start page, and candidates for the page with the table of contents."""


@dataclass(frozen=True)
class ProsePage:
    path: str
    title: str
    headings: Sequence[tuple[int, str, str]]
    """Level, id and text."""
    html: Markup


@dataclass(frozen=True)
class Chapter:
    """A section of the table of contents: addresses and titles of its pages."""

    title: str
    pages: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Prose:
    pages: Sequence[ProsePage]
    chapters: Sequence[Chapter]
    images: Mapping[str, bytes]
    contents: str
    """Path of the page with the table of contents."""


NONE = Prose((), (), {}, "")


@dataclass(frozen=True)
class View:
    page: ProsePage
    chapters: Sequence[tuple[Chapter, bool]]
    """Chapters, with True for the unfolded one."""
    before: tuple[str, str] | None
    after: tuple[str, str] | None
    """Address and title of the previous and the next page, or None."""


def view(prose: Prose, page: ProsePage) -> View:
    order = list(dict.fromkeys(each for chapter in prose.chapters for each in chapter.pages))
    here = (page.path, page.title)
    at = order.index(here) if here in order else None
    current = next((chapter for chapter in prose.chapters if here in chapter.pages), prose.chapters[0])
    chapters = [(chapter, chapter is current) for chapter in prose.chapters]
    before = order[at - 1] if at else None
    return View(page, chapters, before, order[at + 1] if at is not None and at + 1 < len(order) else None)


def read_prose(folder: Path, messages: Collection[str]) -> Prose:
    """Read README.md and all pages reachable from it; names of ``messages`` in inline code become links.

    Raises PagesError for a missing README.md, and for a link that is broken or leaves the folder.
    """
    if not (folder / START).is_file():
        raise PagesError(f"{folder / START}: file not found; it is the start page")
    found = _Folder(folder, messages)
    waiting = [START]
    while waiting:
        path = waiting.pop()
        if path in found.documents:
            continue
        found.documents[path] = document((folder / path).read_text(encoding="utf-8"))
        waiting += found.targets(path)
    contents = next(path for path in CONTENTS if path in found.documents)
    pages = tuple(found.page(path) for path in sorted(found.documents))
    return Prose(pages, tuple(found.chapters(contents)), found.images, _address(contents))


def _address(path: str) -> str:
    return f"{path.removesuffix('.md')}.html"


@dataclass
class _Folder:
    root: Path
    messages: Collection[str]
    documents: dict[str, Document] = field(default_factory=dict)
    images: dict[str, bytes] = field(default_factory=dict)

    def targets(self, page: str) -> Iterator[str]:
        for link in self.documents[page].links:
            path = self._target(page, link.path)
            there, place = self.root / path, f"{self.root / page}:{link.line}"
            if path.partition("/")[0] == "..":
                raise PagesError(f"{place}: link to {link.path} leaves the folder {self.root}; use a URL")
            if not there.exists():
                raise PagesError(f"{place}: broken link to {link.path}")
            if path.endswith(".md"):
                yield path
            elif link.is_image:
                self.images[path] = there.read_bytes()

    def _target(self, page: str, written: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), written)) if written else page
        readme = posixpath.normpath(posixpath.join(path, START))
        return readme if (self.root / readme).is_file() else path

    def page(self, path: str) -> ProsePage:
        page = self.documents[path]
        above = posixpath.dirname(path)

        def place(written: str, slug: str) -> LinkTarget:
            return self._place(path, written, slug)

        def message(name: str) -> str | None:
            return posixpath.relpath(f"messages/{name}.html", above) if name in self.messages else None

        headings = tuple((each.level, each.slug, each.title) for each in page.headings)
        return ProsePage(_address(path), self._title(path), headings, page.html(place, message))

    def _place(self, page: str, written: str, slug: str) -> LinkTarget:
        target = self._target(page, written)
        end = f"#{slug}" if slug else ""
        if target == page and end:
            return LinkTarget(end)
        if target in self.images:
            return LinkTarget(posixpath.relpath(target, posixpath.dirname(page)))
        if target in self.documents:
            return LinkTarget(posixpath.relpath(_address(target), posixpath.dirname(page)) + end)
        return LinkTarget("", target)

    def _title(self, path: str) -> str:
        return self.documents[path].title or path

    def chapters(self, contents: str) -> Iterator[Chapter]:
        found: dict[str, list[str]] = {"": [contents]}
        seen = {contents}
        for link in self.documents[contents].links:
            target = self._target(contents, link.path)
            if target in self.documents and target not in seen:
                found.setdefault(link.section, []).append(target)
                seen.add(target)
        for section, paths in found.items():
            yield Chapter(
                section or self._title(contents), tuple((_address(path), self._title(path)) for path in paths)
            )
