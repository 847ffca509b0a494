"""Table layout: column widths and cell wrapping."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Spaces between columns.
GAP = 2
# Width down to which the last column shrinks before other columns shrink.
_LAST = 12
# Minimum width of a column.
_LEAST = 4


def column_widths(rows: Sequence[Sequence[str]], limit: int) -> list[int]:
    """Return column widths that fit into ``limit``, if possible.

    The last column shrinks first, then the column with the fewest cells to wrap.
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
        return after.isalnum() and text[at - 2 : at - 1].isalnum()  # in a path, but not in symbols such as `..++`
    return before in " ," or (before.islower() and after.isupper())


def _ends(text: str) -> list[int]:
    inner = (at for at in range(1, len(text)) if _may_fold(text, at))
    return [*inner, len(text)]


def _longest_word(text: str) -> int:
    bare = text.lstrip()
    ends = _ends(bare)
    sizes = (len(bare[start:end].rstrip()) for start, end in zip([0, *ends], ends, strict=False))
    return max(sizes) + len(text) - len(bare)


def folded(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    bare = text.lstrip()
    indent = text[: min(len(text) - len(bare), width // 2)]
    space = width - len(indent)
    lines = []
    while len(bare) > space:
        fits = [end for end in _ends(bare) if len(bare[:end].rstrip()) <= space]
        at = fits[-1] if fits else space
        lines.append(indent + bare[:at].rstrip())
        bare = bare[at:].lstrip()
    return [*lines, indent + bare] if bare else lines
