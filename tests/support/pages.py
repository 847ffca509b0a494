"""Python code of documentation pages, and the output that they show."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from kafka_protocol_upstream.publish.doc_blocks import Block
from kafka_protocol_upstream.publish.doc_blocks import blocks as blocks
from kafka_protocol_upstream.publish.doc_blocks import pages as pages
from kafka_protocol_upstream.publish.doc_blocks import text as text
from kafka_protocol_upstream.publish.doc_blocks import to_run as to_run

ROOT = Path(__file__).parents[2]
# Languages of blocks: the first two are run; the others are definitions (json), settings (toml, yaml) and output.
LANGUAGES = ("python", "sh", "json", "toml", "yaml", "")
# Start of a complete program, which is removed: a server would run until it is stopped.
_START = re.compile(r'^if __name__ == "__main__":\n.*', re.MULTILINE | re.DOTALL)


def programs(page: str) -> list[list[Block]]:
    """Return the Python programs of a page; a block that starts with a docstring starts a new program."""
    found: list[list[Block]] = []
    for block in to_run(page, "python"):
        if not found or block.text.startswith('"""'):
            found.append([])
        found[-1].append(block)
    return found


def module(page: str, program: Sequence[Block] | None = None) -> str:
    """Return the Python code of a page or program as one module; its lines have the numbers of the page's lines."""
    lines = [""] * (text(page).count("\n") + 1)
    for block in to_run(page, "python") if program is None else program:
        for line, source in _sources(block):
            for at, each in enumerate(source.splitlines(), line - 1):
                lines[at] = each
    return "\n".join(lines).rstrip() + "\n"


def _sources(block: Block) -> Iterator[tuple[int, str]]:
    if not block.is_doctest:
        yield block.line, block.text
        return
    for example in doctest.DocTestParser().get_examples(block.text):
        yield block.line + example.lineno, example.source


def about_spark() -> list[str]:
    """Return the pages that need a Spark session; tests/pipeline runs these pages."""
    return [page for page in pages() if "pyspark" in module(page)]


def run(page: str, names: dict[str, object], leave_out: str = "") -> None:
    """Run the Python blocks of a page from top to bottom, but do not start complete programs.

    ``names`` is the namespace and keeps new names; ``leave_out`` is code that an older dependency does not support.
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
    names.update(test.globs)  # DocTest works on a copy of the namespace
    assert not report, "".join(report)


def documented_output(page: str) -> list[str]:
    """Return the output that a page shows: in comments after calls of print, or in the block after a script."""
    printed: list[str] = []
    before: Block | None = None
    for block in blocks(page):
        if block.language == "python" and block.not_run is None and not block.is_doctest:
            printed += _output_in_comments(block.text)
        elif block.language == "" and before and before.language == "python" and before.not_run is None:
            printed += block.text.splitlines()
        before = block
    return printed


def _output_in_comments(script: str) -> list[str]:
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
