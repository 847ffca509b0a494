"""Byte view of a message: a tree of spans whose leaves cover every byte, also after a fault."""

from __future__ import annotations

from collections.abc import Iterator

from .arrays import ArrayOf
from .schema import NullableStruct, Schema
from .sections import Section, TagSection
from .types import UNSIGNED_VARINT, SchemaError, ShortError, Text, Type, _Sized

# Roles of leaves; LENGTH also covers counts, presence bytes and tags.
VALUE, LENGTH, FAULT, REST = "value", "length", "fault", "rest"
# Roles of spans with children; OPENED is a bytes field with decoded contents.
STRUCT, ARRAY, SECTION, OPENED = "struct", "array", "section", "opened"

# Maximum leaves per tree; further array elements share one span.
MOST_LEAVES = 1 << 20


class SpanBudget:

    def __init__(self, left: int | None = None) -> None:
        self.left = MOST_LEAVES if left is None else left


class Span:
    """Bytes from ``start`` to ``end`` and their meaning.

    - ``path``: as in errors (``topics[3].name``)
    - ``type``: wire type in Kafka's notation
    - ``value``: Python value; count of an array, None for a struct
    - ``content``: offset of the value after its length
    - ``unpacked``: decompressed bytes and their span, or None
    """

    __slots__ = (
        "children",
        "content",
        "end",
        "is_secret",
        "name",
        "note",
        "path",
        "role",
        "start",
        "type",
        "unpacked",
        "value",
    )

    def __init__(
        self,
        start: int,
        end: int,
        path: str,
        name: str,
        type: str,
        role: str,
        value: object = None,
        note: str = "",
        content: int | None = None,
    ) -> None:
        self.start, self.end = start, end
        self.path, self.name, self.type, self.role = path, name, type, role
        self.value = value
        self.note = note
        self.content = start if content is None else content
        self.is_secret = False
        self.unpacked: tuple[bytes, Span] | None = None
        self.children: list[Span] = []

    def leaves(self) -> Iterator[Span]:
        return (span for span in self.all() if not span.children)

    def all(self) -> Iterator[Span]:
        """Yield this span and its descendants, parents first."""
        waiting: list[Span] = [self]
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(span.children))

    def moved(self, by: int) -> Span:
        """Shift this span and its descendants by ``by`` bytes."""
        for span in self.all():
            span.start += by
            span.end += by
            span.content += by
        return self

    def add_note(self, note: str) -> None:
        self.note = f"{self.note}, {note}" if self.note else note

    def __repr__(self) -> str:
        value = "(redacted)" if self.is_secret else repr(self.value)
        return f"<Span {self.start}-{self.end} {self.path or self.name}: {self.type} {value}>"


