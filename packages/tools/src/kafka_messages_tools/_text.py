"""Text formatting: counted nouns, line wrapping, suggestions, times."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The year 10000 in milliseconds.
_LATEST = 253402300800000


def counted(number: int, noun: str) -> str:
    """Return a count with its noun: ``1 byte``, ``2 bytes``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def wrapped(text: str, width: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, max(width, 1), break_on_hyphens=False) or [""]


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``; did you mean MetadataRequest?`` with the known word closest to ``word``, or an empty string."""
    from kafka_messages.errors import did_you_mean

    return did_you_mean(word, known, "{}", alike=0.6)


def time_text(milliseconds: int) -> str | None:
    """Format milliseconds since 1970 as UTC; return None for 0, negative numbers, and years after 9999."""
    if not 0 < milliseconds < _LATEST:
        return None
    from time import gmtime, strftime

    return strftime("%Y-%m-%dT%H:%M:%S", gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03}Z"
