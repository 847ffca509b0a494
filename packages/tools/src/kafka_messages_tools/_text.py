"""Texts for people: counted nouns, quoted texts, times, suggestions."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_LATEST = 253402300800000
"""The year 10000 in milliseconds."""


def counted(number: int, noun: str) -> str:
    """Return ``1 byte``, ``2 bytes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most ``width`` characters, one at least; words are cut only if they are longer than that."""
    from textwrap import wrap

    return wrap(text, max(width, 1), break_on_hyphens=False) or [""]


def suggestion(word: str, known: Iterable[str], form: str = "{}") -> str:
    """Return ``; did you mean list?`` with the known word that is nearest to ``word``; empty if none is near."""
    from difflib import get_close_matches

    by_lower = {each.lower(): each for each in known}
    near = get_close_matches(word.lower(), by_lower, 1)
    return f"; did you mean {form.format(by_lower[near[0]])}?" if near else ""


def time_text(milliseconds: int) -> str | None:
    """Return the UTC time of milliseconds since 1970, or None for other numbers, such as -1."""
    if not 0 < milliseconds < _LATEST:
        return None
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03}Z"
