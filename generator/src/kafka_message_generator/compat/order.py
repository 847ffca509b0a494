"""Fields that changed their position in the encoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_message_generator.compat.signatures import (
    TOP,
    Above,
    CountPrefixed,
    Inside,
    Nullable,
    Tags,
    WireSignature,
    inside_of,
    inside_tags,
    insides,
)


@dataclass(frozen=True)
class Order:
    """A field at different positions, with a description of each position."""

    path: str
    wrote: str
    reads: str


def reordered(writer: WireSignature, reader: WireSignature, above: Above = TOP) -> Order | None:
    wrote, reads = _own(writer, above[0]), _own(reader, above[1])
    both = [each for each in wrote if each in set(reads)]
    other = [each for each in reads if each in set(wrote)]
    for before, after in zip(both, other, strict=False):
        if before != after:
            one, two = (_path(each, above[0]) for each in (before, after))
            return Order(one, f"{one} before {two}", f"{two} before {one}")
    for inside in _of_one_name(writer, reader, above):
        if (found := reordered(inside[0].signature, inside[1].signature, inside)) is not None:
            return found
    return None


def _of_one_name(writer: WireSignature, reader: WireSignature, above: Above) -> Iterator[tuple[Inside, Inside]]:
    sections = ([each for each in side if isinstance(each, Tags)] for side in (writer, reader))
    for before, after in zip(*sections, strict=False):
        yield from inside_tags(before, after)
    regular = {parts(each.label, above[1].path): each for each in reader if not isinstance(each, Tags)}
    for one in writer:
        two = regular.get(parts(one.label, above[0].path))
        if isinstance(one, CountPrefixed | Nullable) and two is not None and type(one) is type(two):
            yield inside_of(one), inside_of(two)


def displaced(writer: WireSignature, reader: WireSignature, above: Above = TOP) -> Order | None:
    """Return a field that moved to another position or tag, between layouts whose encodings look the same."""
    wrote, reads = _own(writer, above[0]), _own(reader, above[1])
    for field, before, after in moved(wrote, reads):
        path, other = (_path(each, above[0]) for each in (field, wrote[after[0]]))
        return Order(
            path, f"{path} at position {before[0] + 1}", f"{path} at position {after[0] + 1}, previously {other}"
        )
    tags = [_tags(side, inside) for side, inside in zip((writer, reader), above, strict=True)]
    one, two = (_words(own, tagged) for own, tagged in zip((wrote, reads), tags, strict=True))
    for field, words in one.items():
        is_tagged = field in tags[0] or field in tags[1]
        if is_tagged and words != two.get(field, words):
            path = _path(field, above[0])
            return Order(path, f"{path} {words}", f"{path} {two[field]}")
    for pair in insides(writer, reader):
        if (found := displaced(pair[0].signature, pair[1].signature, pair)) is not None:
            return found
    return None


def _words(own: list[Parts], tags: dict[Parts, int]) -> dict[Parts, str]:
    regular = {field: f"at position {at[0] + 1}" for field, at in places(own).items()}
    return regular | {field: f"by tag {tag}" for field, tag in tags.items()}


def _own(signature: WireSignature, above: Inside) -> list[Parts]:
    return [parts(element.label, above.path) for element in signature if not isinstance(element, Tags)]


def _tags(signature: WireSignature, above: Inside) -> dict[Parts, int]:
    return {
        parts(each.label, above.path): each.tag
        for element in signature
        if isinstance(element, Tags)
        for each in element.fields
    }


def _path(field: Parts, above: Inside) -> str:
    return ".".join((above.path, *field) if above.path else field)


Parts = tuple[str, ...]


def parts(path: str, above: str = "") -> Parts:
    return tuple(path.removeprefix(above).lstrip(".").split("."))


def moved(wrote: Sequence[Parts], reads: Sequence[Parts]) -> Iterator[tuple[Parts, list[int], list[int]]]:
    """Yield each field and struct that has none of its former positions, with its former and new positions.

    A field of ``reads`` alone at the position of a field of ``wrote`` alone counts as the same field, renamed.
    """
    one, two = places(wrote), places(_as_called(wrote, reads))
    for field, former in one.items():
        now = two.get(field)
        if now is not None and set(former).isdisjoint(now):
            yield field, former, now


def places(paths: Sequence[Parts]) -> dict[Parts, list[int]]:
    """Return the positions of each field; a struct has the positions of all its fields."""
    found: dict[Parts, list[int]] = {}
    for place, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            found.setdefault(path[:depth], []).append(place)
    return found


def _as_called(by: Sequence[Parts], those: Sequence[Parts]) -> list[Parts]:
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
