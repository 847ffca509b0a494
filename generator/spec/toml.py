"""TOML read into the same nodes as definitions, so that every value knows its file, line and path."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generator.spec.source import Json, Location, Node, Problems

_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def load(path: Path, name: str, problems: Problems) -> Node | None:
    """Read one TOML file; ``name`` is what messages call it. None, with the problem recorded, if it is no TOML."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return _Places(name, text.splitlines(keepends=True)).node(tomllib.loads(text), ())
    except OSError as error:
        problems.error(Location(name, 1, "$"), f"cannot be read: {error.strerror or error}")
    except UnicodeDecodeError as error:
        problems.error(Location(name, 1, "$"), f"not UTF-8: {error.reason} at byte {error.start}")
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line = int(found[1]) if found and found[1] else max(text.count("\n"), 1)
        reason = _PLACE.sub("", str(error))
        problems.error(Location(name, line, "$"), f"not TOML: {reason[:1].lower()}{reason[1:]}")
    return None


@dataclass
class _Places:
    """Finds the line of a value: the first that the file cannot do without to have it.

    The reader of the standard library has no places, but reads what comes before a line as well as the whole.
    """

    name: str
    lines: list[str]

    def node(self, value: object, path: tuple[str | int, ...]) -> Node:
        inner: Json
        if isinstance(value, dict):
            inner = {key: self.node(each, (*path, key)) for key, each in value.items()}
        elif isinstance(value, list):
            inner = [self.node(each, (*path, index)) for index, each in enumerate(value)]
        else:
            inner = value if isinstance(value, str | int | float | bool) else str(value)  # a date or time
        return Node(inner, Location(self.name, self.line(path), _shown(path)))

    def line(self, path: tuple[str | int, ...]) -> int:
        """The line, from 1, on which the key at ``path`` begins; of an element, that of its array."""
        keys = path[: next((at for at, part in enumerate(path) if isinstance(part, int)), len(path))]
        before = 0
        for end in range(1, len(self.lines) + 1):
            try:
                found = tomllib.loads("".join(self.lines[:end]))
            except tomllib.TOMLDecodeError:
                continue  # within a value of several lines
            if _has(found, keys):
                return next(at for at in range(before, end) if self.lines[at].strip(" \t\r\n")[:1] not in ("", "#")) + 1
            before = end
        return 1


def _has(found: Any, keys: tuple[str | int, ...]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return bool(keys)


def _shown(path: tuple[str | int, ...]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
