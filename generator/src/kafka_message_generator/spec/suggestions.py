"""Suggestions for misspelled names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.75  # minimum similarity of ``difflib``, from 0 to 1


def suggestion(word: str, choices: Iterable[str]) -> str | None:
    """Return the choice nearest to a word, ignoring case; None if none is similar."""
    return next(iter(suggestions(word, choices)), None)


def suggestions(word: str, choices: Iterable[str], most: int = 1) -> list[str]:
    """Return up to ``most`` choices similar to a word, ignoring case, nearest first, with the same digits."""
    by_lower = {choice.lower(): choice for choice in choices if _digits(choice) == _digits(word)}
    return [by_lower[each] for each in difflib.get_close_matches(word.lower(), by_lower, most, _ALIKE)]


def _digits(word: str) -> list[str]:
    return sorted(filter(str.isdigit, word))


def did_you_mean(word: str, choices: Iterable[str], advice: str) -> str:
    near = suggestion(word, choices)
    return advice if near is None else f"did you mean {near}?"
