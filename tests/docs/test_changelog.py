"""The fragments of the change log: each is gathered, under a heading that is meant."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support.pages import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
FRAGMENTS = sorted({path.name for path in (ROOT / "changelog.d").iterdir()} - {*SETTINGS["ignore"]})


@pytest.mark.parametrize("name", FRAGMENTS or [pytest.param("", marks=pytest.mark.skip(reason="nothing changed yet"))])
def test_a_fragment_is_gathered(name: str) -> None:
    """towncrier passes over a file of another name, and leaves it behind without a word."""
    kinds = "|".join(kind["directory"] for kind in SETTINGS["type"])
    assert re.fullmatch(rf"[a-z0-9-]+\.({kinds})\.md", name)
    text = (ROOT / "changelog.d" / name).read_text(encoding="utf-8")
    assert re.fullmatch(r"[^#\-\s].*\S\n", text, re.DOTALL), "sentences, and no heading or list"
    assert "\n\n" not in text, "one paragraph: it becomes one item of a list"


def test_what_contributors_are_told() -> None:
    """The kinds that CONTRIBUTING names are those that the tool knows, and there is a place for them to go."""
    told = re.search(r"changelog\.d/<topic>\.<([a-z|]+)>\.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert told is not None
    assert told[1].split("|") == [kind["directory"] for kind in SETTINGS["type"]]
    text = (ROOT / SETTINGS["filename"]).read_text(encoding="utf-8")
    assert text.count(SETTINGS["start_string"]) == 1
    assert (ROOT / SETTINGS["template"]).is_file()
