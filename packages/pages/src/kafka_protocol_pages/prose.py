"""Documentation pages, their table of contents, and links to the previous and next page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup


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
