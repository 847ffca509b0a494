"""Builds of both extensions with AddressSanitizer and UndefinedBehaviorSanitizer, or for libFuzzer."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "packages" / "native" / "src"
ASK = "import json, sysconfig as s; print(json.dumps([s.get_paths()['include'], s.get_config_var('EXT_SUFFIX')]))"
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")


class NoCompiler(Exception):
    """A compiler, a compiler library or a shared Python library is missing."""


def build(target: Path, compiler: str, *flags: str, python: str = sys.executable) -> Path:
    """Build both extensions for an interpreter in a folder for PYTHONPATH; return the folder."""
    if shutil.which(compiler) is None:
        raise NoCompiler(f"{compiler} is not installed")
    package = target / "kafka_messages_native"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(SOURCES / "kafka_messages_native", package)
    include, suffix = json.loads(subprocess.run([python, "-c", ASK], check=True, capture_output=True).stdout)
    for name in ("core", "columns"):
        sources = sorted(str(path) for each in (name, "library") for path in (SOURCES / each).glob("*.c"))
        output = ("-o", str(package / f"_{name}{suffix}"))
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O1", "-g", f"-I{include}", *flags, *sources, *output], check=True
        )
    return target


def preloaded(compiler: str = "gcc", *libraries: str) -> str:
    """Return LD_PRELOAD for a Python without sanitizers, by default those of SANITIZERS."""
    found = []
    for library in (*(libraries or ("libasan.so", "libubsan.so")), "libstdc++.so.6"):  # for exceptions inside pyarrow
        printed = subprocess.run([compiler, f"-print-file-name={library}"], check=True, capture_output=True, text=True)
        path = Path(printed.stdout.strip())
        if not path.is_absolute():
            raise NoCompiler(f"{library} is not installed")
        found.append(str(path))
    return ":".join(found)


def environment() -> dict[str, str]:
    """Return environment variables for sanitized processes: no leak check at exit, one allocation per object."""
    return {
        "PYTHONMALLOC": "malloc",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
