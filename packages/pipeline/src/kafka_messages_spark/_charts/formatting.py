"""Text formatting, and escaped HTML and SVG elements, for reports and charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from html import escape

# Maximum length of a table cell.
_MAX_WIDTH = 80
# Maximum length of formatted text that is not shortened; longer than any path.
MAX_LENGTH = 1 << 15
# Characters that change the text direction or break lines, so that one name could imitate another.
_TURNS = (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
# Also escape these characters, and surrogates, which stand for bytes of file names that are invalid UTF-8.
CONTROL |= {code: f"\\u{code:04x}" for code in (*_TURNS, *range(0xD800, 0xE000))}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_value(value: object, widest: int = _MAX_WIDTH) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(map(format_value, value)) or "-"
    text = str(value).translate(CONTROL)
    return text if len(text) <= widest else f"{text[: widest - 1]}…"


def format_path(value: object) -> str:
    """Format a path for a table cell, without the beginning of a long path."""
    text = format_value(value, widest=MAX_LENGTH)
    return text if len(text) <= _MAX_WIDTH else f"…{text[1 - _MAX_WIDTH :]}"


def timestamp(milliseconds: int | None) -> str:
    """Return a time in UTC with milliseconds, ``-`` for None and -1, or ``N ms`` beyond the years of ``datetime``."""
    if milliseconds is None or milliseconds == -1:
        return "-"
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(" ", "milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return f"{milliseconds} ms"


def duration(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "-"
    sign, rest = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    if rest < 1000:
        return f"{sign}{rest}ms"
    words = []
    for unit, size in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000)):
        count, rest = divmod(rest, size)
        if count:
            words.append(f"{count}{unit}")
        elif words:
            break
    return sign + " ".join(words[:2])


def size(count: int | None) -> str:
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def rows_omitted(count: int) -> str:
    return f"... and {count:,} more"


class Markup(str):
    """Escaped HTML."""

    __slots__ = ()


def markup(content: object) -> Markup:
    return content if isinstance(content, Markup) else Markup(escape(str(content).translate(CONTROL)))


def element(name: str, *content: object, **attributes: object) -> Markup:
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{markup(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{''.join(map(markup, content))}</{name}>")
