"""Values for samples: repeatable random draws, extremes, and critical lengths."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence
from typing import TypeVar

from kafka_message_generator.spec.model import INTEGERS

Scalar = str | int | float | bool
T = TypeVar("T")

FLOATS = (1.0, -1.5, 5e-324, 1.7976931348623157e308, -0.0, 0.1, -123456789.125)
EDGES = (126, 127, 128)
"""Lengths at which a varint, or a compact length, grows by a byte."""
FAR_EDGES = (16382, 16383, 16384)
PIECES = ("a", "Z", "0", "-", ".", "_", " ", '"', "\\", "\n", "\x01", "é", "ß", "Ж", "☃", "\u2028", "漢", "😀", "𝄞")


class VectorDraw:
    """A random source with the same values on every Python version."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, limit: int) -> int:
        return self._random.getrandbits(80) % limit

    def one_in(self, times: int) -> bool:
        return self.below(times) == 0

    def pick(self, choices: Sequence[T]) -> T:
        return choices[self.below(len(choices))]

    def data(self, size: int) -> bytes:
        return self._random.getrandbits(8 * size).to_bytes(size, "big")

    def any(self, type: str) -> Scalar:
        """Return a value of a scalar type, often small, extreme or empty."""
        if type in INTEGERS:
            return self._integer(*INTEGERS[type].range)
        if type not in ("bool", "float64") and self.one_in(8):
            return zero(type)
        if type == "float64":
            return self.pick((0.0, *FLOATS))
        if type == "bool":
            return self.one_in(2)
        return self.non_default(type, None)

    def non_default(self, type: str, default: str | None) -> Scalar:
        """Return a value other than ``default`` (None: zero or empty). Raises ValueError for an unknown type."""
        if type in INTEGERS:
            lowest, highest = INTEGERS[type].range
            known = 0 if default is None else int(default, 0)
            extremes = (lowest, highest, highest // 2 + 1) if lowest == 0 else (lowest, highest)
            return self.pick([number for number in extremes if number not in (0, known)])
        if type == "bool":
            return (default or "false").lower() == "false"
        if type == "float64":
            return self.pick([number for number in FLOATS if number != float(default or 0)])
        if type == "string":
            return self._distinct_text(default)
        if type == "uuid":
            return base64.urlsafe_b64encode(self.data(16)).decode().rstrip("=")
        if type in ("bytes", "records"):
            return base64.b64encode(self._data()).decode()
        raise ValueError(f"no sample values for fields of type {type!r}")

    def _integer(self, lowest: int, highest: int) -> int:
        kind = self.below(4)
        if kind == 0:
            return self.pick((lowest, highest))
        if kind == 1:
            return lowest + self.below(highest - lowest + 1)
        return max(lowest, self.below(12) - 2)

    def _distinct_text(self, default: str | None) -> str:
        text = self._text()
        return text if text != default else text + "+"

    def _text(self) -> str:
        if self.one_in(1500):
            return text_of(self.pick(FAR_EDGES), "漢")
        if self.one_in(12):
            return text_of(self.pick(EDGES), self.pick(PIECES))
        return "".join(self.pick(PIECES) for _ in range(1 + self.below(9)))

    def _data(self) -> bytes:
        if self.one_in(12):
            return self.data(3).ljust(self.pick((*EDGES, 300)), self.data(1))
        return self.data(1 + self.below(12))


def zero(type: str) -> Scalar:
    if type in ("string", "bytes", "records"):
        return ""
    if type == "uuid":
        return "A" * 22
    return False if type == "bool" else 0.0 if type == "float64" else 0


def text_of(size: int, piece: str) -> str:
    each = len(piece.encode())
    return piece * (size // each) + "x" * (size % each)
