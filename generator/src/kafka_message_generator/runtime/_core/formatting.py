"""Formatting of values as text and JSON; unprintable characters are escaped."""

from __future__ import annotations

from uuid import UUID


def formatted(value: object) -> str:
    """Return a value as short text: quoted strings, the number of bytes, UUIDs in base64."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, bytes):
        return f"{len(value)} byte{'s' if len(value) != 1 else ''}"
    return str(value)


def json_value(value: object) -> object:
    """Return a JSON-compatible value: bytes as hex, UUIDs in base64, non-finite floats as strings."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def uuid_text(value: UUID) -> str:
    from base64 import urlsafe_b64encode

    return urlsafe_b64encode(value.bytes).decode().rstrip("=")


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
