"""Version ranges."""

from __future__ import annotations

from collections.abc import Iterator

from .value import dataclass

MAX_VERSION = 32767


@dataclass(frozen=True, slots=True)
class Versions:
    """Inclusive version range, empty if ``highest < lowest``; iterates in ascending order."""

    lowest: int
    highest: int

    @classmethod
    def parse(cls, text: str) -> Versions:
        """Parse a range in the notation of definitions: ``0+``, ``3-5``, ``7``, ``none``."""
        if text == "none":
            return cls(0, -1)
        if text.endswith("+"):
            return cls(int(text[:-1]), MAX_VERSION)
        lowest, _, highest = text.partition("-")
        return cls(int(lowest), int(highest or lowest))

    @property
    def notation(self) -> str:
        """The range in the notation that ``parse`` reads."""
        if not self:
            return "none"
        if self.highest == MAX_VERSION:
            return f"{self.lowest}+"
        return str(self.lowest) if self.lowest == self.highest else f"{self.lowest}-{self.highest}"

    def __contains__(self, version: object) -> bool:
        return isinstance(version, int) and self.lowest <= version <= self.highest

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.lowest, self.highest + 1))

    def __len__(self) -> int:
        return max(self.highest - self.lowest + 1, 0)

    def __str__(self) -> str:
        if not self:
            return "no version"
        if self.lowest == self.highest:
            return f"version {self.lowest}"
        return f"versions {self.lowest} to {self.highest}"


NO_VERSIONS = Versions(0, -1)


def with_noun(notation: str) -> str:
    """Prefix a notation with its noun: ``version 3``, ``versions 0-4``."""
    return f"version {notation}" if notation.isdecimal() else f"versions {notation}"
