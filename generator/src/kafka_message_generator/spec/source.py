"""Parser for JSON with comments that keeps the file, line and JSON path of each value."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

# Value of a node; arrays and objects contain nodes.
Json = dict[str, "Node"] | list["Node"] | str | int | float | bool | None


INDENTED = "\n    "  # start of a further line of a message


def printable(text: str, kept: str = "") -> str:
    """Escape all but printable and ``kept`` characters, such as control characters and those that change direction."""
    return "".join(each if each.isprintable() or each in kept else repr(each)[1:-1] for each in text)


def tell(text: object, file: TextIO | None = None, *, lines: bool = False, end: str = "\n") -> None:
    """Print a text with unprintable and unencodable characters escaped; with ``lines``, keep tabs and line ends."""
    stream = file or sys.stdout
    encoding = stream.encoding or "utf-8"
    print(
        printable(str(text), "\n\t" if lines else "").encode(encoding, "backslashreplace").decode(encoding),
        file=stream,
        end=end,
    )


@dataclass(frozen=True, order=True)
class Location:
    """File, line (from 1) and JSON path (``$.fields[2].type``) of a value."""

    file: str
    line: int
    path: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.path}"


@dataclass(frozen=True)
class Node:
    value: Json
    location: Location

    def plain(self) -> object:
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def says_the_same(self, other: Node) -> bool:
        """Return whether the JSON values are equal; ``1``, ``1.0`` and ``true`` differ."""
        return json.dumps(self.plain(), sort_keys=True) == json.dumps(other.plain(), sort_keys=True)

    @property
    def kind(self) -> str:
        if self.value is None:
            return "null"
        if isinstance(self.value, bool):
            return "boolean"
        if isinstance(self.value, dict):
            return "object"
        if isinstance(self.value, list):
            return "array"
        return "string" if isinstance(self.value, str) else "number"


@dataclass(frozen=True, order=True)
class Problem:
    location: Location
    message: str
    is_warning: bool = False

    def __str__(self) -> str:
        kind = "warning: " if self.is_warning else ""
        lines = f"{self.location}: {kind}{self.message}".split(INDENTED)
        return INDENTED.join(map(printable, lines))


@dataclass(frozen=True)
class Misspelling:
    """An object with misspelled properties, a corrected copy, and the problems to report."""

    node: Node
    corrected: Node
    problems: tuple[Problem, ...]


@dataclass
class Problems:
    """Errors and warnings of all definitions; checks continue after an error."""

    found: list[Problem] = field(default_factory=list)
    misspellings: dict[int, Misspelling] = field(default_factory=dict)  # by ``id`` of the node
    is_released: bool = False  # True for definitions of a Kafka release: unknown properties are warnings

    def error(self, location: Location, message: str) -> None:
        self.found.append(Problem(location, message))

    def warn(self, location: Location, message: str) -> None:
        self.found.append(Problem(location, message, is_warning=True))

    def has_error_at(self, location: Location | None) -> bool:
        """Return whether an error is recorded at exactly this location."""
        return location is not None and any(
            problem.location == location and not problem.is_warning for problem in self.found
        )

    @property
    def errors(self) -> list[Problem]:
        return sorted({problem for problem in self.found if not problem.is_warning})

    @property
    def warnings(self) -> list[Problem]:
        return sorted({problem for problem in self.found if problem.is_warning})


class SpecError(Exception):
    """Raised for invalid definitions; ``problems`` has all errors."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*)"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_]+")
_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\({_PAIR}|u[0-9a-fA-F]{{4}}|.)", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
# Characters, besides a quote, that begin another element after a missing comma, by closing bracket.
_BEGINNINGS = {"}": (), "]": tuple("{[-0123456789tfn")}
_BRACES = "the properties of an object need names and values; for a list write [ and ] instead of { and }"
_MAX_DEPTH = 100
_MAX_DIGITS = 100  # maximum digits of an integer literal


class _Stop(Exception):
    pass


