"""Fixtures for the tests of the command ``compat``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compat_command import CHANGED, RELEASED


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """Return folders with the released and the changed definition."""
    for name, text in (("old", RELEASED), ("new", CHANGED)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "OrderRecord.json").write_text(text)
    return str(tmp_path / "old"), str(tmp_path / "new")
