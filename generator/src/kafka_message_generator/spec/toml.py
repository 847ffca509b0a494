"""TOML reader that keeps the file, line and path of each value."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kafka_message_generator.spec import source
from kafka_message_generator.spec.source import Json, Location, Node, Problems, printable

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TOKEN = re.compile(
    r"""#[^\n]*|\"""(?:\\.|[^\\])*?"{3,5}|'''.*?'{3,5}|"(?:\\.|[^"\\])*"|'[^']*'|[][{}\n]""", re.DOTALL
)  # comments, strings, brackets and ends of lines
_TIMES = (datetime.date, datetime.time)


class TomlNode(Node):
    """A TOML value and its location; error messages call an object a table."""

    @property
    def kind(self) -> str:
        return "table" if isinstance(self.value, dict) else super().kind


def load(path: Path, name: str, problems: Problems) -> Node | None:
    """Parse a TOML file; return None if it is invalid. Locations use ``name`` as its path."""
    text = source.load_text(path, name, problems)
    if text is None:
        return None
    text = text.removeprefix("\ufeff")
    try:
        return _node(name, tomllib.loads(text), (), _lines(text), problems)
    except (ValueError, RecursionError) as error:  # thousands of digits raise no TOMLDecodeError
        found = _PLACE.search(str(error))
        line = int(found[1]) if found and found[1] else max(text.count("\n"), 1)
        reason = "nested too deeply" if isinstance(error, RecursionError) else _PLACE.sub("", str(error))
        problems.error(Location(name, line, "$"), f"not TOML: {reason[:1].lower()}{reason[1:]}")
    return None


Route = tuple[str | int, ...]


def _node(name: str, value: object, path: Route, lines: Mapping[Route, int], problems: Problems) -> TomlNode:
    inner: Json
    location = Location(name, lines.get(path, 1), _shown(path))
    if isinstance(value, dict):
        inner = {key: _node(name, each, (*path, key), lines, problems) for key, each in value.items()}
    elif isinstance(value, list):
        inner = [_node(name, each, (*path, index), lines, problems) for index, each in enumerate(value)]
    elif isinstance(value, _TIMES):
        problems.error(location, f"expected a string, found the date or time {value}; put it in quotes")
        inner = str(value)
    else:
        assert isinstance(value, str | int | float | bool)
        inner = value
    return TomlNode(inner, location)


def _lines(text: str) -> dict[Route, int]:
    """Return the number of the line that first defines each value of a valid TOML text, by the value's path."""
    lines: dict[Route, int] = {}
    last: dict[Route, int] = {}
    table: Route = ()
    for line, statement in _statements(text):
        found = tomllib.loads(statement)
        if statement.startswith("["):
            table, found = _table(found, last), {}
        for path in _paths(found, table):
            lines.setdefault(path, line)
    return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    start = depth = 0
    line = 1
    for token in _TOKEN.finditer(f"{text}\n"):
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and depth == 0:
            yield line, text[start : token.start()].lstrip()
            line += text.count("\n", start, token.end())
            start = token.end()


def _table(header: Any, last: dict[Route, int]) -> Route:
    path: Route = ()
    while header:
        ((key, header),) = header.items()
        path += (key,)
        if isinstance(header, list):
            last[path] = last.get(path, -1) + 1
            header = header[0]
        if path in last:
            path += (last[path],)
    return path


def _paths(value: object, path: Route) -> Iterator[Route]:
    yield from (path[:end] for end in range(1, len(path) + 1))
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from _paths(each, (*path, key))


def _shown(path: Route) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{printable(part)}" for part in path)
