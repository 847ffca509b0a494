"""What one layout's bytes mean to another: proved the same, or the first place where they part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kafka_message_generator.layouts.atoms import (
    Atom,
    Atoms,
    Nullable,
    Number,
    Repeated,
    Sized,
    TagAtom,
    Tags,
    labels,
)

REASONS = {
    "FIELD_ADDED": "a field stands where none was",
    "FIELD_REMOVED": "a field is gone",
    "REORDERED": "fields stand in another order",
    "TYPE": "a field has another type",
    "WIDTH": "an integer takes more or fewer bytes",
    "ENCODING": "an integer is written in another form",
    "NULLABLE": "null may stand where it could not, or the other way round",
    "FLEXIBLE": "lengths are compact, or structs end with tags, on one side only",
    "PRESENCE": "a struct has a presence in front of it on one side only",
    "SECTION": "tagged fields are written in another form",
    "TAG_REFUSED": "a tagged field is in a version where one side refuses its tag, which it has in other versions",
    "TAGGED_VALUE": "the value of a tagged field is written in another way",
    "TAGGED_DEFAULT": "the absence of a tagged field means another value",
}
"""Why two layouts differ, by the name that findings use."""

_SIGNED, _UNSIGNED = {"int8", "int16", "int32", "int64"}, {"uint16", "uint32"}


@dataclass(frozen=True)
class Difference:
    """The first place where a reader's layout is not the writer's. ``reason`` is one of ``REASONS``."""

    reason: str
    path: str
    wrote: str
    """The writer's side in words."""
    reads: str
    """The reader's."""


def difference(writer: Atoms, reader: Atoms) -> Difference | None:
    """Why ``reader`` may not read everything that ``writer`` writes as the same values; None where it proves to.

    A reader may take more than a writer gives: null where the writer has none, tagged fields that the writer does not
    know (they are at their default), and fields by tags that it does not know itself (they are kept as they are). A
    tag that it knows in other versions only is refused.
    """
    return _reordered(writer, reader) or _sequence(writer, reader) or _reordered(writer, reader, is_following=True)


def added_tags(old: Atoms, new: Atoms) -> list[TagAtom]:
    """The tagged fields that ``new`` has beyond those of ``old``, where both have sections at the same place."""
    found: list[TagAtom] = []
    for before, after in zip(old, new, strict=False):
        if isinstance(before, Tags) and isinstance(after, Tags):
            known = {each.tag: each for each in before.fields}
            for each in after.fields:
                found += added_tags(known[each.tag].value, each.value) if each.tag in known else [each]
        elif isinstance(before, Repeated) and isinstance(after, Repeated):
            found += added_tags(before.element, after.element)
        elif isinstance(before, Nullable) and isinstance(after, Nullable):
            found += added_tags(before.inside, after.inside)
    return found


def _reordered(
    writer: Atoms, reader: Atoms, within: tuple[str, str] = ("", ""), is_following: bool = False
) -> Difference | None:
    """Fields of one name at two places: they would be read as each other, whatever their types are.

    ``is_following`` is for layouts of equal atoms. What stands there at the place of a field that is gone is that
    field under another name, and the fields inside it are its.
    """
    wrote = [_parts(label, within[0]) for label in _own(writer)]
    reads = [_parts(label, within[1]) for label in _own(reader)]
    if is_following:
        reads = _as_called(wrote, reads)
    both = [parts for parts in wrote if parts in set(reads)]
    other = [parts for parts in reads if parts in set(wrote)]
    for before, after in zip(both, other, strict=False):
        if before != after:
            one, two = (_path(parts, within[0]) for parts in (before, after))
            return Difference("REORDERED", one, f"{one} stands before {two}", f"{two} before {one}")
    calls = {_path(parts, within[0]): label for parts, label in zip(reads, _own(reader), strict=True)}
    for one_atoms, two_atoms, places in _held(writer, reader, calls):
        found = _reordered(one_atoms, two_atoms, places, is_following)
        if found is not None:
            return found
    return None


_Parts = tuple[str, ...]


def _parts(label: str, within: str) -> _Parts:
    """A path below the one of what holds it, name by name."""
    return tuple(label.removeprefix(within).lstrip(".").split("."))


def _path(parts: _Parts, within: str) -> str:
    return ".".join((within, *parts) if within else parts)


def _as_called(by: list[_Parts], those: list[_Parts]) -> list[_Parts]:
    """Paths in the names of others, where one stands at the place of one that is gone."""
    for depth in range(1, max(map(len, by), default=0) + 1):
        one, two = {parts[:depth] for parts in by}, {parts[:depth] for parts in those}
        calls: dict[_Parts, _Parts] = {}
        for parts, its in zip(by, those, strict=False):
            former, now = parts[:depth], its[:depth]
            is_same_holder = len(former) == len(now) == depth and former[:-1] == now[:-1]
            if is_same_holder and former not in two and now not in one:
                calls.setdefault(now, former)
        those = [(*calls.get(parts[:depth], parts[:depth]), *parts[depth:]) for parts in those]
    return those


def _held(writer: Atoms, reader: Atoms, calls: dict[str, str]) -> Iterator[tuple[Atoms, Atoms, tuple[str, str]]]:
    """What is inside the atoms of one field, and inside tagged fields of one tag, with the paths of what holds it.

    ``calls`` are the reader's paths by the writer's.
    """
    sections = ([each for each in side if isinstance(each, Tags)] for side in (writer, reader))
    for before, after in zip(*sections, strict=False):
        values = {each.tag: each for each in after.fields}
        for each in before.fields:
            if each.tag in values:
                yield each.value, values[each.tag].value, (each.label, values[each.tag].label)
    for one in writer:
        for two in reader:
            if calls.get(one.label) != two.label:
                continue
            if isinstance(one, Repeated) and isinstance(two, Repeated):
                yield one.element, two.element, (f"{one.label}[]", f"{two.label}[]")
            elif isinstance(one, Nullable) and isinstance(two, Nullable):
                yield one.inside, two.inside, (one.label, two.label)


