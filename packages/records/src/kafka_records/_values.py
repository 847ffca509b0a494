"""Argument checks and formatting of values for error messages."""

from __future__ import annotations

from collections.abc import Sequence

BytesLike = bytes | bytearray | memoryview


def as_bytes(data: BytesLike, what: str) -> bytes:
    """Return a bytes-like object as bytes. Raises TypeError."""
    if not isinstance(data, bytes | bytearray):
        try:
            data = memoryview(data)
        except TypeError:
            raise TypeError(f"{what} must be bytes-like, not {type(data).__name__}") from None
    return bytes(data)


def is_int(value: object, bits: int, lowest: int | None = None) -> bool:
    return isinstance(value, int) and (-(1 << bits - 1) if lowest is None else lowest) <= value < 1 << bits - 1


def one_of(choices: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(map(repr, choices[:-1])), repr(choices[-1]))))


def shown(value: object) -> str:
    try:
        text = repr(value)
    except MemoryError:
        raise
    except Exception:
        text = f"an unprintable {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
