"""The pages of the documentation, and the fenced blocks in them: what runs, what is printed, what is an excerpt."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
READMES = (
    "README.md",
    "generator/README.md",
    "generated/README.md",
    "specs/proposals/README.md",
    "packages/native/README.md",
    "packages/pages/README.md",
    "packages/pipeline/README.md",
    "packages/tools/README.md",
)
EXAMPLES = "examples/cluster/README.md"
LANGUAGES = ("python", "sh", "json", "toml", "")
"""Of a block: what runs (the first two), a definition, settings, and what is printed."""
_BLOCK = re.compile(r"^(?:<!-- not run: (.*?) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_START = re.compile(r'^if __name__ == "__main__":\n.*', re.MULTILINE | re.DOTALL)
"""How a whole program of a page ends: one that serves would do so until it is stopped."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    """Path in the repository."""
    line: int
    """Number of the first line of its text."""
    language: str
    text: str
    not_run: str | None
    """The reason, in a comment of the page that does not show, why it stays out: ``<!-- not run: reason -->``."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_doctest(self) -> bool:
        return self.text.startswith(">>>")


def pages() -> list[str]:
    """The paths of all pages whose blocks are run, in the order in which a reader comes by."""
    docs = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return [*READMES, EXAMPLES, *docs]


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def blocks(page: str) -> Sequence[Block]:
    """All fenced blocks of a page, in their order."""
    whole = text(page)
    return tuple(
        Block(page, whole.count("\n", 0, found.start(3)) + 1, found[2], found[3], found[1])
        for found in _BLOCK.finditer(whole)
    )


def to_run(page: str, language: str) -> list[Block]:
    """The blocks of a page in a language, but for the excerpts."""
    return [block for block in blocks(page) if block.language == language and block.not_run is None]


def programs(page: str) -> list[list[Block]]:
    """The Python of a page: all of it is one program, but where a block has a docstring of its own, which begins another."""
    found: list[list[Block]] = []
    for block in to_run(page, "python"):
        if not found or block.text.startswith('"""'):
            found.append([])
        found[-1].append(block)
    return found


def module(page: str, program: Sequence[Block] | None = None) -> str:
    """The Python of a page, or a program of it, as one module: each line has the number that it has in the page."""
    lines = [""] * (text(page).count("\n") + 1)
    for block in to_run(page, "python") if program is None else program:
        for line, source in _sources(block):
            for at, each in enumerate(source.splitlines(), line - 1):
                lines[at] = each
    return "\n".join(lines).rstrip() + "\n"


def _sources(block: Block) -> Iterator[tuple[int, str]]:
    """The statements of a block with the numbers of their first lines; of an interactive one without what is printed."""
    if not block.is_doctest:
        yield block.line, block.text
        return
    for example in doctest.DocTestParser().get_examples(block.text):
        yield block.line + example.lineno, example.source


def about_spark() -> list[str]:
    """The pages whose Python needs a session of Spark; tests/pipeline has one, and runs them."""
    return [page for page in pages() if "pyspark" in module(page)]


def run(page: str, names: dict[str, object], leave_out: str = "") -> None:
    """Run the Python of a page from top to bottom, as one who follows it does; interactive blocks print what they show.

    What a program does only when it is started as one is left out: other tests start those of ``examples``.

    ``names`` is the namespace, before and after; ``leave_out`` what an older version of something does not have.
    """
    for block in to_run(page, "python"):
        if block.is_doctest:
            _run_doctest(block, names)
        else:
            padding = "\n" * (block.line - 1)
            script = _START.sub("", block.text.replace(leave_out, ""))
            exec(compile(padding + script, str(ROOT / page), "exec"), names)


def _run_doctest(block: Block, names: dict[str, object]) -> None:
    examples = doctest.DocTestParser().get_examples(block.text)
    test = doctest.DocTest(examples, names, block.page, str(ROOT / block.page), block.line - 1, block.text)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)  # a test has a copy of its own
    assert not report, "".join(report)


def told_output(page: str) -> list[str]:
    """What is said to be printed: comments behind calls of print and below them, and the block that follows a script."""
    told: list[str] = []
    before: Block | None = None
    for block in blocks(page):
        if block.language == "python" and block.not_run is None and not block.is_doctest:
            told += _said(block.text)
        elif block.language == "" and before and before.language == "python" and before.not_run is None:
            told += block.text.splitlines()
        before = block
    return told


def _said(script: str) -> list[str]:
    found: list[str] = []
    is_below = False
    for line in script.splitlines():
        if behind := re.fullmatch(r" *print\(.*\)  # (.*)", line):
            found.append(behind[1])
            is_below = False
        elif is_below and (below := re.fullmatch(r" *# (.*)", line)):
            found.append(below[1])
        else:
            is_below = re.fullmatch(r" *print\(.*\)", line) is not None
    return found
