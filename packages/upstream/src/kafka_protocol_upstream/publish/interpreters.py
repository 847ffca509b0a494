"""CPython interpreters on this machine that can build the native core."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ASK = """
import json, pathlib, platform, sys, sysconfig
header = pathlib.Path(sysconfig.get_paths()["include"], "Python.h")
is_cpython = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(json.dumps([sys.executable, *sys.version_info[:3], is_cpython and header.exists()]))
"""
OLDEST = (3, 11)
"""Oldest supported version, as in packages/native/pyproject.toml."""
NEWEST_MINOR = 30


@dataclass(frozen=True)
class Interpreter:
    path: str
    version: tuple[int, int, int]

    @property
    def tag(self) -> str:
        return f"cp{self.version[0]}{self.version[1]}"

    def __str__(self) -> str:
        return f"CPython {'.'.join(map(str, self.version))}"


def interpreters() -> list[Interpreter]:
    """Return one interpreter per minor version, oldest first; prefer the running one, then PATH, then pyenv."""
    found: dict[str, Interpreter] = {}
    for interpreter in _able(_candidates()):
        found.setdefault(interpreter.tag, interpreter)
    return sorted(found.values(), key=lambda each: each.version)


def _candidates() -> Iterator[str]:
    yield sys.executable
    for minor in range(OLDEST[1], NEWEST_MINOR + 1):
        if path := shutil.which(f"python3.{minor}"):
            yield path
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    yield from (str(path) for path in sorted(versions.glob("*/bin/python")))


def _able(paths: Iterable[str]) -> Iterator[Interpreter]:
    for path in paths:
        done = subprocess.run([path, "-I", "-c", ASK], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            continue
        executable, major, minor, micro, can_build = json.loads(done.stdout)
        if can_build and (major, minor) >= OLDEST:
            yield Interpreter(executable, (major, minor, micro))
