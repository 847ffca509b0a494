"""The C library below Python: its files, and that it needs nothing of Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.fuzz import library
from tests.fuzz.build import NoCompiler
from tests.support.pages import ROOT

SOURCES = ROOT / "packages" / "native" / "src"
DEFINITION = re.compile(r"^(?!static\b|typedef\b)\w[\w *]*?\b(\w+)\([^;{]*\)\s*\{", re.MULTILINE)
"""A function that other files can call."""
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
WARNINGS = ("-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-implicit-fallthrough")


def count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_sources_stay_small() -> None:
    sizes = {path: count(path) for path in SOURCES.rglob("*.[ch]")}
    assert max(sizes.values()) <= 500
    assert sum(sizes.values()) <= 5600


@pytest.mark.parametrize("folder", ["library", "core", "columns"])
def test_files_call_each_other_in_one_direction(folder: str) -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted((SOURCES / folder).glob("*.c"))}
    owners = {name: file for file, text in texts.items() for name in DEFINITION.findall(text)}
    calls = {
        file: {owners[name] for name in re.findall(r"\w+", COMMENT.sub("", text)) if name in owners} - {file}
        for file, text in texts.items()
    }
    assert len(owners) >= len(texts) - 1
    try:
        TopologicalSorter(calls).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler: cc")
def test_library_compiles_and_links_without_python(tmp_path: Path) -> None:
    sources = sorted(map(str, (SOURCES / "library").glob("*.c")))
    assert not [path for path in (SOURCES / "library").iterdir() if "Python.h" in path.read_text(encoding="utf-8")]
    command = ["cc", "-shared", "-fPIC", *WARNINGS, *sources, "-Wl,--no-undefined", "-o", str(tmp_path / "library.so")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="free-threaded code is for CPython 3.14 and later")
@pytest.mark.parametrize("name", ["core", "columns"])
def test_extensions_compile_for_free_threaded_builds(name: str) -> None:
    sources = sorted(map(str, (SOURCES / name).glob("*.c")))
    include = sysconfig.get_paths()["include"]
    command = ["cc", "-fsyntax-only", "-Wall", "-Werror", "-DPy_GIL_DISABLED", f"-I{include}", *sources]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler: gcc")
def test_library_has_no_data_races(tmp_path: Path) -> None:
    assert library.threads(4000, tmp_path) == 0


def test_python_with_the_lock_is_rejected(tmp_path: Path) -> None:
    message = f"{sys.executable} is not a free-threaded build of CPython"
    with pytest.raises(NoCompiler, match=f"^{re.escape(message)}$"):
        library.free_threaded(sys.executable, 1, tmp_path)
