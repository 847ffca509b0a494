"""Functions compiled from generated source text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def compiled(lines: list[str], names: dict[str, Any], name: str, title: str) -> Callable[..., Any]:
    """Return the function ``name`` that ``lines`` define; ``names`` are its globals.

    ``linecache`` gets the lines, as in attrs, so that tracebacks and debuggers show them.
    """
    import linecache  # slow, and not needed by programs that only read and write messages

    text = "".join(f"{line}\n" for line in lines)
    number = 1
    while True:  # an equal text keeps its file name
        file = f"<{__name__.removesuffix('._core.source')} {title} {number}>"
        entry = len(text), None, text.splitlines(True), file  # no time: ``checkcache`` keeps the entry
        if linecache.cache.setdefault(file, entry) == entry:
            break
        number += 1
    exec(compile(text, file, "exec"), names)
    made: Callable[..., Any] = names[name]
    return made


class Source:
    def __init__(self, title: str, **names: object) -> None:
        self.title = title
        self.lines: list[str] = []
        self.names: dict[str, Any] = names
        self._variables = 0

    def add(self, depth: int, line: str) -> None:
        self.lines.append(" " * depth + line)

    def constant(self, value: object) -> str:
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def variable(self, prefix: str) -> str:
        self._variables += 1
        return f"{prefix}{self._variables}"

    def function(self, name: str) -> Callable[..., Any]:
        made = compiled(self.lines, self.names, name, self.title)
        self.lines.clear()
        return made
