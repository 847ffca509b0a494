"""Documentation pages and their fenced blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kafka_protocol_upstream.publish.wheels import ROOT

READMES = (
    "README.md",
    "generator/README.md",
    "generated/README.md",
    "specs/proposals/README.md",
    "packages/conformance/README.md",
    "packages/native/README.md",
    "packages/pages/README.md",
    "packages/pipeline/README.md",
    "packages/testkit/README.md",
    "packages/tools/README.md",
    "examples/cluster/README.md",
)
_BLOCK = re.compile(r"^(?:<!-- not run: (.*?) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str  # path in the repository
    line: int  # number of the first line of its text
    language: str
    text: str
    not_run: str | None  # reason from the comment ``<!-- not run: reason -->`` in the page

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_doctest(self) -> bool:
        return self.text.startswith(">>>")


def pages() -> list[str]:
    """Return the paths of all documentation pages: READMEs, then docs by path."""
    docs = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
    return [*READMES, *docs]


def text(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def blocks(page: str) -> Sequence[Block]:
    whole = text(page)
    return tuple(
        Block(page, whole.count("\n", 0, found.start(3)) + 1, found[2], found[3], found[1])
        for found in _BLOCK.finditer(whole)
    )


def to_run(page: str, language: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == language and block.not_run is None]
