"""Fragments of the change log are valid, and CONTRIBUTING.md lists their kinds."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.support.pages import ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]


def problem(name: str, text: str) -> str | None:
    """Return what is wrong with a fragment, or None; towncrier silently ignores a file with an invalid name."""
    kinds = "|".join(kind["directory"] for kind in SETTINGS["type"])
    if not re.fullmatch(rf"[a-z0-9-]+\.({kinds})\.md", name):
        return "name"
    if not re.fullmatch(r"[^#\-\s].*\S\n", text, re.DOTALL):
        return "heading, list or surrounding space"
    return "more than one paragraph" if "\n\n" in text else None


@pytest.mark.parametrize(
    ("name", "text", "want"),
    [
        ("segments.added.md", "`read_segments` reads\nsegments.\n", None),
        ("segments.new.md", "Added.\n", "name"),
        ("Segments.added.md", "Added.\n", "name"),
        ("segments.added.txt", "Added.\n", "name"),
        ("segments.added.md", "- Added.\n", "heading, list or surrounding space"),
        ("segments.added.md", "# Added\n", "heading, list or surrounding space"),
        ("segments.added.md", "Added.", "heading, list or surrounding space"),
        ("segments.added.md", "One.\n\nTwo.\n", "more than one paragraph"),
    ],
)
def test_invalid_fragment_is_reported(name: str, text: str, want: str | None) -> None:
    assert problem(name, text) == want


def test_fragments_in_changelog_d_are_valid() -> None:
    paths = [path for path in (ROOT / "changelog.d").iterdir() if path.name not in SETTINGS["ignore"]]
    found = {path.name: problem(path.name, path.read_text(encoding="utf-8")) for path in paths}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_contributing_lists_the_fragment_kinds() -> None:
    documented = re.search(
        r"changelog\.d/<topic>\.<([a-z|]+)>\.md", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    )
    assert documented is not None
    assert documented[1].split("|") == [kind["directory"] for kind in SETTINGS["type"]]
    text = (ROOT / SETTINGS["filename"]).read_text(encoding="utf-8")
    assert text.count(SETTINGS["start_string"]) == 1
    assert (ROOT / SETTINGS["template"]).is_file()
