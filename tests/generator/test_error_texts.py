"""Every error text of the generator, the runtime, the records and the pipeline occurs in a test, or has a reason not to."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.pages import ROOT

GENERATOR = ROOT / "generator/src/kafka_message_generator"
PARTS = {
    "generator": (GENERATOR, GENERATOR / "runtime"),
    "runtime": (GENERATOR / "runtime", None),
    "records": (ROOT / "packages/records/src", None),
    "pipeline": (ROOT / "packages/pipeline/src", None),
}
"""Folder of each part, and a folder inside it that is another part."""
REPORTS = {"error", "invalid", "invalid_argument", "refuse", "warn", "wrong"}
"""Functions and methods with an error text as an argument; an underscore in front does not matter."""
SHORTEST = 12
"""Length from which a constant piece of a text must occur in a test."""
UNTESTED = {
    "internal error: the generated file": "no definitions are known that lead to it",
    "cannot combine chunks of": "needs columns of more than 2 GiB",
    "the column codec rejects bytes that the object codec reads; please report this": "no such bytes are known",
    "a number of the batch is out of range": "no such argument is known",
    "rows for OpenMetrics; write tables (--output": "needs a report of a million rows",
    "--report: no permission to write": "tests may run as root, who may write everywhere",
    "no batch with offset": "needs an index and a segment that changes while it is read",
    "is not that of the batch": "tests of damaged indexes reach it and compare rows, not the text",
    "an offset is not below the one in its name": "tests of damaged indexes reach it and compare rows, not the text",
}
"""Reasons by error text."""


def error_texts(part: str) -> Iterator[tuple[str, str]]:
    """Yield file and line, and the longest constant piece, of each error text of a part."""
    folder, other = PARTS[part]
    for path in sorted(folder.rglob("*.py")):
        if other is not None and path.is_relative_to(other):
            continue
        for node in ast.walk(ast.parse(path.read_bytes())):
            for argument in arguments(node):
                pieces = [piece.strip(" :;,.()'\n") for piece in constants(argument)]
                if pieces and len(longest := max(pieces, key=len)) >= SHORTEST:
                    yield f"{path.relative_to(ROOT)}:{argument.lineno}", longest


def arguments(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return [*node.exc.args, *(each.value for each in node.exc.keywords)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
        return node.args if name.lstrip("_") in REPORTS or name.endswith(("Error", "Record", "Malformed")) else []
    return []


def constants(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


@cache
def tested() -> str:
    """Return all strings of the tests' modules, without the escapes of patterns, and the data of the tests."""
    found = []
    for path in sorted((ROOT / "tests").rglob("*")):
        if path.suffix == ".py" and path != Path(__file__):
            strings = constants_of(path)
            found += [*strings, *(re.sub(r"\\(.)", r"\1", each) for each in strings if "\\" in each)]
        elif path.suffix in (".json", ".jsonl", ".md", ".txt", ".html", ".tsv", ".golden"):
            found.append(path.read_text(encoding="utf-8", errors="replace"))
    return "\n".join(found)


def constants_of(path: Path) -> list[str]:
    return list(constants(ast.parse(path.read_bytes())))


@pytest.mark.parametrize("part", PARTS)
def test_every_error_text_occurs_in_a_test(part: str) -> None:
    texts = {text: place for place, text in error_texts(part)}
    assert [f"{place}: {text}" for text, place in texts.items() if text not in tested() and text not in UNTESTED] == []


def test_reasons_are_needed() -> None:
    texts = {text for part in PARTS for _, text in error_texts(part)}
    assert [text for text in UNTESTED if text not in texts or text in tested()] == []