def _own(atoms: Atoms) -> list[str]:
    return [atom.label for atom in atoms if not isinstance(atom, Tags)]


def _sequence(writer: Atoms, reader: Atoms) -> Difference | None:
    for index, (wrote, reads) in enumerate(zip(writer, reader, strict=False)):
        found = _pair(wrote, reads, writer[index:], reader[index:])
        if found is not None:
            return found
    if len(writer) > len(reader):
        return _end(writer[len(reader)], None)
    return _end(None, reader[len(writer)]) if len(reader) > len(writer) else None


def _end(wrote: Atom | None, reads: Atom | None) -> Difference:
    """One side goes on where the other one ends."""
    more = wrote or reads
    assert more is not None
    if isinstance(more, Tags):
        reason = "FLEXIBLE" if more.form == "sequential" else "SECTION"
    else:
        reason = "FIELD_REMOVED" if reads is None else "FIELD_ADDED"
    return Difference(reason, more.label, _words(wrote), _words(reads))


def _pair(wrote: Atom, reads: Atom, rest: Atoms, others: Atoms) -> Difference | None:
    """The two atoms at one place; ``rest`` and ``others`` are they and what follows, which tells why they differ."""
    if isinstance(wrote, Number) and isinstance(reads, Number) and wrote.form == reads.form:
        return None
    if isinstance(wrote, Sized) and isinstance(reads, Sized) and wrote.form == reads.form:
        return _lengths(wrote, reads)
    if isinstance(wrote, Repeated) and isinstance(reads, Repeated):
        return _lengths(wrote, reads) or _sequence(wrote.element, reads.element)
    if isinstance(wrote, Nullable) and isinstance(reads, Nullable) and wrote.is_tagged == reads.is_tagged:
        return _sequence(wrote.inside, reads.inside)
    if isinstance(wrote, Tags) and isinstance(reads, Tags):
        return _sections(wrote, reads)
    return _other(wrote, reads, rest, others)


def _lengths(wrote: Sized | Repeated, reads: Sized | Repeated) -> Difference | None:
    if wrote.compact != reads.compact:
        return Difference("FLEXIBLE", reads.label, _words(wrote), _words(reads))
    if wrote.nullable and not reads.nullable:
        return Difference("NULLABLE", reads.label, _words(wrote), _words(reads))
    return None


def _sections(wrote: Tags, reads: Tags) -> Difference | None:
    if wrote.form != reads.form:
        return Difference("SECTION", reads.label, f"{wrote.form} tags", f"{reads.form} tags")
    known = {each.tag: each for each in reads.fields}
    for each in wrote.fields:
        other = known.get(each.tag)
        if other is None and each.tag in reads.absent:
            refused = f"tag {each.tag} of other versions, refused"
            return Difference("TAG_REFUSED", each.label, f"tag {each.tag}, {each.label}", refused)
        if other is None:
            continue
        found = _sequence(each.value, other.value)
        if found is not None:
            if found.reason in ("TAGGED_DEFAULT", "TAG_REFUSED"):
                return found  # of a tagged field inside, whose own place tells more
            what = f"tag {each.tag}, {each.label}"
            return Difference("TAGGED_VALUE", other.label, f"{what}: {found.wrote}", f"{found.reads}")
        if each.default != other.default:
            words = (f"{default} where tag {each.tag} is left out" for default in (each.default, other.default))
            return Difference("TAGGED_DEFAULT", other.label, *words)
    return None


def _other(wrote: Atom, reads: Atom, rest: Atoms, others: Atoms) -> Difference:
    """Two atoms of different kinds or forms: which of several reasons it is, told by what follows."""
    words = (_words(wrote), _words(reads))
    if wrote.label == reads.label and isinstance(wrote, Number) and isinstance(reads, Number):
        return Difference(_of_numbers(wrote.form, reads.form), reads.label, *words)
    if isinstance(wrote, Nullable) or isinstance(reads, Nullable):
        of_same = {wrote.label.split(".")[0]} == {reads.label.split(".")[0]}
        if of_same:
            return Difference("PRESENCE", min(wrote.label, reads.label, key=len), *words)
    if isinstance(wrote, Tags) or isinstance(reads, Tags):
        return _end(wrote if isinstance(reads, Tags) else None, reads if isinstance(wrote, Tags) else None)
    if wrote.label == reads.label:
        return Difference("TYPE", reads.label, *words)
    if reads.label not in _labels(rest):
        return Difference("FIELD_ADDED", reads.label, *words)
    return Difference("FIELD_REMOVED" if wrote.label not in _labels(others) else "REORDERED", wrote.label, *words)


def _of_numbers(wrote: str, reads: str) -> str:
    if "varint" in wrote or "varint" in reads:
        return "ENCODING"
    return "WIDTH" if {wrote, reads} <= _SIGNED or {wrote, reads} <= _UNSIGNED else "TYPE"


def _labels(atoms: Sequence[Atom]) -> set[str]:
    return set(labels(tuple(atoms)))


def _words(atom: Atom | None) -> str:
    if atom is None:
        return "the end"
    if isinstance(atom, Tags):
        return f"{atom.form} tags"
    return f"{atom.label}: {atom}"
