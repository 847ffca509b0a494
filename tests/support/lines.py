"""Which lines of some source files ran, and which of them matter; for tests that prove that tests are complete."""

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
    """A statement or call: its file, first and last line, and the text of its first line."""

    file: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.first}: {self.text}"


@dataclass
class Lines:
    """The lines that ran while recording, as pairs of file and line."""

    ran: set[tuple[str, int]] = field(default_factory=set)

    def reached(self, site: Site) -> bool:
        return any((site.file, line) in self.ran for line in range(site.first, site.last + 1))

    def missing(self, sites: list[Site]) -> list[str]:
        """The sites that did not run, as a reader would look for them."""
        return [str(site) for site in sorted(sites) if not self.reached(site)]


@contextmanager
def recording(*files: Path) -> Iterator[Lines]:
    """Record the lines of these files that run inside the block; what else traces, such as coverage, waits."""
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
    """Every call of a method of one of these names, like ``problems.error(...)``."""
    return [
        site
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in attributes
        for site in [_site(file, node)]
    ]


def raises(files: list[Path], *exceptions: str) -> list[Site]:
    """Every ``raise`` of one of these exceptions."""
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
    """Every line inside a function that the compiler has code for; what runs at import counts as reached."""
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
        # Python 3.14 keeps the annotations of a function in another one, which runs when somebody asks for them.
        if isinstance(constant, CodeType) and constant.co_name != "__annotate__":
            if not constant.co_flags & 0x02:  # a class body has no CO_NEWLOCALS; it runs at import
                yield from _functions(constant)
            else:
                yield constant
                yield from _functions(constant)
