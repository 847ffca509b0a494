"""Values in error texts, and whether they are the numbers that they should be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

SHORT = 64
"""Bytes that are printed of more."""


def in_short(value: object) -> str:
    """A value as it is printed in objects: bytes that are many by the first of them and how many they are.

    Members of enumerations are printed as the numbers and texts that they stand for, which can be pasted anywhere.
    """
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
    except ValueError:  # of thousands of digits
        return f"<{shown(value)}>"


def one_of(choices: Sequence[str]) -> str:
    """Return the choices for an error text: ``'a', 'b' or 'c'``."""
    *first, last = map(repr, choices)
    return f"{', '.join(first)} or {last}" if first else last


def is_int(value: object, bits: int, lowest: int | None = None) -> bool:
    """Whether a value, whatever its type promises, is an int of so many bits with its sign, and not below ``lowest``."""
    most = 1 << bits - 1
    return isinstance(value, int) and (-most if lowest is None else lowest) <= value < most


def shown(value: object) -> str:
    """A value in few characters, whatever it is: Python refuses to print an integer of thousands of digits."""
    try:
        text = repr(value)
    except MemoryError:
        raise
    except Exception:
        return f"an unprintable {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def summary(value: object) -> str:
    """Return what an error says of a value: a number or None as it is, all else by type and length, for it may be secret."""
    if value is None or isinstance(value, bool | int | float):
        return shown(value)
    name = type(value).__name__
    for kinds, unit in _UNITS:
        if isinstance(value, kinds):
            count = f"{len(value)} {unit}{'' if len(value) == 1 else 's'}"
            return count if type(value) is bytes else f"a {name} of {count}"
    return f"a value of type {name}"


_UNITS: tuple[tuple[tuple[type[Sized], ...], str], ...] = (
    ((str,), "character"),
    ((bytes, bytearray), "byte"),
    ((list, tuple, dict, set, frozenset), "element"),
)
