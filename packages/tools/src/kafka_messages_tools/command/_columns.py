"""Widths of the columns of a table, and cells folded to them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = 2
"""Blanks between columns."""
_LAST = 12
"""The last column is narrowed down to this width before others are."""
_LEAST = 4
"""Columns are not narrowed beyond this width."""


def fitted(rows: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Return the widths of columns whose rows fit into ``limit``, if that is possible.

    The last column is narrowed first, then the one in which the fewest cells have to be folded for it. Words are cut
    only where that is not enough.
    """
    columns = [list(map(len, column)) for column in zip(*rows, strict=True)]
    widths = list(map(max, columns))
    left = limit - GAP * (len(widths) - 1)
    if sum(widths) > left:
        words = [max(map(_longest_word, column)) for column in zip(*rows, strict=True)]
        last = min(widths[-1], _LAST)
        for least in ([*widths[:-1], last], words, [min(width, _LEAST) for width in widths]):
            _narrow(widths, columns, least, left)
    return widths


def _narrow(widths: list[int], columns: list[list[int]], least: Sequence[int], left: int) -> None:
    """Take blanks from columns until they fit, or none can give more."""
    while sum(widths) > left:
        spare = [
            (sum(size >= width for size in columns[at]), -width, at)
            for at, width in enumerate(widths)
            if width > least[at]
        ]
        if not spare:
            return
        widths[min(spare)[2]] -= 1


def _may_fold(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before in "._":
        return after.isalnum() and text[at - 2 : at - 1].isalnum()  # of a path; not of marks for versions
    return before in " ," or (before.islower() and after.isupper())


def _ends(text: str) -> list[int]:
    """Return the places at which a text may be folded, and its end."""
    inner = (at for at in range(1, len(text)) if _may_fold(text, at))
    return [*inner, len(text)]


def _longest_word(text: str) -> int:
    """Return the length of the longest part that folding keeps together, with the indentation of the text."""
    bare = text.lstrip()
    ends = _ends(bare)
    sizes = (len(bare[start:end].rstrip()) for start, end in zip([0, *ends], ends, strict=False))
    return max(sizes) + len(text) - len(bare)


def folded(text: str, width: int) -> list[str]:
    """Return the lines of a cell, each at most ``width`` long; lines after the first keep the indentation."""
    if len(text) <= width:
        return [text]
    bare = text.lstrip()
    indent = text[: min(len(text) - len(bare), width // 2)]
    room = width - len(indent)
    lines = []
    while len(bare) > room:
        fits = [end for end in _ends(bare) if len(bare[:end].rstrip()) <= room]
        at = fits[-1] if fits else room
        lines.append(indent + bare[:at].rstrip())
        bare = bare[at:].lstrip()
    return [*lines, indent + bare] if bare else lines
