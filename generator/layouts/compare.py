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
    moved = _reordered(writer, reader)
    return moved or _sequence(writer, reader)


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


def _reordered(writer: Atoms, reader: Atoms) -> Difference | None:
    """Fields of one name at two places: they would be read as each other, whatever their types are."""
    wrote, reads = list(_own(writer)), list(_own(reader))
    both = [label for label in wrote if label in set(reads)]
    other = [label for label in reads if label in set(wrote)]
    for before, after in zip(both, other, strict=False):
        if before != after:
            return Difference("REORDERED", before, f"{before} stands before {after}", f"{after} before {before}")
    for one, two in _held(writer, reader):
        found = _reordered(one, two)
        if found is not None:
            return found
    return None


def _held(writer: Atoms, reader: Atoms) -> Iterator[tuple[Atoms, Atoms]]:
    """What is inside the atoms of one name, and inside tagged fields of one tag."""
    for one in writer:
        for two in reader:
            if isinstance(one, Repeated) and isinstance(two, Repeated) and one.label == two.label:
                yield one.element, two.element
            elif isinstance(one, Nullable) and isinstance(two, Nullable) and one.label == two.label:
                yield one.inside, two.inside
            elif isinstance(one, Tags) and isinstance(two, Tags) and one.label == two.label:
                values = {each.tag: each.value for each in two.fields}
                yield from ((each.value, values[each.tag]) for each in one.fields if each.tag in values)


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
