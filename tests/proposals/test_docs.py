"""The reference pages under docs/protocol: what their examples show is what happens."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "protocol"
PAGES = sorted(FOLDER.glob("*.md"))
LINK = re.compile(r"\]\(([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path) -> None:
    """Bytes in a reference are copied into other programs; they have to be what the package writes."""
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    text = page.read_text(encoding="utf-8").replace("```", "")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=options, verbose=False)
    runner.run(test, out=report.append)
    assert "".join(report) == ""
    assert bool(test.examples) == (page.name != "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links(page: Path) -> None:
    """A page that moved would leave readers with nothing."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert "://" in target or (page.parent / target).exists(), target


def test_every_page_is_in_the_table() -> None:
    """A page that nothing leads to is not read."""
    listed = set(LINK.findall((FOLDER / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in PAGES} - {"README.md"} <= listed
