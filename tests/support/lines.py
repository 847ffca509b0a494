"""Recording of executed lines, for tests that prove the completeness of other tests."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any


@dataclass(frozen=True, order=True)
class Site:
    """A statement or call: file, first and last line, and text of the first line."""

    file: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.first}: {self.text}"


@dataclass
class Lines:
    """Executed lines as pairs of file and line."""

    ran: set[tuple[str, int]] = field(default_factory=set)

    def reached(self, site: Site) -> bool:
        return any((site.file, line) in self.ran for line in range(site.first, site.last + 1))

    def includes(self, file: Path, text: str) -> bool:
        """Return whether a line with this text was executed; the file must have one."""
        sites = [
            Site(str(file), number, number, text)
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
            if line.strip() == text
        ]
        assert sites, f"{file} has no line {text!r}"
        return any(map(self.reached, sites))

    def missing(self, sites: list[Site]) -> list[str]:
        """Return the sites that were not executed, as text."""
        return [str(site) for site in sorted(sites) if not self.reached(site)]


@contextmanager
def recording(*files: Path) -> Iterator[Lines]:
    """Record executed lines of these files inside the block; other tracers are suspended."""
    lines = Lines()
    names = {str(file) for file in files}

    def local(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            lines.ran.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        return local if frame.f_code.co_filename in names else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield lines
    finally:
        sys.settrace(before)


def calls(files: list[Path], *attributes: str) -> list[Site]:
    """Return every call of methods with these names, such as ``problems.error(...)``."""
    return [
        site
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in attributes
        for site in [_site(file, node)]
    ]


def raises(files: list[Path], *exceptions: str) -> list[Site]:
    """Return every ``raise`` of these exceptions."""
    return [
        _site(file, node)
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.func, ast.Name)
        and node.exc.func.id in exceptions
    ]


def _site(file: Path, node: ast.expr | ast.stmt) -> Site:
    text = file.read_text(encoding="utf-8").splitlines()[node.lineno - 1].strip()
    return Site(str(file), node.lineno, node.end_lineno or node.lineno, text)


def lines_of_functions(files: list[Path]) -> list[Site]:
    """Return every line of code inside functions; module-level code is not included."""
    sites = []
    for file in files:
        source = file.read_text(encoding="utf-8")
        texts = source.splitlines()
        for code in _functions(compile(source, str(file), "exec")):
            # The first line is the definition itself: it runs where the function is defined.
            lines = {line for _, _, line in code.co_lines() if line is not None and line > code.co_firstlineno}
            sites += [Site(str(file), line, line, texts[line - 1].strip()) for line in sorted(lines)]
    return sites


def _functions(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        # Python 3.14 has the annotations of a function in a separate function, which runs on access.
        if isinstance(constant, CodeType) and constant.co_name != "__annotate__":
            if not constant.co_flags & 0x02:  # a class body has no CO_NEWLOCALS; it runs at import
                yield from _functions(constant)
            else:
                yield constant
                yield from _functions(constant)
