"""Text for terminals: wrapping, quoting, plurals."""

from __future__ import annotations


def wrapped(text: str, width: int) -> list[str]:
    """Return lines of at most ``width`` characters, broken at spaces where possible."""
    lines: list[str] = []
    while len(text) > width:
        at = text.rfind(" ", 1, width + 1)
        if at < width // 3:
            at = width
        lines.append(text[:at].rstrip())
        text = text[at:].lstrip() if text[at : at + 1] == " " else text[at:]
    return [*lines, text]


def quoted(text: str) -> str:
    """Return a text in double quotes, with unprintable characters escaped."""
    inner = text.replace("\\", "\\\\").replace('"', '\\"')
    if not inner.isprintable():
        inner = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in inner)
    return f'"{inner}"'


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
