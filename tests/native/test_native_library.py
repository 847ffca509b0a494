"""The C library below Python: its files, and that it needs nothing of Python."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.pages import ROOT

SOURCES = ROOT / "packages" / "native" / "src"
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-implicit-fallthrough")


def count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_sources_stay_small() -> None:
    sizes = {path: count(path) for path in SOURCES.rglob("*.[ch]")}
    assert max(sizes.values()) <= 500
    assert sum(sizes.values()) <= 6000


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler: cc")
def test_library_compiles_and_links_without_python(tmp_path: Path) -> None:
    sources = sorted(map(str, (SOURCES / "library").glob("*.c")))
    assert not [path for path in (SOURCES / "library").iterdir() if "Python.h" in path.read_text(encoding="utf-8")]
    command = ["cc", "-shared", "-fPIC", *WARNINGS, *sources, "-Wl,--no-undefined", "-o", str(tmp_path / "library.so")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
