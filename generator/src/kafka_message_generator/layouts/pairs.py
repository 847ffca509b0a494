"""What is inside the fields of two layouts, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafka_message_generator.layouts.atoms import Atoms, Nullable, Repeated, Tags


@dataclass(frozen=True)
class Inside:
    """The atoms inside a field, and their path."""

    path: str
    atoms: Atoms


def insides(one: Atoms, two: Atoms) -> Iterator[tuple[Inside, Inside]]:
    """What is inside the fields at the same places of two sides, tagged fields of one tag among them."""
    for before, after in zip(one, two, strict=False):
        if isinstance(before, Tags) and isinstance(after, Tags):
            yield from inside_tags(before, after)
        elif isinstance(before, Repeated | Nullable) and type(before) is type(after):
            yield inside_of(before), inside_of(after)


def inside_tags(one: Tags, two: Tags) -> Iterator[tuple[Inside, Inside]]:
    """The values of tagged fields that both sections have the tags of."""
    values = {each.tag: Inside(each.label, each.value) for each in two.fields}
    for each in one.fields:
        if each.tag in values:
            yield Inside(each.label, each.value), values[each.tag]


def inside_of(atom: Repeated | Nullable) -> Inside:
    """The elements of an array, or the fields of a struct."""
    return Inside(f"{atom.label}[]", atom.element) if isinstance(atom, Repeated) else Inside(atom.label, atom.inside)


Above = tuple[Inside, Inside]
"""What holds some atoms, on both sides."""
TOP = (Inside("", ()), Inside("", ()))
