"""Short representations of values for error messages, and integer range checks."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

# Maximum number of bytes printed in full.
SHORT = 64


def in_short(value: object) -> str:
    """Return the ``repr`` of a value, with long bytes truncated and enumeration members as plain values."""
    if isinstance(value, bytes | bytearray) and len(value) > SHORT:
        return f"{value[:SHORT]!r}... ({len(value)} bytes)"
    if type(value) is list:
        return f"[{', '.join(map(in_short, value))}]"
    if isinstance(value, str):
        return str.__repr__(value)
    if not isinstance(value, int) or type(value) is bool:
        return repr(value)
    try:
        return int.__repr__(value)
    except ValueError:  # too many digits
        return f"<{display(value)}>"


def one_of(choices: Sequence[str]) -> str:
    """Join choices as ``'a', 'b' or 'c'``."""
    *first, last = map(repr, choices)
    return f"{', '.join(first)} or {last}" if first else last


def is_int(value: object, bits: int, lowest: int | None = None) -> bool:
    most = 1 << bits - 1
    return isinstance(value, int) and (-most if lowest is None else lowest) <= value < most


def display(value: object) -> str:
    """Return the ``repr`` of a value, cut to 60 characters, or a description if ``repr`` fails."""
    try:
        text = repr(value)
    except MemoryError:
        raise
    except Exception:
        return f"an unprintable {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def class_or_value(value: object) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else display(value)


def summary(value: object) -> str:
    """Return numbers and None as text; of other values, which may be secret, only type and length."""
    if value is None:
        return "None"
    name = type(value).__name__
    if isinstance(value, bool | int | float):
        text = display(value)
        return text if text.startswith("an unprintable") else f"{name} ({text})"
    for kinds, unit in _UNITS:
        if isinstance(value, kinds):
            count = f"{len(value)} {unit}{'' if len(value) == 1 else 's'}"
            return count if type(value) is bytes else f"{name} of {count}"
    return name


_UNITS: tuple[tuple[tuple[type[Sized], ...], str], ...] = (
    ((str,), "character"),
    ((bytes, bytearray), "byte"),
    ((list, tuple, dict, set, frozenset), "element"),
)