@dataclass
class _JsonReader:
    file: str
    text: str
    problems: Problems
    at: int = 0
    _line: int = 1
    _line_at: int = 0

    def location(self, path: str) -> Location:
        # Count newlines from the last position only.
        self._line += self.text.count("\n", self._line_at, self.at)
        self._line_at = max(self.at, self._line_at)
        return Location(self.file, self._line, path)

    def fail(self, path: str, message: str, place: Location | None = None) -> _Stop:
        self.problems.error(place or self.location(path), message)
        return _Stop()

    def skip_blank(self, path: str) -> None:
        match = _BLANK.match(self.text, self.at)
        assert match is not None
        self.at = match.end()
        if self.text.startswith("/*", self.at):
            raise self.fail(path, "unterminated comment; end it with */")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def document(self) -> Node:
        self.skip_blank("$")
        if not self.peek():
            raise self.fail("$", "the file is empty; a definition must be one JSON object")
        node = self.value("$", 0)
        self.skip_blank("$")
        if self.peek():
            raise self.fail(
                "$", f"{self.peek()!r} follows the end of the definition; a file must contain one JSON object"
            )
        return node

    def value(self, path: str, depth: int) -> Node:
        location = self.location(path)
        if depth > _MAX_DEPTH:
            raise self.fail(path, f"nested more than {_MAX_DEPTH} levels deep")
        start = self.peek()
        if start == "{":
            return Node(self.object(path, depth), location)
        if start == "[":
            return Node(self.array(path, depth), location)
        if start == '"':
            return Node(self.string(path), location)
        if match := _NUMBER.match(self.text, self.at):
            is_float = match[1] or match[2]
            digits = len(match[0].lstrip("-"))
            if not is_float and digits > _MAX_DIGITS:
                raise self.fail(path, f"a number of {digits} digits; the limit is {_MAX_DIGITS}")
            self.at = match.end()
            return Node(float(match[0]) if is_float else int(match[0]), location)
        if (match := _WORD.match(self.text, self.at)) and match[0] in _WORDS:
            self.at = match.end()
            return Node(_WORDS[match[0]], location)
        raise self.fail(path, f"expected a JSON value, found {self.found()}")

    def found(self) -> str:
        return repr(self.peek()) if self.peek() else "the end of the file"

    def object(self, path: str, depth: int) -> dict[str, Node]:
        members: dict[str, Node] = {}
        start = self.location(path)
        self.at += 1
        while True:
            self.skip_blank(path)
            if self.peek() == "}":
                self.at += 1
                return members
            if self.peek() in ("{", "[", "]"):
                raise self.fail(path, _BRACES, start)
            if self.peek() != '"':
                raise self.fail(path, f"expected a property name in double quotes or '}}', found {self.found()}")
            key = self.string(path)
            self.skip_blank(path)
            if self.peek() in (",", "]", "}"):
                raise self.fail(path, _BRACES, start)
            if self.peek() != ":":
                raise self.fail(path, f"expected ':' after property {key!r}, found {self.found()}")
            self.at += 1
            self.skip_blank(path)
            node = self.value(f"{path}.{printable(key)}", depth + 1)
            self.add_member(members, key, node)
            self.comma(path, node.location.path, "}")

    def add_member(self, members: dict[str, Node], key: str, node: Node) -> None:
        earlier = members.setdefault(key, node)
        # Two released definitions repeat a property with the same value.
        if earlier is not node and not earlier.says_the_same(node):
            message = f"duplicate property {key!r} with different values; remove one"
            self.problems.error(node.location, f"{message} (the first is on line {earlier.location.line})")

    def array(self, path: str, depth: int) -> list[Node]:
        elements: list[Node] = []
        self.at += 1
        while True:
            self.skip_blank(path)
            if self.peek() == "]":
                self.at += 1
                return elements
            node = self.value(f"{path}[{len(elements)}]", depth + 1)
            elements.append(node)
            self.comma(path, node.location.path, "]")

    def comma(self, path: str, before: str, closing: str) -> None:
        """Skip the comma after a value; the last value needs none.

        ``before`` is the JSON path of the preceding value, where a missing comma is reported.
        """
        end = self.at
        self.skip_blank(path)
        if self.peek() == ",":
            location = self.location(path)
            self.at += 1
            self.skip_blank(path)
            if self.peek() == closing:
                what = f"trailing comma before {closing!r}, which Kafka's own generator rejects"
                self.problems.warn(location, f"{what}; remove it")
        elif self.peek() == '"' or (self.at > end and self.peek() in _BEGINNINGS[closing]):
            self.at = end
            raise self.fail(before, "missing comma after this value; add one")
        elif self.peek() != closing:
            raise self.fail(path, f"expected ',' or {closing!r}, found {self.found()}")

    def string(self, path: str) -> str:
        match = _STRING.match(self.text, self.at)
        if match is None:
            raise self.fail(path, "string without closing quote, or with an unescaped control character")
        self.at = match.end()
        return _ESCAPE.sub(lambda escape: self.escape(escape[1], path), match[1]) if "\\" in match[1] else match[1]

    def escape(self, code: str, path: str) -> str:
        if len(code) == 11:  # surrogate pair
            return chr(0x10000 + ((int(code[1:5], 16) & 0x3FF) << 10 | int(code[7:], 16) & 0x3FF))
        if len(code) == 5:
            number = int(code[1:], 16)
            if 0xD800 <= number < 0xE000:
                raise self.fail(path, f"\\{code} is half of a surrogate pair; write both, like \\ud83d\\ude00")
            return chr(number)
        if code not in _ESCAPES:
            raise self.fail(path, f"unknown escape \\{code} in a string")
        return _ESCAPES[code]


def parse(file: str, text: str, problems: Problems) -> Node | None:
    """Parse a definition; return None for invalid syntax."""
    try:
        return _JsonReader(file, text.removeprefix("\ufeff"), problems).document()
    except _Stop:
        return None


def decode(name: str, data: bytes, problems: Problems) -> Node | None:
    """Parse a definition from UTF-8 bytes with any kind of line ends; return None if it is invalid."""
    text = _text(name, data, problems)
    return None if text is None else parse(name, text, problems)


def load(path: Path, name: str, problems: Problems) -> Node | None:
    """Parse a definition file; return None if it is invalid. Locations use ``name`` as its path."""
    data = _bytes(path, name, problems)
    return None if data is None else decode(name, data, problems)


def load_text(path: Path, name: str, problems: Problems) -> str | None:
    """Read a UTF-8 text file, without byte order mark and with ``\\n`` line ends; None if it cannot be read."""
    data = _bytes(path, name, problems)
    text = None if data is None else _text(name, data, problems)
    return None if text is None else text.removeprefix("\ufeff")


def _bytes(path: Path, name: str, problems: Problems) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError as error:
        problems.error(Location(name, 1, "$"), f"cannot be read: {error.strerror or error}")
        return None


def _text(name: str, data: bytes, problems: Problems) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        problems.error(Location(name, 1, "$"), f"not UTF-8: {error.reason} at byte {error.start}")
        return None
    return text.replace("\r\n", "\n").replace("\r", "\n")
