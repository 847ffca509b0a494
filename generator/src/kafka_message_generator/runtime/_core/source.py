"""Functions compiled from generated source text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Source:

    def __init__(self, **names: object) -> None:
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
        exec("\n".join(self.lines), self.names)
        self.lines.clear()
        found: Callable[..., Any] = self.names[name]
        return found
