"""TOML read into the same nodes as definitions, so that every value knows its file, line and path."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kafka_message_generator.spec import source
from kafka_message_generator.spec.source import Json, Location, Node, Problems

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_TIMES = (datetime.date, datetime.time)


class Value(Node):
    """One value of TOML with its place; what JSON calls an object is a table here."""

    @property
    def kind(self) -> str:
        return "table" if isinstance(self.value, dict) else super().kind


def load(path: Path, name: str, problems: Problems) -> Node | None:
    """Read one TOML file; ``name`` is what messages call it. None, with the problem recorded, if it is no TOML."""
    text = source.load_text(path, name, problems)
    if text is None:
        return None
    text = text.removeprefix("\ufeff")
    try:
        return _Places(name, text, problems).node(tomllib.loads(text), ())
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits raise no TOMLDecodeError
        found = _PLACE.search(str(error))
        line = int(found[1]) if found and found[1] else max(text.count("\n"), 1)
        reason = "nested too deep" if isinstance(error, RecursionError) else _PLACE.sub("", str(error))
        problems.error(Location(name, line, "$"), f"not TOML: {reason[:1].lower()}{reason[1:]}")
    return None


Route = tuple[str | int, ...]


class _Places:
    """Finds the line of a value: the first that the file cannot do without to have it.

    The reader of the standard library has no places, but reads what comes before a line as well as the whole.
    """

    def __init__(self, name: str, text: str, problems: Problems) -> None:
        self.name, self.problems = name, problems
        self.steps = list(_steps([f"{line}\n" for line in text.split("\n")]))

    def node(self, value: object, path: Route) -> Value:
        inner: Json
        location = Location(self.name, self.line(path), _shown(path))
        if isinstance(value, dict):
            inner = {key: self.node(each, (*path, key)) for key, each in value.items()}
        elif isinstance(value, list):
            inner = [self.node(each, (*path, index)) for index, each in enumerate(value)]
        elif isinstance(value, _TIMES):
            self.problems.error(location, f"expected a string, found the date or time {value}; put it in quotes")
            inner = str(value)
        else:
            assert isinstance(value, str | int | float | bool)  # there is nothing else in TOML
            inner = value
        return Value(inner, location)

    def line(self, path: Route) -> int:
        """The line, from 1, on which the value at ``path`` begins; of an element on one of several lines, its array."""
        return next((line for line, found in self.steps if _has(found, path)), 1)


def _steps(lines: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is read up to each line on which something ends, with the line on which that begins."""
    before = 0
    for end in range(1, len(lines) + 1):
        try:
            found = tomllib.loads("".join(lines[:end]))
        except ValueError:
            continue  # within a value of several lines
        begins = (at for at in range(before, end) if lines[at].strip()[:1] not in ("", "#"))
        yield next(begins, before) + 1, found
        before = end


def _has(found: Any, path: Route) -> bool:
    for part in path:
        if isinstance(part, int):
            if len(found) <= part:
                return False
        elif part not in found:
            return False
        found = found[part]
    return bool(path)


def _shown(path: Route) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{_printable(part)}" for part in path)


def _printable(key: str) -> str:
    return key if key.isprintable() else repr(key)
