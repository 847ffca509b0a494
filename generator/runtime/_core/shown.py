"""Values in error texts."""

from __future__ import annotations


def shown(value: object) -> str:
    """A value in few characters, whatever it is: Python refuses to print an integer of thousands of digits."""
    try:
        text = repr(value)
    except Exception:
        return f"an unprintable {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
