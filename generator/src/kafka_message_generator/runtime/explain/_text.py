"""Text layout of an explanation."""

from __future__ import annotations

from .._core.formatting import formatted, wrapped
from ..schema.spans import ARRAY, FAULT, LENGTH, REST, SECTION, STRUCT, VALUE, Span
from ..secrets import REDACTED
from ._secrets import note_of

# SGR codes; terminals adapt these colors to their background.
_STYLES = {"dim": "2", "name": "36", "value": "32", "note": "2", "fault": "1;31", "secret": "35", "title": "1"}
# Minimum width in columns.
_NARROWEST = 72
# Maximum number of hex rows per field, unless ``whole``.
_MOST_ROWS = 4
_MIDDLE_DOTS = "·"


class TextRenderer:

    def __init__(
        self, data: bytes, tops: list[Span], width: int, color: bool, show_secrets: bool, whole: bool, address: int
    ) -> None:
        self.data = data
        self.tops = tops
        self.color = color
        self.show_secrets = show_secrets
        self.whole = whole
        self.address = address
        self.width = max(width, _NARROWEST)
        self.row = 8 if self.width >= 100 else 6
        self.step = 2 if self.width >= 100 else 1
        self.digits = 4 if address + len(self.data) < 1 << 16 else 8
        self.left = self.digits + 2 + 3 * self.row + 1 + self.row + 2
        self.right = self.width - self.left
        # Column of the values after the bytes.
        self.values = 0

    def render(self, title: str, error: Exception | None) -> str:
        lines = [self._styled(title, "title")]
        if self.address:
            where = f"from address {self.address:0{self.digits}x}; offsets in notes are relative to this address"
            lines[0] += self._styled(f"  {where}", "dim")
        tops = self.tops
        if len(tops) == 1 and tops[0].children:
            tops = tops[0].children  # the title already names the message
        longest = max((_name_width(top, 0, self.step) for top in tops), default=0)
        self.values = min(longest + 2, self.right - max(18, self.right // 3))
        for top in tops:
            self._span(top, 0, lines)
        lines.append(self._end(error))
        return "\n".join(lines) + "\n"

    def _end(self, error: Exception | None) -> str:
        at = f"{self.address + len(self.data):0{self.digits}x}"
        words = self._styled(str(error), "fault") if error else self._styled(f"end, {len(self.data)} bytes", "dim")
        return f"{self._styled(at, 'dim')}  {words}"

    def _span(self, span: Span, depth: int, lines: list[str]) -> None:
        if not span.children:
            if span.role not in (STRUCT, SECTION) or span.end > span.start:
                self._leaf(span, span.name or span.path, depth, lines)
                self._unpacked(span, depth + 1, lines)
            return
        first = span.children[0]
        if span.role in (ARRAY, SECTION) and first.role == LENGTH:
            # Show an array on the line of its count.
            self._leaf(first, span.name, depth, lines, span)
            rest = span.children[1:]
        else:
            self._group(span, depth, lines)
            rest = span.children
        for child in rest:
            self._span(child, depth + 1, lines)

    def _unpacked(self, leaf: Span, depth: int, lines: list[str]) -> None:
        # Addresses of decompressed bytes start at 0.
        if leaf.unpacked is None:
            return
        content, top = leaf.unpacked
        pad = " " * (self.left + self.step * depth)
        lines.append(pad + self._styled(f"in the {len(content):,} decompressed bytes", "title"))
        outer = self.data, self.address
        self.data, self.address = content, 0
        for child in top.children:
            self._span(child, depth, lines)
        self.data, self.address = outer
        lines.append(pad + self._styled("end of the decompressed data", "dim"))

    def _group(self, span: Span, depth: int, lines: list[str]) -> None:
        is_message = " v" in span.type
        label = span.type if is_message else _label(span.name)
        kind = "" if is_message or span.type.startswith("STRUCT") else f"  {span.type}"
        pad = " " * (self.left + self.step * depth)
        lines.append(pad + self._styled(label, "title" if is_message else "name") + self._styled(kind, "dim"))

    def _leaf(self, leaf: Span, name: str, depth: int, lines: list[str], array: Span | None = None) -> None:
        hexes = self._hex(leaf)
        words = self._words(leaf, name, depth, array)
        for number in range(max(len(hexes), len(words))):
            left = hexes[number] if number < len(hexes) else " " * self.left
            right = words[number] if number < len(words) else ""
            lines.append(f"{left}{right}".rstrip())

    def _hex(self, leaf: Span) -> list[str]:
        rows: list[str] = []
        is_redacted = leaf.is_secret and not self.show_secrets
        size = leaf.end - leaf.start
        most = leaf.end if self.whole or size <= _MOST_ROWS * self.row else leaf.start + (_MOST_ROWS - 1) * self.row
        for start in range(leaf.start, max(most, leaf.start + 1), self.row):
            part = self.data[start : min(start + self.row, leaf.end)]
            at = self._styled(f"{self.address + start:0{self.digits}x}", "dim")
            if is_redacted:
                dump, chars = "·· " * len(part), _MIDDLE_DOTS * len(part)
            else:
                dump = part.hex(" ") + " " if part else ""
                chars = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
            dump, chars = f"{dump:<{3 * self.row + 1}}", f"{chars:<{self.row + 2}}"
            rows.append(f"{at}  {self._styled(dump, 'secret' if is_redacted else '')}{self._styled(chars, 'dim')}")
        if most < leaf.end:
            more = f"... {leaf.end - most:,} bytes more"
            rows.append(" " * (self.digits + 2) + self._styled(f"{more:<{self.left - self.digits - 2}}", "dim"))
        return rows

    def _words(self, leaf: Span, name: str, depth: int, array: Span | None) -> list[str]:
        indent = " " * (self.step * depth)
        name = _label(name)
        pieces: list[tuple[str, str]] = [(name, "name")]
        is_redacted = leaf.is_secret and not self.show_secrets
        if leaf.role in (FAULT, REST):
            style = "fault" if leaf.role == FAULT else "dim"
            pieces = [(name, "name")] if name else []
            note = note_of(leaf, is_redacted)
            pieces.append((note if leaf.role == FAULT else f"not read{': ' if note else ''}{note}", style))
        else:
            value = self._value(leaf, array)
            pieces.append((value, "secret" if is_redacted else "value"))
            pieces += [(leaf.note, "note")] if leaf.note else []
            pieces.append((leaf.type if array is None else array.type, "dim"))
        return self._flow([(text, style) for text, style in pieces if text], indent)

    def _value(self, leaf: Span, array: Span | None) -> str:
        if leaf.is_secret and not self.show_secrets and leaf.role == VALUE:
            return REDACTED
        if array is not None:
            if array.role == SECTION:
                return "none" if not array.value else f"{array.value}"
            return "null" if array.value is None else f"{array.value} element{'s' if array.value != 1 else ''}"
        return formatted(leaf.value)

    def _flow(self, pieces: list[tuple[str, str]], indent: str) -> list[str]:
        # Put the name first and wrap the other pieces in the column after the name.
        at = self.values if self.right - self.values >= 30 else len(indent) + 2
        column = " " * at
        name, style = pieces[0] if pieces[0][1] == "name" else ("", "")
        line, used = indent + self._styled(name, style), len(indent) + len(name)
        lines: list[str] = []
        if used + 2 > self.values and len(pieces) > 1:
            lines, line, used = [line], "", 0
        line, used = line + " " * (self.values - used), self.values
        is_new = True
        for text, style in pieces[1:] if name else pieces:
            gap = 0 if is_new else 2
            if gap and used + gap + len(text) > self.right:
                lines, line, used, gap = [*lines, line], column, at, 0
            first, *more = wrapped(text, max(self.right - max(used + gap, at), 12))
            line += " " * gap + self._styled(first, style)
            used, is_new = used + gap + len(first), False
            for each in more:
                lines, line, used = [*lines, line], column + self._styled(each, style), at + len(each)
        return [*lines, line]

    def _styled(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and style and text else text


def _name_width(span: Span, depth: int, step: int) -> int:
    children = span.children if span.unpacked is None else span.unpacked[1].children
    below = max((_name_width(child, depth + 1, step) for child in children), default=0)
    return below if span.role == STRUCT and span.children else max(below, step * depth + len(_label(span.name)))


def _label(name: str) -> str:
    return name[name.index("[") :] if name.endswith("]") and not name.startswith("unknown") else name
