"""What somebody may have meant who misspelt a word."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.75
"""Of 1; so alike must words be for one to be taken for the other."""


def suggestion(word: str, choices: Iterable[str]) -> str | None:
    """The choice that is nearest to a word, whatever its capitals; None if none is near."""
    return next(iter(suggestions(word, choices)), None)


def suggestions(word: str, choices: Iterable[str], most: int = 1) -> list[str]:
    """Return up to ``most`` choices that are near a word in any case, the nearest first.

    Digits must agree: ``int128`` does not suggest ``int8``.
    """
    by_lower = {choice.lower(): choice for choice in choices if _digits(choice) == _digits(word)}
    return [by_lower[each] for each in difflib.get_close_matches(word.lower(), by_lower, most, _ALIKE)]


def _digits(word: str) -> list[str]:
    return sorted(filter(str.isdigit, word))


def did_you_mean(word: str, choices: Iterable[str], advice: str) -> str:
    """``did you mean``, where a choice is near, else the advice."""
    near = suggestion(word, choices)
    return advice if near is None else f"did you mean {near}?"
