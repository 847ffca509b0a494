"""Values as words: what a cell of a table says, for all kinds of reports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_MAX_WIDTH = 80
"""Longer texts in cells of a table are cut."""
MAX_LENGTH = 1 << 15
"""No path has more characters."""
_TURNS = (0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Characters that change the direction in which a text is read, or break its lines: a name could look like another one."""
CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))}
CONTROL |= {code: f"\\u{code:04x}" for code in (*_TURNS, *range(0xD800, 0xE000))}
"""What would not be seen, as Python writes it; among it bytes of file names that are no UTF-8."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_value(value: object, widest: int = _MAX_WIDTH) -> str:
    """A value as a word: nothing that would break a line or a table."""
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
    """A file as a word: of a long path its end, which tells partition and segment."""
    text = format_value(value, widest=MAX_LENGTH)
    return text if len(text) <= _MAX_WIDTH else f"…{text[1 - _MAX_WIDTH :]}"


def timestamp(milliseconds: int | None) -> str:
    """A time in UTC, to the millisecond; Kafka's -1 is none."""
    if milliseconds is None or milliseconds == -1:
        return "-"
    try:
        return (_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(" ", "milliseconds").replace("+00:00", "Z")
    except OverflowError:
        return f"{milliseconds} ms"


def duration(milliseconds: int | None) -> str:
    """A length of time with its two largest units: ``2h 5m``."""
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
    """A number of bytes with a unit: ``1.5 MiB``."""
    if count is None:
        return "-"
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def rows_omitted(count: int) -> str:
    """What stands below a table of which rows were left out."""
    return f"... and {count:,} more"
