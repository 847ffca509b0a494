"""Prose as a part of the site: its pages, their contents, and what a page shows beside its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class ProsePage:
    """A page of prose, ready to be shown."""

    path: str
    """On the site."""
    title: str
    headings: Sequence[tuple[int, str, str]]
    """Below its title: level, id and text."""
    html: Markup


@dataclass(frozen=True)
class Chapter:
    """A section of the contents with its pages, by address and title."""

    title: str
    pages: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Prose:
    """All of it."""

    pages: Sequence[ProsePage]
    chapters: Sequence[Chapter]
    images: Mapping[str, bytes]
    contents: str
    """The path of the page that has the contents."""


NONE = Prose((), (), {}, "")


@dataclass(frozen=True)
class View:
    """What a page of prose shows beside its text."""

    page: ProsePage
    chapters: Sequence[tuple[Chapter, bool]]
    """With whether it is unfolded: that of the page, else the first."""
    before: tuple[str, str] | None
    after: tuple[str, str] | None
    """The neighbours in the contents, by address and title."""


def view(prose: Prose, page: ProsePage) -> View:
    """A page with its surroundings."""
    order = list(dict.fromkeys(each for chapter in prose.chapters for each in chapter.pages))
    here = (page.path, page.title)
    at = order.index(here) if here in order else None
    unfolded = next((chapter for chapter in prose.chapters if here in chapter.pages), prose.chapters[0])
    chapters = [(chapter, chapter is unfolded) for chapter in prose.chapters]
    before = order[at - 1] if at else None
    return View(page, chapters, before, order[at + 1] if at is not None and at + 1 < len(order) else None)
