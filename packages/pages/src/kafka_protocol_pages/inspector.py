"""Sample bytes on a page: hex dump, field tree, and commands that explain the bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from kafka_protocol_pages.package import Explanation, Package, Span
from kafka_protocol_pages.recipes import Recipe, recipes
from kafka_protocol_pages.samples import FramedSample

ROW = 16
"""Bytes in a row of the dump."""
_REDACTED = "··"
"""Replaces each secret byte in the dump."""


@dataclass(frozen=True)
class Byte:
    hex: str
    char: str
    css: str


@dataclass(frozen=True)
class DumpRow:
    address: str
    bytes: tuple[Byte, ...]


@dataclass(frozen=True)
class Line:
    start: int
    end: int
    depth: int
    name: str
    path: str
    value: str
    note: str
    type: str
    css: str


@dataclass(frozen=True)
class Inspector:
    title: str
    origin: str
    """Text about the bytes: size, source, and the header that precedes them."""
    rows: tuple[DumpRow, ...]
    lines: tuple[Line, ...]
    recipes: tuple[Recipe, ...]
    """Empty if bytes are redacted."""


def inspect(package: Package, sample: FramedSample) -> Inspector:
    """Explain a sample. Raises PagesError if the package cannot decode it."""
    found = sample.explained(package)
    has_records = any(each.type.startswith("RECORD_BATCH") for each in found.root.all())
    is_redacted = any(row["hex"] is None for row in _rows(found))
    return Inspector(
        title=found.title,
        origin=" ".join(filter(None, (f"{_count(len(sample.body))} {sample.origin}", _before(found)))),
        rows=dump(found),
        lines=tuple(lines(found)),
        recipes=() if is_redacted else tuple(recipes(package, sample, has_records)),
    )


def _before(found: Explanation) -> str:
    headers = [each.type for each in found.root.children if each.path == "header"]
    return f"The length and {headers[0]} precede the message, as on a connection." if headers else ""


def _rows(found: Explanation) -> Iterator[dict[str, object]]:
    return (row for row in found.rows() if "unpacked" not in row)


def dump(found: Explanation, start: int = 0, end: int | None = None) -> tuple[DumpRow, ...]:
    """Return hex dump rows for bytes ``start`` to ``end``; neighboring fields alternate in shade."""
    size = len(found.data) if end is None else end
    marks: list[Byte] = []
    for number, row in enumerate(_rows(found)):
        first, last = row["start"], row["end"]
        assert isinstance(first, int)
        assert isinstance(last, int)
        shade = " ".join(filter(None, ("odd" if number % 2 else "", "len" if row["role"] == "length" else "")))
        marks += [_byte(byte, row["hex"] is None, shade) for byte in found.data[first:last]]
    places = range(start, size, ROW)
    return tuple(DumpRow(f"{at - start:04x}", tuple(marks[at : min(at + ROW, size)])) for at in places)


def _byte(byte: int, is_redacted: bool, css: str) -> Byte:
    if is_redacted:
        return Byte(_REDACTED, "·", "secret")
    return Byte(f"{byte:02x}", chr(byte) if 32 <= byte < 127 else ".", css)


def lines(found: Explanation, root: Span | None = None) -> Iterator[Line]:
    """Yield the field tree below a span, parents before children."""
    redacted = {id(leaf) for leaf, row in zip(found.root.leaves(), _rows(found), strict=True) if row["hex"] is None}
    tops = found.root.children if root is None else root.children
    if root is None and len(tops) == 1 and tops[0].children:
        tops = tops[0].children  # the title already names the message
    base = 0 if root is None else root.start
    for top in tops:
        yield from _lines(top, 0, base, redacted)


def _lines(span: Span, depth: int, base: int, redacted: set[int]) -> Iterator[Line]:
    inside = span.children
    leaf = span
    if inside and span.role in ("array", "section") and inside[0].role == "length":
        leaf, inside = inside[0], inside[1:]  # the row of the array shows the count
    if not span.children and span.role in ("struct", "section") and span.start == span.end:
        return
    yield _line(span, leaf, depth, base, id(leaf) in redacted)
    for child in inside:
        yield from _lines(child, depth + 1, base, redacted)


def _line(span: Span, leaf: Span, depth: int, base: int, is_redacted: bool) -> Line:
    is_group = bool(leaf.children)
    css = "group" if is_group else "len" if span is leaf and leaf.role == "length" else leaf.role
    value = "" if is_group else "redacted" if is_redacted and leaf.role != "length" else _value(span, leaf)
    name, kind = _name(span), "" if is_group and span.type.startswith("STRUCT") else span.type
    if kind.startswith(f"{span.name} v"):
        name, kind = kind, ""
    css = f"{css} secret" if is_redacted else css
    return Line(span.start - base, span.end - base, depth, name, span.path, value, leaf.note, kind, css)


def _name(span: Span) -> str:
    name = span.name[span.name.index("[") :] if span.name.endswith("]") and "unknown" not in span.name else span.name
    return {"_tagged_fields": "tagged fields", "_optional_fields": "optional fields"}.get(name, name)


def _value(span: Span, leaf: Span) -> str:
    value = leaf.value
    if span.role == "section":
        return str(value or "none")
    if span.role == "array":
        return "null" if value is None else f"{value} element{'' if value == 1 else 's'}"
    if value is None:
        return "null" if leaf.role == "value" else ""
    if isinstance(value, bytes | bytearray):
        return _count(len(value))
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, str):
        return quoted(value)
    return json.dumps(value) if isinstance(value, bool | int) else str(value)


def _count(size: int) -> str:
    return f"{size} byte{'' if size == 1 else 's'}"


def uuid_text(value: UUID) -> str:
    from base64 import urlsafe_b64encode

    text = urlsafe_b64encode(value.bytes).decode()
    return text[:22]


def quoted(text: str) -> str:
    """Quote a text and escape unprintable characters."""
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in escaped)
