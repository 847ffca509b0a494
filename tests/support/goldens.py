"""Golden files: generated text, kept for review and updated on request."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

import pytest

GOLDENS = Path(__file__).parents[1] / "generator" / "goldens"
HINT = "if this is what you want: UPDATE_GOLDENS=1 python -m pytest, with this test"


def matches_golden(path: Path, text: str, hint: str = HINT) -> None:
    """Fail with a diff unless the file has exactly this text.

    UPDATE_GOLDENS=1 in the environment writes the file and skips the test.
    """
    old = path.read_bytes().decode("utf-8") if path.exists() else ""
    if path.exists() and old == text:
        return
    if os.environ.get("UPDATE_GOLDENS") == "1":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
        pytest.skip(f"{path.name} was written")
    names = f"{path.name} (golden)", f"{path.name} (printed now)"
    diff = "\n".join(difflib.unified_diff(old.splitlines(), text.splitlines(), *names, lineterm=""))
    pytest.fail(f"{diff or 'only line ends differ'}\n{hint}", pytrace=False)


def stale_goldens(folder: Path, names: Iterable[str]) -> list[str]:
    """Return the golden files that no test uses."""
    return sorted({path.name for path in folder.iterdir()} - set(names))