class SpanTraversal:

    def __init__(self, data: bytes, pos: int = 0, budget: SpanBudget | None = None) -> None:
        self.data = data
        self.end = pos
        self.budget = budget or SpanBudget()
        self.error: SchemaError | None = None
        self._path = ""
        self._open: list[Span] = []
        self._reading: tuple[str, str, Type]
        # End of the faulty bytes, or -1 if unknown.
        self._extent = -1

    def struct(self, schema: Schema, path: str, name: str, is_whole: bool = False) -> Span:
        top = Span(self.end, self.end, path, name, "STRUCT", STRUCT)
        self._open, self._path = [top], path
        self._reading = path, name, schema
        try:
            self._fields(schema, path, name)
            left = len(self.data) - self.end
            if is_whole and left:
                self._extent = len(self.data)
                reason = f"{left} byte(s) left after the message, at offset {self.end}"
                raise SchemaError(reason, self.end)
        except SchemaError as error:
            self._fault(error)
        for span in reversed(self._open):
            span.end = self.end
        return top

    def _fault(self, error: SchemaError) -> None:
        path, name, kind = self._reading
        start, whole = self.end, len(self.data)
        end = self._extent if self._extent >= 0 else _fault_end(kind, error, self.data, start)
        error.path = [path] if path else []
        self.error = error
        self._open[-1].children.append(Span(start, end, path, name, type_name(kind), FAULT, None, error.reason))
        if end < whole:
            self._open[-1].children.append(Span(end, whole, path, "", "", REST))
        self.end = whole

    def _fields(self, schema: Schema, path: str, name: str) -> None:
        if schema.optional is not None:
            self.section(schema.optional)
        for field in schema.fields:
            self._value(field.type, self._inside(field.name), field.name)
        if schema.tags is not None:
            self.section(schema.tags)
        self._reading = path, name, schema

    def _inside(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name

    def _value(self, kind: Type, path: str, name: str) -> None:
        if not isinstance(kind, Schema | NullableStruct | ArrayOf):
            self._scalar(kind, path, name)
            return
        above, self._path = self._path, path
        self._enter(kind, path, name, ARRAY if isinstance(kind, ArrayOf) else STRUCT)
        if isinstance(kind, ArrayOf):
            self._reading = path, name, kind
            self._elements(kind, *kind.read_count(self.data, self.end))
        elif isinstance(kind, Schema) or self._is_there(kind, path, name):
            self._fields(kind if isinstance(kind, Schema) else kind.schema, path, name)
        self._leave()
        self._path = above

    def _scalar(self, kind: Type, path: str, name: str) -> None:
        self._reading = path, name, kind
        start = self.end
        value, end = kind.read(self.data, start)
        content, note = start, ""
        if isinstance(kind, _Sized):
            length, content = kind.length.read(self.data, start)
            if value is not None:
                note = f"length {length}" if kind.length.fixed is not None else f"length+1 = {length + 1}"
        self._leaf(Span(start, end, path, name, kind.name, VALUE, value, note, content))

    def _elements(self, kind: ArrayOf, count: int, at: int) -> None:
        span, path = self._open[-1], self._path
        span.value = None if count < 0 else count
        fixed = kind.length.fixed
        length = Span(self.end, at, path, "count", (fixed or UNSIGNED_VARINT).name, LENGTH, span.value)
        length.note = f"count+1 = {count + 1}" if fixed is None and count >= 0 else ""
        self._leaf(length)
        for index in range(count):
            if self.budget.left <= 0:
                self._more(span, kind.element, index, count, path)
                break
            self._value(kind.element, f"{path}[{index}]", f"{span.name}[{index}]")

    def _more(self, span: Span, element: Type, index: int, count: int, path: str) -> None:
        # Remaining elements share one span; a faulty element gets its own.
        start, at = index, self.end
        while index < count:
            try:
                _, at = element.read(self.data, at)
            except SchemaError:
                break
            index += 1
        if index > start:
            self._leaf(Span(self.end, at, path, "", "", REST, None, f"{index - start:,} more elements"))
        if index < count:
            self._value(element, f"{path}[{index}]", f"{span.name}[{index}]")

    @property
    def last(self) -> Span:
        return self._open[-1].children[-1]

    def _is_there(self, kind: NullableStruct, path: str, name: str) -> bool:
        self._reading = path, name, kind.presence
        is_there, at = kind.read_presence(self.data, self.end)
        note = "a struct follows" if is_there else "null"
        self._leaf(Span(self.end, at, path, "presence", kind.presence.name, LENGTH, is_there, note))
        return is_there

    def section(self, section: Section) -> None:
        label = section.label
        span = self._enter(section, self._inside(label), label, SECTION)
        found, count, unknown = [], Span(0, 0, span.path, "count", "", LENGTH), 0
        self._reading = span.path, label, section
        for tag, start, at, end in section.places(self.data, self.end):
            if tag < 0:
                count = self._mark(span, section, start, end)
            else:
                self._header(span, section, start, at, tag)
                if tag in section.fields:
                    found.append(tag)
                    self._tagged(section, tag, at, end)
                else:
                    self._unknown(section, at, end, unknown)
                    unknown += 1
            self._reading = span.path, label, section
        span.value = len(found) + unknown
        if absent := [field.name for tag, field in section.fields.items() if tag not in found]:
            count.add_note(f"absent, so at default: {', '.join(absent)}")
        self._leave()

    def _tagged(self, section: Section, tag: int, at: int, end: int) -> None:
        field, children = section.fields[tag], self._open[-1].children
        before = len(children)
        self._value(field.type, self._inside(field.name), field.name)
        self._reading = self._inside(field.name), field.name, field.type
        try:
            section.check_size(tag, at, end, self.end)
        except SchemaError:
            del children[before:]
            self.end, self._extent = at, end
            raise

    def _mark(self, span: Span, section: Section, start: int, end: int) -> Span:
        mark = Span(start, end, span.path, "end", "PACKED32", LENGTH, 0)
        if isinstance(section, TagSection):
            mark.name, mark.type, mark.value = "count", UNSIGNED_VARINT.name, UNSIGNED_VARINT.read(self.data, start)[0]
        self._leaf(mark)
        return mark

    def _header(self, span: Span, section: Section, start: int, at: int, tag: int) -> None:
        known = section.fields.get(tag)
        inner = self._inside(known.name) if known else span.path
        note = section.noun if known else f"{section.noun}, unknown, kept"
        self._leaf(Span(start, at, inner, "tag", "TAG_AND_SIZE", LENGTH, tag, note))

    def _unknown(self, section: Section, at: int, end: int, number: int) -> None:
        name = f"unknown_tagged_fields[{number}]"
        note = f"unknown {section.noun}, kept"
        self._leaf(Span(at, end, self._inside(name), name, "BYTES", VALUE, self.data[at:end], note))

    def _enter(self, kind: Type, path: str, name: str, role: str) -> Span:
        span = Span(self.end, self.end, path, name, type_name(kind), role)
        self._open[-1].children.append(span)
        self._open.append(span)
        return span

    def _leave(self) -> None:
        self._open.pop().end = self.end

    def _leaf(self, leaf: Span) -> None:
        self._open[-1].children.append(leaf)
        self.budget.left -= 1
        self.end = leaf.end


def _fault_end(kind: Type, error: SchemaError, data: bytes, start: int) -> int:
    if isinstance(error, ShortError):
        return len(data)
    try:
        if isinstance(kind, TagSection):
            return kind.read_header(data, start)[2]
        if isinstance(kind, _Sized):
            length, after = kind.length.read(data, start)
            is_inside = isinstance(kind, Text) and error.offset >= after
            return min(after + length, len(data)) if is_inside else after
    except SchemaError:
        pass
    end = start
    while end < min(start + 10, len(data)) and data[end] > 127:
        end += 1
    return min(end + 1, len(data))


def type_name(kind: Type) -> str:
    if isinstance(kind, NullableStruct):
        return "NULLABLE_STRUCT"
    if isinstance(kind, ArrayOf):
        prefix = kind.name.partition("(")[0]
        return f"{prefix}({type_name(kind.element)})"
    return kind.name
