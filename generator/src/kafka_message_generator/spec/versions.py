"""Ranges of message versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAX_VERSION = 32767  # largest int16: the end of an open range such as ``3+``
_MAX_DIGITS = 20  # maximum digits of a number in an error message


class VersionsError(ValueError):
    """Raised for an invalid version range."""


@dataclass(frozen=True, order=True)
class Versions:
    """A range of message versions, both ends included; empty if ``lowest > highest``."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        """Parse ``none``, ``N``, ``N-M`` or ``N+``.

        Raises VersionsError for anything else, for numbers above int16 and for a descending range such as ``3-1``.
        """
        stripped = text.strip()
        if stripped == "none":
            return NONE
        if stripped.endswith("+"):
            return cls(_number(stripped[:-1], text), MAX_VERSION)
        low, dash, high = stripped.partition("-")
        if not dash:
            only = _number(stripped, text)
            return cls(only, only)
        lowest, highest = _number(low, text), _number(high, text)
        if lowest > highest:
            raise VersionsError(f"version range {text!r} is descending; write {highest}-{lowest} or none")
        return cls(lowest, highest)

    @property
    def empty(self) -> bool:
        return self.lowest > self.highest

    @property
    def open_ended(self) -> bool:
        return not self.empty and self.highest == MAX_VERSION

    def __contains__(self, version: int) -> bool:
        return self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def covers(self, other: Versions) -> bool:
        return other.empty or (self.lowest <= other.lowest and other.highest <= self.highest)

    def intersect(self, other: Versions) -> Versions:
        both = Versions(max(self.lowest, other.lowest), min(self.highest, other.highest))
        return NONE if both.empty else both

    def __str__(self) -> str:
        if self.empty:
            return "none"
        if self.highest == MAX_VERSION:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"


NONE = Versions(0, -1)
ALL = Versions(0, MAX_VERSION)


def _number(digits: str, text: str) -> int:
    plain = digits[1:] if digits.startswith("+") else digits
    if not (plain.isascii() and plain.isdigit()):
        raise VersionsError(f"{text!r} is not a version range; write none, N, N-M or N+ (for example 0-3 or 2+)")
    significant = plain.lstrip("0") or "0"
    if len(significant) > _MAX_DIGITS:
        raise VersionsError(f"a version of {len(significant)} digits is above {MAX_VERSION}, the largest int16")
    number = int(significant)
    if number > MAX_VERSION:
        raise VersionsError(f"version {number} in {text!r} is above {MAX_VERSION}, the largest int16")
    return number
