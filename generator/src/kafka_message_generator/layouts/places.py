"""Fields by their places: a name that both sides have stands for one field, so it has to stand at one place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Parts = tuple[str, ...]
"""A path name by name: of a field, or of what holds it."""


def parts(path: str, above: str = "") -> Parts:
    """A path below the one of what holds it, name by name."""
    return tuple(path.removeprefix(above).lstrip(".").split("."))


def moved(wrote: Sequence[Parts], reads: Sequence[Parts]) -> Iterator[tuple[Parts, list[int], list[int]]]:
    """The fields, and what holds some, that stand at none of their former places, with their places on both sides.

    Both sides have as many fields, of the same bytes. What stands at the place of a field that is gone is that field
    under another name, and the fields inside it are its.
    """
    one, two = places(wrote), places(_as_called(wrote, reads))
    for field, former in one.items():
        now = two.get(field)
        if now is not None and set(former).isdisjoint(now):
            yield field, former, now


def places(paths: Sequence[Parts]) -> dict[Parts, list[int]]:
    """The places of each field, and those of all fields inside one that holds some."""
    found: dict[Parts, list[int]] = {}
    for place, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            found.setdefault(path[:depth], []).append(place)
    return found


def _as_called(by: Sequence[Parts], those: Sequence[Parts]) -> list[Parts]:
    """Paths in the names of others, where one stands at the place of one that is gone."""
    found = list(those)
    for depth in range(1, max(map(len, by), default=0) + 1):
        one, two = {path[:depth] for path in by}, {path[:depth] for path in found}
        calls: dict[Parts, Parts] = {}
        for path, its in zip(by, found, strict=False):
            former, now = path[:depth], its[:depth]
            is_same_holder = len(former) == len(now) == depth and former[:-1] == now[:-1]
            if is_same_holder and former not in two and now not in one:
                calls.setdefault(now, former)
        found = [(*calls.get(path[:depth], path[:depth]), *path[depth:]) for path in found]
    return found
