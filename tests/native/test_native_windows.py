"""Portability of the C sources to Windows, as far as the local compiler can check."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "packages" / "native" / "src"
COMPILER = shutil.which("gcc") or shutil.which("clang")
TAKEN = """
typedef signed char INT8; typedef short INT16; typedef int INT32; typedef long long INT64;
typedef unsigned char UINT8; typedef unsigned short UINT16; typedef unsigned int UINT32; typedef unsigned long long UINT64;
typedef int BOOL; typedef double DOUBLE; typedef struct { int x; } UUID; typedef unsigned char BYTE;
#define near
#define far
#define NEAR near
#define FAR far
"""
"""Names from Windows' basetsd.h and minwindef.h, which Python.h may include."""


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
@pytest.mark.parametrize("source", sorted(SOURCES.glob("*/*.c")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sources_compile_with_windows_type_names(source: Path, tmp_path: Path) -> None:
    assert COMPILER is not None
    taken = tmp_path / "taken.h"
    taken.write_text(TAKEN)
    include = ("-I", sysconfig.get_paths()["include"], "-include", str(taken))
    done = subprocess.run(
        [COMPILER, "-std=c11", "-fsyntax-only", *include, str(source)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
