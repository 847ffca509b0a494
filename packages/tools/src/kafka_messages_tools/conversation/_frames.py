"""HTML table of the bytes of a frame, in order: offset, bytes in hex, field, value, type."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any
from uuid import UUID

from ..package import Package
from ..text import safe

FieldLink = Callable[[str, str], str]
"""Address of a message (with an empty path) or of a field, by message and path without indices; may be empty."""

# Maximum number of bytes, and of characters of a string, per field.
_MOST_BYTES = 256
_MOST_TEXT = 256
_INDEX = re.compile(r"\[\d+\]")
_MESSAGE = re.compile(r"(\w+) v(\d+)")
# Decoded content of a record.
_RECORD = re.compile(r"\.records\[\d+\]\.value\.")


class FrameTable:
    """Prints the spans of an explanation.

    Secrets are redacted unless ``show_secrets``. Keys, values and headers of records, and bytes that could not be
    decoded and may contain them, are redacted unless ``show_values``.
    """

    def __init__(self, package: Package, link: FieldLink, show_secrets: bool, show_values: bool) -> None:
        self._package = package
        self._redacted: str = package.module("secrets").REDACTED
        self._link = link
        self._show_secrets = show_secrets
        self._show_values = show_values

    def html(self, found: Any, label: str) -> str:
        self._is_damaged = found.error is not None
        rows = [row for top in found.root.children for row in self._rows(found.data, top, 0, "", "", False)]
        if found.error is not None:
            rows.append(f'<tr class="fault"><td colspan="5">{escape(str(found.error))}</td></tr>')
        head = "".join(f'<th scope="col">{name}</th>' for name in ("at", "bytes", "field", "value", "type"))
        return "\n".join(
            [
                f'<table class="bytes" aria-label="{escape(label)}">',
                f"<thead><tr>{head}</tr></thead>",
                *("<tbody>", *rows, "</tbody>"),
                "</table>",
            ]
        )

    def _rows(self, data: bytes, span: Any, depth: int, message: str, prefix: str, in_records: bool) -> Iterator[str]:
        found = _MESSAGE.fullmatch(span.type)
        if found is not None:
            message, prefix = found[1], span.path
        in_records = in_records or "RECORDS" in span.type
        leaf, inside = span, span.children
        if inside and span.role in ("array", "section") and inside[0].role == "length":
            leaf, inside = inside[0], inside[1:]  # the row of the array shows the count
        if leaf.children:
            name = escape(span.type if found is not None else _relative(span, prefix))
            href = self._link(message, "" if found is not None else _place(span, prefix))
            yield f'<tr class="group d{depth}"><th colspan="5" scope="rowgroup">{_anchor(name, href)}</th></tr>'
        elif span.end > span.start or span.role not in ("struct", "section"):
            yield self._leaf(data, span, leaf, depth, self._link(message, _place(span, prefix)), in_records)
        for child in inside:
            yield from self._rows(data, child, min(depth + 1, 9), message, prefix, in_records)
        if leaf.unpacked is not None:
            content, top = leaf.unpacked
            text = f"in the {len(content):,} decompressed bytes"
            yield f'<tr class="group d{depth}"><th colspan="5" scope="rowgroup">{text}</th></tr>'
            for child in top.children:
                for row in self._rows(content, child, min(depth + 1, 9), message, prefix, True):
                    yield row.replace('class="', 'class="unpacked ', 1)

    def _leaf(self, data: bytes, span: Any, leaf: Any, depth: int, href: str, in_records: bool) -> str:
        is_hidden = self._hides(leaf, in_records)
        note = "" if is_hidden and leaf.role == "value" else leaf.note
        value = self._redacted if is_hidden and leaf.role != "length" else self._value(span, leaf)
        cells = (
            f"{leaf.start:04x}",
            _hex(data[leaf.start : leaf.end], is_hidden),
            _anchor(escape(span.name.removeprefix("_").replace("_fields", " fields") or "not read"), href),
            f"{escape(value)}{f' <small>{escape(note)}</small>' if note else ''}",
            escape(span.type),
        )
        marks = f"{'hidden ' if is_hidden else ''}{'fault ' if leaf.role == 'fault' else ''}d{depth}"
        return f'<tr class="{marks}">{"".join(f"<td>{each}</td>" for each in cells)}</tr>'

    def _hides(self, leaf: Any, in_records: bool) -> bool:
        if leaf.is_secret and not self._show_secrets:
            return True
        if self._show_values:
            return False
        is_blob = isinstance(leaf.value, bytes) and len(leaf.value) > 0
        may_be_record = self._is_damaged and (is_blob or isinstance(leaf.value, str))
        is_record = in_records and (is_blob or _RECORD.search(leaf.path) is not None)
        return leaf.role in ("fault", "rest") or is_record or may_be_record

    def _value(self, span: Any, leaf: Any) -> str:
        value = leaf.value
        if span.role == "section":
            return "none" if not value else str(value)
        if span.role == "array":
            return "null" if value is None else f"{value} element{'' if value == 1 else 's'}"
        if value is None:
            return "null" if leaf.role == "value" else ""
        if isinstance(value, bytes):
            return f"{len(value)} byte{'' if len(value) == 1 else 's'}"
        if isinstance(value, UUID):
            return str(self._package.module("json").uuid_text(value))
        if isinstance(value, str):
            short = value if len(value) <= _MOST_TEXT else f"{value[:_MOST_TEXT]}…"
            return safe(json.dumps(short, ensure_ascii=False))
        return json.dumps(value) if isinstance(value, bool) else str(int(value) if isinstance(value, int) else value)


def _relative(span: Any, prefix: str) -> str:
    path: str = span.path
    return path.removeprefix(prefix).removeprefix(".")


def _place(span: Any, prefix: str) -> str:
    return _INDEX.sub("", _relative(span, prefix))


def _hex(data: bytes, is_hidden: bool) -> str:
    part = data[:_MOST_BYTES]
    text = " ".join(["··"] * len(part)) if is_hidden else part.hex(" ")
    return text if len(data) <= _MOST_BYTES else f"{text} <small>… {len(data) - _MOST_BYTES:,} more bytes</small>"


def _anchor(name: str, href: str) -> str:
    return f'<a href="{escape(href)}">{name}</a>' if href else name
