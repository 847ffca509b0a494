"""Rows that explain the bytes of a message by one definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_message_generator.runtime._core.formatting import formatted, json_value
from kafka_message_generator.runtime.schema import Schema
from kafka_message_generator.runtime.schema.sections import Section
from kafka_message_generator.runtime.schema.spans import FAULT, LENGTH, REST, STRUCT, Span, SpanTraversal
from kafka_message_generator.runtime.schema.struct import Field

_MOST_BYTES = 8
"""Maximum number of bytes printed per row."""
_MOST_ROWS = 5
_BEFORE = 1
"""Number of equal rows printed before the first difference."""


@dataclass(frozen=True)
class AnnotatedRow:
    """A value, length or tag in a message; ``start`` is its offset."""

    start: int
    data: bytes
    path: str
    type: str
    role: str
    value: object
    note: str
    absent: Mapping[int, object] = field(default_factory=dict)
    """Defaults of absent tagged fields, by tag."""

    def means(self, other: AnnotatedRow) -> bool:
        """Return whether offset, bytes, role and value are equal, and the defaults of tags absent in both rows."""
        mine, its = ((each.start, each.data, each.role, _exact(each.value)) for each in (self, other))
        both = self.absent.keys() & other.absent.keys()
        return mine == its and all(_exact(self.absent[tag]) == _exact(other.absent[tag]) for tag in both)

    def plain(self) -> dict[str, object]:
        return {
            "start": self.start,
            "hex": self.data.hex(),
            "path": self.path,
            "type": self.type,
            "role": self.role,
            "value": json_value(self.value),
            "note": self.note,
        }


class _AnnotatedTraversal(SpanTraversal):
    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.absent: dict[Span, dict[int, Field]] = {}
        """Absent tagged fields by tag, for the span of each section's count."""

    def section(self, section: Section) -> None:
        super().section(section)
        leaves = self.last.children
        there = {leaf.value for leaf in leaves if leaf.name == "tag"}
        count = next(leaf for leaf in leaves if leaf.name in ("count", "end"))
        self.absent[count] = {tag: each for tag, each in section.fields.items() if tag not in there}


def rows_of(schema: Schema, data: bytes) -> tuple[AnnotatedRow, ...]:
    traversal = _AnnotatedTraversal(data)
    top = traversal.struct(schema, "", "", is_whole=True)
    return tuple(_row(leaf, data, traversal) for leaf in top.leaves())


def _row(leaf: Span, data: bytes, traversal: _AnnotatedTraversal) -> AnnotatedRow:
    absent = traversal.absent.get(leaf, {})
    words = ", ".join(f"{each.name} = {formatted(each.default)}" for each in absent.values())
    note = f"absent, so {words}" if words else "not read" if leaf.role == REST else leaf.note
    path = "" if leaf.role == REST else leaf.path
    if leaf.role == LENGTH and leaf.name != "tag":
        path = f"{path}.{leaf.name}".lstrip(".")
    values = {tag: each.default for tag, each in absent.items()}
    return AnnotatedRow(leaf.start, data[leaf.start : leaf.end], path, leaf.type, leaf.role, leaf.value, note, values)


def _exact(value: object) -> tuple[type, str]:
    return type(value), repr(value)


def parting(one: Sequence[AnnotatedRow], other: Sequence[AnnotatedRow]) -> int:
    """Return the first index at which a row is missing or differs in meaning, else in path or note; else the length."""
    pairs = list(zip(one, other, strict=False))
    apart = (number for number, (row, its) in enumerate(pairs) if not row.means(its))
    renamed = (number for number, (row, its) in enumerate(pairs) if (row.path, row.note) != (its.path, its.note))
    found = next(apart, len(pairs))
    return found if found < max(len(one), len(other)) else next(renamed, found)


def excerpt(rows: Sequence[AnnotatedRow], begin: int) -> Iterator[str]:
    """Yield up to five rows as text, from one before row ``begin``, then the number of further rows or the end."""
    first = max(begin - _BEFORE, 0)
    some = rows[first : first + _MOST_ROWS]
    hexes = [_hex(row.data) for row in some]
    paths = [row.path for row in some]
    widths = max(map(len, hexes), default=0), max(map(len, paths), default=0)
    for row, hex_, path in zip(some, hexes, paths, strict=True):
        yield f"{row.start:04x}  {hex_:<{widths[0]}}  {path:<{widths[1]}}  {_words(row)}".rstrip()
    if (left := len(rows) - first - len(some)) > 0:
        yield f"... {left} more row{'s' if left > 1 else ''}"
    if not left:
        end = rows[-1].start + len(rows[-1].data) if rows else 0
        yield f"{end:04x}  end"


def _hex(data: bytes) -> str:
    return data.hex(" ") if len(data) <= _MOST_BYTES else f"{data[:_MOST_BYTES].hex(' ')} ..."


def _words(row: AnnotatedRow) -> str:
    if row.role in (FAULT, REST):
        return row.note
    value = "" if row.role == STRUCT else formatted(row.value)  # an empty struct has no value
    return "  ".join(filter(None, (value, row.type, row.note)))
