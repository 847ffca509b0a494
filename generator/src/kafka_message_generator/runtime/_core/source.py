"""Functions from source text, for loops that depend on a definition: compiled once, and as fast as written by hand."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Source:
    """Lines of Python, and the objects that they name."""

    def __init__(self, **names: object) -> None:
        self.lines: list[str] = []
        self.names: dict[str, Any] = names
        self._variables = 0

    def add(self, depth: int, line: str) -> None:
        """Append a line; ``depth`` is its indentation."""
        self.lines.append(" " * depth + line)

    def constant(self, value: object) -> str:
        """Return the name of an object; the same object always has the same name."""
        for name, known in self.names.items():
            if known is value:
                return name
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def variable(self, prefix: str) -> str:
        """Return a new name."""
        self._variables += 1
        return f"{prefix}{self._variables}"

    def function(self, name: str) -> Callable[..., Any]:
        """Compile the lines, which are not kept, and return the function that they define under a name."""
        exec("\n".join(self.lines), self.names)
        self.lines.clear()
        found: Callable[..., Any] = self.names[name]
        return found
