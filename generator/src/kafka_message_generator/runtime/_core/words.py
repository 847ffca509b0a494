"""Texts on a terminal: wrapped, and without what would change its state."""

from __future__ import annotations


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` characters, cut at blanks where that is possible; one at least."""
    lines: list[str] = []
    while len(text) > width:
        at = text.rfind(" ", 1, width + 1)
        if at < width // 3:
            at = width
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip() if text[at : at + 1] == " " else text[at:]
    return [*lines, text]


def quoted(text: str) -> str:
    """A text in quotes; what a terminal would not print, and could be changed by, is escaped."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    if not inner.isprintable():
        inner = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in inner)
    return f'"{inner}"'


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, which has an ``s`` unless there is one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
