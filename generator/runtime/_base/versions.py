"""Ranges of versions."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.value import dataclass


@dataclass(frozen=True, slots=True)
class Versions:
    """A range of versions, both ends included; empty when ``highest`` is below ``lowest``. Iterates upwards."""

    lowest: int
    highest: int

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
