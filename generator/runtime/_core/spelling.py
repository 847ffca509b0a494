"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

from collections.abc import Iterable

_ALIKE = 0.75
"""Of 1; so alike must words be for one to be taken for the other."""


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The end of an error text, with the choice that is nearest to a word whatever its capitals; empty if none is near."""
    from difflib import get_close_matches

    by_lower = {choice.lower(): choice for choice in choices}
    near = get_close_matches(word.lower(), by_lower, 1, _ALIKE)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""
